"""`python -m requirements.audit` compares every lock with the advisories of https://osv.dev.

It fails for an advisory that another version has fixed, unless accepted.toml names it with a reason. One without a fix
is told. Where the service of the advisories cannot be reached the registries are asked for what they know: which
versions were withdrawn or are deprecated, and the advisories of packages that are locked at their newest version."""

import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx
from requirements.locks import Package, packages

OSV = "https://api.osv.dev"
REGISTRIES = MappingProxyType({"PyPI": "https://pypi.org", "npm": "https://registry.npmjs.org"})
ACCEPTED = Path(__file__).with_name("accepted.toml")
_AT_ONCE = 1_000
_CONNECTIONS = 16
_TIMEOUT_S = 30.0


def audit(locked: Sequence[Package], accepted: Mapping[str, str], osv: str = OSV) -> tuple[list[str], list[str]]:
    """Returns what fails, and what is only told. Raises httpx.HTTPError where the advisories cannot be had."""
    failures: list[str] = []
    notes: list[str] = []
    with httpx.Client(base_url=osv, timeout=_TIMEOUT_S) as client:
        found = list(_advisories(client, locked))
        for package, advisory_id in found:
            advisory = client.get(f"/v1/vulns/{advisory_id}").raise_for_status().json()
            if advisory.get("withdrawn"):
                continue
            _judge(package, {**advisory, "id": advisory_id}, _fixed_in(advisory, package), accepted, failures, notes)
    return failures, notes


def ask_registries(
    locked: Sequence[Package], accepted: Mapping[str, str], registries: Mapping[str, str] = REGISTRIES
) -> tuple[list[str], list[str], int]:
    """Returns what fails, what is only told, and of how many packages the registries knew the version."""
    failures: list[str] = []
    notes: list[str] = []
    known = 0
    with httpx.Client(timeout=_TIMEOUT_S) as client, ThreadPoolExecutor(_CONNECTIONS) as pool:
        asked = [package for package in locked if package.ecosystem in registries]
        for package, entry in zip(asked, pool.map(lambda one: _entry(client, one, registries), asked), strict=True):
            known += bool(entry)
            line = f"{package.name} {package.version}"
            if any(file["yanked"] for file in entry.get("releases", {}).get(package.version, ())):
                failures.append(f"{line} was withdrawn from the registry")
            if entry.get("deprecated"):
                notes.append(f"{line} is deprecated: {entry['deprecated']}")
            if entry.get("info", {}).get("version") == package.version:
                for advisory in entry.get("vulnerabilities", ()):
                    _judge(package, advisory, advisory.get("fixed_in") or (), accepted, failures, notes)
    return failures, notes, known


def _entry(client: httpx.Client, package: Package, registries: Mapping[str, str]) -> dict[str, Any]:
    """Returns what the registry says of a package, or of its version; nothing where it cannot be reached."""
    path = f"pypi/{package.name}/json" if package.ecosystem == "PyPI" else f"{package.name}/{package.version}"
    try:
        answer = client.get(f"{registries[package.ecosystem]}/{path}").raise_for_status().json()
    except (httpx.HTTPError, ValueError):
        return {}
    return answer if isinstance(answer, dict) else {}


def _judge(
    package: Package,
    advisory: Mapping[str, Any],
    fixed: Sequence[str],
    accepted: Mapping[str, str],
    failures: list[str],
    notes: list[str],
) -> None:
    """Notes an advisory, as a failure where it is fixed in another version and not accepted."""
    line = f"{package.name} {package.version}: {advisory['id']} {advisory.get('summary') or ''}".rstrip()
    names = {advisory["id"], *advisory.get("aliases", ())}
    if reason := next((accepted[name] for name in sorted(names) if name in accepted), ""):
        notes.append(f"{line} (accepted: {reason})")
    elif fixed:
        failures.append(f"{line} (fixed in {', '.join(fixed)})")
    else:
        notes.append(f"{line} (no version has it fixed)")


def _advisories(client: httpx.Client, locked: Sequence[Package]) -> Iterator[tuple[Package, str]]:
    queries = [
        {"package": {"ecosystem": package.ecosystem, "name": package.name}, "version": package.version}
        for package in locked
    ]
    for start in range(0, len(queries), _AT_ONCE):
        answer = client.post("/v1/querybatch", json={"queries": queries[start : start + _AT_ONCE]})
        results = answer.raise_for_status().json()["results"]
        for package, result in zip(locked[start : start + _AT_ONCE], results, strict=True):
            # More pages than one are those of packages with hundreds of advisories, the first of which fail already.
            yield from ((package, advisory["id"]) for advisory in result.get("vulns", ()))


def _fixed_in(advisory: Mapping[str, Any], package: Package) -> list[str]:
    """Returns the versions of a package in which an advisory is fixed."""
    return [
        event["fixed"]
        for affected in advisory.get("affected", ())
        if affected["package"]["name"].lower() == package.name.lower()
        for span in affected.get("ranges", ())
        for event in span.get("events", ())
        if "fixed" in event
    ]


def main() -> int:
    """Prints what was found. Returns the exit code."""
    locked = packages()
    accepted = tomllib.loads(ACCEPTED.read_text(encoding="utf-8"))["advisories"]
    try:
        failures, notes = audit(locked, accepted)
        compared = f"{len(locked)} packages compared"
    except httpx.HTTPError as error:
        failures, notes, known = ask_registries(locked, accepted)
        compared = f"{OSV} cannot be reached ({type(error).__name__}); {known} of {len(locked)} known to registries"
    for line in (*notes, *failures):
        print(f"audit: {line}")
    print(f"audit: {compared}, {len(failures)} to be updated")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
