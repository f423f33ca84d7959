# Each target installs what it needs, and says so; see .ci/prepare. What it does stands in the script it calls.

ifneq ($(filter 0.% 1.% 2.% 3.%,$(MAKE_VERSION)),)
$(error This is make $(MAKE_VERSION), and Perch needs GNU make 4 or newer: use that of Debian 12)
endif

.PHONY: help run test lint format proto bench bench-redis bench-churn bench-pictures modelcheck simulate power fuzz hostile bugbank mutants recorder profile static clean
.DEFAULT_GOAL := help

help: ## Print these lines
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1	\2/p' Makefile | expand -t 18

run: ## Build the server and start it on 127.0.0.1:7447 with the sample catalogue
	@.ci/serve

test: ## Build everything and run every test
	@.ci/test

lint: ## Check form, layers, generated code, contract and dependencies
	@.ci/lint

format: ## Lay out all Swift files as .swift-format says
	@.ci/prepare
	swift format format --in-place --parallel --recursive Package.swift Sources Tests

proto: ## Write the C code of the contract anew, after a change in proto/
	@proto/generate.sh

bench: ## Run the benchmarks, in a release build
	@.ci/bench

bench-redis: ## The same beside Redis, which is installed for it
	@.ci/bench redis

bench-churn: ## Resident memory under churn, for LASTING=10m (or 1h)
	@.ci/bench churn $(or $(LASTING),10m)

bench-pictures: ## The reports of the last benchmarks as a browser shows them, which is installed for it
	@.ci/bench pictures

modelcheck: ## Live SEQUENCES=1000 random sequences of events against the laws of the model, from seed FROM=1 on
	@.ci/simulate model $(or $(SEQUENCES),1000) $(or $(FROM),1)

simulate: ## Live SEEDS=1000 lives of a server and its clients, from seed FROM=1 on
	@.ci/simulate seeds $(or $(SEEDS),1000) $(or $(FROM),1)

power: ## Cut the power of stores CUTS=10000 times, of lives from seed FROM=1 on
	@.ci/simulate cuts $(or $(CUTS),10000) $(or $(FROM),1)

fuzz: ## Fuzz TARGET=… (all) for SECONDS=60 each, with AddressSanitizer; PLANT=1: is a planted defect found?
	@Tests/Fuzz/run $(or $(SECONDS),60) $(TARGET)

hostile: ## Attack a server at full length, then one without the protections, which every attack must defeat
	@Tests/Hostile/run --full
	@Tests/Hostile/run --control

bugbank: ## Put known defects back, one at a time, and see each of them caught
	@Tests/BugBank/run

mutants: ## Break each rule of the store's table, one at a time, and see which scenarios notice
	@.ci/prepare
	@Tests/Mutants/run

recorder: ## Watch EVENTS=100000 pushes of a server through kill -9 and check its promises; SEED=N repeats a run
	@.ci/prepare
	@swift build --product perch
	@Tests/Recorder/run --events $(or $(EVENTS),100000) $(if $(SEED),--seed $(SEED))

profile: ## Count anew what a server does often, for the layout of release builds
	@.ci/profile

static: ## Build a binary with its own Swift runtime, as .build/perch-static
	@.ci/static

clean: ## Remove what was built (the store of make run stays, in .perch)
	rm -rf .build
