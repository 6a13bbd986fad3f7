"""The items of a catalog, the settings of tools and MCP servers, and what follows from them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from proviso_service.context.model import IncludeMode, ItemRef, content_sha256, utf8_bytes
from proviso_service.mcp.model import McpServerConfig, ServerHealth


class IncludeModeSource(StrEnum):
    """Where an item's include mode was set: on the item, on the tool's server, or nowhere."""

    ITEM = "item"
    SERVER = "server"
    DEFAULT = "default"


class Approval(StrEnum):
    """Whether a person has to approve calls of a tool."""

    NONE = "none"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class EffectiveMode:
    """The include mode that holds for an item, and where it was set."""

    mode: IncludeMode
    source: IncludeModeSource

    @classmethod
    def of_item(cls, include: IncludeMode | None) -> "EffectiveMode":
        """The mode of a rule or a reference: its own where it has one, otherwise always."""
        if include is not None:
            return cls(include, IncludeModeSource.ITEM)
        return cls(IncludeMode.ALWAYS, IncludeModeSource.DEFAULT)


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool of a server. `content` is the JSON that the model is shown: the name by which it calls the tool, which can
    differ from `name`, the description and the parameters."""

    name: str
    description: str
    content: str


@dataclass(frozen=True, slots=True)
class ToolOverride:
    """The settings of a single tool. None means the setting of its server."""

    include: IncludeMode | None = None
    approval: Approval | None = None
    locked: bool = False


@dataclass(frozen=True, slots=True)
class ToolPolicy:
    """The settings of a server's tools: of all of them, and of single ones by name."""

    include: IncludeMode | None = None
    approval: Approval | None = None
    tools: Mapping[str, ToolOverride] = field(default_factory=dict)

    def include_mode(self, tool: str) -> EffectiveMode:
        """The include mode of a tool: the setting of the tool, else that of its server, else always."""
        override = self.tools.get(tool, ToolOverride())
        if override.locked:
            return EffectiveMode(IncludeMode.ALWAYS, IncludeModeSource.ITEM)
        if override.include is not None:
            return EffectiveMode(override.include, IncludeModeSource.ITEM)
        if self.include is not None:
            return EffectiveMode(self.include, IncludeModeSource.SERVER)
        return EffectiveMode(IncludeMode.ALWAYS, IncludeModeSource.DEFAULT)

    def is_locked(self, tool: str) -> bool:
        return self.tools.get(tool, ToolOverride()).locked

    def approval_of(self, tool: str) -> Approval:
        """The approval of a tool: the setting of the tool, else that of its server, else none."""
        return self.tools.get(tool, ToolOverride()).approval or self.approval or Approval.NONE


@dataclass(frozen=True, slots=True)
class CatalogItem:
    """A rule, a reference or a tool.

    `include_mode` is the one that holds. Among the items that are chosen for a request, those of a higher `priority`
    come first. The content of a tool is the JSON that the model is shown of it; `approval` matters for tools only.
    `keywords` are searched like the rest, but the model is not given them. `size_bytes` is the size of description and
    content in UTF-8. A `locked` item is in every session, and no session can remove it."""

    ref: ItemRef
    description: str
    content: str
    content_sha256: str
    include_mode: IncludeMode
    include_mode_source: IncludeModeSource
    size_bytes: int
    priority: int = 0
    enabled: bool = True
    approval: Approval = Approval.NONE
    keywords: tuple[str, ...] = ()
    locked: bool = False

    @classmethod
    def of(
        cls,
        ref: ItemRef,
        description: str,
        content: str,
        effective: EffectiveMode,
        *,
        priority: int = 0,
        enabled: bool = True,
        approval: Approval = Approval.NONE,
        keywords: tuple[str, ...] = (),
        locked: bool = False,
    ) -> "CatalogItem":
        """An item with the hash of its content, in hexadecimal, and its size."""
        sha256, size_bytes = content_sha256(content), utf8_bytes(description) + utf8_bytes(content)
        mode, source = effective.mode, effective.source
        own = (priority, enabled, approval, keywords, locked)
        return cls(ref, description, content, sha256, mode, source, size_bytes, *own)


@dataclass(frozen=True, slots=True)
class McpServer:
    """How an MCP server is reached, and how its tools are used. A change of the tools' settings leaves the connection
    open.

    `definition_sha256` is the hash of what says which server it is, as it is written in the file: variables are not
    filled in."""

    config: McpServerConfig
    policy: ToolPolicy
    definition_sha256: str

    @property
    def name(self) -> str:
        return self.config.name


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """How a server is doing, and the include mode of its tools that have no setting of their own; None where there is
    none."""

    health: ServerHealth
    include: IncludeMode | None
