# What this course can do from a terminal. `make` alone lists it.

PYTHON ?= python3
CUDA ?= auto
NOTEBOOKS ?=
REPO ?=
REF ?= main
LIST ?=
LESSONS ?=
ARGS ?=
CHECK ?=
LABS ?= all
OUT ?= $(HOME)/gpu_course

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
# JupyterLab's defaults for this course: it opens without a question about news.
LAB_CONFIG = $(CURDIR)/utils/machine/jupyter$(if $(JUPYTER_CONFIG_PATH),:$(JUPYTER_CONFIG_PATH))

.DEFAULT_GOAL := help
.PHONY: help setup lab test slow selftest class run run-without-compiler assignment \
	check-nbgrader hub-environment hub check-hub site check-site record lint colab colab-check \
	change everything release check-pythons clean distclean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-20s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "  PYTHON=python3.12       use that Python (3.11 or newer)"
	@echo "  CUDA=none, CUDA=12.4    install as for a machine without, or with such a driver"
	@echo "  NOTEBOOKS=\"...\"         the lessons that make run executes"
	@echo "  ARGS=\"-k reduce\"        more arguments for make test"
	@echo "  CHECK=\"--list\"         more arguments for make change and make everything"
	@echo "  LABS=\"tiling\" OUT=...   labs, and the course's folder, for make assignment"

setup: ## Make .venv and install the pinned packages (once, and again when they change)
	@$(PYTHON) -c "$(CHECK_PYTHON)"
	@$(PYTHON) utils/machine/setup_environment.py --cuda $(CUDA)

lab: setup ## Open the lessons in JupyterLab
	JUPYTER_CONFIG_PATH="$(LAB_CONFIG)" $(VENV_PYTHON) -m jupyterlab $(LAB_FLAGS) --ServerApp.root_dir=. --LabApp.default_url=/lab/tree/$(START)

PYTEST := $(VENV_PYTHON) -m pytest --numprocesses auto --maxprocesses 4

test: setup ## Run the tests, but the slow ones
	$(PYTEST) --dist loadfile -m "not slow" $(ARGS)

slow: setup ## Run the slow tests: every choice of constants, every architecture, movies
	$(PYTEST) --dist load -m slow $(ARGS)

selftest: setup ## Grade solutions, other right functions and mutants of every lab (ARGS="tiling --all")
	$(VENV_PYTHON) -m labs selftest $(ARGS)

class: setup ## Grade a class of 200, kill it, resume it, and check every mark
	$(VENV_PYTHON) -m tests.labs.grading.class_of_200

run: setup ## Execute every lesson and write it to build/ as a page
	$(VENV_PYTHON) -m utils.lessons.run_notebooks --out build $(NOTEBOOKS)

run-without-compiler: setup ## Execute the lessons as on macOS, where no compiler is
	$(VENV_PYTHON) -m utils.lessons.run_notebooks --out build/without_compiler --without-compiler $(NOTEBOOKS)

assignment: setup ## Write labs as a course for nbgrader: see labs/platforms/nbgrader/README.md
	$(VENV_PYTHON) -m labs assignment $(LABS) --out $(OUT)

check-nbgrader: ## A class in a real nbgrader, in environments of its own below build/
	$(PYTHON) utils/machine/side_environment.py nbgrader \
		--requirements labs/platforms/nbgrader/requirements.txt --pythons 3.11 3.12 -- \
		-m pytest -p no:cacheprovider tests/nbgrader $(ARGS)

# JupyterHub and its proxy, in an environment of their own.
HUB_VERSION = $(shell $(VENV_PYTHON) -c "import sys; print('%d.%d' % sys.version_info[:2])")
IN_HUB = $(VENV_PYTHON) utils/machine/side_environment.py hub --requirements labs/platforms/hub/requirements.txt --pythons $(HUB_VERSION) --

hub-environment: setup ## Install JupyterHub and its proxy below build/
	$(IN_HUB) labs/platforms/hub/proxy.py

hub: hub-environment ## A class on JupyterHub, on this machine, to try it: see labs/platforms/hub/README.md
	PATH="$(CURDIR)/build/hub-$(HUB_VERSION)/bin:$$PATH" jupyterhub --config labs/platforms/hub/jupyterhub_config.py

check-hub: hub-environment ## A class on JupyterHub in a browser: lessons, handing in, the grade book
	$(IN_HUB) -m pytest tests/hub $(ARGS)

# Sphinx has an environment of its own, build/site-env, which sees the packages of .venv.
site: setup ## Make the site of the executed lessons, the labs and the tools in build/site
	$(VENV_PYTHON) site/environment.py
	$(VENV_PYTHON) site/make_site.py

check-site: setup ## Look at every page of the site in a browser
	@test -f build/site/index.html || { echo "There is no site: make it with 'make site'."; exit 2; }
	$(VENV_PYTHON) -m pytest tests/site/check_site.py $(ARGS)

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
	$(VENV_PYTHON) -m gemm_kernels.cpu as-called --record
	$(VENV_PYTHON) -m utils.figures.readme

lint: setup ## Check the style of the code
	$(VENV_PYTHON) -m ruff check .

colab: setup ## Write your copy's address into the lessons: REPO=owner/name, REF=main
	$(VENV_PYTHON) -m utils.lessons.first_cell $(if $(REPO),--repo "$(REPO)") --ref "$(REF)"

colab-check: setup ## Run every lesson with Colab's packages, LIST=... with a newer list
	$(VENV_PYTHON) -m tools.colab $(if $(LIST),--list "$(LIST)") $(if $(LESSONS),--lessons $(LESSONS))

change: setup ## Check what the changes since the last whole check can reach
	$(VENV_PYTHON) -m tools.ci $(CHECK)

everything: setup ## Check everything: an hour and more; green, it writes .ci/whole
	$(VENV_PYTHON) -m tools.ci --everything $(CHECK)

release: setup ## Build the wheel of the virtual GPU and the x-ray, and try it in a fresh environment
	$(VENV_PYTHON) -m tools.release

check-pythons: setup ## Ask pip whether the pins suit Python 3.11, 3.12 and 3.13
	$(VENV_PYTHON) -m utils.machine.check_pythons

clean: ## Remove what the other targets wrote, except .venv
	rm -rf build .hypothesis .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

distclean: clean ## Remove .venv as well
	rm -rf .venv
