"""A server of one tool, `lookup`, that says to each topic what a JSON file has of it. Run with the file's path."""

import json
import sys
from pathlib import Path
from typing import Any

LOOKUP = {
    "name": "lookup",
    "description": "Looks a topic up in the registry.",
    "inputSchema": {"type": "object", "properties": {"topic": {"type": "string"}}, "required": ["topic"]},
}


def main() -> None:
    told: dict[str, str] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request and "method" in request:
            result = _result(told, request["method"], request.get("params") or {})
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)


def _result(told: dict[str, str], method: str, params: dict[str, Any]) -> dict[str, Any]:
    match method:
        case "initialize":
            info = {"name": "registry", "version": "1"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            return {"tools": [LOOKUP]}
        case "tools/call":
            return {"content": [{"type": "text", "text": told[params["arguments"]["topic"]]}]}
    return {}


if __name__ == "__main__":
    main()
