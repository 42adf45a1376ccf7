# Every target does its own set-up; only python3 (3.11 or newer) and make are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TESTS := pytest -m "not stress" -n 3 --dist loadgroup # three on two cores: browsers and servers wait a lot
COVERED := --cov --cov-append --cov-report= --cov-fail-under=0 # the report at the end has the limit of pyproject.toml
# Bytecode is written when a module is first imported: compiling all of it takes half of the install.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt

# Tests start many processes, each of which would compile all sources to bytecode anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help reproduce check test test-extras coverage lint types-linux types-darwin types-win32 layers bench stress \
    measure docs docs-numbers docs-notebooks docs-pictures test-lowest test-newest test-packages release clean

help:
	@echo "make reproduce      the whole paper: runs, figures, report"
	@echo "make check          style, types and the nearest tests of what you changed, in a minute"
	@echo "make test           all tests"
	@echo "make test-extras    tests with MiniGrid, Minari and Stable-Baselines3, which it installs"
	@echo "make coverage       the same with branch coverage of src, kernels interpreted too"
	@echo "make lint           style, types on three systems, layers, workflows"
	@echo "make bench          speed and memory, as ratios measured in one run"
	@echo "make stress         long tests: fuzzing, kills, load, all examples of property tests"
	@echo "make measure        all measurements that README and docs show, into results (some hours)"
	@echo "make docs           the documentation site, into docs/build/html; warnings are errors"
	@echo "make docs-numbers   write the measured numbers and pictures of README and docs from results"
	@echo "make docs-notebooks execute the notebooks of docs and keep their outputs"
	@echo "make docs-pictures  draw the pictures and the film of the docs, photograph the local pages (needs Chromium)"
	@echo "make test-lowest    all tests with the lowest versions that pyproject.toml allows"
	@echo "make test-newest    all tests with the newest versions that there are"
	@echo "make test-packages  build wheel and sdist, check them, test the wheel alone and the sdist from itself"
	@echo "make release        everything above that decides, then the packages and the tag of the version"
	@echo "make clean          remove the virtual environment and caches"

reproduce: $(VENV)/.use
	$(BIN)/fwrl reproduce

check: $(VENV)/.develop
	@$(BIN)/python tests/check.py

test: $(VENV)/.develop
	$(BIN)/python tests/warm_up.py
	$(BIN)/python -m $(TESTS) --durations=20

test-extras: $(VENV)/.extras
	$(BIN)/python -m pytest -p no:cacheprovider tests/extras --durations=10

# Compiled code is invisible to coverage.py, so the tests of kernels run once more interpreted; one test of agents does so
# in a process of its own. Folders run one after the other and add to one file: what fails in one of them costs no data of
# the others, and the report comes in any case.
coverage: $(VENV)/.develop
	$(BIN)/python tests/warm_up.py
	$(BIN)/coverage erase
	@failed=; \
	run() { NUMBA_DISABLE_JIT=$$interpreted $(BIN)/python -m $(TESTS) $(COVERED) "$$@" || failed="$$failed $$1"; }; \
	interpreted=1; run tests/kernels; \
	interpreted=0; for folder in $(filter-out tests/extras/,$(sort $(dir $(wildcard tests/*/test_*.py)))); do run $$folder; done; \
	run $(wildcard tests/test_*.py) src; \
	$(BIN)/coverage report; low=$$?; \
	if [ "$$failed" ]; then echo "tests failed in:$$failed"; exit 1; fi; exit $$low

lint: $(VENV)/.develop
	$(BIN)/ruff check src tests docs benchmarks
	$(BIN)/ruff format --check src tests docs benchmarks
	@$(MAKE) --no-print-directory --jobs 2 types-linux types-darwin types-win32 layers
	$(BIN)/zizmor --offline --quiet .github
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/bug.yml .github/ISSUE_TEMPLATE/idea.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.citation-file-format CITATION.cff

# A cache for each system: in a common one, each run would throw away what the others keep.
types-linux: $(VENV)/.develop
	$(BIN)/mypy --platform linux --cache-dir .mypy_cache/linux

types-darwin types-win32: types-%: $(VENV)/.develop
	$(BIN)/mypy --platform $* --cache-dir .mypy_cache/$* src benchmarks

layers: $(VENV)/.develop
	$(BIN)/lint-imports

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks.speed

stress: $(VENV)/.develop
	$(BIN)/python -m pytest -m "stress or property" --all-examples

measure: $(VENV)/.bench
	$(BIN)/python docs/measure.py

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --builder html docs docs/build/html
	$(BIN)/python docs/check_links.py docs/build/html
	@echo "docs/build/html/index.html"

docs-numbers: $(VENV)/.bench
	$(BIN)/python docs/write_numbers.py
	$(BIN)/python docs/write_commands.py
	$(BIN)/python docs/write_names.py

docs-notebooks: $(VENV)/.develop
	$(BIN)/python docs/run_notebooks.py

docs-pictures: $(VENV)/.develop
	$(BIN)/python docs/draw_data_flow.py
	$(BIN)/python docs/draw_film.py
	$(BIN)/python docs/draw_pictures.py
	$(BIN)/python docs/draw_lucky_portal.py
	$(BIN)/python docs/photograph_pages.py

test-lowest: .venv-lowest/.made
	.venv-lowest/bin/python tests/warm_up.py
	.venv-lowest/bin/python -m $(TESTS)

test-newest: .venv-newest/.made
	.venv-newest/bin/python tests/warm_up.py
	.venv-newest/bin/python -m $(TESTS)

test-packages: $(VENV)/.release
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python tests/packages.py dist

# What can be told at once is told first; the last line tags what all others have tested.
release: $(VENV)/.release
	$(BIN)/python tests/release.py --check
	$(MAKE) lint test docs test-lowest test-newest test-packages
	$(BIN)/python tests/release.py

.venv-lowest/.made: pyproject.toml tests/lowest_constraints.py
	$(PYTHON) -m venv --clear .venv-lowest
	.venv-lowest/bin/python tests/lowest_constraints.py > .venv-lowest/constraints.txt
	.venv-lowest/bin/python -m pip install --quiet --constraint .venv-lowest/constraints.txt --editable ".[test]"
	@touch $@

.venv-newest/.made: pyproject.toml
	$(PYTHON) -m venv --clear .venv-newest
	.venv-newest/bin/python -m pip install --quiet --upgrade --editable ".[test]"
	@touch $@

clean:
	rm -rf $(VENV) .venv-lowest .venv-newest dist docs/build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage .coverage.*

$(VENV)/.use: $(VENV)/.made pyproject.toml constraints.txt
	@echo "installing fwrl"
	$(INSTALL) --editable .
	@touch $@

$(VENV)/.bench: $(VENV)/.made pyproject.toml constraints.txt
	@echo "installing fwrl with the libraries that benchmarks compare it with"
	$(INSTALL) --editable ".[networkx]"
	@touch $@ $(VENV)/.use

$(VENV)/.docs: $(VENV)/.made pyproject.toml constraints.txt
	@echo "installing fwrl with the tools that build its documentation"
	$(INSTALL) --editable ".[docs]"
	@touch $@ $(VENV)/.use

$(VENV)/.develop: $(VENV)/.made pyproject.toml constraints.txt
	@echo "installing fwrl with its test and lint tools"
	$(INSTALL) --editable ".[test,lint,docs]"
	@touch $@ $(VENV)/.use $(VENV)/.bench $(VENV)/.docs

$(VENV)/.release: $(VENV)/.develop
	$(INSTALL) --editable ".[release]"
	@touch $@

# The constraint names torch's plain version: for the processor alone where that is what the index offers.
$(VENV)/.extras: $(VENV)/.develop
	@echo "installing MiniGrid, Minari and Stable-Baselines3 with torch"
	$(INSTALL) torch
	$(INSTALL) --editable ".[test,minari,minigrid,sb3]"
	@touch $@

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "fwrl needs Python 3.11 or newer; choose one: make PYTHON=python3.12 ..."; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' || \
	    { echo "python3 has no venv module; install it (Debian, Ubuntu: apt-get install python3-venv)"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	@touch $@
