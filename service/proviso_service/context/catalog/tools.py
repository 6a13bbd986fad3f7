"""Tools as an agent configures them: include modes and approvals, for a server and for single tools of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from proviso_service.context.model import IncludeMode


class IncludeModeSource(StrEnum):
    """Where an item's include mode was set: on the item, on the tool's server, or nowhere."""

    ITEM = "item"
    SERVER = "server"
    DEFAULT = "default"


class Approval(StrEnum):
    """Whether a person has to approve a call of the tool."""

    NONE = "none"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class EffectiveMode:
    """The include mode that holds, and where it was set."""

    mode: IncludeMode
    source: IncludeModeSource

    @classmethod
    def of_item(cls, include: IncludeMode | None) -> "EffectiveMode":
        """That of a rule or a reference: its own, or else always."""
        if include is not None:
            return cls(include, IncludeModeSource.ITEM)
        return cls(IncludeMode.ALWAYS, IncludeModeSource.DEFAULT)


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool of a server. `content` is what the model is shown of it, as JSON: the name that it calls it by, which need
    not be `name`, the description and the parameters."""

    name: str
    description: str
    content: str


@dataclass(frozen=True, slots=True)
class ToolOverride:
    """What is said of one tool; None leaves it to the server."""

    include: IncludeMode | None = None
    approval: Approval | None = None


@dataclass(frozen=True, slots=True)
class ToolPolicy:
    """What is said of the tools of a server: of all of them, and of single ones by name."""

    include: IncludeMode | None = None
    approval: Approval | None = None
    tools: Mapping[str, ToolOverride] = field(default_factory=dict)

    def include_mode(self, tool: str) -> EffectiveMode:
        """Tool-level setting, then server-level setting, then always (seeds: context tracking design)."""
        override = self.tools.get(tool, ToolOverride())
        if override.include is not None:
            return EffectiveMode(override.include, IncludeModeSource.ITEM)
        if self.include is not None:
            return EffectiveMode(self.include, IncludeModeSource.SERVER)
        return EffectiveMode(IncludeMode.ALWAYS, IncludeModeSource.DEFAULT)

    def approval_of(self, tool: str) -> Approval:
        """Tool-level setting, then server-level setting, then none."""
        return self.tools.get(tool, ToolOverride()).approval or self.approval or Approval.NONE
