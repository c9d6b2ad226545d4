.DEFAULT_GOAL := help
.PHONY: help build run test lint

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Gin's MessagePack would be a tenth of the binary, and nothing uses it.
TAGS := -tags=nomsgpack

build: ## Compile bin/despacho, one static binary
	CGO_ENABLED=0 go build -trimpath $(TAGS) -o bin/despacho ./cmd/despacho

# exec: Ctrl-C and SIGTERM reach the program itself, which stops what it started.
run: build ## Run the whole service on this machine, with demo data
	@exec bin/despacho dev

# With -trimpath the build cache does not depend on the clone's path. The garbage collector takes a
# tenth of the time of linking and testing. A program with the race detector ends at once; by default
# it stays a second to report races that are found while it ends.
test lint: export GOFLAGS += -trimpath $(TAGS)
test: export GOGC ?= 400
test: export GOMEMLIMIT ?= 1500MiB
test: export GORACE ?= atexit_sleep_ms=0
test: ## Run every suite, installing what the tests need
	@go build -o bin/testrunner ./cmd/testrunner
	@exec bin/testrunner

lint: ## Run gofmt, vet, staticcheck, workflowcheck, govulncheck and the checks of openapi.yaml and of what is in deploy
	@test/lint.sh
	@go test -C test/deploy -count=1 ./...

CLIENTS := clients
NODE := bin/npm/node_modules
.PHONY: generate generate-go generate-typescript
generate: generate-go generate-typescript ## Generate the types of the clients from api/openapi.yaml

generate-go:
	go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.1 -config clients/go/oapi-codegen.yaml \
		-o $(CLIENTS)/go/types.gen.go api/openapi.yaml

generate-typescript:
	test/openapi/install.sh
	REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true $(NODE)/.bin/redocly bundle \
		--config clients/typescript/redocly.yaml client -o bin/chosen.yaml
	$(NODE)/.bin/openapi-typescript bin/chosen.yaml --default-non-nullable false -o $(CLIENTS)/typescript/openapi.d.ts
	$(NODE)/.bin/tsc -p $(CLIENTS)/typescript --typeRoots $(NODE)/@types

.PHONY: record
record: ## Record the histories that running orders are held to
	go test ./worker -run TestRecord -count=1 -record

.PHONY: lab
lab: # what bench, chaos and drill run: a module of its own, which is not shipped
	@CGO_ENABLED=0 go build -C test/lab -trimpath $(TAGS) -o ../../bin/lab .

.PHONY: bench
bench: build lab ## Measure the numbers of docs/benchmarks.md on this machine (BENCH=--quick to try it)
	@exec bin/lab bench $(BENCH)

.PHONY: screenshots
screenshots: ## Take the pictures of README and docs/panel.md, and one of every page in every window (PICTURES=directory)
	go test ./test/browser -run TestScreenshots -count=1 -screenshots="$(CURDIR)/docs/images"
	$(if $(PICTURES),go test ./test/browser -run TestAccessibility_ofEveryPage -count=1 -timeout 1h -pictures="$(abspath $(PICTURES))")

SEED ?= 1
DURATION ?= 5m
.PHONY: chaos
chaos: build lab ## Break everything under load and check the promises of docs/reliability.md (SEED=1 DURATION=5m)
	@exec bin/lab chaos --seed $(SEED) --duration $(DURATION)

# A number of inputs, not a time: its end is reported as a failure now and then (golang/go#75804).
FUZZ ?= 100000x
.PHONY: fuzz
fuzz: ## Run every fuzz target (FUZZ=100000x, how many inputs each gets)
	@grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z]+' . | sed 's/:func / /' | while read -r file name; do \
		go test -run '^$$' -fuzz "^$$name$$" -fuzztime $(FUZZ) "$$(dirname "$$file")" || exit 1; done

DRILL ?=
.PHONY: drill
drill: build lab ## Back up and restore the service in every documented way, under load (DRILL="--only base-backup")
	@exec bin/lab drill $(DRILL)

VERSION ?=
.PHONY: release release-verify
release: ## Build binaries, the lists of their modules and checksums of a release into dist (VERSION=<the commit's tag or id>)
	@VERSION="$(VERSION)" deploy/release.sh

release-verify: ## Build a release twice, the second time elsewhere and without the build cache, and compare the bytes
	@VERSION="$(VERSION)" deploy/release.sh --verify
