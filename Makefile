# Each target installs what it needs and reports it (.ci/prepare). The called script documents the target.

ifneq ($(filter 0.% 1.% 2.% 3.%,$(MAKE_VERSION)),)
$(error This is make $(MAKE_VERSION), Perch needs GNU make 4 or newer: install Debian 12's)
endif

.PHONY: help run install man test check lint format proto transcription bench bench-redis bench-churn bench-pictures interop clients modelcheck simulate simulate-nodes power fuzz hostile bugbank mutants journeys profile static clean
.DEFAULT_GOAL := help

help: ## Print this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1	\2/p' Makefile | expand -t 18

run: ## Build the server and start it on 127.0.0.1:7447 with the sample catalogue
	@.ci/serve

install: ## Build a release and install it, its man pages and completions below PREFIX=~/.local
	@.ci/install "$(or $(PREFIX),$(HOME)/.local)"

man: ## Write the man pages, as .build/man/*.1
	@.ci/install --man

test: ## Build everything, run the unit tests and all trials, and report each
	@.ci/test

check: ## Build everything and run the unit tests; Tests/run NAME… runs single trials, Tests/run --list has their names
	@.ci/test build unit

lint: ## Check format, layers, generated code, contract and dependencies
	@.ci/lint

format: ## Format all Swift files by .swift-format
	@.ci/prepare
	swift format format --in-place --parallel --recursive Package.swift Sources Tests

proto: ## Generate the contract's C and Swift code again, after a change in proto/
	@proto/generate.sh

transcription: ## Count the hand-written lines that name a field of the contract
	@proto/generate.sh --count

bench: ## Run the benchmarks, in a release build
	@.ci/bench

bench-redis: ## Run the benchmarks with Redis, which is installed if missing
	@.ci/bench redis

bench-churn: ## Measure resident memory under reconnects for LASTING=10m
	@.ci/bench churn $(or $(LASTING),10m)

bench-pictures: ## Take screenshots of the last reports in Chromium, which is installed if missing
	@.ci/bench pictures

clients: ## Build the packages of the clients in other languages, in .build/clients
	@python3 proto/clients/python/backend/perch_build.py .build/clients

interop: ## Test clients in all languages, proxies and a browser against a server, and install what is missing
	@Tests/Interop/clients

console: ## Test the console in Chromium at full length: 100,000 accounts, and the memory of a page
	@Tests/Console/run --full

console-pictures: ## Take pictures of every page of the console, in .build/console-pictures
	@Tests/Console/run --pictures

modelcheck: ## Check the model's laws on SEQUENCES=1000 random sequences, from seed FROM=1 on
	@.ci/simulate model $(or $(SEQUENCES),1000) $(or $(FROM),1)

simulate: ## Simulate SEEDS=1000 servers with clients, from seed FROM=1 on
	@.ci/simulate seeds $(or $(SEEDS),1000) $(or $(FROM),1)

simulate-nodes: ## Simulate SEEDS=10000 times three nodes on one database, from seed FROM=1 on
	@.ci/simulate nodes $(or $(SEEDS),10000) $(or $(FROM),1)

power: ## Simulate CUTS=10000 power losses of a store, from seed FROM=1 on
	@.ci/simulate cuts $(or $(CUTS),10000) $(or $(FROM),1)

fuzz: ## Fuzz TARGET=… (all) for SECONDS=60 each, with AddressSanitizer; PLANT=1 plants a defect that must be found
	@Tests/Fuzz/run $(or $(SECONDS),60) $(TARGET)

hostile: ## Attack a server at full length, then one without the protections, which every attack must defeat
	@Tests/Hostile/run --full
	@Tests/Hostile/run --control

bugbank: ## Reintroduce known defects one at a time; tests must find each
	@Tests/BugBank/run

mutants: ## Break each rule of the store's table one at a time; scenarios must notice
	@.ci/prepare
	@Tests/Mutants/run

journeys: ## Play every journey at length, beside an earlier version too, then each without its protection: it must fail
	@Tests/Journeys/run --full
	@Tests/Journeys/run --full rolling_upgrade
	@Tests/Journeys/run --control

profile: ## Record the execution profile for the layout of release builds
	@.ci/profile

static: ## Build .build/perch-static, a binary with its own Swift runtime
	@.ci/static

clean: ## Remove the build; the store of make run stays in .perch
	rm -rf .build
