"""Items of the catalog."""

from dataclasses import dataclass

from proviso_service.context.catalog.tools import Approval, EffectiveMode, IncludeModeSource
from proviso_service.context.contents import content_sha256
from proviso_service.context.model import IncludeMode, ItemRef


@dataclass(frozen=True, slots=True)
class CatalogItem:
    """A rule, a reference or a tool. `include_mode` is the effective one; of items chosen for a request those of a
    higher `priority` come first. A tool's content is what the model is shown of it, as JSON; `approval` is of tools."""

    ref: ItemRef
    description: str
    content: str
    content_sha256: str
    include_mode: IncludeMode
    include_mode_source: IncludeModeSource
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
        """With the hash of its content, in hexadecimal."""
        sha256 = content_sha256(content)
        return cls(ref, description, content, sha256, effective.mode, effective.source, priority, enabled, approval)
