# Set-up is part of every target: `make reproduce` and `make test` need only python3 (3.11 or newer) and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help reproduce test lint bench stress clean

help:
	@echo "make reproduce   the whole paper: runs, figures, report"
	@echo "make test        all tests"
	@echo "make lint        style, types, layers"
	@echo "make bench       speed, as ratios measured in one run"
	@echo "make stress      the long counts: fuzzing, kills, load"
	@echo "make clean       remove the virtual environment and caches"

reproduce: $(VENV)/.use
	$(BIN)/fwrl reproduce

test: $(VENV)/.develop
	$(BIN)/python -m pytest -m "not stress" -n 2 --durations=20

lint: $(VENV)/.develop
	$(BIN)/ruff check src tests
	$(BIN)/ruff format --check src tests
	$(BIN)/mypy
	$(BIN)/mypy --config-file tests/mypy.ini
	$(BIN)/lint-imports

bench: $(VENV)/.bench
	$(BIN)/fwrl bench

stress: $(VENV)/.develop
	$(BIN)/python -m pytest -m stress

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(VENV)/.use: $(VENV)/.made pyproject.toml constraints.txt
	@echo "installing fwrl"
	$(INSTALL) --editable .
	@touch $@

$(VENV)/.bench: $(VENV)/.made pyproject.toml constraints.txt
	@echo "installing fwrl with what it is held against"
	$(INSTALL) --editable ".[bench]"
	@touch $@ $(VENV)/.use

$(VENV)/.develop: $(VENV)/.made pyproject.toml constraints.txt
	@echo "installing fwrl with its test and lint tools"
	$(INSTALL) --editable ".[test,lint]"
	@touch $@ $(VENV)/.use $(VENV)/.bench

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "fwrl needs Python 3.11 or newer; say which one: make PYTHON=python3.12 ..."; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' || \
	    { echo "python3 has no venv module; install it (Debian, Ubuntu: apt-get install python3-venv)"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	@touch $@
