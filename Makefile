# Every target sets itself up from python3 and make alone.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CONVERSATION ?=
OTHER_PYTHONS := python3.12 python3.13 python3.14

.PHONY: setup demo check test test-all test-pythons bench docs clean

setup: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("memrpc needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip --quiet --disable-pip-version-check install --upgrade "pip>=25.1"
	$(BIN)/python -m pip --quiet --disable-pip-version-check install --editable . --group dev
	touch $@

demo: setup
	$(BIN)/python -m benchmarks.demo $(CONVERSATION)

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

test: check
	$(BIN)/python -m pytest -m "not slow"

test-all: check
	$(BIN)/python -m pytest
	$(MAKE) test-pythons

# The same fast tests under each newer Python that is installed here.
test-pythons:
	@for python in $(OTHER_PYTHONS); do \
	  if $$python -c '' 2>/dev/null; then \
	    echo "== $$python"; \
	    $(MAKE) setup VENV=.venv-$$python PYTHON=$$python && \
	    .venv-$$python/bin/python -m pytest -m "not slow" || exit 1; \
	  else echo "== $$python is not installed here: skipped"; fi; \
	done

# The pages in docs/ that a test compares with the code.
docs: setup
	$(BIN)/memrpc schema --markdown > docs/tools.md
	$(BIN)/memrpc config --markdown > docs/settings.md

bench: setup
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) .venv-* build dist .mypy_cache .ruff_cache .import_linter_cache .hypothesis

# The official suite, installed from npm, against the fixture through the HTTP bridge.
.PHONY: conformance
conformance: setup
	$(BIN)/python -m conformance.run
