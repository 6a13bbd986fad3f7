"""A web server on loopback, with TLS or without, whose answers are bytes as they are sent."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.support.connections import Connections

Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class Certificates:
    """A certificate for some names, and the contexts that show it and trust it."""

    server: ssl.SSLContext
    client: ssl.SSLContext


def certificates(folder: Path, *names: str) -> Certificates:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Test")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(n) for n in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "certificate.pem"
    file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    return Certificates(server, ssl.create_default_context(cafile=file))


@dataclass
class WebServer:
    """`answers` by path; `requests` are the heads of what was asked."""

    port: int = 0
    answers: dict[str, Answer] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    connections: Connections = field(init=False)

    def __post_init__(self) -> None:
        self.connections = Connections(self._serve)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):  # the caller hung up
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.requests.append(head)
            await self.answers[head.split()[1]](writer)
            await writer.drain()


@asynccontextmanager
async def web_server(tls: ssl.SSLContext | None = None) -> AsyncIterator[WebServer]:
    served = WebServer()
    server = await asyncio.start_server(served.connections.accept, "127.0.0.1", 0, ssl=tls)
    served.port = server.sockets[0].getsockname()[1]
    try:
        yield served
    finally:
        server.close()
        await served.connections.close()


def file(content: bytes, content_type: str = "image/png", status: str = "200 OK", **headers: str) -> Answer:
    """A whole answer; headers by name, with `_` for `-`."""
    fields: Mapping[str, str] = {"content-type": content_type, "content-length": str(len(content))} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if value)
    return raw(f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + content)


def redirect(to: str, status: str = "302 Found") -> Answer:
    return raw(f"HTTP/1.1 {status}\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n".encode())


def raw(sent: bytes) -> Answer:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(sent)

    return answer


def endless(begin: bytes, more: bytes) -> Answer:
    """Never ends by itself."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(begin)
        while True:
            writer.write(more)
            await writer.drain()

    return answer


async def silent(writer: asyncio.StreamWriter) -> None:
    """Says nothing, for ever."""
    await asyncio.Event().wait()
