# What this course can do from a terminal. `make` alone lists it.

PYTHON ?= python3
CUDA ?= auto
NOTEBOOKS ?=
REPO ?=
REF ?= main
LIST ?=
ARGS ?=

ifeq ($(OS),Windows_NT)
VENV_PYTHON := .venv/Scripts/python.exe
else
VENV_PYTHON := .venv/bin/python
endif

# Understood by any Python, so that an old one is refused with a sentence.
TOO_OLD := This Python is older than 3.11: choose another, for example with PYTHON=python3.12.
CHECK_PYTHON := import sys; sys.exit('$(TOO_OLD)' if sys.version_info < (3, 11) else 0)

START := notebooks/00_start_here.ipynb
# With nothing to open a browser on, JupyterLab prints its link and waits.
BROWSER_HERE := $(DISPLAY)$(WAYLAND_DISPLAY)$(BROWSER)$(filter Darwin,$(shell uname -s))
LAB_FLAGS := $(if $(strip $(BROWSER_HERE)),,--no-browser)
LAB_FLAGS += $(if $(filter 0,$(shell id -u)),--allow-root)

.DEFAULT_GOAL := help
.PHONY: help setup lab test slow run run-without-compiler record lint colab colab-check release clean distclean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-20s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "  PYTHON=python3.12       use that Python (3.11 or newer)"
	@echo "  CUDA=none, CUDA=12.4    install as for a machine without, or with such a driver"
	@echo "  NOTEBOOKS=\"...\"         the lessons that make run executes"
	@echo "  ARGS=\"-k reduce\"        more arguments for make test"

setup: ## Make .venv and install the pinned packages (once, and again when they change)
	@$(PYTHON) -c "$(CHECK_PYTHON)"
	@$(PYTHON) utils/machine/setup_environment.py --cuda $(CUDA)

lab: setup ## Open the lessons in JupyterLab
	$(VENV_PYTHON) -m jupyterlab $(LAB_FLAGS) --ServerApp.root_dir=. --LabApp.default_url=/lab/tree/$(START)

PYTEST := $(VENV_PYTHON) -m pytest --numprocesses auto --maxprocesses 4

test: setup ## Run the tests, but the slow ones
	$(PYTEST) --dist loadfile -m "not slow" $(ARGS)

slow: setup ## Run the slow tests: every choice of constants, every architecture, movies
	$(PYTEST) --dist load -m slow $(ARGS)

run: setup ## Execute every lesson and write it to build/ as a page
	$(VENV_PYTHON) -m utils.lessons.run_notebooks --out build $(NOTEBOOKS)

# Lessons on the engine of utils/lessons; the others stop where there is no compiler.
ON_ENGINE = $(shell grep -l 'course.start' notebooks/*.ipynb)

run-without-compiler: setup ## Execute the lessons as on macOS, where no compiler is
	$(VENV_PYTHON) -m utils.lessons.run_notebooks --out build/without_compiler --without-compiler $(ON_ENGINE)

record: setup ## On a GPU: tune, measure everything that is published, and draw it
	$(VENV_PYTHON) -m gemm_kernels tune
	$(VENV_PYTHON) -m gemm_kernels --record
	$(VENV_PYTHON) -m gemm_kernels transfers --record
	$(VENV_PYTHON) -m gemm_kernels pitfalls --record
	$(VENV_PYTHON) -m gemm_kernels as-called --record
	$(VENV_PYTHON) -m reduce_kernels --record
	$(VENV_PYTHON) -m reduce_kernels as-called --record
	$(VENV_PYTHON) -m latency_kernels --record
	$(VENV_PYTHON) -m latency_kernels curves --record
	$(VENV_PYTHON) -m gemm_kernels.cpu --record
	$(VENV_PYTHON) -m utils.figures.readme

lint: setup ## Check the style of the code
	$(VENV_PYTHON) -m ruff check .

colab: setup ## Write your copy's address into the lessons: REPO=owner/name, REF=main
	$(VENV_PYTHON) -m utils.lessons.first_cell $(if $(REPO),--repo "$(REPO)") --ref "$(REF)"

colab-check: setup ## Run every lesson with Colab's packages, LIST=... with a newer list
	$(VENV_PYTHON) -m tests.colab $(if $(LIST),--list "$(LIST)")

release: setup ## Build the wheel and check it in a fresh environment
	$(VENV_PYTHON) -m tests.release

clean: ## Remove what the other targets wrote, except .venv
	rm -rf build .hypothesis .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

distclean: clean ## Remove .venv as well
	rm -rf .venv
