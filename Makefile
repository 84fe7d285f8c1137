# What this course can do from a terminal. `make` alone lists it.

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

# An environment keeps the Python that made it, unless another is given.
PYTHON ?= $(if $(shell $(VENV_PYTHON) -c "print(1)" 2>/dev/null),$(VENV_PYTHON),python3)

# Understood by any Python, so that a wrong one is refused with a sentence.
TOO_OLD := This Python is older than 3.11: choose another, for example with PYTHON=python3.12.
TOO_NEW := This Python is newer than 3.13, which is the newest that was tried: choose another, for example with PYTHON=python3.12.
CHECK_PYTHON := import sys; v = sys.version_info; sys.exit('$(TOO_OLD)' if v < (3, 11) else '$(TOO_NEW)' if v >= (3, 14) else 0)

START := notebooks/00_start_here.ipynb
# With nothing to open a browser on, JupyterLab prints its link and waits.
BROWSER_HERE := $(DISPLAY)$(WAYLAND_DISPLAY)$(BROWSER)$(filter Darwin,$(shell uname -s))
LAB_FLAGS := $(if $(strip $(BROWSER_HERE)),,--no-browser)
LAB_FLAGS += $(if $(filter 0,$(shell id -u)),--allow-root)
# JupyterLab's defaults for this course: it opens without a question about news.
LAB_CONFIG = $(CURDIR)/utils/machine/jupyter$(if $(JUPYTER_CONFIG_PATH),:$(JUPYTER_CONFIG_PATH))

.DEFAULT_GOAL := help
.PHONY: help lab run site setup clean distclean assignment hub-environment hub record colab \
	test slow lint change everything selftest class run-without-compiler check-site \
	check-nbgrader check-hub check-next-compiler colab-check check-pythons release

help: ## List the targets
	@echo "Fast GPU kernels in Python. A learner needs the first command only: make lab"
	@awk -F ':.*## ' '/^help:/ { next } /^## / { printf "\n%s\n", substr($$0, 4) } \
		/^[a-z-]+:.*## / { printf "  make %-20s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "Options"
	@echo "  PYTHON=python3.12         use that Python, 3.11 to 3.13; else the one of .venv, or python3"
	@echo "  CUDA=none, CUDA=12.4      install as for a machine without, or with such a driver"
	@echo "  NOTEBOOKS=\"...\"           the lessons that make run executes"
	@echo "  ARGS=\"-k reduce\"          more arguments for make test"
	@echo "  CHECK=\"--list\"            more arguments for make change and make everything"
	@echo "  LABS=\"tiling\" OUT=...     labs, and the course's folder, for make assignment"

.DEFAULT:
	@echo "There is no target '$@': 'make' lists the targets, and 'make lab' opens the lessons." >&2; exit 2

## To learn

lab: setup ## Open the lessons in JupyterLab; the first time it installs: 1 to 10 minutes, 1.4 GB
	JUPYTER_CONFIG_PATH="$(LAB_CONFIG)" $(VENV_PYTHON) -m jupyterlab $(LAB_FLAGS) --ServerApp.root_dir=. --LabApp.default_url=/lab/tree/$(START)

run: setup ## Execute every lesson and write it to build/ as a page: about 10 minutes
	$(VENV_PYTHON) -m utils.lessons.run_notebooks --out build $(NOTEBOOKS)

# Sphinx has an environment of its own, build/site-env, which sees the packages of .venv.
site: setup ## Make the site of the lessons, the labs and the tools in build/site: about 12 minutes
	$(VENV_PYTHON) site/environment.py
	$(VENV_PYTHON) site/make_site.py

setup: ## Only install, into .venv, what every target here needs: once, and when pins change
	@$(PYTHON) -c "$(CHECK_PYTHON)"
	@$(PYTHON) utils/machine/setup_environment.py --cuda $(CUDA)

clean: ## Remove what the other targets wrote, except .venv
	rm -rf build .hypothesis .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

distclean: clean ## Remove .venv as well: 1.4 GB
	rm -rf .venv

## With a class

assignment: setup ## Write labs as a course for nbgrader: see labs/platforms/nbgrader/README.md
	$(VENV_PYTHON) -m labs assignment $(LABS) --out $(OUT)

# JupyterHub and its proxy, in an environment of their own.
HUB_VERSION = $(shell $(VENV_PYTHON) -c "import sys; print('%d.%d' % sys.version_info[:2])")
IN_HUB = $(VENV_PYTHON) utils/machine/side_environment.py hub --requirements labs/platforms/hub/requirements.txt --pythons $(HUB_VERSION) --

hub-environment: setup ## Install JupyterHub and its proxy below build/
	$(IN_HUB) labs/platforms/hub/proxy.py

hub: hub-environment ## A class on JupyterHub, on this machine, to try it: see labs/platforms/hub/README.md
	PATH="$(CURDIR)/build/hub-$(HUB_VERSION)/bin:$$PATH" jupyterhub --config labs/platforms/hub/jupyterhub_config.py

## With a GPU, or a copy of your own

record: setup ## On a GPU: tune, measure everything that is published, and draw it
	$(VENV_PYTHON) -m gemm_kernels tune
	$(VENV_PYTHON) -m gemm_kernels --record
	$(VENV_PYTHON) -m gemm_kernels transfers --record
	$(VENV_PYTHON) -m gemm_kernels pitfalls --record
	$(VENV_PYTHON) -m gemm_kernels ilp-alone --record
	$(VENV_PYTHON) -m gemm_kernels overlap --record
	$(VENV_PYTHON) -m gemm_kernels tiles-alone --record
	$(VENV_PYTHON) -m gemm_kernels occupancy-alone --record
	$(VENV_PYTHON) -m gemm_kernels wide-alone --record
	$(VENV_PYTHON) -m gemm_kernels rows-apart --record
	$(VENV_PYTHON) -m gemm_kernels buffers-alone --record
	$(VENV_PYTHON) -m gemm_kernels as-called --record
	$(VENV_PYTHON) -m reduce_kernels --record
	$(VENV_PYTHON) -m reduce_kernels remainder --record
	$(VENV_PYTHON) -m reduce_kernels bits --record
	$(VENV_PYTHON) -m reduce_kernels as-called --record
	$(VENV_PYTHON) -m tensor_kernels --record
	$(VENV_PYTHON) -m tensor_kernels pairs-alone --record
	$(VENV_PYTHON) -m tensor_kernels registers-alone --record
	$(VENV_PYTHON) -m tools.records.first_kernels first-kernels --record
	$(VENV_PYTHON) -m tools.records.wide_tiles wide-tiles --record
	$(VENV_PYTHON) -m latency_kernels --record
	$(VENV_PYTHON) -m latency_kernels curves --record
	$(VENV_PYTHON) -m gemm_kernels.cpu --record
	$(VENV_PYTHON) -m gemm_kernels.cpu as-called --record
	$(VENV_PYTHON) -m utils.figures.readme

colab: setup ## Write your copy's address into the lessons: REPO=owner/name, REF=main
	$(VENV_PYTHON) -m utils.lessons.first_cell $(if $(REPO),--repo "$(REPO)") --ref "$(REF)"

## To change the course

PYTEST := $(VENV_PYTHON) -m pytest --numprocesses auto --maxprocesses 4

test: setup ## Run the tests, but the slow ones: 3 to 15 minutes; a learner does not need them
	$(PYTEST) --dist loadfile -m "not slow" $(ARGS)

slow: setup ## Run the slow tests: every choice of constants, every architecture, movies; 40 minutes or more
	$(PYTEST) --dist loadgroup -m slow $(ARGS)

lint: setup ## Check the style of the code
	$(VENV_PYTHON) -m ruff check .

change: setup ## Check what the changes since the last whole check can reach
	$(VENV_PYTHON) -m tools.ci $(CHECK)

everything: setup ## Check everything: an hour and more; green, it writes .ci/whole
	$(VENV_PYTHON) -m tools.ci --everything $(CHECK)

selftest: setup ## Grade solutions, other right functions and mutants of every lab (ARGS="tiling --all")
	$(VENV_PYTHON) -m labs selftest $(ARGS)

class: setup ## Grade a class of 200, kill it, resume it, and check every mark
	$(VENV_PYTHON) -m tests.labs.grading.class_of_200

run-without-compiler: setup ## Execute the lessons as on macOS, where no compiler is
	$(VENV_PYTHON) -m utils.lessons.run_notebooks --out build/without_compiler --without-compiler $(NOTEBOOKS)

check-site: setup ## Look at every page of the site in a browser
	@test -f build/site/index.html || { echo "There is no site: make it with 'make site'."; exit 2; }
	$(VENV_PYTHON) -m pytest tests/site/check_site.py $(ARGS)

check-nbgrader: ## A class in a real nbgrader, in environments of its own below build/
	$(PYTHON) utils/machine/side_environment.py nbgrader \
		--requirements labs/platforms/nbgrader/requirements.txt --pythons 3.11 3.12 -- \
		-m pytest -p no:cacheprovider tests/nbgrader $(ARGS)

check-hub: hub-environment ## A class on JupyterHub in a browser: lessons, handing in, the grade book
	$(IN_HUB) -m pytest tests/hub $(ARGS)

# The next compiler and NumPy 2.5, without numba-cuda; one Python is enough for a change.
NEXT_PYTHONS := 3.11 3.12 3.13
NEXT_TESTS := tests/utils/compilers tests/utils/intrinsics/test_wide_memory_mlir.py \
	tests/utils/intrinsics/test_tensor_mlir.py \
	tests/utils/intrinsics/test_fences_mlir.py tests/utils/launching/test_mlir_kernels.py \
	tests/utils/launching/test_functions.py gpu_xray/tests/test_mlir.py \
	virtual_gpu/tests/next_compiler/test_next_compiler.py tests/next_compiler

check-next-compiler: ## The course with numba-cuda-mlir and NumPy 2.5, in environments below build/
	$(PYTHON) utils/machine/side_environment.py next-compiler --apart \
		--requirements utils/compilers/requirements.txt --pythons $(NEXT_PYTHONS) -- \
		-m pytest -p no:cacheprovider -m "not slow" $(NEXT_TESTS) $(ARGS)

colab-check: setup ## Run every lesson with Colab's packages, LIST=... with a newer list
	$(VENV_PYTHON) -m tools.colab $(if $(LIST),--list "$(LIST)") $(if $(LESSONS),--lessons $(LESSONS))

check-pythons: setup ## Ask pip whether the pins suit Python 3.11, 3.12 and 3.13
	$(VENV_PYTHON) -m utils.machine.check_pythons

release: setup ## Build the wheel of the virtual GPU and the x-ray, and try it in a fresh environment
	$(VENV_PYTHON) -m tools.release
