#!/usr/bin/env bash
# Generates the code of all clients from the proto files, in place of what is there; all of it is committed. With
# --check it changes nothing and fails when what is committed is not what the proto files give.
# Needs the project's virtual environment, npm's packages in clients/typescript, and Go: `make proto` sees to them.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/clients/typescript/node_modules/.bin:$PWD/.venv/bin:$PATH"
generated=(clients/python/proviso_client/v1 clients/typescript/src/stubs clients/typescript/src/es clients/go/gen)

into=$(mktemp -d)
trap 'rm -rf "$into"' EXIT
mkdir -p "${generated[@]/#/$into/}"
module=$(go -C clients/go list -m)
buf generate --output "$into"
buf generate --output "$into" --template buf.gen.typescript.yaml
buf generate --output "$into" --template "$(sed "s|MODULE|$module|" buf.gen.go.yaml)"
# The details of failed calls, from the same package that the service takes them from.
details=$(python -c 'import google.rpc.status_pb2 as s; from pathlib import Path; print(Path(s.__file__).parents[2])')
python -m grpc_tools.protoc -I "$details" --es_out="$into/clients/typescript/src/es" \
  --es_opt=target=ts,import_extension=js google/rpc/status.proto google/rpc/error_details.proto
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
