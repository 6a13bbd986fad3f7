import os
import subprocess
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_NEEDED = "The TypeScript client, the gateway and the page need Node.js 20.19 or newer with npm"


def make_node(folder: Path, node: str) -> subprocess.CompletedProcess[str]:
    """`make node` where this shell script is `node`."""
    program = folder / "node"
    program.write_text(f"#!/bin/sh\n{node}\n")
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    command = ["make", "-s", "node"]
    return subprocess.run(command, cwd=_ROOT, env=environment, check=False, capture_output=True, text=True, timeout=60)


def make_node_of(folder: Path, version: str) -> subprocess.CompletedProcess[str]:
    """`make node` with the real node, which is told that it is of this version."""
    told = folder / "version.cjs"
    told.write_text(f"Object.defineProperty(process.versions, 'node', {{ value: '{version}' }})")
    return make_node(folder, f'PATH="${{PATH#*:}}" exec node --require {told} "$@"')


@pytest.mark.parametrize("version", ["18.20.8", "20.18.3"])
def test_an_old_node_is_refused_in_one_sentence(tmp_path: Path, version: str) -> None:
    refused = make_node_of(tmp_path, version)
    assert refused.returncode != 0
    assert refused.stderr.startswith(_NEEDED)


def test_so_is_a_missing_one(tmp_path: Path) -> None:
    refused = make_node(tmp_path, "exit 127")
    assert refused.returncode != 0
    assert refused.stderr.startswith(_NEEDED)


@pytest.mark.parametrize("version", ["20.19.0", "22.0.0", "100.1.0"])
def test_others_will_do(tmp_path: Path, version: str) -> None:
    assert make_node_of(tmp_path, version).returncode == 0
