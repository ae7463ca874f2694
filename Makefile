# Everything one does with a working copy. "make help" lists it.

PYTHON ?= python3
BIN := .venv/bin
UV_COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header --no-annotate

# Several tests start engines of their own: a small machine can run two at a time.
WORKERS ?= 2

# Python keeps what it compiles, whatever the environment says: without that, each process of the tests takes seconds more.
unexport PYTHONDONTWRITEBYTECODE

# The CDK's own tools: no telemetry, no advice about Node.
export CDK_DISABLE_CLI_TELEMETRY := true
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION := 20,22,24
export JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION := 20,22,24
export JSII_SILENCE_WARNING_DEPRECATED_NODE_VERSION := 20,22,24

.DEFAULT_GOAL := help
.PHONY: help install checkov sam mcp audit sbom dynamodb-local run stop reset status env invoke check style types features format quick behaviour data test thorough \
	test-all mutants fire drift interleave bench lock docs demo pictures fork adopt portable synth clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-9s %s\n", $$1, $$2 }'

install: .venv/.installed node_modules/.installed ## Create the environment and install everything, as locked

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
		|| { echo "Python 3.11 or later is needed as $(PYTHON); name another with make PYTHON=python3.12 $(MAKECMDGOALS)."; exit 1; }
	@$(PYTHON) -m venv .venv >/dev/null 2>&1 \
		|| { rm -rf .venv; echo "$(PYTHON) cannot make a virtual environment (on Debian: apt install python3-venv)."; exit 1; }

# uv is ten times as fast; pip is there for those whose registry only pip's configuration knows.
.venv/.installed: .venv/bin/python pyproject.toml requirements/installer.txt requirements/dev.txt
	@echo "Installing the Python packages ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/installer.txt
	@$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes --no-build-isolation requirements/dev.txt \
		|| $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-build-isolation \
			-r requirements/dev.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

# Both pin other versions of what the rest needs, so each has an environment of its own.
checkov: .venv-checkov/.installed ## Install checkov, which the tests hold the templates against

sam: .venv-sam/.installed ## Install the AWS SAM CLI, to run functions with Docker and for its opinion on the templates

.venv-%/.installed: .venv/.installed requirements/%.txt
	@echo "Installing $* ..."
	@rm -rf .venv-$*
	@$(BIN)/python -m venv .venv-$*
	@$(BIN)/uv pip sync --quiet --python .venv-$*/bin/python --require-hashes --no-build requirements/$*.txt \
		|| .venv-$*/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes \
			--only-binary :all: -r requirements/$*.txt
	@touch $@

mcp: .venv-mcp/.installed ## Install the SDK of the Model Context Protocol, for tools of assistants

audit: install .venv-audit/.installed ## Ask PyPI and npm for known vulnerabilities of the locked packages
	@$(BIN)/python -m tools.audit

# No package of Node is in an artifact.
sbom: install .venv-audit/.installed ## List in build/sbom what each artifact, and what builds it, is made of (CycloneDX)
	@mkdir -p build/sbom
	@for name in $(notdir $(basename $(wildcard requirements/lambda-*.txt))) dev; do \
		.venv-audit/bin/cyclonedx-py requirements --output-reproducible --pyproject pyproject.toml \
			-o build/sbom/$$name.cdx.json requirements/$$name.txt || exit 1; done

# Of npm's package the engine alone: what the package needs besides would be most of node_modules, and nothing runs it.
dynamodb-local: .dynamodb-local/.installed ## Install Amazon's DynamoDB Local, an engine of the tests (its licence asks for an AWS account)

.dynamodb-local/.installed: requirements/dynamodb-local.sha512
	@command -v npm >/dev/null || { echo "npm is missing: it comes with Node.js."; exit 1; }
	@echo "Installing DynamoDB Local ..."
	@rm -rf .dynamodb-local && mkdir .dynamodb-local
	@archive=$$(cut -d ' ' -f 3 $<) && cd .dynamodb-local \
		&& npm pack --silent "amplify-dynamodb-simulator@$$(echo "$$archive" | sed 's/.*-//; s/[.]tgz$$//')" >/dev/null \
		&& { sha512sum --status --check ../$< 2>/dev/null || shasum --algorithm 512 --status --check ../$<; } \
		&& tar -xzf "$$archive" --strip-components 2 package/emulator && rm "$$archive"
	@touch $@

# What runs the site in a browser's tab: Pyodide, and for its Python the libraries that are not pure Python.
.venv-demo/.installed: .venv/.installed node_modules/.installed requirements/demo.txt demo/package.json demo/package-lock.json
	@echo "Installing what the demo is made of ..."
	@rm -rf .venv-demo && mkdir .venv-demo && cp demo/package.json demo/package-lock.json .npmrc .venv-demo
	@npm ci --silent --prefix .venv-demo
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: \
		--platform pyemscripten_2026_0_wasm32 --python-version 3.14 --implementation cp --abi cp314 --abi abi3 \
		--target .venv-demo/site-packages -r requirements/demo.txt
	@touch $@

node_modules/.installed: package.json package-lock.json
	@command -v node >/dev/null && command -v npm >/dev/null \
		|| { echo "Node.js is missing: install version 22 or later (with npm); the CDK runs on it."; exit 1; }
	@node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)' \
		|| { echo "Node.js is $$(node --version): the CDK needs 20 or later, 22 better."; exit 1; }
	@echo "Installing the Node packages ..."
	@npm ci --silent
	@touch $@

run: install ## Start the local cloud with the site and sample deals (BTD_PORT: its port; EMPTY=yes: no deals)
	@$(BIN)/python -m tools.folders
	@EMPTY=$(EMPTY) $(BIN)/python -m local up

stop: .venv/.installed ## Stop the local cloud, keeping its data
	@$(BIN)/python -m local down

reset: .venv/.installed ## Stop the local cloud and empty it
	@$(BIN)/python -m local reset

status: .venv/.installed ## Say whether the local cloud runs
	@$(BIN)/python -m local status

# Without what installs: whatever it said would be taken for a command.
env: ## Print what a shell needs for AWS's own tools on the local cloud: eval "$(make env)"
	@$(BIN)/python -m local env

invoke: install ## Run a function of the local cloud as Lambda does (FUNCTION=seed; EVENT: a file, else one of events/)
	@$(BIN)/python -m tools.invoke $(FUNCTION) $(EVENT)

check: style types ## Check style, types and the documents' links

style: .venv/.installed
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/python -m tools.links --check

types: .venv/.installed
	@$(BIN)/python -m tools.roles

format: .venv/.installed ## Format the code, and write the generated files again
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .
	@$(BIN)/python -m tools.folders tools.generated
	@$(BIN)/python -m tools.folders

features: .venv/.installed
	@$(BIN)/python -m tools.folders tools.generated --if-features-changed
	@$(BIN)/python -m tools.folders

# Three tiers of tests. Types and tests run side by side: mypy takes half a minute, and much of the tests' time is waiting.
quick: install features style ## Check style, types and the data layer on the fast engine: 4 minutes
	@$(MAKE) --no-print-directory --jobs 2 types data

test: install features style ## Check style, types and the whole behaviour, once: 7 to 20 minutes on two cores
	@$(MAKE) --no-print-directory --jobs 2 types behaviour

# Not as prerequisites, which "make --jobs" would run side by side.
test-all: ## Run everything: "make test", then "make thorough": 22 to 50 minutes on two cores
	@$(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory thorough

# Some tests run make: it must not look for the job server of this one.
PYTEST = MAKEFLAGS= $(BIN)/pytest -q -n $(WORKERS) --dist loadgroup --durations 15

# The code of the last release is left to "make test".
data:
	@$(PYTEST) -m "not thorough and not slow_engine" --ignore tests/data/test_releases.py tests/test_architecture.py tests/data

behaviour:
	@$(PYTEST) -m "not thorough"

thorough: install checkov sam dynamodb-local ## Run what "make test" leaves out: other engines, scanners, fuzzing, every state of every page
	@$(PYTEST) -m thorough

# It goes on where it was interrupted, and tries again what has changed; "make clean" lets it begin anew.
mutants: install ## Put faults into the data layer, one by one, and say which of them no test notices: an hour or more
	@nice $(BIN)/mutmut run --max-children $(WORKERS)
	@$(BIN)/python -m benchmarks.mutants

fire: install ## Let schemathesis fire at a deployed API as each role (FIRE_SECONDS, for each: 600)
	@FIRE_SECONDS=$(or $(FIRE_SECONDS),600) $(BIN)/pytest -q -n 0 -s tests/e2e/test_gateway.py -k departs

drift: install ## Act at random while answers are lost, and tell 20,000 users of a hot deal (DRIFT_ACTIONS: 50,000)
	@DRIFT_ACTIONS=$(or $(DRIFT_ACTIONS),50000) FAN_OUT_USERS=20000 \
		$(BIN)/pytest -q -n 0 -s tests/faults/test_drift.py tests/faults/test_fan_out.py

interleave: install ## Try all pairs of writes in all orders of their requests, and all crashes, for 15 minutes; again goes on
	@PYTHONPATH=. nice $(BIN)/python -m tests.interleave

bench: install ## Measure, and write the tables of docs/benchmarks.md (one only: BENCH=starts)
	@$(BIN)/python -m benchmarks $(BENCH)

lock: .venv/.installed ## Resolve requirements/*.in again
	@cd requirements && ../$(UV_COMPILE) --upgrade dev.in -o dev.txt
	@cd requirements && for name in lambda-lean lambda-full lambda-pictures lambda-passkeys lambda-runtime btd installer; do \
		../$(UV_COMPILE) -c dev.txt $$name.in -o $$name.txt || exit 1; done
	@cd requirements && for name in checkov sam audit; do ../$(UV_COMPILE) --upgrade $$name.in -o $$name.txt || exit 1; done
	@cd requirements && ../$(UV_COMPILE) -c dev.txt --no-deps demo.in -o demo.txt
	@cd requirements && ../$(UV_COMPILE) -c dev.txt --upgrade bench-powertools.in -o bench-powertools.txt
	@cd requirements && ../$(UV_COMPILE) -c dev.txt --upgrade mcp.in -o mcp.txt
	@npm install --package-lock-only --silent
	@npm install --package-lock-only --silent --prefix demo

docs: install .venv-demo/.installed ## Build the documents' site, and the demo in it, in build/docs (SERVE=yes: serve it on port 8000)
	@$(BIN)/python -m demo.packing
	@$(BIN)/python -m tools.site
	@$(if $(SERVE),$(BIN)/python -m http.server --bind 127.0.0.1 --directory build/docs 8000)

demo: install .venv-demo/.installed ## Build the site in a browser's tab in build/demo (SERVE=yes: and serve it on port 8001)
	@$(BIN)/python -m demo.packing
	@$(if $(SERVE),echo "http://127.0.0.1:8001/" && $(BIN)/python -m http.server --bind 127.0.0.1 --directory build/demo 8001)

pictures: install ## Take the pictures of docs/site.md
	@$(BIN)/python -m tests.support.pictures

fork: install ## Copy the project without some features (WITHOUT="NAME"; TO: a new folder)
	@$(BIN)/python -m tools.fork "$(TO)" $(WITHOUT)

# It is run with the folder as PYTHONPATH: python3 -c "import cli; cli.start()" probe
portable: install ## Put btd, as committed, and its packages in build/btd, for a Python that installs none (FOR=/usr/bin/python3)
	@rm -rf build/btd
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --target build/btd --require-hashes --no-deps --no-build-isolation \
		--python-version "$$($(or $(FOR),python3) -c 'import sys; print("%d.%d" % sys.version_info[:2])')" -r requirements/btd.txt
	@git archive HEAD cli docs features functions infra local shared tools web | tar -x -C build/btd

adopt: install ## Rename the site, its stacks and metrics in this checkout (NAME="Corner Bargains")
	@$(BIN)/python -m tools.adopt "$(NAME)"

synth: install ## Write the templates to cdk.out (STAGE=dev, prod)
	@node_modules/.bin/cdk synth --quiet --context stage=$(or $(STAGE),dev) --context uncompiled=yes $(if $(FIRST),--context first=yes)

clean: ## Remove what was built or cached, but not the local cloud's data
	@rm -rf build cdk.out .mypy_cache .ruff_cache .pytest_cache .hypothesis mutants *.egg-info
	@find . -name __pycache__ -not -path './.venv/*' -not -path './node_modules/*' -prune -exec rm -rf {} +
