#!/usr/bin/env bash
# Generates the code of all clients, and what Envoy reads, from the proto files, in place of what is there; all of it is
# committed. With --check it changes nothing and fails when what is committed is not what the proto files give.
# Needs the project's virtual environment, npm's packages in clients/typescript, and Go: `make proto` sees to them.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/clients/typescript/node_modules/.bin:$PWD/.venv/bin:$PATH"
generated=(clients/python/proviso_client/v1 clients/typescript/src/stubs clients/typescript/src/es clients/go/gen deploy/chart/contract)

into=$(mktemp -d)
trap 'rm -rf "$into"' EXIT
mkdir -p "${generated[@]/#/$into/}"
module=$(go -C clients/go list -m)
# Generated code needs none of the packages of the annotations.
protos/imports.sh
image=$into/contract.binpb
buf build protos -o - | python protos/plugins/without_imports.py >"$image"
buf generate "$image" --output "$into"
buf generate "$image" --output "$into" --template buf.gen.typescript.yaml
# ts-proto types a FieldMask as string[], but NestJS's loader gives and takes the message that it is.
for stub in $(grep -lr updateMask "$into/clients/typescript/src/stubs"); do
  sed -Ezi 's/(updateMask:[ |\n]*)string\[\]/\1FieldMask/g; s/(\nimport [^\n]*timestamp)/\nimport { FieldMask } from "..\/..\/google\/protobuf\/field_mask.js";\1/' "$stub"
done
buf generate "$image" --output "$into" --template "$(sed "s|MODULE|$module|" buf.gen.go.yaml)"
# The details of failed calls, from the same package that the service takes them from.
details=$(python -c 'import google.rpc.status_pb2 as s; from pathlib import Path; print(Path(s.__file__).parents[2])')
python -m grpc_tools.protoc -I "$details" --es_out="$into/clients/typescript/src/es" \
  --es_opt=target=ts,import_extension=js google/rpc/status.proto google/rpc/error_details.proto
# For Envoy, which makes JSON of answers and of the details of failed calls: two compiled sets are one when put together.
python -m grpc_tools.protoc -I "$details" --descriptor_set_out="$into/details.binpb" \
  google/protobuf/any.proto google/rpc/status.proto google/rpc/error_details.proto
buf build protos --exclude-source-info -o - | python protos/plugins/without_imports.py |
  cat - "$into/details.binpb" >"$into/deploy/chart/contract/contract.binpb"
touch "$into/clients/python/proviso_client/v1/__init__.py"

for folder in "${generated[@]}"; do
  if [ "${1:-}" != --check ]; then
    rm -rf "$folder"
    cp -r "$into/$folder" "$folder"
  elif ! diff -r --exclude=__pycache__ "$into/$folder" "$folder"; then
    echo "The generated code in $folder is stale: run make proto." >&2
    exit 1
  fi
done
