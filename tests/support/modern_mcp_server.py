"""A server of tools over HTTP, by the protocol's own package, which speaks the newest version and tells of new tools
only those who have asked. Run with the port to listen on."""

import sys

import uvicorn
from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("modern")


@server.tool()
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
async def grow(context: Context) -> str:
    """Offer one more tool."""
    server.add_tool(add, name="add_again")
    await context.notify_tools_changed()
    return "grown"


@server.tool()
async def much(mega: int) -> str:
    """Say very much."""
    return "x" * (mega * 1_000_000)


@server.tool()
async def header(context: Context) -> str:
    """The header by which the caller shows who it is."""
    return str((context.headers or {}).get("x-key"))


if __name__ == "__main__":
    uvicorn.run(server.streamable_http_app(), port=int(sys.argv[1]), log_level="warning")
