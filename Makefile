# Needs Python 3.11+ and make; everything else is installed into .venv.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/.installed

.PHONY: demo test test-slow lint bench clean

demo: $(STAMP)-plot
	$(BIN)/python -m vbdm.demo results

# Test processes share the cores already: one BLAS thread each.
test test-slow: export OPENBLAS_NUM_THREADS = 1

test: lint
	$(BIN)/python -m pytest -n auto --dist worksteal

test-slow: $(STAMP)-test
	$(BIN)/python -m pytest -m "slow or not slow"
	$(BIN)/python benchmarks/accuracy.py

lint: $(STAMP)-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(STAMP)-test
	$(BIN)/python benchmarks/accuracy.py
	$(BIN)/python benchmarks/timing.py

# One stamp per set of extras: a second run installs nothing.
$(STAMP)-%: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$*]' -c constraints.txt
	touch $@

clean:
	rm -rf $(VENV) build dist results .pytest_cache .mypy_cache .ruff_cache .hypothesis
