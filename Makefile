# Entry points; `make help` lists them. The work is in scripts/ and in the CMake presets.
SHELL := /bin/bash
PORT ?= 8080
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 30
# Strings that `make parity` makes up for each tokenizer.
GENERATED ?= 200000
PYTHON := .deps/venv/bin/python
SAMPLE := models/all-MiniLM-L6-v2
# A user's own ONNX Runtime: make serve ONNXRUNTIME_ROOT=/path (see scripts/setup.sh --help).
SETUP := scripts/setup.sh $(if $(ONNXRUNTIME_ROOT),-DONNXRUNTIME_ROOT=$(ONNXRUNTIME_ROOT))
CTEST = ctest --test-dir build/$(1) --output-on-failure --no-tests=error -j $(JOBS)

.DEFAULT_GOAL := help
.PHONY: help setup build serve test parity style format tidy asan tsan fuzz gate bench clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

setup: ## Install what building, running and testing needs
	@$(SETUP)

# Configuring again is the build's business, except when the presets change.
build/%/build.ninja: CMakePresets.json
	@cmake --preset $* --log-level=WARNING
	@touch $@

.PHONY: setup-build
setup-build:
	@$(SETUP) --no-tests

build: setup-build ## Build the release program, build/release/bin/weir
	@$(MAKE) -s build/release/build.ninja
	@cmake --build --preset release -j $(JOBS) --target weir

serve: build ## Serve the sample model on 127.0.0.1, port 8080 (PORT= overrides), until interrupted
	@scripts/sample_model.sh build/release/bin/weir
	@echo
	@echo "try: curl -s http://127.0.0.1:$(PORT)/v1/embeddings -H 'Content-Type: application/json' -d '{\"input\": \"Hello, world\"}'"
	@echo
	@exec build/release/bin/weir serve $(SAMPLE) --port $(PORT)

test: setup ## Build everything and run all tests
	@$(MAKE) -s build/ci/build.ninja
	@cmake --build --preset ci -j $(JOBS)
	@$(call CTEST,ci)

parity: setup ## Compare tokenizers with the PyPI package: the sample's, small ones, TOKENIZERS=files; made-up texts and TEXTS=files
	@$(MAKE) -s build/release/build.ninja
	@cmake --build --preset release -j $(JOBS) --target weir
	@scripts/sample_model.sh
	@$(PYTHON) scripts/small_tokenizers.py build/small_tokenizers
	@$(PYTHON) scripts/parity.py --weir build/release/bin/weir --generated $(GENERATED) $(if $(TEXTS),--texts $(TEXTS)) \
	  --tokenizer models/src/all-MiniLM-L6-v2/tokenizer.json $(TOKENIZERS) build/small_tokenizers/*.json

style: setup ## Check format, include graph, documents and clang-tidy
	@$(MAKE) -s build/ci/build.ninja
	@cmake --build --preset ci --target generated_sources
	@JOBS=$(JOBS) scripts/check_style.sh build/ci

format: setup ## Rewrite the sources as .clang-format says
	@git ls-files -z '*.h' '*.cc' | xargs -0 .deps/venv/bin/clang-format -i

tidy: setup ## clang-tidy over all sources, tests too, with the static analyzer
	@$(MAKE) -s build/ci/build.ninja
	@cmake --build --preset ci --target generated_sources
	@$(PYTHON) scripts/clang_tidy.py --build build/ci --jobs $(JOBS) --deep

asan: setup ## Run all tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@scripts/sanitize.sh asan-ubsan

tsan: setup ## Run all tests under ThreadSanitizer
	@scripts/sanitize.sh tsan

fuzz: ## Run every fuzz target for FUZZ_SECONDS (30) each
	@$(SETUP) --dev
	@scripts/fuzz.sh $(FUZZ_SECONDS)

gate: setup ## Compare this checkout's speed with the commit it is based on
	@$(MAKE) -s build/ci/build.ninja
	@cmake --build --preset ci -j $(JOBS) --target weir
	@$(PYTHON) -B scripts/regression_gate.py --change build/ci/bin/weir

bench: setup ## Build and run the kernels' benchmarks
	@$(MAKE) -s build/bench/build.ninja
	@cmake --build --preset bench -j $(JOBS)
	@for program in $$(ls build/bench/bin/*_bench 2>/dev/null); do $$program || exit 1; done

clean: ## Remove what was built; keeps .deps/ and models/
	@rm -rf build
