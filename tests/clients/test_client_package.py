"""The Python client as a package: built, installed with nothing beside it but what it depends on, and used."""

import re
import subprocess
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

from tests.support.installed import EmptyEnvironment, build_wheel

SOURCE = Path(__file__).parents[2] / "clients" / "python"
PROGRAM = """
import sys
import proviso_client, proviso_client.display, proviso_client.errors, proviso_client.history, proviso_client.steps
from proviso_client.v1 import chat_pb2
client = proviso_client.Client("127.0.0.1:1", retries=proviso_client.NO_RETRIES)
try:
    client.chat("Hi").result()
except proviso_client.errors.Unavailable as error:
    print(type(error).__name__, proviso_client.__file__)
print(any(name.startswith("proviso_service") for name in sys.modules))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(SOURCE, tmp_path_factory.mktemp("wheel"))


def needed(name: str) -> set[str]:
    """A distribution and all that it requires."""
    wanted = {name}
    for requirement in distribution(name).requires or ():
        if "extra ==" not in requirement:
            wanted |= needed(re.split(r"[^A-Za-z0-9._-]", requirement)[0])
    return wanted


def test_the_wheel_holds_the_package_and_its_types(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name.split("/")[0] for name in names} == {"proviso_client", "proviso_client-0.1.0.dev0.dist-info"}
    own = {
        str(path.relative_to(SOURCE)) for path in (SOURCE / "proviso_client").rglob("*.py*") if path.suffix != ".pyc"
    }
    assert own | {"proviso_client/py.typed"} <= names


def test_the_wheel_holds_the_projects_licence(wheel: Path) -> None:
    licence = zipfile.ZipFile(wheel).read("proviso_client-0.1.0.dev0.dist-info/licenses/LICENSE")
    assert licence == (SOURCE.parents[1] / "LICENSE").read_bytes()


def test_the_wheel_works_with_only_its_dependencies(wheel: Path, tmp_path: Path) -> None:
    environment = EmptyEnvironment(tmp_path / "venv")
    environment.install(wheel)
    metadata = next(environment.packages.glob("proviso_client-*.dist-info/METADATA")).read_text(encoding="utf-8")
    requirements = re.findall(r"^Requires-Dist: ([A-Za-z0-9-]+)", metadata, flags=re.MULTILINE)
    assert sorted(requirements) == ["googleapis-common-protos", "grpcio", "protobuf"]
    environment.link(set().union(*map(needed, requirements)))
    assert environment.missing() == set()
    done = subprocess.run([environment.python, "-I", "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.stdout.split() == [
        "Unavailable",
        str(environment.packages / "proviso_client" / "__init__.py"),
        "False",
    ], done.stderr
