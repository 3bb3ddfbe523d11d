# What people type. The build itself is CMake's: see CMakePresets.json and cmake/.
#   make demo, make test   set everything up on a bare Debian 12, then do their job
PREFIX ?= /usr/local
DEPS ?= core features python test web

.DEFAULT_GOAL := build
.PHONY: build deps demo test install bench validate truth soak fuzz python web test-blender docs bench-docs api-docs lint clean help

build: ## build build/scree and libscree
	@scripts/build.sh release

deps: ## install the Debian packages that are missing
	@scripts/deps.sh $(DEPS)

demo: ## set up, build, run the demo: writes demo/
	@scripts/deps.sh core features
	@TARGETS=scree scripts/build.sh release
	@scripts/demo.sh

test: ## set up, build, run every test, with sanitizers and fuzzing
	@scripts/deps.sh core features python test web
	@scripts/test.sh

install: ## install to PREFIX (/usr/local), below DESTDIR when given
	@scripts/build.sh release -DCMAKE_INSTALL_PREFIX=$(PREFIX)
	@cmake --install build

bench: build ## run the benchmarks: writes out/bench/
	@scripts/bench.sh

validate: build ## run the long physics tests
	@ctest --preset validate

truth: build ## measure published laws with every method (an hour on two cores) and write docs/truth.md
	@build/scree validate -o build/truth || [ $$? = 1 ]
	@scripts/truth_docs.py store build/truth
	@scripts/truth_docs.py

soak: build ## an hour of everything that can happen, method after method, and runs that are killed at random
	@cmake --build --preset release --target soak
	@build/soak --seconds $(or $(SECONDS_ALL),3600) --kills $(or $(KILLS),100)

fuzz: ## fuzz every target for SECONDS_EACH (600); NAMES chooses
	@scripts/fuzz.sh

python: ## build the Python wheel, offline, and install it into build/venv
	@scripts/deps.sh core features python
	@scripts/python.sh

web: ## build web/, the page with the simulator as WebAssembly, and the program that serves it
	@scripts/deps.sh core features web
	@TARGETS=scree scripts/build.sh release
	@scripts/web.sh

test-blender: build ## render a frame of a run in Blender, without a screen, and look at it
	@scripts/test_blender.sh

docs: build ## make again the documents that are made from code
	@scripts/docs.sh

bench-docs: ## write the tables of docs/performance.md from bench/results/
	@scripts/bench_docs.py

api-docs: ## write the reference of the C API from its headers: build/api/html/ (needs doxygen)
	@command -v doxygen >/dev/null || { echo "make api-docs needs doxygen: make deps DEPS=extra"; exit 1; }
	@mkdir -p build/api
	@doxygen docs/Doxyfile
	@echo "the reference is in build/api/html/index.html"

lint: ## check the layout of the code and of the scripts
	@scripts/lint.sh

clean: ## remove all that was built
	rm -rf build build-debug build-asan build-tsan build-web web

help: ## show this
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 18
