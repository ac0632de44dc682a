# Everything runs in .venv, which is made on first use; the demo needs less and has its own. `make help` lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READY_LONG := $(VENV)/.ready-long
WORKERS ?= 2
# A file, or a class in it, is for one worker: what it sets up is made once.
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadscope --no-loadscope-reorder --durations=15
# TF-Agents 0.19 runs on TensorFlow 2.21, but pins the versions of 2.15; tf-keras asks for the GPU build.
NO_DEPS := tf-keras tf-agents gym gym-notices
# distrax asks for tfp-nightly, which would be written over tensorflow-probability.
NO_DEPS_LONG := distrax

.DEFAULT_GOAL := help
.PHONY: help setup demo quick case test test-long lint format browser bytecode pytest accuracy mutants benchmark trust audit libraries docs docs-rules \
	screenshots clean

help:  ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY)  ## make .venv with everything that development needs

# $(1): an environment; makes it where it is missing.
define environment
	@test -x $(1)/bin/python || $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "whygrad needs python 3.11 or newer: make PYTHON=python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	@test -x $(1)/bin/python || $(PYTHON) -m venv $(1)
	@$(1)/bin/python -m pip --version >/dev/null 2>&1 || $(1)/bin/python -m ensurepip --upgrade
endef

# The stamp is written last, so that a setup that was cut short is taken up again.
$(READY): pyproject.toml constraints.txt setup.py $(wildcard src/whygrad/summaries/native/*)
	@echo "setting up $(VENV) (once; PyTorch and TensorFlow are large)"
	$(call environment,$(VENV))
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt --no-deps $(NO_DEPS)
	@touch $@

# What only long tests use: the extra `long`. `make test` neither downloads it nor waits for it.
$(READY_LONG): $(READY)
	@echo "installing what only the long tests use (once)"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[dev,long]'
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt --no-deps $(NO_DEPS_LONG)
	@touch $@

# PyTorch and whygrad are enough for the demo; where everything is set up already, that is used.
DEMO := $(if $(wildcard $(READY)),$(VENV),.venv-demo)
.venv-demo/.ready: pyproject.toml constraints.txt
	@echo "making .venv-demo for the demo (once)"
	$(call environment,.venv-demo)
	@echo "installing PyTorch and whygrad into it; PyTorch is a large download"
	@.venv-demo/bin/python -m pip install --disable-pip-version-check -c constraints.txt --no-compile -e '.[fix]' torch numpy
	@touch $@

demo: $(if $(wildcard $(READY)),,.venv-demo/.ready)  ## run whygrad on a broken actor-critic script, and fix it
	$(DEMO)/bin/whygrad run examples/broken_actor_critic.py
	$(DEMO)/bin/whygrad fix examples/broken_actor_critic.py || test $$? -eq 1  # 1: the fault is still in the file

quick: $(READY) bytecode  ## the tests that need no framework: seconds
	$(PYTEST) tests/unit tests/architecture -m "not long and not torch and not tensorflow and not jax"

case: $(READY)  ## run the labelled script NAME, with what whygrad says: make case NAME=detached_ddpg_actor
	$(BIN)/python scripts/case.py $(NAME)

test: lint pytest  ## lint, types, layers, and a test of everything that is promised: minutes

test-long: $(READY_LONG) browser bytecode  ## the tests that take long: learning, whole corpora, every program of the docs
	$(PYTEST) -m long

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

# Tests start hundreds of processes; where python is told to write no bytecode, each would compile all of ours.
bytecode: $(READY)
	@$(BIN)/python -m compileall -q src/whygrad

pytest: $(READY) browser bytecode  ## the tests of `make test` only
	$(PYTEST) -m "not long"

CASES ?= tests/cases
accuracy: $(READY)  ## recall, line accuracy and false alarms over CASES (default tests/cases)
	$(BIN)/python benchmarks/accuracy.py $(CASES)

mutants: $(READY)  ## how often a fault that was put into a healthy program is named: make mutants SAMPLE=100 SEED=7
	$(BIN)/python benchmarks/mutants.py --sample $(or $(SAMPLE),60) --seed $(or $(SEED),0)

benchmark: $(READY)  ## what watching costs
	$(BIN)/python benchmarks/overhead.py

trust: $(READY)  ## the figures of docs/trust.md: programs, faults, broken files, long trainings; TRUST="--inputs 1000000" makes more
	$(BIN)/python scripts/trust.py $(TRUST)

# An environment of its own: what looks at the others is none of them.
.venv-audit/.ready: constraints.txt
	$(call environment,.venv-audit)
	@.venv-audit/bin/python -m pip install -qq --disable-pip-version-check -c constraints.txt pip-audit cyclonedx-bom
	@touch $@

audit: $(READY) .venv-audit/.ready  ## known holes in what is installed, and a bill of materials in dist/sbom.json
	@mkdir -p dist
	.venv-audit/bin/cyclonedx-py environment $(BIN)/python --output-file dist/sbom.json
	.venv-audit/bin/pip-audit --skip-editable \
		--path "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"

docs: $(READY_LONG)  ## build the documentation site into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build  # --quiet would let broken links pass
	@echo "open site/index.html"

# An environment of its own: the libraries would change what the other tests run on.
.venv-libraries/.ready: pyproject.toml constraints.txt
	@echo "making .venv-libraries (once; the libraries are large)"
	$(call environment,.venv-libraries)
	@.venv-libraries/bin/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[libraries]'
	@touch $@

libraries: .venv-libraries/.ready  ## run programs over Stable-Baselines3, TorchRL, TRL, ... and write docs/libraries.md
	.venv-libraries/bin/python scripts/libraries.py

docs-rules: $(READY)  ## write docs/rules from the rules
	$(BIN)/python scripts/rule_samples.py
	$(BIN)/python -m whygrad.rules.pages docs/rules

screenshots: $(READY) browser  ## run five scripts and take the pictures of the README
	$(BIN)/python scripts/screenshots.py

clean:  ## remove caches and all environments
	rm -rf $(VENV) .venv-demo .venv-libraries .venv-audit .pytest_cache .mypy_cache .ruff_cache .import_linter_cache build dist site
