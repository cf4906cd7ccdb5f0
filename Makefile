# Two commands for everybody: `make quickstart` and `make test`. Each makes its own .venv.

PYTHON ?= python3
BIN := .venv/bin
MARK := .venv/installed-from

.PHONY: quickstart test check examples clean

quickstart: $(MARK)
	$(BIN)/trainferry quickstart --to quickstart

test: $(MARK)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -q -n 2 --dist loadscope
	TRITON_INTERPRET=1 $(BIN)/pytest -q -n 2 --dist loadscope tests/train/kernels

# The quick part, for while you work.
check: $(MARK)
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest -q -m "not slow and not cluster"

# After a change of the rules: migrates the examples again. Look at the difference.
examples: $(MARK)
	$(BIN)/python examples/regenerate.py

$(MARK): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "trainferry needs Python 3.11 or newer; pass PYTHON=...")'
	@echo "installing into .venv; this happens once"
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt 'torch==2.13.0'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[train,dev,docs]'
	touch $(MARK)

clean:
	rm -rf .venv quickstart build dist src/*.egg-info
