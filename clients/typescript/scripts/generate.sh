#!/usr/bin/env bash
# Generates the stubs into the folder that is named, in place of what is there. Needs buf and grpcio-tools on PATH, as in
# the project's virtual environment; no network.
set -euo pipefail
into=$(realpath "$1")
cd "$(dirname "$0")/../../.."
export PATH="$PWD/clients/typescript/node_modules/.bin:$PWD/.venv/bin:$PATH"

rm -rf "$into/stubs" "$into/es"
mkdir -p "$into/stubs" "$into/es"
buf generate --template buf.gen.typescript.yaml --output "$into"

# The details of failed calls, from the same package that the service takes them from.
details=$(python -c 'import google.rpc.status_pb2 as s; from pathlib import Path; print(Path(s.__file__).parents[2])')
python -m grpc_tools.protoc -I "$details" --es_out="$into/es" --es_opt=target=ts,import_extension=js \
  google/rpc/status.proto google/rpc/error_details.proto
