"""`python -m requirements.audit` compares every lock with the advisories of https://osv.dev.

It fails for an advisory that another version has fixed, unless accepted.toml names it with a reason. One without a fix
is told. Where the service of the advisories cannot be reached nothing is compared, which is told and is no failure."""

import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
from requirements.locks import Package, packages

OSV = "https://api.osv.dev"
ACCEPTED = Path(__file__).with_name("accepted.toml")
_AT_ONCE = 1_000
_TIMEOUT_S = 30.0


def audit(locked: Sequence[Package], accepted: Mapping[str, str], osv: str = OSV) -> tuple[list[str], list[str]]:
    """Returns what fails, and what is only told. Raises httpx.HTTPError where the advisories cannot be had."""
    failures, notes = [], []
    with httpx.Client(base_url=osv, timeout=_TIMEOUT_S) as client:
        found = list(_advisories(client, locked))
        for package, advisory_id in found:
            advisory = client.get(f"/v1/vulns/{advisory_id}").raise_for_status().json()
            if advisory.get("withdrawn"):
                continue
            line = f"{package.name} {package.version}: {advisory_id} {advisory.get('summary', '')}".rstrip()
            names = {advisory_id, *advisory.get("aliases", ())}
            if reason := next((accepted[name] for name in sorted(names) if name in accepted), ""):
                notes.append(f"{line} (accepted: {reason})")
            elif fixed := _fixed_in(advisory, package):
                failures.append(f"{line} (fixed in {', '.join(fixed)})")
            else:
                notes.append(f"{line} (no version has it fixed)")
    return failures, notes


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
    except httpx.HTTPError as error:
        print(f"audit: {len(locked)} packages were not compared, for {OSV} cannot be reached ({type(error).__name__})")
        return 0
    for line in (*notes, *failures):
        print(f"audit: {line}")
    print(f"audit: {len(locked)} packages compared, {len(failures)} to be updated")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
