"""From fields of `agent.yaml` to tool policies and MCP servers."""

from collections.abc import Mapping

from pydantic import SecretStr

from proviso_service.context.catalog.folder import AGENT_FILE
from proviso_service.context.catalog.limits import AgentLimits
from proviso_service.context.catalog.schema import (
    AgentFields,
    HttpServerFields,
    OwnToolsFields,
    StdioServerFields,
)
from proviso_service.context.catalog.servers import HttpTransport, McpServer, StdioTransport
from proviso_service.context.catalog.tools import ToolOverride, ToolPolicy
from proviso_service.context.catalog.variables import UnknownVariable, filled_in
from proviso_service.context.catalog.yaml_text import YamlText
from proviso_service.errors import FileFault


def own_tool_policy(fields: OwnToolsFields) -> ToolPolicy:
    return ToolPolicy(fields.include, None, {name: ToolOverride(tool.include) for name, tool in fields.tools.items()})


def read_servers(
    fields: AgentFields,
    text: YamlText,
    environment: Mapping[str, str],
    limits: AgentLimits,
    faults: list[FileFault],
) -> list[McpServer]:
    """The MCP servers; what is wrong with them is added to `faults`. Variables are filled in for servers that are
    enabled: what others name need not be set."""
    if len(fields.mcp_servers) > limits.max_servers:
        line = text.line_of(("mcp_servers",))
        faults.append(FileFault(AGENT_FILE, line, "mcp_servers", f"has more than {limits.max_servers} servers"))
    secrets = _Secrets(text, environment, faults)
    return [_server(name, server, secrets) for name, server in fields.mcp_servers.items()]


def _server(name: str, fields: StdioServerFields | HttpServerFields, secrets: "_Secrets") -> McpServer:
    overrides = {tool: ToolOverride(said.include, said.approval) for tool, said in fields.tools.items()}
    transport: StdioTransport | HttpTransport
    if isinstance(fields, StdioServerFields):
        transport = StdioTransport(fields.command, fields.args, secrets.of(name, "env", fields.env, fields.enabled))
    else:
        transport = HttpTransport(fields.url, secrets.of(name, "headers", fields.headers, fields.enabled))
    policy = ToolPolicy(fields.include, fields.approval, overrides)
    return McpServer(name, transport, policy, fields.timeout_s, fields.enabled)


class _Secrets:
    """Fills in what `agent.yaml` leaves to the environment."""

    def __init__(self, text: YamlText, environment: Mapping[str, str], faults: list[FileFault]) -> None:
        self._text = text
        self._environment = environment
        self._faults = faults

    def of(self, server: str, group: str, values: Mapping[str, str], enabled: bool) -> Mapping[str, SecretStr]:
        if not enabled:
            return {}
        return {name: self._filled_in(server, group, name, value) for name, value in values.items()}

    def _filled_in(self, server: str, group: str, name: str, value: str) -> SecretStr:
        try:
            return filled_in(value, self._environment)
        except UnknownVariable as error:
            line = self._text.line_of(("mcp_servers", server, group, name))
            field = f"mcp_servers.{server}.{group}.{name}"
            self._faults.append(FileFault(AGENT_FILE, line, field, str(error)))
            return SecretStr("")
