"""How a server finds its port, tells the benchmark that it is ready, and learns that it has to exit."""

import asyncio
import json
import socket
import sys


async def serve_until_closed(port: int) -> None:
    """Prints the port and returns when standard input is closed."""
    closed = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(sys.stdin, closed.set)
    print(json.dumps({"port": port}), flush=True)
    await closed.wait()
    loop.remove_reader(sys.stdin)


def free_port() -> int:
    """A port of the loopback interface on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
