"""Wheels of this repository in virtual environments of their own, beside packages that this environment has already.

Nothing is downloaded: what a wheel depends on is linked from the environment that the tests run in.
"""

import re
import subprocess
import sys
import venv
from collections.abc import Iterable
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement


def build_wheel(source: Path, folder: Path) -> Path:
    """The wheel of a distribution's folder, built without a network."""
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=source, check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    return wheel


class EmptyEnvironment:
    """A virtual environment that has nothing but what a test puts there."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, symlinks=True)
        self.programs = folder / "bin"
        self.python = self.programs / "python"
        [self.packages] = folder.glob("lib/python*/site-packages")

    def install(self, *wheels: Path) -> None:
        """The wheels alone, without what they depend on."""
        self._uv("install", "--no-deps", *map(str, wheels)).check_returncode()

    def link(self, distributions: Iterable[str]) -> None:
        """What the environment of the tests has of these distributions."""
        for name in distributions:
            for top in {file.parts[0] for file in distribution(name).files or ()} - {"..", "__pycache__"}:
                there, here = Path(str(distribution(name).locate_file(top))), self.packages / top
                if top.endswith(".dist-info"):  # uv looks only into folders that are no links
                    here.mkdir()
                    for file in there.iterdir():
                        (here / file.name).symlink_to(file)
                elif not here.exists():
                    here.symlink_to(there)

    def missing(self) -> set[str]:
        """The names of the distributions that something here requires and that are absent, or of another version."""
        complaints = re.findall("^The package .* requires `(.*?)`", self._uv("check").stderr, flags=re.MULTILINE)
        return {Requirement(complaint).name for complaint in complaints}

    def _uv(self, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        uv = [sys.executable, "-m", "uv", "pip", command, "--offline", "--no-cache", "--no-config"]
        return subprocess.run(
            [*uv, "--python", str(self.python), *arguments], capture_output=True, text=True, check=False
        )
