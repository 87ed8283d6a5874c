# Every target makes the virtual environment in .venv when it is missing or out of date.

PYTHON ?= python3
SIZE ?= small
N ?= 1000
BIN := .venv/bin
READY := .venv/ready

.PHONY: help demo test lint bench fuzz sanitize clean

help:
	@echo "make demo        run the examples lifted, and compare loop, hand-batched and lifted"
	@echo "make test        lint, types, import layers and tests"
	@echo "make lint        lint, types and import layers"
	@echo "make bench       what lifting costs, then the scorecard over benchmarks/cases (SIZE=tiny, small or full)"
	@echo "make fuzz N=1000 random loop programs against the literal loop"
	@echo "make sanitize    tests and random programs with kernels that check their memory and arithmetic (g++)"

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	$(BIN)/python -m compileall -q src
	touch $(READY)

demo: $(READY)
	$(BIN)/python examples/demo.py

test: export CXX = $(CURDIR)/tests/quick_compiler.sh
test: export OMP_WAIT_POLICY = PASSIVE
test: lint
	$(BIN)/python -m pytest -q -n 2

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/codespell src tests examples benchmarks/scorecard.py benchmarks/overhead.py benchmarks/beside_numba.py benchmarks/divergence.py $(wildcard *.md docs)

bench: $(READY)
	$(BIN)/python benchmarks/overhead.py
	$(BIN)/python benchmarks/scorecard.py benchmarks/cases --size $(SIZE)

fuzz: $(READY)
	$(BIN)/python -m tests.fuzz.run --programs $(N)

sanitize: export CXX = $(CURDIR)/tests/sanitizing_compiler.sh
sanitize: export ASAN_OPTIONS = detect_leaks=0:allocator_may_return_null=1
sanitize: export PYTHONMALLOC = malloc
sanitize: PRELOAD = LD_PRELOAD="$(shell g++ -print-file-name=libasan.so) $(shell g++ -print-file-name=libubsan.so)"
sanitize: $(READY)
	$(PRELOAD) $(BIN)/python -m pytest -q -s -n 0 tests/emit tests/build
	$(PRELOAD) $(BIN)/python -m tests.fuzz.run --programs $(N) --backend native --jobs 1 --seconds 300 --shrink 0

clean:
	rm -rf .venv build dist
