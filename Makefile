# Needs Python 3.11+ and make; everything else is installed into .venv.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/.installed

.PHONY: demo reproduce test test-slow test-cuda test-minimum lint docs bench bench-history clean

demo: $(STAMP)-plot
	$(BIN)/vbdm demo --out results

# The paper's figures and claims, into reproduction/; make reproduce ARGS="--quick" is smaller.
reproduce: $(STAMP)-plot
	$(BIN)/python -m paper $(ARGS)

# Test processes share the cores already: one BLAS thread each.
test test-slow: export OPENBLAS_NUM_THREADS = 1

test: lint
	$(BIN)/python -m pytest -n auto --dist worksteal

test-slow: $(STAMP)-test
	$(BIN)/python -m pytest -m "slow or not slow"
	$(BIN)/python benchmarks/accuracy.py

# On a machine with an NVIDIA GPU, whose own Python has CuPy and pytest; nothing is installed.
test-cuda:
	VBDM_DEVICE=cuda PYTHONPATH=src $(PYTHON) -m pytest -m "slow or not slow" tests/device $(ARGS)

# The declared minimum versions together, and what reads, draws and wraps by other libraries.
# make test-minimum TESTS=tests runs everything.
MINIMUM = .venv-minimum
TESTS ?= tests/unit/test_io_formats.py tests/unit/test_io_anndata.py tests/unit/test_io_trajectory.py \
	tests/contract/test_plot.py tests/contract/test_estimator.py tests/unit/test_tables.py
test-minimum: export OPENBLAS_NUM_THREADS = 1
test-minimum:
	test -x $(MINIMUM)/bin/python || $(PYTHON) -m venv $(MINIMUM)
	$(MINIMUM)/bin/python tests/minima.py > $(MINIMUM)/minima.txt
	$(MINIMUM)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[plot,files,fast]' \
		pandas polars pytest pytest-xdist hypothesis -c $(MINIMUM)/minima.txt
	$(MINIMUM)/bin/python -m pytest -n auto -W "ignore:numpy.ndarray size changed:RuntimeWarning" $(TESTS)

lint: $(STAMP)-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The site, built offline: a warning or a dead link is an error.
docs: $(STAMP)-docs
	$(BIN)/python -m sphinx -W --keep-going -n -q -b html docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html
	@echo "The documentation: docs/_build/html/index.html"

# Speed and memory (some ten minutes and 6 GB at a million points), then other packages.
bench: $(STAMP)-test
	$(BIN)/python benchmarks/speed.py --points 1000 10000 100000 1000000 --save benchmarks/speed.json
	$(BIN)/python benchmarks/compare.py

# The same few figures at every commit, with airspeed velocity.
bench-history: $(STAMP)-test
	$(BIN)/python -m pip install --quiet asv virtualenv
	$(BIN)/asv machine --yes
	$(BIN)/asv run --quick

# One stamp per set of extras: a second run installs nothing.
$(STAMP)-%: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$*]' -c constraints.txt
	touch $@

clean:
	rm -rf $(VENV) .asv build dist results docs/_build docs/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis
