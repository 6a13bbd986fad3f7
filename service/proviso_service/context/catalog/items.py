"""Items of the catalog."""

from dataclasses import dataclass

from proviso_service.context.catalog.tools import Approval, EffectiveMode, IncludeModeSource
from proviso_service.context.contents import content_sha256, utf8_bytes
from proviso_service.context.model import IncludeMode, ItemRef


@dataclass(frozen=True, slots=True)
class CatalogItem:
    """A rule, a reference or a tool. `include_mode` is the effective one; of items chosen for a request those of a
    higher `priority` come first. A tool's content is what the model is shown of it, as JSON; `approval` is of tools.
    `size_bytes` are those of description and content in UTF-8."""

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
    ) -> "CatalogItem":
        """With the hash of its content, in hexadecimal, and its size."""
        sha256, size_bytes = content_sha256(content), utf8_bytes(description) + utf8_bytes(content)
        mode, source = effective.mode, effective.source
        return cls(ref, description, content, sha256, mode, source, size_bytes, priority, enabled, approval)
