# `make help` lists the targets.
SHELL  := bash
.SHELLFLAGS := -eu -o pipefail -c
GO     ?= go
PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
OUT    ?= demo-out
FUZZ   ?= 30s
MINUTES ?= 60
GAMES  ?= 40
# One way to compile, that of the releases: what is built for one part is not compiled again for another. Only the race
# detector and the libraries for C need cgo.
export CGO_ENABLED := 0
export GOAMD64 := v2
export GOFLAGS ?= -trimpath
CGO := ./agents/submit/wintetris ./rpc/library
# A shim of pyenv needs more processor time than Python itself, and tests start Python hundreds of times.
ifneq ($(findstring /shims/,$(shell command -v $(PYTHON))),)
export PATH := $(shell $(PYTHON) -c 'import os, sys; print(os.path.dirname(sys.executable))'):$(PATH)
endif
# The versions of all Python packages that pip and uv install, also of those that build the wheel.
CONSTRAINTS = $(CURDIR)/rpc/python/constraints.txt
export PIP_CONSTRAINT = $(CONSTRAINTS)
export PIP_BUILD_CONSTRAINT = $(CONSTRAINTS)
export UV_CONSTRAINT = $(CONSTRAINTS)
export UV_BUILD_CONSTRAINT = $(CONSTRAINTS)

.DEFAULT_GOAL := help
.PHONY: help pre-commit test quick flaky setup vulncheck vet lint compile go race race-servers race-batches race-training python libraries demo cluster-demo data network ablation ladders tetris-table bench bench-against bench-goals bench-python soak fuzz golden notices constraints sign bundle plugin binaries wheels playground docs release reproduce serve clean

# The parts of `make test`, the longest first; JOBS of them run at a time.
CHECKS := python go race vet sign plugin
JOBS   ?= 2
# What `make quick` leaves out: packages whose tests need compilers or browsers, run whole programs for long, or are of
# the repository itself; and likewise modules of the Python client's tests.
LONG := /(compiletest|webtest)\b|blockyard/(env|train/commands|agents/commands|agents/contest/compile.*)$$
LONG_PYTHON = traps test_bench.py test_chaos.py test_commands.py test_notebook.py test_sixth_game.py test_skills.py \
  $(addprefix test_,$(addsuffix .py,contest_page docs examples machines readme release reproduce sdist site wheels))

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

test: setup ## all tests: linters, Go, race detector, Python on a real server, signatures, plug-in, vulnerabilities
	@rm -rf runs/test
	@echo 'make test: $(CHECKS), $(JOBS) at a time; each prints a line when it ends, its output is in runs/test/'
	@$(MAKE) --no-print-directory -k -j$(JOBS) $(CHECKS:%=timed-%) || true # the next line says what failed
	@.ci/part --end 'make test' $(CHECKS:%=runs/test/%.log)
	@echo 'make test: all of $(CHECKS) passed'
	@$(MAKE) --no-print-directory vulncheck

# With -n, what the parts would run is printed.
timed-%:
	@$(if $(findstring n,$(firstword -$(MAKEFLAGS))),,.ci/part runs/test/$*.log 'make $*' )$(MAKE) --no-print-directory $*

quick: $(VENV)/test ## each package's own tests in short form, for daily work: no race detector, compilers, browsers or learners
	$(GO) test $(AT_ONCE) -vet=off -short $$($(GO) list -f '{{join .TestImports " "}} {{join .XTestImports " "}} {{.ImportPath}}' ./... | grep -vE '$(LONG)' | sed 's/.* //')
	$(PY) -m pytest -q -m 'not slow' $(addprefix --ignore=rpc/python/tests/,$(LONG_PYTHON)) rpc/python/tests

flaky: $(if $(filter-out rpc/python%,$(ONLY)),,$(VENV)/test) ## each package's tests RUNS (20) times, shuffled, stopped, under load: hours, goes on where it stopped; ONLY a package, SEED a run again
	GO=$(GO) $(PYTHON) .ci/flaky --python $(abspath $(PY)) $(if $(ONLY),--only $(ONLY)) $(if $(RUNS),--runs $(RUNS)) $(if $(SEED),--seed $(SEED))

setup: ## look for what the tests need; install it as root or in CI, otherwise print the command
	@.ci/setup test

pre-commit: ## install a git hook that runs quick checks before each commit
	@.ci/pre-commit --install

vulncheck: ## known vulnerabilities; REQUIRE=1 fails where their database cannot be reached
	@GO=$(GO) .ci/vulncheck $(if $(REQUIRE),--require)

vet: ## gofmt, go vet and staticcheck
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo 'not gofmt-ed:'; gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	# With -race, what these import has been compiled for the race detector's tests; staticcheck has been compiled above.
	CGO_ENABLED=1 $(GO) vet -race $(CGO)
	staticcheck=$$($(GO) tool -n staticcheck); CGO_ENABLED=1 GOFLAGS="$(GOFLAGS) -race" $$staticcheck $(CGO)

lint: ## the linters of .golangci.yml, which vet leaves out; fetches golangci-lint
	$(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 run ./...

compile: ## all that the tests of Go consist of, in advance
	$(GO) list -test -deps -export ./... >/dev/null
	CGO_ENABLED=1 $(GO) list -race -test -deps -export $(RACED) >/dev/null

# One package more at a time than there are cores: some mostly wait, train/commands the longest, which begins first.
AT_ONCE := -p $(shell echo $$(($$(nproc 2>/dev/null || echo 2) + 1)))
go: ## Go tests
	$(GO) test $(AT_ONCE) -vet=off -timeout 15m ./train/commands ./...

race: race-servers race-batches race-training ## Go tests of concurrent packages under the race detector
race race-%: export CGO_ENABLED := 1
RACED := ./rpc/server ./rpc/openenv ./agents/match ./agents/fleet/... ./agents/contest ./agents/contest/dropblox/... ./datasets/program/web
# Those left out are of one client that waits for each answer: they count allocations, bytes or refusals.
race-servers:
	$(GO) test -race -short -skip 'StepAllocatesNothing|ManyMappings|Refused|RecordMemory|CheckpointGoesOn|RelabelledPlay|ParseIsTheInverse|Damage|FuzzStates|ThatFloods|Bombs' $(AT_ONCE) -vet=off -timeout 15m $(RACED)
race-batches:
	$(GO) test -race -short -vet=off -timeout 15m -run 'SameBytes|Stream|Cancelled|CloneAll|Replay|Trace|Close|Panic' ./env/vec
race-training:
	$(GO) test -race -short -vet=off -timeout 15m -run 'TasksPlayTheSame|StopInARollout|AResumedRun|ARolloutHears' ./train/selfplay/...

# Tests that mostly wait, beside those of the learners and apart from the others.
APART := $(addprefix rpc/python/tests/,traps test_commands.py test_notebook.py test_site.py)
# The threads of PyTorch would wait for one another on busy cores.
python: export OMP_NUM_THREADS := 1
# Modules are compiled once, not by each interpreter, also where the environment says otherwise, as in many images. They
# lie beside their sources, where contained policies may read them, too, and write nothing.
python: export PYTHONDONTWRITEBYTECODE :=
python: export PYTHONPYCACHEPREFIX :=
# It fetches what it needs itself: as a prerequisite, that would let make begin all other parts before.
python: ## the Python client on real Gymnasium, PettingZoo and Stable-Baselines3, and a real server
	@$(MAKE) --no-print-directory $(VENV)/test
	@log=$$(mktemp); trap 'rm -f $$log' EXIT; failed=0; \
	$(PY) -m pytest -q -m 'not slow' --libraries rpc/python/tests/libraries/test_sb3.py \
	  rpc/python/tests/libraries/test_learning.py $(APART) >$$log 2>&1 & learners=$$!; \
	$(PY) -m pytest -q -m 'not slow' --durations=10 $(APART:%=--ignore=%) rpc/python/tests || failed=1; \
	wait $$learners || failed=1; cat $$log; exit $$failed
	$(PY) -m mypy --strict --config-file rpc/python/pyproject.toml rpc/python/blockyard
	$(PY) -m ruff check --quiet --config rpc/python/pyproject.toml rpc/python/blockyard
	cd rpc/python && $(abspath $(VENV))/bin/lint-imports --no-cache --no-logo

# The client is installed again whenever its sources or the server's change, from a wheel that the tests install too.
# PyTorch is that for this machine, without gigabytes of CUDA where there is no such GPU, if its own index can be reached.
# What the tests need has what the demo needs.
$(VENV)/ok: EXTRAS := demo
$(VENV)/docs: EXTRAS := docs
$(VENV)/test: EXTRAS := demo,test
$(VENV)/ok $(VENV)/docs $(VENV)/test: $(shell git ls-files 'rpc/*' 'env/*.go' 'agents/*.go' go.sum LICENSE .github/NOTICES 2>/dev/null)
	test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check uv
	rm -rf $(VENV)/wheel && $(PY) -m pip wheel --quiet --no-deps --wheel-dir $(VENV)/wheel rpc/python
	wheel="$$(echo $(VENV)/wheel/*.whl)[$(EXTRAS)]" uv="$(PY) -m uv pip install --quiet --reinstall-package blockyard --python $(PY)"; \
	  UV_HTTP_RETRIES=0 $$uv --torch-backend auto "$$wheel" 2>/dev/null || $$uv "$$wheel" || \
	  $(PY) -m pip install --quiet --force-reinstall "$$wheel"
	touch $@ $(if $(findstring test,$@),$(VENV)/ok)

# RLlib installs an older Gymnasium, so the large libraries have their own virtual environment.
libraries: CONSTRAINTS = $(CURDIR)/rpc/python/constraints-libraries.txt
libraries: ## all tests of the Python client: also the slow ones, and those with TorchRL, RLlib, Ray, pandas and Minari: 6 GB, 30 minutes
	test -x $(VENV)-libraries/bin/python || $(PYTHON) -m venv $(VENV)-libraries
	$(VENV)-libraries/bin/python -m pip install --quiet uv
	$(VENV)-libraries/bin/python -m uv pip install --quiet --python $(VENV)-libraries/bin/python './rpc/python[demo,test-libraries]'
	OMP_NUM_THREADS=1 $(VENV)-libraries/bin/python -m pytest -q --libraries rpc/python/tests

demo: ## train in Python, train by self-play in Go, export a contest bot: five minutes, results in demo-out/
	@.ci/setup demo
	@$(MAKE) --no-print-directory $(VENV)/ok
	PY=$(PY) GO=$(GO) OUT=$(OUT) bash train/scripts/demo.sh

cluster-demo: ## train with three processes, one of which is killed on the way: two minutes, results in demo-out/
	GO=$(GO) OUT=$(OUT) bash train/scripts/cluster-demo.sh

data: $(VENV)/ok ## games of weak to strong agents for offline learning, and their scores, in demo-out/data/; GAME (blockbattle), GAMES (400) of each
	$(PY) rpc/python/examples/graded_data.py --game $(or $(GAME),blockbattle) --games $(if $(filter file,$(origin GAMES)),400,$(GAMES)) --out $(OUT)/data

network: ## make the shipped network of GAME (blockbattle, ...) again, in some ten minutes, and compare
	GO=$(GO) bash train/scripts/shipped.sh $(GAME)

ablation: ## train Block Battle without one part of its recipe after the other: what each is worth; 40 CPU minutes
	GO=$(GO) bash train/scripts/ablation.sh

ladders: ## a round robin between the agents of every game, GAMES (40) of every two: tables, pictures in runs/ladder-GAME/
	$(GO) run ./agents ladder blockbattle random terms6 hand:ply=1 learned:ply=1 hand learned --games $(GAMES)
	$(GO) run ./agents ladder tetrisduel random hand:ply=1 learned:ply=1 hand learned --games $(GAMES)
	$(GO) run ./agents ladder blocking random greedy:ply=1 hand:ply=1 learned:ply=1 hand learned --games $(GAMES)
	$(GO) run ./agents ladder wintetris random hand learned --cap 1000 --games $(GAMES)
	$(GO) run ./agents ladder dropblox random left hand:width=5 learned:width=5 hand:width=20 learned:width=20 --games 10

# GAMES has another default elsewhere.
tetris-table: ## the policies of the literature on Tetris: GAMES on 10 rows (10000: minutes) and on 20 (20: hours); ONLY=10 or 20; goes on where it stopped
	$(if $(filter 20,$(ONLY)),,$(GO) run ./agents ladder wintetris:paper10 dt10 dt20 dellacherie --seed 900301 --games $(if $(filter file,$(origin GAMES)),10000,$(GAMES)))
	$(if $(filter 10,$(ONLY)),,$(GO) run ./agents ladder wintetris:paper20 dt20 dellacherie --seed 900302 --games $(if $(filter file,$(origin GAMES)),20,$(GAMES)))

bench: $(VENV)/ok ## Go benchmarks, the transports compared, and the trainer with PyTorch
	$(GO) test -run '^$$' -bench . -benchmem -cpu 1 ./env/... ./agents/... ./train/...
	$(PY) rpc/bench/run.py --only ours,floors --games BlockBattle-v0 --envs 1,4096 --out $(OUT) && cat $(OUT)/results.md
	$(PY) rpc/bench/learner.py

bench-against: ## CPU time of choices and steps beside the commit BASE; BENCH selects benchmarks, ROUNDS (7) repeats them
	GO=$(GO) $(PYTHON) .ci/bench-against $(BASE) --rounds $(or $(ROUNDS),7) $(if $(BENCH),--bench '$(BENCH)')

bench-goals: $(VENV)/ok ## every performance goal: before, now, ratio, met or missed: half an hour; ONLY a part, ROUNDS (7)
	GO=$(GO) $(PY) .ci/bench-against --rounds $(or $(ROUNDS),7) $(if $(ONLY),--only $(ONLY))

bench-python: $(VENV)/test ## benchmark against other libraries, in one run, with a table
	$(PY) rpc/bench/run.py

soak: $(VENV)/ok bundle ## the long tests, workers and, for MINUTES (60), a league and clients that are killed, stopped, slowed and cut off
	BLOCKYARD_LONG=1 $(GO) test -count 1 -timeout 60m -skip TestLeagueOfForty ./agents/... ./env/... ./datasets/program ./rpc/library
	BLOCKYARD_LONG=1 MINUTES=$(MINUTES) $(GO) test -count 1 -timeout 0 -run TestLeagueOfForty -v ./agents/commands
	BLOCKYARD_CHAOS=1 $(GO) test -count 1 -timeout 30m -run TestChaos -v ./train/commands
	$(PY) rpc/bench/chaos.py --minutes $(MINUTES)
	$(PY) rpc/bench/mixed.py --minutes $(MINUTES)

fuzz: ## every fuzz target for FUZZ each (30s)
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p 2>/dev/null | grep '^Fuzz' || true); do \
	    echo "== $$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZ) $$p; done; done

golden: ## write the golden playthroughs, protocol messages and pictures of the rules again; review the diff
	BLOCKYARD_UPDATE=1 $(GO) test ./env/... ./rpc/server

notices: ## write the licenses of all that is linked to .github/NOTICES again; review the diff
	BLOCKYARD_UPDATE=1 $(GO) test ./env -run TestNotices

# Two lists: RLlib wants an older Gymnasium. PyTorch itself says which version of each part of CUDA it needs.
COMPILE = cd rpc/python && UV_CONSTRAINT= UV_BUILD_CONSTRAINT= $(abspath $(PY)) -m uv pip compile --quiet --universal --no-annotate --custom-compile-command 'make constraints' $(if $(UPGRADE),--upgrade)
constraints: $(VENV)/ok ## choose the versions of Python packages again, UPGRADE=1 the newest; review the diff
	$(COMPILE) --python-version 3.10 $(addprefix --extra ,demo test plot examples release) pyproject.toml -o constraints.txt
	$(COMPILE) --python-version 3.11 --all-extras pyproject.toml -o constraints-libraries.txt
	sed -i -E '/^(nvidia|cuda|triton)\b/d' rpc/python/constraints*.txt

sign: ## compare agents/signatures.txt, one line per game and agent, with how the agents play now
	$(GO) run ./agents sign | diff agents/signatures.txt - && echo 'no change in play'

bundle: ## the shipped networks as contest bots, one file each, in bin/
	mkdir -p bin && $(GO) run ./agents bundle blockbattle --out bin/blockbattle_bot.go

plugin: ## the WinTetris solver as a shared library, with its header, in bin/
	mkdir -p bin && CGO_ENABLED=1 $(GO) build -buildmode=c-shared -o bin/libwintetris_solver.so ./agents/submit/wintetris
	cp agents/submit/wintetris/wintetris.h* bin/

binaries: ## the four programs for five platforms, in bin/; CHECK=1 builds them twice and compares
	.ci/binaries $(if $(CHECK),--check)

wheels: $(VENV)/ok ## the Python package for five platforms, in rpc/python/dist/
	$(PY) -m pip install --quiet hatchling twine ziglang && $(PY) rpc/python/wheels.py

playground: ## the games to play, and records to watch, as pages that need no server, in bin/playground/
	mkdir -p bin
	GOOS=js GOARCH=wasm CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags='-s -w' -o bin/playground.wasm ./agents/play/playground
	$(GO) run ./agents/play/playground bin/playground.wasm "$$($(GO) env GOROOT)/lib/wasm/wasm_exec.js" bin/playground
	cp LICENSE .github/NOTICES bin/playground/
	@echo bin/playground/index.html

docs: $(VENV)/docs ## the documentation site, in rpc/python/site/; warnings and broken links are errors
	cd rpc/python && NO_MKDOCS_2_WARNING=1 $(abspath $(PY)) -m mkdocs build --strict --quiet
	@echo rpc/python/site/index.html

release: $(VENV)/test ## everything of VERSION, built twice, compared, installed and played, in release/; PLATFORMS=linux/amd64,... for fewer
	@$(PY) -m pip install --quiet cyclonedx-bom hatchling twine ziglang
	GO=$(GO) .ci/release $(VERSION) --python $(abspath $(PY)) $(if $(PLATFORMS),--platforms $(PLATFORMS))

reproduce: ## measure the figures that are older than their code, and write the tables; ONLY=NAME some, FIGURE enters one, CHECK=1 compares
	@$(PYTHON) rpc/bench/reproduce.py $(if $(CHECK),--check,$(if $(ONLY),--only $(ONLY),--old)) $(if $(FIGURE),--figure '$(FIGURE)')

serve: ## a server on tcp:127.0.0.1:7777
	$(GO) run ./rpc serve --listen tcp:127.0.0.1:7777

clean: ## remove what the other targets made
	rm -rf $(VENV) $(VENV)-libraries bin release $(OUT) runs rpc/python/dist rpc/python/site
