#!/usr/bin/env bash
# Puts the two files that the contract imports, and that belong to others, into build/imports. One is from a Python package
# that the service has anyway, the other from a Go module, for no Python package has it.
set -euo pipefail
cd "$(dirname "$0")/.."
protovalidate=github.com/bufbuild/protovalidate@v1.2.2
sum=h1:2H/9/Kr97etSRqW3IJjTTb09z+zutkK2GDhDRbOnqr4=

packages=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
module=$(cd / && go mod download -json "$protovalidate")
[[ $module == *"\"Sum\": \"$sum\""* ]] || { echo "$protovalidate is not what it was: $module" >&2; exit 1; }
rules=$(sed -n 's/.*"Dir": "\(.*\)",/\1/p' <<<"$module")/proto/protovalidate
install -D -m 644 "$packages/google/api/field_behavior.proto" build/imports/google/api/field_behavior.proto
install -D -m 644 "$rules/buf/validate/validate.proto" build/imports/buf/validate/validate.proto
