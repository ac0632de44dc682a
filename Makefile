# Everything runs in .venv, which is made on first use. `make help` lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
WORKERS ?= 2
# TF-Agents 0.19 runs on TensorFlow 2.21, but pins the versions of 2.15; tf-keras asks for the GPU build.
NO_DEPS := tf-keras tf-agents gym gym-notices

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint format browser pytest accuracy benchmark docs docs-rules screenshots clean

help:  ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY)  ## make .venv with everything that development needs

# The stamp is written last, so that a setup that was cut short is taken up again.
$(READY): pyproject.toml constraints.txt setup.py $(wildcard src/whygrad/watch/native/*)
	@test -x $(BIN)/python || $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "whygrad needs python 3.11 or newer: make PYTHON=python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip --upgrade
	@echo "setting up $(VENV) (once; PyTorch and TensorFlow are large)"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt --no-deps $(NO_DEPS)
	@touch $@

demo: $(READY)  ## run whygrad on a broken actor-critic script
	$(BIN)/whygrad run examples/broken_actor_critic.py

test: lint pytest  ## everything: lint, types, layers, tests

lint: $(READY)  ## ruff, mypy, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)  ## let ruff format and fix what it can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

browser:  ## Chromium, in which the tests look at the reports
	@command -v chromium chromium-browser google-chrome >/dev/null || test -n "$(CHROMIUM)" || { \
		echo "installing chromium (once)"; \
		$$(test "$$(id -u)" = 0 || echo sudo -n) sh -c 'apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core' \
		>/dev/null; } || { echo "no Chromium: install one and name it, make CHROMIUM=/path/to/it test" >&2; exit 1; }

pytest: $(READY) browser  ## the tests only
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadscope --no-loadscope-reorder  # a file: one worker, what it sets up is made once

CASES ?= tests/cases
accuracy: $(READY)  ## recall, line accuracy and false alarms over CASES (default tests/cases)
	$(BIN)/python benchmarks/accuracy.py $(CASES)

benchmark: $(READY)  ## what watching costs
	$(BIN)/python benchmarks/overhead.py

docs: $(READY)  ## build the documentation site into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build  # --quiet would let broken links pass
	@echo "open site/index.html"

docs-rules: $(READY)  ## write docs/rules from the rules
	$(BIN)/python scripts/rule_samples.py
	$(BIN)/python -m whygrad.rules.pages docs/rules

screenshots: $(READY) browser  ## run five scripts and take the pictures of the README
	$(BIN)/python scripts/screenshots.py

clean:  ## remove caches and .venv
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache build dist site
