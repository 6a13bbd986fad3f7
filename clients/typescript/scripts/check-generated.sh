#!/usr/bin/env bash
# Fails when the generated code is not what the proto files give.
set -euo pipefail
cd "$(dirname "$0")/.."
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
scripts/generate.sh "$fresh"
for kind in stubs es; do
  if ! diff -r "$fresh/$kind" "src/$kind"; then
    echo "generated code is stale: run npm run generate in clients/typescript" >&2
    exit 1
  fi
done
