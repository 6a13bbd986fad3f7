"""The Python client as a package: built, installed with nothing beside it but what it depends on, and used."""

import re
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

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
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=SOURCE, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


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


def test_the_wheel_works_with_only_its_dependencies(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", symlinks=True)
    python = tmp_path / "venv" / "bin" / "python"
    [packages] = (tmp_path / "venv").glob("lib/python*/site-packages")
    uv = [sys.executable, "-m", "uv", "pip", "--offline", "--no-cache", "--no-config"]
    subprocess.run([*uv, "install", "--python", python, "--no-deps", wheel], capture_output=True, check=True)
    metadata = next(packages.glob("proviso_client-*.dist-info/METADATA")).read_text(encoding="utf-8")
    requirements = re.findall(r"^Requires-Dist: ([A-Za-z0-9-]+)", metadata, flags=re.MULTILINE)
    assert sorted(requirements) == ["googleapis-common-protos", "grpcio", "protobuf"]
    for name in set().union(*map(needed, requirements)):
        for file in distribution(name).files or ():
            if ".." not in file.parts and "__pycache__" not in file.parts:
                link = packages / file
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(str(file.locate()))
    subprocess.run([*uv, "check", "--python", python], capture_output=True, check=True)
    done = subprocess.run([python, "-I", "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["Unavailable", str(packages / "proviso_client" / "__init__.py"), "False"], (
        done.stderr
    )
