# Every chore is one word; `make help` lists them.
SHELL  := bash
.SHELLFLAGS := -eu -o pipefail -c
GO     ?= go
PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
OUT    ?= demo-out
FUZZ   ?= 30s
export CGO_ENABLED ?= 1

.DEFAULT_GOAL := help
.PHONY: help test vet go race python demo bench fuzz golden sign bundle plugin serve clean

help: ## list the chores
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

test: vet go race python ## everything: vet, staticcheck, Go tests, races, the Python client on a real server

vet: ## go vet, gofmt and staticcheck
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo 'not gofmt-ed:'; gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

go: ## Go tests
	$(GO) test -timeout 15m ./...

race: ## Go tests under the race detector, where goroutines meet
	$(GO) test -race -short -timeout 15m ./env/vec ./rpc/server ./rpc/wire ./agents/match ./agents/contest ./agents/dropbloxlive/... ./train/td

python: $(VENV)/ok ## the Python client's tests on real Gymnasium and a real server
	$(PY) -m pytest -q rpc/python/tests
	$(PY) -m mypy --strict --config-file rpc/python/pyproject.toml rpc/python/blockyard

# The client is installed again whenever its sources or the server's change.
$(VENV)/ok: $(shell git ls-files 'rpc/*' 'env/*.go' 'agents/*.go' go.sum 2>/dev/null)
	test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check './rpc/python[demo,test]'
	touch $@

demo: $(VENV)/ok ## a Python trainer, self-play in Go, a contest bot from it: five minutes, everything in demo-out/
	PY=$(PY) GO=$(GO) OUT=$(OUT) bash train/demo.sh

bench: ## named benchmarks, and the wire against in-process stepping
	$(GO) test -run '^$$' -bench . -benchmem -cpu 1 ./env/... ./agents/...
	$(GO) run ./rpc bench

fuzz: ## every fuzz target for FUZZ each (30s)
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p 2>/dev/null | grep '^Fuzz' || true); do \
	    echo "== $$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZ) $$p; done; done

golden: ## record the playthroughs and the messages on the wire again: the diff is the review
	BLOCKYARD_UPDATE=1 $(GO) test ./env/... ./rpc/server

sign: ## compare agents/signatures.txt, a line per game and player, with how they play now
	$(GO) run ./agents sign | diff agents/signatures.txt - && echo 'no change in play'

bundle: ## the shipped nets as contest bots, one file each, in bin/
	mkdir -p bin && $(GO) run ./agents bundle blockbattle --out bin/blockbattle_bot.go

plugin: ## the WinTetris solver as a shared library, with its header, in bin/
	mkdir -p bin && $(GO) build -buildmode=c-shared -o bin/libwintetris_solver.so ./agents/wintetrisplugin
	cp agents/wintetrisplugin/wintetris.h* bin/

serve: ## a server on tcp:127.0.0.1:7777
	$(GO) run ./rpc serve --listen tcp:127.0.0.1:7777

clean: ## remove what the chores made
	rm -rf $(VENV) bin $(OUT) runs
