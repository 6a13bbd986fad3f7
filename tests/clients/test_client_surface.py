"""The two clients of the Python package have one surface, which covers the contract."""

import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import grpc
import pytest

import proviso_client
from proviso_client import AsyncClient, AsyncTurn, Client, Turn
from proviso_client._aio.catalog import AsyncCatalog
from proviso_client._aio.documents import AsyncDocuments
from proviso_client._aio.matters import AsyncMatters
from proviso_client._aio.sessions import AsyncSessions
from proviso_client._aio.tools import AsyncTools
from proviso_client._channel import channel_options
from proviso_client._retrying import SILENCE_S
from proviso_client._sync.catalog import Catalog
from proviso_client._sync.documents import Documents
from proviso_client._sync.matters import Matters
from proviso_client._sync.sessions import Sessions
from proviso_client._sync.tools import Tools

PAIRS: list[tuple[type, type]] = [
    (Client, AsyncClient),
    (Turn, AsyncTurn),
    (Sessions, AsyncSessions),
    (Matters, AsyncMatters),
    (Documents, AsyncDocuments),
    (Tools, AsyncTools),
    (Catalog, AsyncCatalog),
]
SERVICES = ("access", "catalog", "chat", "maintenance", "matters", "sessions", "tools")


def surface(kind: type) -> dict[str, str]:
    """Public methods with their signatures, and properties; as the blocking client would write them."""
    found = {}
    for name, member in vars(kind).items():
        if isinstance(member, property):
            found[name] = "property"
        elif not name.startswith("_") or name == "__init__":
            signature = str(inspect.signature(member))
            signature = re.sub(r" \| collections\.abc\.Awaitable\[[^]]*\]", "", signature)  # what may be awaited there
            found[name] = re.sub(r"\bproviso_client\._(aio|sync)\.\w+\.|Async(?=[A-Z])", "", signature)
    return found


@pytest.mark.parametrize(("blocking", "asynchronous"), PAIRS, ids=[blocking.__name__ for blocking, _ in PAIRS])
def test_both_clients_have_the_same_surface(blocking: type, asynchronous: type) -> None:
    assert surface(blocking) == surface(asynchronous)


@pytest.mark.parametrize("flavour", ["_aio", "_sync"])
def test_every_method_of_the_contract_is_called_by_the_client(flavour: str) -> None:
    folder = Path(proviso_client.__path__[0]) / flavour
    called = set(re.findall(r"[Ss]tub\.(\w+)", "".join(path.read_text() for path in folder.glob("*.py"))))
    methods = {
        method.name
        for service in SERVICES
        for description in import_module(f"proviso_client.v1.{service}_pb2").DESCRIPTOR.services_by_name.values()
        for method in description.methods
    }
    assert called == methods


def test_the_package_exports_what_it_says() -> None:
    exported = set(proviso_client.__all__)
    assert {name for name in exported if getattr(proviso_client, name, None) is not None} == exported
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = proviso_client.Nonsense


def test_reading_messages_alone_does_not_load_grpc() -> None:
    code = "import sys, proviso_client.display, proviso_client.history; print('grpc' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    "target",
    [
        *("127.0.0.1:50051", "localhost:1", "[::1]:50051", "::1", "unix:/run/proviso.sock"),
        *("dns:///localhost:1", "ipv4:127.0.0.2:1", "ipv6:[::1]:1", "ipv6:%5B::1%5D:1"),
    ],
)
def test_a_service_on_this_machine_is_reached_without_tls(target: str) -> None:
    Client(target).close()


@pytest.mark.parametrize("target", ["10.0.0.1:50051", "legal.example", "dns:///localhost.example:1", "[2001:db8::1]:1"])
def test_another_machine_needs_credentials_or_an_explicit_word(target: str) -> None:
    with pytest.raises(ValueError, match="not on this machine"):
        Client(target)
    Client(target, insecure=True).close()
    Client(target, credentials=grpc.ssl_channel_credentials()).close()


def test_options_of_the_caller_win_over_those_of_the_package() -> None:
    options = channel_options([("grpc.keepalive_time_ms", 5), ("grpc.other", "x")])
    assert dict(options)["grpc.keepalive_time_ms"] == 5
    assert dict(options)["grpc.other"] == "x"
    assert len(dict(options)) == len(options)


def test_a_connection_that_nobody_answers_over_is_given_up_before_its_silence_counts() -> None:
    options = {name: int(value) for name, value in channel_options([])}
    unanswered = options["grpc.keepalive_timeout_ms"]
    assert options["grpc.keepalive_time_ms"] + unanswered < SILENCE_S * 1000
    assert options["grpc.http2.ping_timeout_ms"] <= unanswered


def test_a_matter_is_given_in_one_way() -> None:
    with Client("localhost:1") as client, pytest.raises(ValueError, match="either matter_context"):
        client.chat("Hi", matter_id="m", matter_context={"matter_id": "m"})


async def test_no_credential_is_in_what_a_traceback_shows() -> None:
    metadata = [("authorization", "Bearer secret")]
    with Client("localhost:1", metadata=metadata) as client:
        async with AsyncClient("localhost:1", metadata=metadata) as async_client:
            assert "secret" not in repr(client._calls) + repr(async_client._calls)
