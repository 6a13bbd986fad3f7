SHELL := /bin/bash
PY := .venv/bin/python
STAMP := .venv/.installed
MODELS := .proviso/models
TYPESCRIPT := clients/typescript

GATEWAY := clients/nestjs
PAGE := clients/nestjs/page
NODE_STAMP := node_modules/.installed
DEPLOY_TOOLS := build/bin/helm build/bin/compose

.PHONY: settings setup demo serve web test node go chromium check-typescript check-web test-typescript test-web lint fmt type imports proto check-proto contract-image bench guards chaos drill eval train lock licences audit sbom

setup: $(STAMP) $(MODELS)/minilm-int8/manifest.json

# Bytecode is written here, once, also where Python is told not to write any: starting the service without takes twice as long.
# The locks are whole, and leave out what dependencies ask for in vain: see pyproject.toml.
$(STAMP): requirements/runtime.txt requirements/dev.txt pyproject.toml clients/python/pyproject.toml
	@test -x $(PY) || python3 -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	{ echo "Proviso needs Python 3.11 or newer with venv: install it, or put it on your PATH as python3." >&2; exit 1; }
	test -x $(PY) || python3 -m venv .venv
	$(PY) -m pip install -q --disable-pip-version-check --require-hashes --no-deps -r requirements/runtime.txt -r requirements/dev.txt
	$(PY) -m pip install -q --disable-pip-version-check --no-build-isolation --no-deps -e clients/python -e .
	-PYTHONDONTWRITEBYTECODE= $(PY) -m compileall -qq -j 0 .venv/lib service clients/python
	touch $@

$(MODELS)/minilm-int8/manifest.json: $(STAMP) service/proviso_service/embedded/tuned/judge.npz
	.venv/bin/proviso prepare --models-dir $(MODELS)
	touch $@

demo: setup
	.venv/bin/proviso demo

serve: setup
	.venv/bin/proviso serve

# The suite starts many processes, which read one another's bytecode also where it is not written otherwise.
test: export PYTHONDONTWRITEBYTECODE =
# One process more than there are cores, for tests wait for the processes that they start; four have to be enough.
WORKERS = $(shell cores=$$(getconf _NPROCESSORS_ONLN); echo $$((cores < 3 ? cores + 1 : 4)))

test: node go setup imports $(DEPLOY_TOOLS) test-typescript test-web
	$(PY) -m pytest -n $(WORKERS) --dist worksteal

# What checks deploy/: built here, for a first build takes minutes.
build/bin/helm: PACKAGE := helm.sh/helm/v4/cmd/helm
build/bin/compose: PACKAGE := github.com/compose-spec/compose-go/v2/cmd
$(DEPLOY_TOOLS): requirements/deploy/go.mod requirements/deploy/go.sum | go
	go -C requirements/deploy build -o $(CURDIR)/$@ $(PACKAGE)

check-typescript: $(STAMP) $(TYPESCRIPT)/$(NODE_STAMP)
	cd $(TYPESCRIPT) && npm run -s lint && npm run -s typecheck

# It is built already: the script's own build would make what the gateway has of it look old.
test-typescript: setup $(TYPESCRIPT)/esm/index.js
	cd $(TYPESCRIPT) && npm run -s test --ignore-scripts

check-web: $(GATEWAY)/$(NODE_STAMP) $(PAGE)/$(NODE_STAMP)
	cd $(GATEWAY) && npm run -s lint && npm run -s typecheck
	cd $(PAGE) && npm run -s lint && npm run -s typecheck

web: setup $(GATEWAY)/dist/main.js $(PAGE)/dist/index.html
	node $(GATEWAY)/scripts/web.mjs

test-web: setup chromium $(GATEWAY)/dist/main.js $(PAGE)/dist/index.html
	cd $(GATEWAY) && npm run -s test
	cd $(PAGE) && npm run -s test && npm run -s test:browser

$(TYPESCRIPT)/$(NODE_STAMP) $(PAGE)/$(NODE_STAMP): %/$(NODE_STAMP): %/package.json %/package-lock.json | node
	cd $* && npm ci --no-audit --no-fund --loglevel error
	touch $@

# The gateway has a copy of the client, not a link to it: each would have a grpc-js of its own.
$(GATEWAY)/$(NODE_STAMP): $(GATEWAY)/package.json $(GATEWAY)/package-lock.json $(TYPESCRIPT)/esm/index.js | node
	cd $(GATEWAY) && npm ci --no-audit --no-fund --loglevel error
	touch $@

$(TYPESCRIPT)/esm/index.js: $(TYPESCRIPT)/$(NODE_STAMP) $(shell find $(TYPESCRIPT)/src protos -type f)
	cd $(TYPESCRIPT) && npm run -s build

$(GATEWAY)/dist/main.js: $(GATEWAY)/$(NODE_STAMP) $(shell find $(GATEWAY)/src -type f)
	cd $(GATEWAY) && npm run -s build

$(PAGE)/dist/index.html: $(PAGE)/$(NODE_STAMP) $(PAGE)/index.html $(shell find $(PAGE)/src $(PAGE)/public -type f)
	cd $(PAGE) && npm run -s build

node:
	@node -e 'const [major, minor] = process.versions.node.split(".").map(Number); process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)' 2>/dev/null && npm --version >/dev/null 2>&1 || \
	{ echo "The TypeScript client, the gateway and the page need Node.js 20.19 or newer with npm: install it, or put it on your PATH." >&2; exit 1; }

go:
	@[ "$$(printf '%s\n' go1.26 "$$(go -C clients/go env GOVERSION 2>/dev/null)" | sort --version-sort | head -1)" = go1.26 ] || \
	{ echo "The Go client and its tests need Go 1.26 or newer: install it, or put it on your PATH." >&2; exit 1; }

# The system's browser where there is one; else it is taken from npm, into .proviso.
chromium: node
	@requirements/chromium/find.mjs >/dev/null

lint: $(STAMP) imports
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/lint-imports
	PATH=$(CURDIR)/.venv/bin:$$PATH .venv/bin/buf lint protos
	PATH=$(CURDIR)/.venv/bin:$$PATH .venv/bin/buf breaking protos --against protos/contract.binpb
	PATH=$(CURDIR)/.venv/bin:$$PATH .venv/bin/buf format protos --diff --exit-code

fmt: $(STAMP)
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .
	PATH=$(CURDIR)/.venv/bin:$$PATH .venv/bin/buf format protos -w

type: $(STAMP)
	.venv/bin/mypy service/proviso_service clients/python/proviso_client tests benchmarks evals protos/plugins requirements

# What the contract imports of others, for buf and for the tests that compile it.
imports: $(STAMP) go
	protos/imports.sh

# The code of all clients is generated, committed, and checked for freshness.
proto: $(STAMP) $(TYPESCRIPT)/$(NODE_STAMP) go
	protos/generate.sh

check-proto: $(STAMP) $(TYPESCRIPT)/$(NODE_STAMP) go
	protos/generate.sh --check

# What `buf breaking` compares with. The contract is frozen, so the image is only added to: make it anew with a release.
contract-image: $(STAMP) imports
	PATH=$(CURDIR)/.venv/bin:$$PATH .venv/bin/buf breaking protos --against protos/contract.binpb
	PATH=$(CURDIR)/.venv/bin:$$PATH .venv/bin/buf build protos --exclude-source-info -o - | $(PY) protos/plugins/without_imports.py > protos/contract.binpb

# docs/settings.md, from settings.py.
settings: $(STAMP)
	PYTHONPATH=service .venv/bin/python -m proviso_service.variables > docs/settings.md

# All comparisons; SECTIONS="turns search" measures some of them. Writes benchmarks/results.md and docs/charts.
bench: setup
	$(PY) -m benchmarks --write $(SECTIONS)

# Fails when something that was made fast costs twice what it did.
guards: setup
	$(PY) -m benchmarks.guards

# Each row of the table in docs/reliability.md; ROWS="backup disk-full" carries out some of them.
chaos: setup
	$(PY) -m tests.chaos $(ROWS)

# Replicas and workers behind Envoy while they, Redis and PostgreSQL are killed: docs/reliability.md. OPTIONS="--minutes 5 --chats 20".
drill: setup
	$(PY) -m tests.drill $(OPTIONS)

# Tunes the embedded models anew: some three hours on two cores, and then what is fitted on them. DATA has cuad and contract_nli.
train: setup
	$(PY) -m pip install -q --disable-pip-version-check --require-hashes -r requirements/training/requirements.txt
	$(PY) -m evals.training --data $(DATA)
	.venv/bin/proviso prepare --models-dir $(MODELS)
	$(PY) -m evals.fit_classifier --data $(DATA)/cuad --cache .proviso/evals
	$(PY) -m evals.fit_extractor --data $(DATA)/cuad --cache .proviso/evals

# Most figures of evals/README.md. DATA has cuad and contract_nli.
eval: setup
	$(PY) -m evals.contracts --data $(DATA)
	$(PY) -m evals.contracts --data $(DATA) --without-concepts
	$(PY) -m evals.floor --data $(DATA)/cuad --cache .proviso/evals
	$(PY) -m evals.chat --data $(DATA)/cuad
	$(PY) -m evals.languages --data $(DATA)/cuad
	$(PY) -m evals.labels --data $(DATA)/cuad --nli $(DATA)/contract_nli/dev.json
	$(PY) -m evals.selection --models-dir $(MODELS)

LOCK := $(PY) -m uv pip compile --universal --python-version 3.11 --generate-hashes --no-header -q

NPM_LOCK := --package-lock-only --omit-lockfile-registry-resolved --no-audit --no-fund --loglevel error

# What runs has the extra `replicas`, so that the image does.
lock:
	$(LOCK) --extra replicas --extra languages --no-emit-package proviso-client pyproject.toml -o requirements/runtime.txt
	$(LOCK) --group dev -c requirements/runtime.txt -o requirements/dev.txt
	$(LOCK) --group build -c requirements/dev.txt -o requirements/build.txt
	$(LOCK) requirements/mcp-servers/requirements.in -o requirements/mcp-servers/requirements.txt
	$(LOCK) --no-config requirements/competitors/requirements.in -o requirements/competitors/requirements.txt
	$(LOCK) --no-config -c requirements/dev.txt requirements/training/requirements.in -o requirements/training/requirements.txt
	for folder in mcp-servers chromium; do (cd requirements/$$folder && npm install $(NPM_LOCK)) || exit; done

# Which licences the packages of all locks have; fails for one that requirements/accepted.toml does not allow.
licences: $(STAMP)
	$(PY) -m requirements.licences

# Compares all locks with the advisories of osv.dev.
audit: $(STAMP)
	$(PY) -m requirements.audit

# What is shipped, as CycloneDX files in build/sbom.
sbom: $(STAMP) node go
	mkdir -p build/sbom
	$(PY) -m uv tool run --from cyclonedx-bom==7.5.0 cyclonedx-py requirements requirements/runtime.txt --pyproject pyproject.toml -o build/sbom/service.cdx.json
	set -o pipefail; $(foreach part,$(TYPESCRIPT) $(GATEWAY) $(PAGE),(cd $(part) && npm sbom --package-lock-only --sbom-format cyclonedx) | node requirements/shipped.mjs > build/sbom/$(notdir $(part)).cdx.json &&) true
	go run github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0 mod -json -output build/sbom/go.cdx.json clients/go
