"""Servers of tools that speak the Model Context Protocol (MCP): their sessions, their tools and the calls of them.

`servers` owns the sessions; `model` has the types that other folders use. Only `connecting`, `session` and `stdio`
import the protocol's own package, `mcp`, which takes seconds."""
