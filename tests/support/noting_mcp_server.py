"""A server with the tool `note`, which writes down that it was called, and says so once it may:
`python -m tests.support.noting_mcp_server`. Neither the tool nor its server says that a second call does no harm."""

import time
from pathlib import Path
from typing import Any

from tests.support import odd_mcp_server

_LOOK_S = 0.02
_ARGUMENTS = {"called": {"type": "string"}, "gate": {"type": "string"}}


def _call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    with Path(arguments["called"]).open("a") as called:
        called.write(".")
    while not Path(arguments["gate"]).exists():
        time.sleep(_LOOK_S)
    return odd_mcp_server.ANSWERS["typed"]


if __name__ == "__main__":
    odd_mcp_server.TOOLS.clear()
    odd_mcp_server.TOOLS["note"] = {"type": "object", "properties": _ARGUMENTS, "required": [*_ARGUMENTS]}
    odd_mcp_server.LISTED[:] = ["note"]
    odd_mcp_server._call = _call
    odd_mcp_server.main()
