"""LangGraph's own server as `langgraph dev` starts it, with the same graphs, in the environment of the competitors.

`python -m benchmarks.servers.langgraph_dev`. Runs that stand alone (`POST /runs/stream`) need no checkpoints and no
thread, which is the least that this server can do. It runs as many at once as there are streams, where its default is
ten; it prints warnings only, traces nothing, and asks nobody for newer versions."""

import asyncio
import os
import threading
import urllib.error
import urllib.request

from benchmarks.load import FLAT_OUT, ONE_TOKEN, PACED
from benchmarks.servers.graph import graph_of
from benchmarks.servers.lifetime import free_port, serve_until_closed

MAX_STREAMS = 256
POLL_S = 0.05

# The server finds its graphs as attributes of this file.
flat_out, paced, one_token = (graph_of(workload) for workload in (FLAT_OUT, PACED, ONE_TOKEN))
_GRAPHS = {FLAT_OUT.name: "flat_out", PACED.name: "paced", ONE_TOKEN.name: "one_token"}


def _live_and_die(port: int) -> None:
    """Tells the benchmark once the server answers, and ends the process with it."""
    waiting = threading.Event()
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/ok"):
                break
        except urllib.error.URLError:
            waiting.wait(POLL_S)
    asyncio.run(serve_until_closed(port))
    os._exit(0)


def main() -> None:
    os.environ |= {"LANGSMITH_TRACING": "false", "LANGGRAPH_NO_VERSION_CHECK": "true", "LOG_LEVEL": "WARNING"}
    from langgraph_api.cli import run_server

    port = free_port()
    threading.Thread(target=_live_and_die, args=(port,), daemon=True).start()
    graphs = {name: f"{__file__}:{attribute}" for name, attribute in _GRAPHS.items()}
    run_server(port=port, graphs=graphs, n_jobs_per_worker=MAX_STREAMS, disable_persistence=True)


if __name__ == "__main__":
    main()
