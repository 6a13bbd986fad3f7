"""A server of tools that behaves as none should: slow, talkative, odd of schema, ended in the middle of a call.

A program that reads and writes lines of JSON, without the protocol's package, which would not let it be odd."""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

OBJECT: dict[str, Any] = {"type": "object"}
TREE = {
    "type": "object",
    "properties": {"root": {"$ref": "#/$defs/node"}},
    "required": ["root"],
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"label": {"type": "string"}, "next": {"$ref": "#/$defs/node"}},
            "required": ["label"],
        }
    },
}
TOOLS: dict[str, Any] = {
    "echo": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    "nothing said": {"type": "object"},
    "tree": TREE,
    "either": {"type": "object", "anyOf": [{"required": ["id"]}, {"required": ["name"]}], "properties": {"id": True}},
    "elsewhere": {"type": "object", "properties": {"a": {"$ref": "file:///etc/passwd"}}},
    "a list": {"type": "array", "items": {"type": "string"}},
    "huge": {"type": "object", "description": "x" * 100_000},
    "no schema": None,
    "wrong": {"type": "object", "properties": {"a": {"type": "colour"}}},
    "pid": OBJECT,
    "die": OBJECT,
    "sleep": OBJECT,
    "much": {"type": "object", "properties": {"mega": {"type": "integer"}}},
    "pictures": OBJECT,
    "typed": OBJECT,
    "refuse": OBJECT,
    "fail": OBJECT,
    "nonsense": OBJECT,
    "grow": OBJECT,
    "ask": OBJECT,
}
MARK = {"type": "object", "properties": {"mark": {"type": "string"}}, "required": ["mark"]}
TOOLS |= {"die once": MARK, "die once reading": MARK, "die once the same": MARK}
ANNOTATIONS = {"die once reading": {"readOnlyHint": True}, "die once the same": {"idempotentHint": True}}
LISTED = list(TOOLS)
DESCRIPTIONS: dict[str, str] = {}


def main() -> None:
    if len(sys.argv) > 1 and not _first_start(Path(sys.argv[1])):
        time.sleep(3_600)
    print("Welcome! This line is no message.", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request and "method" in request:
            answer = _answer(request["method"], request.get("params") or {})
            _send({"id": request["id"], **answer})


def _first_start(mark: Path) -> bool:
    """Whether nobody has started this with the same mark before."""
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        version = params["protocolVersion"]
        info = {"name": "odd", "version": "1"}
        capabilities = {"tools": {"listChanged": True}}
        return {"result": {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}}
    if method == "tools/list":
        return {"result": {"tools": [_listed(name) for name in LISTED]}}
    if method == "tools/call":
        return _call(params["name"], params.get("arguments") or {})
    return {"error": {"code": -32601, "message": "Method not found"}}


def _listed(name: str) -> dict[str, Any]:
    listed = {"name": name, "description": DESCRIPTIONS.get(name, ""), "inputSchema": TOOLS[name]}
    return listed | ({"annotations": ANNOTATIONS[name]} if name in ANNOTATIONS else {})


def _call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    if name in ANSWERS:
        return ANSWERS[name]
    match name:
        case "die":
            print("the password is hunter22", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        case "die once" | "die once reading" | "die once the same":
            with Path(arguments["mark"]).open("a") as mark:
                mark.write(".")
            if Path(arguments["mark"]).read_text() == ".":
                os.kill(os.getpid(), signal.SIGKILL)
        case "sleep":
            time.sleep(2)
        case "grow":
            TOOLS["new"] = OBJECT
            LISTED.append("new")
            DESCRIPTIONS["echo"] = "Sends the text to everybody."
            _send({"method": "notifications/tools/list_changed"})
        case "ask":
            _send({"id": "q1", "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}})
        case "much":
            return _text("x" * (arguments["mega"] * 1_000_000))
        case "pid":
            return _text(str(os.getpid()))
    return _text(json.dumps(arguments))


def _text(text: str, **more: Any) -> dict[str, Any]:
    return {"result": {"content": [{"type": "text", "text": text}], **more}}


ANSWERS: dict[str, dict[str, Any]] = {
    "refuse": {"error": {"code": -32602, "message": "the date is not a date."}},
    "fail": _text("no such clause", isError=True),
    "nonsense": {"result": {"content": [{"type": "smell", "data": "roses"}]}},
    "typed": _text('{"count": 2}', structuredContent={"count": 2}),
    "pictures": {
        "result": {
            "content": [
                {"type": "text", "text": "Two pages."},
                {"type": "image", "data": "AAAA" * 1_024, "mimeType": "image/png"},
                {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
                {"type": "resource_link", "name": "plan", "uri": "file:///plan.pdf"},
                {"type": "resource", "resource": {"uri": "memo://1", "text": "the memo"}},
                {"type": "resource", "resource": {"uri": "memo://2", "blob": "AAAA", "mimeType": "application/zip"}},
            ]
        }
    },
}


def _send(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


if __name__ == "__main__":
    main()
