# The only list of commands. Each target installs what it needs into .venv and target/, and nothing elsewhere;
# a machine needs CPython, Rust (with rustfmt and clippy for `make lint`), make, and once the network.

SHELL := /bin/sh
.SHELLFLAGS := -ec
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules --no-print-directory

PYTHON ?= python3
# The comparison with other libraries: the folder of benches/results that holds the figures of this machine, and options
# of the sweep and of the rendering: `make bench-peers MACHINE=xeon-2core SWEEP="--what train" RENDER=--mixed-commits`.
MACHINE ?=
SWEEP ?= --what quick
RENDER ?=
# Processes among which pytest divides the tests; 0 is pytest alone.
PROCESSES ?= 2
# Random cases a law in `make fuzz`.
CASES ?= 20000
# Seconds a target in `make fuzz-targets`, the targets, and what watches memory: `address`, or `none`, which is faster.
TIME ?= 60
TARGETS ?= $(basename $(notdir $(wildcard tests/fuzz/fuzz_targets/*.rs)))
SANITIZER ?= address

VENV := .venv
# What transformers and datasets bring is kept apart: no other test may depend on it.
TRANSFORMERS := .venv-transformers
# So are Ray and Spark, which bring a gigabyte.
ENGINES := .venv-engines
READERS := .venv-readers
# PyTorch alone brings six gigabytes.
LOADERS := .venv-loaders
REMOTE := .venv-remote
# tokenizers 1.0 is the same module as tokenizers 0.23, which all others compare with.
HF1 := .venv-hf1
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
STAMPS := $(VENV)/stamps
PIP := $(BIN)/python -m pip
PYTEST := $(BIN)/python -m pytest --quiet --numprocesses $(PROCESSES) --dist worksteal
RUST_SOURCES := $(shell find rust -type f) Cargo.toml Cargo.lock
PYTHON_SOURCES := python tests benches docs examples .ci/smoke.py
TYPED_SOURCES := python examples tests/typing/accept.py docs/drop_in_table.py docs/v1_table.py docs/stub_docstrings.py .ci/smoke.py
# Seconds together: both engines on the golden files, and the agreement of pages, stubs and words.
QUICK_TESTS := $(patsubst %,tests/unit/test_%.py,glossary packaging stubs errors instructions bpe bpe_trainer unigram wordpiece wordlevel \
	normalizers pre_tokenizers processors decoders tokenizer)
# The oldest compiler that builds the package.
MSRV = $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

# A virtual environment or an import path of the caller must not leak into ours, nor mislead maturin.
export VIRTUAL_ENV := $(abspath $(VENV))
unexport CONDA_PREFIX PYTHONPATH PYTHONHOME
export PIP_QUIET := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help setup hooks demo test test-rust test-python test-docs test-peers test-transformers test-readers test-loaders test-hf1 test-faults test-engines \
	test-remote lint lint-format lint-rust lint-python lint-workflows quick msrv deny fmt parity \
	large cliffs instructions bench bench-rust bench-python bench-peers machine docs docs-rust stubs wheel fuzz fuzz-targets clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# One stamp a step, newer than all it depends on: what is installed is not installed again, even without network.

# pip reads dependency groups since 25.1; the interpreter's own may be older.
$(STAMPS)/venv:
	@echo "creating $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --upgrade 'pip>=25.1'
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/group-%: pyproject.toml | $(STAMPS)/venv
	@echo "installing the dependency group '$*' into $(VENV)"
	@$(PIP) install --group $*
	@touch $@

# Both builds install the same file, so each takes away the other's stamp.
$(STAMPS)/core-dev: $(RUST_SOURCES) pyproject.toml $(STAMPS)/group-build
	@echo "building the package for tests"
	@$(BIN)/maturin develop --locked --extras cli
	@rm -f $(STAMPS)/core-release && touch $@

$(STAMPS)/core-release: $(RUST_SOURCES) pyproject.toml $(STAMPS)/group-build
	@echo "building the package in release mode (a few minutes the first time)"
	@$(BIN)/maturin develop --release --locked --extras cli
	@rm -f $(STAMPS)/core-dev && touch $@

setup: $(STAMPS)/core-dev $(STAMPS)/group-test $(STAMPS)/group-lint $(STAMPS)/group-peers hooks ## .venv, tools, hooks and a build for tests
	@echo "ready: $(BIN)/python has lexmill; next: make test"

# A repository that keeps its hooks elsewhere is left alone.
hooks: $(STAMPS)/group-lint
	@if git rev-parse --git-dir >/dev/null 2>&1 && ! git config core.hooksPath >/dev/null; then \
		$(BIN)/pre-commit install >/dev/null && echo "installed the hooks of .pre-commit-config.yaml"; fi

demo: $(STAMPS)/core-release ## the main job on text at hand: train, save, load, encode, compare
	@$(BIN)/python -m lexmill.demo

test: test-rust test-python test-docs test-peers ## all tests: cargo, pytest on both engines, examples, sampled parity

test-rust: ## unit, integration and documentation tests of the Rust core, with no Python in it
	@echo "== cargo test"
	@cargo test --locked --quiet --features sources

test-python: $(STAMPS)/core-dev $(STAMPS)/group-test ## pytest: the reference and the core under the same tests
	@echo "== pytest"
	@$(PYTEST)

test-docs: $(STAMPS)/core-dev $(STAMPS)/group-test ## the examples in README.md, docs/ and docstrings
	@echo "== pytest: examples in README.md, docs/ and docstrings"
	@$(PYTEST) --doctest-modules --doctest-glob='*.md' --ignore=python/lexmill/comparison/adapters README.md python/lexmill
	@$(PYTEST) --doctest-glob='*.md' docs

test-peers: $(STAMPS)/core-dev $(STAMPS)/group-test $(STAMPS)/group-peers ## sampled parity with the libraries of group `peers`
	@echo "== pytest: sampled parity with other libraries"
	@$(PYTEST) -m 'external and not slow' tests/parity

# The environments apart, each with the dependency group of its name.
.venv-%/ready: pyproject.toml $(STAMPS)/venv
	@echo "installing the dependency group '$*' into .venv-$*"
	@$(BIN)/python -m venv .venv-$*
	@.venv-$*/bin/python -m pip install --upgrade 'pip>=25.1'
	@.venv-$*/bin/python -m pip install --group $*
	@touch $@

test-readers: $(STAMPS)/core-dev $(READERS)/ready ## pandas, pyarrow, polars, datasets and datatrove on token files, and the recipes
	@echo "== pytest: token files as other libraries read them, and recipes"
	@PYTHONPATH=python $(READERS)/bin/python -m pytest --quiet -m external tests/parity/test_token_files_readers.py tests/recipes

test-loaders: $(STAMPS)/core-dev $(LOADERS)/ready ## MosaicML streaming, litdata, Megatron Core and TRL on token files, and XGrammar (six gigabytes)
	@echo "== pytest: training programs"
	@PYTHONPATH=python $(LOADERS)/bin/python -m pytest --quiet -m external tests/loaders tests/recipes/test_constrained.py

test-hf1: $(STAMPS)/core-dev $(HF1)/ready ## lexmill.v1 beside tokenizers 1.0: results, errors, names and signatures
	@echo "== pytest: lexmill.v1 and tokenizers 1.0"
	@PYTHONPATH=python $(HF1)/bin/python -m pytest --quiet -m external tests/hf1

test-transformers: $(STAMPS)/core-dev $(TRANSFORMERS)/ready ## transformers and datasets on lexmill and on tokenizers (some twenty minutes of processor time)
	@echo "== pytest: transformers and datasets on both libraries, and the examples that need them"
	@PYTHONPATH=python $(TRANSFORMERS)/bin/python -m pytest --quiet -m external \
		tests/parity/test_transformers_peer.py tests/parity/test_examples_transformers.py tests/parity/test_token_files_peer.py \
		tests/parity/test_chat_templates_peer.py tests/recipes/test_serving.py

test-engines: $(STAMPS)/core-dev $(ENGINES)/ready ## Ray and Spark on this machine, with workers that are killed (Spark needs Java 17 or newer)
	@echo "== pytest: Ray and Spark"
	@PYTHONPATH=python $(ENGINES)/bin/python -m pytest --quiet -m engines tests/engines

test-remote: $(STAMPS)/core-dev $(REMOTE)/ready ## texts by URL from an S3 and a web server of this machine, whose answers fail
	@echo "== pytest: texts by URL"
	@PYTHONPATH=python $(REMOTE)/bin/python -m pytest --quiet -m remote tests/remote

# LEXMILL_FAULTS=full tries every layout at 20 moments, which takes half an hour.
test-faults: $(STAMPS)/core-dev $(STAMPS)/group-test ## commands that are killed, disks that are full: what is left, and that it can be gone on with
	@echo "== pytest: killed processes and full disks"
	@$(BIN)/python -m pytest --quiet -m faults tests/faults

# The default is small; 10 GB in 1 GB: MEGABYTES=10000 MEMORY=1GB with a release build.
large: $(STAMPS)/core-dev ## a corpus larger than the memory for it: counted, trained from, and compared with no limit (MEGABYTES=200 MEMORY=32MB)
	@echo "== a generated corpus of $(or $(MEGABYTES),200) MB in $(or $(MEMORY),32MB)"
	@PYTHONPATH=python $(BIN)/python benches/large/measure.py --assert --megabytes $(or $(MEGABYTES),200) --max-memory $(or $(MEMORY),32MB)

# Shares are recorded with this build: `make cliffs CLIFFS=--record`; `CLIFFS=` alone measures more text, against no record.
CLIFFS ?= --small
cliffs: $(STAMPS)/core-dev ## the speed of published families and changed tokenizers as a share of the plain speed, against the record
	@echo "== shares of the plain speed"
	@$(BIN)/python benches/cliffs.py $(CLIFFS)

# Counts are compared with the record's compiler alone: RUSTUP_TOOLCHAIN=1.95.0 make instructions INSTRUCTIONS=--record.
INSTRUCTIONS ?=
instructions: ## instruction counts of six jobs under valgrind, at most 3 % over the record; skipped without valgrind
	@echo "== instructions of six jobs"
	@$(PYTHON) benches/instructions.py $(INSTRUCTIONS)

lint: lint-format lint-rust lint-python lint-workflows ## formatters in check mode and all linters; warnings are errors

lint-format: $(STAMPS)/group-lint
	@echo "== cargo fmt, ruff"
	@cargo fmt --check
	@$(BIN)/ruff check --quiet $(PYTHON_SOURCES)
	@$(BIN)/ruff format --quiet --check $(PYTHON_SOURCES)

# pyo3 asks the interpreter of the virtual environment about itself.
lint-rust: $(STAMPS)/venv
	@echo "== clippy with and without Python, rustdoc"
	@cargo clippy --locked --quiet --all-targets -- -D warnings
	@cargo clippy --locked --quiet --all-targets --features python -- -D warnings
	@RUSTDOCFLAGS='-D warnings' cargo doc --locked --quiet --no-deps --document-private-items --features python

lint-python: $(STAMPS)/core-dev $(STAMPS)/group-test $(STAMPS)/group-lint
	@echo "== mypy, stubtest"
	@$(BIN)/mypy $(TYPED_SOURCES)
	@$(BIN)/python -m mypy.stubtest lexmill._core

lint-workflows: $(STAMPS)/group-lint
	@echo "== zizmor"
	@$(BIN)/zizmor --offline --quiet --no-progress .github

# Nothing is compiled here: a build may take minutes.
quick: lint-format lint-workflows $(STAMPS)/group-test ## before a push, under a minute: formatters, mypy, and quick tests if the build is up to date
	@echo "== mypy"
	@$(BIN)/mypy $(TYPED_SOURCES)
	@if $(MAKE) --question $(STAMPS)/core-dev || $(MAKE) --question $(STAMPS)/core-release; then \
		echo "== pytest: quick tests" && $(BIN)/python -m pytest --quiet $(QUICK_TESTS); \
	else echo "no tests: the build is older than the sources (make test)"; fi

msrv: $(STAMPS)/venv ## the package under the oldest compiler that Cargo.toml allows
	@echo "== cargo check with Rust $(MSRV)"
	@rustup toolchain install $(MSRV) --profile minimal --no-self-update
	@cargo +$(MSRV) check --locked --quiet --features python

target/tools/bin/cargo-deny:
	@echo "installing cargo-deny into target/tools"
	@cargo install cargo-deny --version 0.20.2 --locked --quiet --root target/tools

deny: target/tools/bin/cargo-deny ## dependencies: advisories, licences and sources, by deny.toml (needs the network)
	@target/tools/bin/cargo-deny check

fmt: $(STAMPS)/group-lint ## format Rust and Python, and apply the safe fixes of ruff
	@cargo fmt
	@$(BIN)/ruff check --fix --quiet $(PYTHON_SOURCES) || true
	@$(BIN)/ruff format $(PYTHON_SOURCES)

parity: $(STAMPS)/core-release $(STAMPS)/group-test $(STAMPS)/group-peers ## full corpora against other libraries, and laws at length
	@LEXMILL_PARITY=full $(BIN)/python -m pytest -m 'external or slow' tests
	@$(BIN)/python -m pytest --hypothesis-profile=thorough tests/property

bench: machine bench-rust bench-python bench-peers ## criterion, pytest-benchmark, then other libraries (writes benches/results/)

bench-rust: ## criterion benches of the core
	@if ls benches/*.rs >/dev/null 2>&1; then cargo bench --locked; else echo "no criterion benches yet"; fi

bench-python: $(STAMPS)/core-release $(STAMPS)/group-test $(STAMPS)/group-bench ## call overhead from Python
	@$(BIN)/python -m pytest -m bench --benchmark-columns=min,median,iqr,rounds benches/python

bench-peers: machine $(STAMPS)/core-release $(STAMPS)/group-bench $(HF1)/ready ## other libraries, one a process (MACHINE=xeon-2core SWEEP="--what all --rounds 5")
	@$(BIN)/python benches/compare/sweep.py --machine '$(MACHINE)' $(SWEEP)
	@$(BIN)/python benches/compare/render.py --machine '$(MACHINE)' $(RENDER)

# Asked for before anything is built: figures of two machines must not meet in one file.
machine:
	@test -n '$(MACHINE)' || { echo 'name this machine: MACHINE=name; benches/results has:' \
		$$(cd benches/results && ls -d */ | tr -d /) >&2; exit 2; }

# Not --quiet, which hides warnings from --strict too. The notice is about a version that the group does not install.
docs: $(STAMPS)/group-docs ## the documentation site, in target/site; a broken link is an error
	@echo "== mkdocs"
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "open target/site/index.html, or: $(BIN)/python -m mkdocs serve"

docs-rust: ## the Rust documentation, private items included, in target/doc
	@RUSTDOCFLAGS='-D warnings' cargo doc --locked --no-deps --document-private-items --features python
	@echo "open target/doc/lexmill/index.html"

stubs: $(STAMPS)/core-dev $(STAMPS)/group-lint ## copy the docstrings of the compiled classes into their stubs
	@$(BIN)/python docs/stub_docstrings.py
	@$(BIN)/ruff format --quiet python

# The wheel is built from the source distribution, so both are complete. On Linux zig links against the glibc of manylinux2014.
wheel: DIST := target/dist
wheel: $(STAMPS)/group-build $(STAMPS)/group-wheel ## the sdist, and from it the wheel of this machine, tried in an empty environment
	@rm -rf $(DIST) && mkdir -p $(DIST)
	@PATH="$(abspath $(BIN)):$$PATH" maturin build --release --locked --sdist --out $(DIST) --interpreter $(BIN)/python \
		$(if $(filter Linux,$(shell uname -s)),--zig --compatibility manylinux2014,--compatibility pypi)
	@$(BIN)/twine check --strict $(DIST)/*
	@.ci/try-wheel $(BIN)/python $(DIST)/*.whl

fuzz: $(STAMPS)/core-dev $(STAMPS)/group-test ## fast paths against their naive twins, CASES random cases a law
	@PROPTEST_CASES=$(CASES) cargo test --locked --quiet --profile bench -- naive law
	@$(BIN)/python -m pytest --hypothesis-profile=thorough tests/property

target/tools/bin/cargo-fuzz:
	@echo "installing cargo-fuzz into target/tools"
	@cargo install cargo-fuzz --version 0.13.2 --locked --quiet --root target/tools

# Coverage needs options of rustc that are unstable, so the stable compiler is asked to take them. What is found stays in
# target/fuzz/found; a find that is mended moves to tests/fuzz/finds/<target>, where `cargo test` runs it.
fuzz-targets: target/tools/bin/cargo-fuzz ## coverage-guided: files, pipelines, patterns (TIME=seconds a target, TARGETS=names)
	@for target in $(TARGETS); do \
		echo "== $$target, $(TIME) s"; \
		mkdir -p target/fuzz/corpus/$$target target/fuzz/found/$$target tests/fuzz/finds/$$target; \
		RUSTC_BOOTSTRAP=1 target/tools/bin/cargo-fuzz fuzz run --fuzz-dir tests/fuzz --target-dir target/fuzz \
			--sanitizer $(SANITIZER) $$target target/fuzz/corpus/$$target tests/fuzz/seeds/$$target \
			tests/fuzz/finds/$$target -- -max_total_time=$(TIME) -timeout=20 -rss_limit_mb=2048 -max_len=4096 \
			-dict=tests/fuzz/dictionaries/$$target -artifact_prefix=target/fuzz/found/$$target/; \
	done

clean: ## remove .venv, target and every cache
	@rm -rf $(VENV) $(TRANSFORMERS) $(HF1) $(READERS) $(LOADERS) $(ENGINES) target .mypy_cache .ruff_cache .pytest_cache .hypothesis .benchmarks \
		python/lexmill/_core*.so
	@find python tests benches docs examples -name __pycache__ -type d -prune -exec rm -rf {} +
