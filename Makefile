# Needs Python 3.11+ and make; everything else is installed into .venv.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/.installed
PYTEST = $(BIN)/python -m pytest -n auto --dist worksteal

.PHONY: demo reproduce test test-slow test-cuda test-minimum verify mutants coverage lint docs bench \
	bench-smallest bench-history clean

demo: $(STAMP)-plot
	$(BIN)/vbdm demo --out results

# The paper's figures and claims, into reproduction/; make reproduce ARGS="--quick" is smaller.
reproduce: $(STAMP)-plot
	$(BIN)/python -m paper $(ARGS)

# Test processes share the cores already: one BLAS thread each.
test test-slow bench-smallest coverage: export OPENBLAS_NUM_THREADS = 1

test: lint
	$(PYTEST) $(ARGS)

# Some twenty minutes on two cores; make test-slow ARGS="--part 2/6" is a sixth of it.
test-slow: $(STAMP)-test
	$(PYTEST) -m slow $(ARGS)

# Everything that takes long: slow tests, every benchmark small, the paper's figures small.
verify: test-slow bench-smallest
	$(MAKE) reproduce ARGS="--quick"

# Break the mathematics at 400 places, one at a time: does a test notice? An hour and a half.
mutants: $(STAMP)-measure
	$(BIN)/python -P tests/mutants.py $(ARGS)

# Which lines and branches no test reaches; children of tests count as well.
coverage: $(STAMP)-measure
	$(PYTEST) --cov --cov-report=term:skip-covered --cov-report=html:build/coverage $(ARGS)

# On a machine with an NVIDIA GPU, whose own Python has CuPy and pytest; nothing is installed.
test-cuda:
	VBDM_DEVICE=cuda PYTHONPATH=src $(PYTHON) -m pytest -m "slow or not slow" tests/engines/cuda $(ARGS)

# The declared minimum versions together, and what reads, draws and wraps by other libraries.
# make test-minimum TESTS=tests runs everything.
MINIMUM = .venv-minimum
TESTS ?= tests/io/test_formats.py tests/io/test_anndata.py tests/io/test_trajectory.py \
	tests/plot/test_plot.py tests/estimate/test_estimator.py tests/report/test_tables.py
test-minimum: export OPENBLAS_NUM_THREADS = 1
test-minimum:
	test -x $(MINIMUM)/bin/python || $(PYTHON) -m venv $(MINIMUM)
	$(MINIMUM)/bin/python -P tests/minima.py > $(MINIMUM)/minima.txt
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

# Speed and memory (half an hour and 6 GB at a million points), then other packages where they are
# installed. Then the tables and the picture that are made of them.
bench: $(STAMP)-test
	$(BIN)/python benchmarks/speed.py --save
	$(BIN)/python benchmarks/peers.py --save
	$(BIN)/python benchmarks/speed.py --picture benchmarks/results/speed.json docs/images/speed.png
	$(BIN)/python benchmarks/tables.py

# Every program of benchmarks/ in its smallest version: does it still run?
bench-smallest: $(STAMP)-test
	$(PYTEST) -m "slow or not slow" tests/package/test_benchmarks.py -k smallest_version_runs

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
	rm -rf $(VENV) .asv .mutants build dist results docs/_build docs/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis
