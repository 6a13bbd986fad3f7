"""MCP servers as an agent's folder defines them. Values of `env` and `headers` are secrets: they are never shown."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import SecretStr

from proviso_service.context.catalog.tools import ToolPolicy


@dataclass(frozen=True, slots=True)
class StdioTransport:
    """A program that speaks MCP over its standard input and output; `env` is added to its environment."""

    command: str
    args: tuple[str, ...]
    env: Mapping[str, SecretStr]


@dataclass(frozen=True, slots=True)
class HttpTransport:
    """A server that speaks MCP over streamable HTTP."""

    url: str
    headers: Mapping[str, SecretStr]


@dataclass(frozen=True, slots=True)
class McpServer:
    """An MCP server; `timeout_s` is the time limit of each call."""

    name: str
    transport: StdioTransport | HttpTransport
    policy: ToolPolicy
    timeout_s: float
    enabled: bool
