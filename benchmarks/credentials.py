"""`python -m benchmarks.credentials [--turns N]` measures what TLS and tokens cost the service in a turn of one token.

Three services run in processes of their own: one without either, one behind TLS, and one behind TLS that accepts the
tokens of an issuer. The ways take turns in going first; a ratio is the median of those of all rounds."""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from statistics import median
from typing import Any

import grpc
import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import NameOID
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from benchmarks.load import ONE_TOKEN
from benchmarks.processes import Child, ProcessFailed, running
from benchmarks.report import table
from proviso_client.v1 import chat_pb2, context_pb2, matters_pb2, turns_pb2
from proviso_client.v1.chat_pb2_grpc import ChatServiceStub
from proviso_client.v1.matters_pb2_grpc import MatterServiceStub

ROUNDS = 7
STREAMS = 8
CONNECTIONS = 4
WARM_UP_TURNS = 16
TIMEOUT_S = 120.0
MAX_RATIO = 1.15
ISSUER, AUDIENCE = "https://login.example", "proviso"
PLAIN = "plain"
ALGORITHMS: Mapping[str, Any] = {"RS256": RSAAlgorithm, "ES256": ECAlgorithm, "EdDSA": OKPAlgorithm}


class WrongTurn(Exception):
    """A turn did not end in COMPLETED."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way to call the service: the process that is called, and what its callers show."""

    server: Child
    channels: Sequence[grpc.aio.Channel]
    token: str
    matter_id: str

    async def cpu_s(self, turns: int) -> float:
        """The CPU time of the server for so many turns, in seconds for each."""
        before_s = self.server.cpu_s
        each = turns // STREAMS
        await asyncio.gather(*(self._turns(number, each) for number in range(STREAMS)))
        return (self.server.cpu_s - before_s) / (each * STREAMS)

    async def _turns(self, number: int, count: int) -> None:
        stub: Any = ChatServiceStub(self.channels[number % CONNECTIONS])
        request = chat_pb2.ChatRequest(
            message="Go on.",
            matter_context=context_pb2.MatterContext(matter_id=self.matter_id),
            options=chat_pb2.ChatOptions(model=ONE_TOKEN.name, disable_cache=True),
        )
        for _ in range(count):
            events = [event async for event in stub.Chat(request, timeout=TIMEOUT_S, metadata=_shown(self.token))]
            if events[-1].final_state.exit_reason != turns_pb2.EXIT_REASON_COMPLETED:
                raise WrongTurn(str(events[-1]))


@asynccontextmanager
async def _ways(folder: Path, models_dir: Path) -> AsyncIterator[dict[str, Way]]:
    tls, root = _tls_files(folder)
    keys: dict[str, Any] = {
        "RS256": rsa.generate_private_key(65_537, 2_048),
        "ES256": ec.generate_private_key(ec.SECP256R1()),
    }
    keys["EdDSA"] = ed25519.Ed25519PrivateKey.generate()
    key_set = [{**ALGORITHMS[name].to_jwk(key.public_key(), as_dict=True), "kid": name} for name, key in keys.items()]
    (folder / "keys.json").write_text(json.dumps({"keys": key_set}))
    auth = {"jwks": str(folder / "keys.json"), "issuer": ISSUER, "audience": AUDIENCE}
    async with AsyncExitStack() as stack:

        async def start(name: str, **settings: Any) -> tuple[Child, int]:
            arguments = ("benchmarks.servers.service", str(folder / name), str(models_dir), json.dumps(settings))
            server = await stack.enter_async_context(running(folder / f"{name}.log", *arguments))
            return server, json.loads(await server.line(TIMEOUT_S))["port"]

        async def way(server: Child, port: int, root: bytes | None, token: str = "") -> Way:
            channels = [await stack.enter_async_context(_channel(port, root, n)) for n in range(CONNECTIONS)]
            matters: Any = MatterServiceStub(channels[0])
            made = await matters.CreateMatter(matters_pb2.CreateMatterRequest(name="M"), metadata=_shown(token))
            return Way(server, channels, token, made.matter.matter_id)

        plain, encrypted = await start("plain"), await start("tls", server=tls)
        known = await start("known", server=tls, auth=auth)
        ways = {PLAIN: await way(*plain, None), "TLS": await way(*encrypted, root)}
        for name, key in keys.items():
            claims = {"iss": ISSUER, "aud": AUDIENCE, "exp": time.time() + 3_600, "sub": "ada", "tenant": "smith"}
            token = jwt.encode(claims, key, name, headers={"kid": name})
            ways[f"TLS and {name}"] = await way(*known, root, token)
        yield ways


def _shown(token: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {token}"),) if token else ()


def _channel(port: int, root: bytes | None, number: int) -> grpc.aio.Channel:
    """A channel with a connection of its own."""
    options = (("grpc.use_local_subchannel_pool", 1), ("number", number))
    if root is None:
        return grpc.aio.insecure_channel(f"localhost:{port}", options=options)
    return grpc.aio.secure_channel(f"localhost:{port}", grpc.ssl_channel_credentials(root), options=options)


def _tls_files(folder: Path) -> tuple[dict[str, str], bytes]:
    """The settings of a certificate for localhost, and the certificate, which signs itself."""
    key, name = (
        ec.generate_private_key(ec.SECP256R1()),
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")]),
    )
    now = datetime.now(UTC)
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))])
    begun = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    dated = begun.serial_number(1).not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    certificate = dated.add_extension(names, critical=False).sign(key, hashes.SHA256())
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "tls.pem").write_bytes(pem)
    (folder / "tls.key").write_bytes(key.private_bytes(*form))
    return {"tls_cert": str(folder / "tls.pem"), "tls_key": str(folder / "tls.key")}, pem


async def _compare(turns: int, folder: Path, models_dir: Path) -> str:
    async with _ways(folder, models_dir) as ways:
        for way in ways.values():
            await way.cpu_s(WARM_UP_TURNS)
        rounds: list[dict[str, float]] = []
        for number in range(ROUNDS):
            order = list(ways) if number % 2 == 0 else list(reversed(ways))
            rounds.append({name: await ways[name].cpu_s(turns) for name in order})
    return table(
        ("way", "CPU ms/turn", "ratio", "lowest to highest", f"at most {MAX_RATIO}"),
        [_row(name, rounds) for name in ways],
    )


def _row(name: str, rounds: Sequence[Mapping[str, float]]) -> tuple[str, ...]:
    ratios = sorted(figures[name] / figures[PLAIN] for figures in rounds)
    ms = median(figures[name] for figures in rounds) * 1e3
    met = "yes" if median(ratios) <= MAX_RATIO else "NO"
    return name, f"{ms:.2f}", f"{median(ratios):.2f}", f"{ratios[0]:.2f} to {ratios[-1]:.2f}", met


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=160, help="turns in a round [160]")
    parser.add_argument("--models-dir", type=Path, default=Path(".proviso/models"), help="[.proviso/models]")
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="proviso-benchmark-") as folder:
            print(asyncio.run(_compare(options.turns, Path(folder), options.models_dir.resolve())))
    except ProcessFailed as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
