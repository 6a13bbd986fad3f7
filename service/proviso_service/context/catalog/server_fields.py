"""From the fields of `agent.yaml` to the settings of tools and MCP servers. `${NAME}` in a value stands for a variable
of the environment, so that files hold no secrets.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from pydantic import SecretStr

from proviso_service.context.catalog.folder import AGENT_FILE, FolderLimits
from proviso_service.context.catalog.items import McpServer, ToolOverride, ToolPolicy
from proviso_service.context.catalog.schema import (
    AgentFields,
    HttpServerFields,
    StdioServerFields,
    ToolsFields,
)
from proviso_service.context.catalog.yaml_text import YamlText
from proviso_service.context.model import content_sha256
from proviso_service.errors import FileFault
from proviso_service.mcp.model import HttpTransport, McpServerConfig, StdioTransport

_PLACE = re.compile(r"\$\{([^}]*)\}?")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class UnknownVariable(Exception):
    """A value names a variable that does not exist, or not properly. The message says what is wrong and repeats no
    value."""


def filled_in(value: str, environment: Mapping[str, str]) -> SecretStr:
    """The value with every `${NAME}` replaced. Raises UnknownVariable."""

    def replacement(found: re.Match[str]) -> str:
        name = found[1]
        if not found[0].endswith("}") or not _NAME.fullmatch(name):
            raise UnknownVariable("holds ${ that is not followed by the name of a variable and }")
        if name not in environment:
            raise UnknownVariable(f"names the variable {name}, which is not set in the environment")
        return environment[name]

    return SecretStr(_PLACE.sub(replacement, value))


_AnyFields = StdioServerFields | HttpServerFields
_DEFINING = {"transport", "command", "args", "env", "cwd", "url", "headers"}


def tool_policy(fields: ToolsFields) -> ToolPolicy:
    """The settings of a server's tools, as they are used."""
    overrides = {name: ToolOverride(tool.include, tool.approval, tool.locked) for name, tool in fields.tools.items()}
    return ToolPolicy(fields.include, fields.approval, overrides)


def read_servers(
    fields: AgentFields,
    text: YamlText,
    root: Path,
    environment: Mapping[str, str],
    limits: FolderLimits,
    faults: list[FileFault],
) -> list[McpServer]:
    """The MCP servers. What is wrong with them is added to `faults`.

    Relative paths are taken from the agent's folder, `root`. Variables are filled in only for enabled servers, so that
    those which other servers name need not be set."""
    if len(fields.mcp_servers) > limits.max_servers:
        line = text.line_of(("mcp_servers",))
        faults.append(FileFault(AGENT_FILE, line, "mcp_servers", f"has more than {limits.max_servers} servers"))
    secrets = _Secrets(text, environment, faults)
    return [
        McpServer(_config(name, server, root, secrets), tool_policy(server), _definition_sha256(server))
        for name, server in fields.mcp_servers.items()
    ]


def _definition_sha256(fields: _AnyFields) -> str:
    """The hash of a server's definition. It is stored, so it does not depend on what `${VARIABLE}` stands for; a
    renewed secret does not change it."""
    return content_sha256(json.dumps(fields.model_dump(mode="json", include=_DEFINING), sort_keys=True))


def _config(name: str, fields: _AnyFields, root: Path, secrets: "_Secrets") -> McpServerConfig:
    return McpServerConfig(
        name,
        _transport(name, fields, root, secrets),
        fields.timeout_s,
        fields.start_timeout_s,
        fields.max_output_chars,
        fields.enabled,
    )


def _transport(name: str, fields: _AnyFields, root: Path, secrets: "_Secrets") -> StdioTransport | HttpTransport:
    if isinstance(fields, HttpServerFields):
        return HttpTransport(fields.url, secrets.of(name, "headers", fields.headers, fields.enabled))
    env = secrets.of(name, "env", fields.env, fields.enabled)
    cwd = None if fields.cwd is None else str((root / fields.cwd).absolute())
    return StdioTransport(fields.command, fields.args, env, cwd)


class _Secrets:
    """Fills in the values that `agent.yaml` leaves to the environment."""

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
