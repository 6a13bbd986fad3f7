"""Programs that `make` cannot install: one that is missing or too old is told in one sentence."""

import os
import subprocess
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[1]
_NODE_NEEDED = "The TypeScript client, the gateway and the page need Node.js 20.19 or newer with npm"
_GO_NEEDED = "The Go client and its tests need Go 1.26 or newer"
_FIND_CHROMIUM = _ROOT / "requirements" / "chromium" / "find.mjs"


def program(folder: Path, name: str, script: str) -> Path:
    """A shell script that takes the place of a program."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def run(command: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """A command for which the programs of a folder come first."""
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", **variables}
    return subprocess.run(command, cwd=_ROOT, env=environment, check=False, capture_output=True, text=True, timeout=60)


def make_node_of(folder: Path, version: str) -> subprocess.CompletedProcess[str]:
    """`make node` with the real node, which is told that it is of this version."""
    told = folder / "version.cjs"
    told.write_text(f"Object.defineProperty(process.versions, 'node', {{ value: '{version}' }})")
    program(folder, "node", f'PATH="${{PATH#*:}}" exec node --require {told} "$@"')
    return run(["make", "-s", "node"], folder)


def make_go_of(folder: Path, version: str) -> subprocess.CompletedProcess[str]:
    program(folder, "go", f"echo go{version}")
    return run(["make", "-s", "go"], folder)


@pytest.mark.parametrize("version", ["18.20.8", "20.18.3"])
def test_an_old_node_is_refused_in_one_sentence(tmp_path: Path, version: str) -> None:
    refused = make_node_of(tmp_path, version)
    assert refused.returncode != 0
    assert refused.stderr.startswith(_NODE_NEEDED)


def test_so_is_a_missing_one(tmp_path: Path) -> None:
    program(tmp_path, "node", "exit 127")
    refused = run(["make", "-s", "node"], tmp_path)
    assert refused.returncode != 0
    assert refused.stderr.startswith(_NODE_NEEDED)


@pytest.mark.parametrize("version", ["20.19.0", "22.0.0", "100.1.0"])
def test_others_will_do(tmp_path: Path, version: str) -> None:
    assert make_node_of(tmp_path, version).returncode == 0


@pytest.mark.parametrize("version", ["1.9", "1.25.7"])
def test_an_old_go_is_refused_in_one_sentence(tmp_path: Path, version: str) -> None:
    refused = make_go_of(tmp_path, version)
    assert refused.returncode != 0
    assert refused.stderr.startswith(_GO_NEEDED)


def test_so_is_a_missing_go(tmp_path: Path) -> None:
    program(tmp_path, "go", "exit 127")
    refused = run(["make", "-s", "go"], tmp_path)
    assert refused.returncode != 0
    assert refused.stderr.startswith(_GO_NEEDED)


@pytest.mark.parametrize("version", ["1.26", "1.26.8", "1.100.0"])
def test_a_newer_go_will_do(tmp_path: Path, version: str) -> None:
    assert make_go_of(tmp_path, version).returncode == 0


def test_the_chromium_that_is_named_comes_first_and_then_the_systems(tmp_path: Path) -> None:
    systems, named = program(tmp_path, "chromium", "exit 0"), program(tmp_path, "another", "exit 0")
    assert run([str(_FIND_CHROMIUM)], tmp_path, CHROMIUM="").stdout == f"{systems}\n"
    assert run([str(_FIND_CHROMIUM)], tmp_path, CHROMIUM=str(named)).stdout == f"{named}\n"


def test_a_named_chromium_that_is_not_there_is_told_in_one_sentence(tmp_path: Path) -> None:
    refused = run([str(_FIND_CHROMIUM)], tmp_path, CHROMIUM=str(tmp_path / "absent"))
    assert refused.returncode != 0
    assert refused.stderr == f"CHROMIUM names {tmp_path / 'absent'}, which is no program.\n"
