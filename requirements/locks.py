"""Reads every lock of the project: which packages of which versions are built with, tested with and shipped."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
_PINNED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)", re.MULTILINE)
_REQUIRED = re.compile(r"^(?:require )?\t?([\w.-]+\.[\w.-]+/\S+) (v\S+)", re.MULTILINE)
_SKIPPED = {"node_modules", ".venv", "build"}


@dataclass(frozen=True, order=True)
class Package:
    """A package of a lock; `ecosystem` is PyPI, npm or Go. `licence` is what an npm lock says of it."""

    ecosystem: str
    name: str
    version: str
    licence: str = ""


def packages(root: Path = ROOT) -> list[Package]:
    """Returns the packages of all locks, in order and each once."""
    return sorted({package for file in _locks(root) for package in _packages_of(file)})


def _locks(root: Path) -> Iterator[Path]:
    for folder in ("clients", "requirements"):
        for pattern in ("*.txt", "package-lock.json", "go.mod"):
            yield from (file for file in (root / folder).rglob(pattern) if not _SKIPPED & set(file.parts))


def _packages_of(file: Path) -> Iterator[Package]:
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".txt":
        yield from (Package("PyPI", name.lower(), version) for name, version in _PINNED.findall(text))
    elif file.name == "go.mod":
        yield from (Package("Go", name, version.removeprefix("v")) for name, version in _REQUIRED.findall(text))
    else:
        for place, entry in json.loads(text)["packages"].items():
            name = entry.get("name") or place.rpartition("node_modules/")[2]
            if "node_modules/" in place and not entry.get("link"):
                yield Package("npm", name, entry["version"], entry.get("license", ""))
