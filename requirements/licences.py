"""`python -m requirements.licences` lists the licences of all packages of the locks, and fails for one that
accepted.toml does not allow."""

import re
import sys
import tomllib
from collections.abc import Collection, Mapping, Sequence
from importlib import metadata
from pathlib import Path

from requirements.locks import Package, packages

ACCEPTED = Path(__file__).with_name("accepted.toml")
_JOINTS = re.compile(r"\s+(?:AND|OR)\s+|;\s*")


def licence_of(package: Package, known: Mapping[str, str]) -> str:
    """Returns the licence of a package as its lock or its metadata names it, or as `known` does; "" where none does."""
    if named := known.get(package.name, package.licence):
        return named
    if package.ecosystem != "PyPI":
        return ""
    try:
        told = metadata.metadata(package.name)
    except metadata.PackageNotFoundError:
        return ""
    classifiers = [line.rpartition(" :: ")[2] for line in told.get_all("Classifier") or () if "License :: " in line]
    expression, free = ((told.get_all(field) or [""])[0] for field in ("License-Expression", "License"))
    return expression or "; ".join(classifiers) or free.partition("\n")[0]


def is_allowed(licence: str, allowed: Collection[str]) -> bool:
    """Tells whether all licences of an expression are allowed; of a choice one is enough."""
    if licence in allowed:
        return True
    names = [name.strip("()") for name in _JOINTS.split(licence)]
    is_choice = " OR " in licence and " AND " not in licence
    return any(name in allowed for name in names) if is_choice else all(name in allowed for name in names)


def check(locked: Sequence[Package], accepted: Path = ACCEPTED) -> tuple[list[str], list[str]]:
    """Returns a line for each package, and those of packages whose licence is not allowed or not known."""
    table = tomllib.loads(accepted.read_text(encoding="utf-8"))
    lines, faults = [], []
    for package in locked:
        licence = licence_of(package, table["licences"])
        lines.append(f"{package.ecosystem:5} {package.name} {package.version}: {licence or 'unknown'}")
        if not is_allowed(licence, table["allowed"]["licences"]) and package.name not in table["exceptions"]:
            faults.append(lines[-1])
    return lines, faults


def main() -> int:
    """Prints the list, or what is wrong with it. Returns the exit code."""
    lines, faults = check(packages())
    if faults:
        print("\n".join(f"licence not allowed or not known: {line}" for line in faults), file=sys.stderr)
        return 1
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
