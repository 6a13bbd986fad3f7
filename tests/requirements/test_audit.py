"""The comparison of the locks with advisories, against a service that speaks OSV's protocol on loopback."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx
import pytest
from requirements.audit import ask_registries, audit
from requirements.locks import Package, packages

OLD, NEW = Package("PyPI", "jinja", "1.0"), Package("npm", "left-pad", "2.0")


def _advisory(name: str, *fixed: str, **fields: object) -> dict[str, object]:
    ranges = [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, *({"fixed": version} for version in fixed)]}]
    return {"summary": "It breaks.", "affected": [{"package": {"name": name}, "ranges": ranges}], **fields}


ADVISORIES = {
    "A-fixed": _advisory("Jinja", "1.1", aliases=["CVE-1"]),
    "A-open": _advisory("jinja"),
    "A-withdrawn": _advisory("jinja", "1.1", withdrawn="2026-01-01T00:00:00Z"),
}


_FIXED = {"id": "A-fixed", "aliases": ["CVE-1"], "summary": "It breaks.", "fixed_in": ["1.1"]}
REGISTRY = {
    "/pypi/jinja/json": {
        "info": {"version": "1.0"},
        "releases": {"1.0": [{"yanked": False}], "0.9": [{"yanked": True}]},
        "vulnerabilities": [_FIXED, {"id": "A-open", "fixed_in": []}],
    },
    "/left-pad/2.0": {"deprecated": "use padStart"},
}


class _Osv(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        queries = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
        known = {"jinja": {"vulns": [{"id": name} for name in ADVISORIES]}}
        self._answer({"results": [known.get(query["package"]["name"], {}) for query in queries]})

    def do_GET(self) -> None:
        self._answer(REGISTRY.get(self.path) or ADVISORIES[self.path.rpartition("/")[2]])

    def log_message(self, *_: object) -> None:
        """Prints nothing."""

    def _answer(self, content: object) -> None:
        body = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def _osv() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Osv) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_an_advisory_with_a_fix_fails_and_one_without_is_told() -> None:
    with _osv() as osv:
        failures, notes = audit([OLD, NEW], {}, osv)
    assert failures == ["jinja 1.0: A-fixed It breaks. (fixed in 1.1)"]
    assert notes == ["jinja 1.0: A-open It breaks. (no version has it fixed)"]


@pytest.mark.parametrize("name", ["A-fixed", "CVE-1"])
def test_an_advisory_that_is_accepted_with_a_reason_is_told(name: str) -> None:
    with _osv() as osv:
        failures, notes = audit([OLD], {name: "not reached"}, osv)
    assert not failures
    assert "jinja 1.0: A-fixed It breaks. (accepted: not reached)" in notes


def test_a_service_that_cannot_be_reached_is_no_answer() -> None:
    with _osv() as osv:
        pass
    with pytest.raises(httpx.HTTPError):
        audit([OLD], {}, osv)


def test_without_that_service_the_registries_say_what_they_know() -> None:
    withdrawn, elsewhere = Package("PyPI", "jinja", "0.9"), Package("Go", "example.org/x", "1.0")
    with _osv() as registry:
        addresses = {"PyPI": registry, "npm": registry}
        failures, notes, known = ask_registries([withdrawn, OLD, NEW, elsewhere], {}, addresses)
        accepted = ask_registries([OLD], {"CVE-1": "not reached"}, addresses)
    assert failures == ["jinja 0.9 was withdrawn from the registry", "jinja 1.0: A-fixed It breaks. (fixed in 1.1)"]
    assert notes == ["jinja 1.0: A-open (no version has it fixed)", "left-pad 2.0 is deprecated: use padStart"]
    assert known == 3
    assert not accepted[0]
    assert ask_registries([OLD, NEW], {}, addresses) == ([], [], 0)


def test_every_lock_is_read() -> None:
    locked = packages()
    assert {package.ecosystem for package in locked} == {"PyPI", "npm", "Go"}
    names = {package.name for package in locked}
    assert {"grpcio", "pytest", "mcp-server-time", "@nestjs/core", "preact", "google.golang.org/grpc"} <= names
    assert all(package.version[0].isdigit() for package in locked)
