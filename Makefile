# make demo | test | bench | platforms | check | docs | clean: each makes what it needs (.venv included) and does nothing twice.
.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: help demo test bench platforms check docs docs-serve clean packages

PYTHON ?= python3

# Debian packages that the tests need; installed where that is allowed (root, or sudo without a password).
DEBIAN_PACKAGES ?= g++ chromium fonts-noto-cjk fonts-noto-color-emoji

# Two processors are two workers; elsewhere pytest-xdist counts for itself.
WORKERS ?= $(shell test "`nproc 2>/dev/null`" = 2 && echo 2 || echo auto)

BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

help:
	@echo "make demo    tune Flash Attention on ascend910b2 and write the header"
	@echo "make test    install what the tests need and run all checks"
	@echo "make bench   measure how many configurations a second are evaluated"
	@echo "make platforms  fit the platform files again to the published results (two minutes)"
	@echo "make check   say whether they are what the published results make (two minutes)"
	@echo "make docs    build the documentation into build/docs (make docs-serve: show it in a browser)"
	@echo "make clean   remove .venv, build results and caches"

demo: .venv/.core
	@$(BIN)/pto-tune demo

bench: .venv/.core
	@$(BIN)/pto-tune bench executor

platforms: .venv/.core
	@$(BIN)/python -m pto_tune.published.making

check: .venv/.core
	@$(BIN)/python -m pto_tune.published.making --check

# The notice is about another major version of mkdocs.
docs: .venv/.dev
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build -q -f docs/mkdocs.yml && echo "open build/docs/index.html"

docs-serve: .venv/.dev
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve -f docs/mkdocs.yml

test: packages .venv/.dev
	@echo "== ruff" && $(BIN)/ruff check && $(BIN)/ruff format --check
	@echo "== mypy" && $(BIN)/mypy
	@echo "== import order" && $(BIN)/lint-imports
	@echo "== pytest" && $(BIN)/python -m pytest -n $(WORKERS)

clean:
	@rm -rf .venv build dist demo-out .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find cost_models dashboards db docs pto_tune tests -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp for each installation, not the folder's time: an interrupted step is done again, a finished one is not.
.venv/.made:
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "pto-tune needs Python 3.11 or newer: make PYTHON=python3.11" >&2; exit 1; }
	@echo "making .venv"
	@"$(PYTHON)" -m venv .venv
	@touch $@

.venv/.core: pyproject.toml | .venv/.made
	@echo "installing pto-tune and its libraries into .venv (a minute or two)"
	@$(BIN)/python -m pip install -qq -e .
	@$(BIN)/python -m pto_tune.executor.warm
	@touch $@

# The development installation includes the other one.
.venv/.dev: pyproject.toml | .venv/.made
	@echo "installing pto-tune, its libraries and the test tools into .venv (a minute or two)"
	@$(BIN)/python -m pip install -qq -e '.[all,dev]'
	@$(BIN)/python -m pto_tune.executor.warm
	@touch .venv/.core $@

packages:
	@missing=""; \
	for package in $(DEBIAN_PACKAGES); do \
	  command -v $$package >/dev/null 2>&1 && continue; \
	  dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q 'ok installed' && continue; \
	  missing="$$missing $$package"; \
	done; \
	test -n "$$missing" || exit 0; \
	if ! command -v apt-get >/dev/null 2>&1; then as=none; \
	elif test "`id -u`" = 0; then as=""; \
	elif sudo -n true 2>/dev/null; then as="sudo -n"; \
	else as=none; fi; \
	if test "$$as" != none; then \
	  echo "installing Debian packages:$$missing"; \
	  $$as apt-get update -qq && \
	  $$as env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null \
	  && exit 0; \
	fi; \
	echo "not installed:$$missing (tests that need them are skipped, or fail where CI=true)"
