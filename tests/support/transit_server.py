"""A key service on loopback that speaks the HTTP interface of Vault's transit engine, as far as the service uses it."""

import base64
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

TOKEN = "a-token"  # noqa: S105


class TransitKey:
    """A named key, with all of its versions."""

    def __init__(self) -> None:
        self.versions = [AESGCM.generate_key(256)]
        self.min_decryption_version = 1
        self.deletion_allowed = False


class TransitServer(ThreadingHTTPServer):
    """`keys` are those that it has; `away` has it answer 503."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.keys: dict[str, TransitKey] = {}
        self.calls: list[str] = []
        self.away = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1/transit"


class _Handler(BaseHTTPRequestHandler):
    server: TransitServer

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing is logged."""

    def _answer(self) -> None:
        size = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(size)) if size else {}
        status, data = self._result(body)
        written = json.dumps({"data": data} if status == 200 else {"errors": []}).encode() if status != 204 else b""
        self.send_response(status)
        self.send_header("Content-Length", str(len(written)))
        self.end_headers()
        self.wfile.write(written)

    def _result(self, body: dict[str, object]) -> tuple[int, dict[str, object]]:  # noqa: PLR0911
        if self.server.away:
            return 503, {}
        if self.headers.get("X-Vault-Token") != TOKEN:
            return 403, {}
        path = self.path.removeprefix("/v1/transit/").split("/")
        self.server.calls.append(f"{self.command} {path[0]}" + "".join(f" {part}" for part in path[2:]))
        if path[0] == "encrypt" and path[1] not in self.server.keys:
            self.server.keys[path[1]] = TransitKey()
        key = self.server.keys.get(path[1])
        if key is None:
            return (404 if self.command == "GET" else 400), {}
        if path[0] == "keys":
            return self._manage(path[1], path[2:], body)
        beside = _bytes(body["associated_data"])
        if path[0] == "encrypt":
            nonce = os.urandom(12)
            made = nonce + AESGCM(key.versions[-1]).encrypt(nonce, _bytes(body["plaintext"]), beside)
            return 200, {"ciphertext": f"vault:v{len(key.versions)}:{base64.b64encode(made).decode()}"}
        _, version, written = str(body["ciphertext"]).split(":")
        number, sealed = int(version[1:]), _bytes(written)
        if number < key.min_decryption_version:
            return 400, {}
        try:
            opened = AESGCM(key.versions[number - 1]).decrypt(sealed[:12], sealed[12:], beside)
        except InvalidTag:
            return 400, {}
        return 200, {"plaintext": base64.b64encode(opened).decode()}

    def _manage(self, name: str, action: list[str], body: dict[str, object]) -> tuple[int, dict[str, object]]:
        key = self.server.keys[name]
        if self.command == "DELETE":
            if not key.deletion_allowed:
                return 400, {}
            del self.server.keys[name]
            return 204, {}
        if action == ["rotate"]:
            key.versions.append(AESGCM.generate_key(256))
        for setting, value in body.items():
            setattr(key, setting, value)
        return 200, {"latest_version": len(key.versions)}


def _bytes(text: object) -> bytes:
    return base64.b64decode(str(text), validate=True)


@contextmanager
def transit_server() -> Iterator[TransitServer]:
    with TransitServer() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
