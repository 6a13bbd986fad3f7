"""What a tool's answer says, in text: what is no text is told in words."""

import json
from collections.abc import Sequence

from mcp_types import (
    AudioContent,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from proviso_service.mcp.model import ToolOutput


def read_result(result: CallToolResult, max_chars: int) -> ToolOutput:
    """The answer in at most `max_chars` code points: a typed one that is longer is given as text, and text is cut."""
    structured = result.structured_content if isinstance(result.structured_content, dict) else None
    typed = "" if structured is None else json.dumps(structured, ensure_ascii=False)
    text, is_cut = _text(result.content, max_chars)
    if structured is None:
        return ToolOutput(text, None, bool(result.is_error), is_cut)
    if len(typed) > max_chars:
        return ToolOutput(text or typed[:max_chars], None, bool(result.is_error), True)
    # Servers repeat a typed answer as text for clients that know no other.
    if is_cut or len(text) + len(typed) > max_chars or _same(text, structured):
        return ToolOutput("", structured, bool(result.is_error), is_cut)
    return ToolOutput(text, structured, bool(result.is_error))


def _text(content: Sequence[ContentBlock], max_chars: int) -> tuple[str, bool]:
    """The blocks in their order, and whether something was left out."""
    parts: list[str] = []
    left = max_chars
    for block in content:
        said = _said(block)
        if left <= 0 and said:
            return "\n\n".join(parts), True
        parts.append(said[:left])
        if len(said) > left:
            return "\n\n".join(parts), True
        left -= len(said) + 2
    return "\n\n".join(parts), False


def _said(block: ContentBlock) -> str:
    match block:
        case TextContent():
            return block.text
        case ImageContent() | AudioContent():
            kind = "An image" if isinstance(block, ImageContent) else "A sound"
            return f"[{kind} of type {block.mime_type}, {_size(block.data)}: it cannot be shown.]"
        case ResourceLink():
            return f"[A link to {block.title or block.name}: {block.uri}]"
        case EmbeddedResource():
            return _said_resource(block)


def _said_resource(block: EmbeddedResource) -> str:
    resource = block.resource
    if isinstance(resource, TextResourceContents):
        return f"[From {resource.uri}]\n{resource.text}"
    kind = resource.mime_type or "application/octet-stream"
    return f"[A file {resource.uri} of type {kind}, {_size(resource.blob)}: it cannot be shown.]"


def _size(base64: str) -> str:
    size = len(base64) * 3 // 4
    return f"{size} bytes" if size < 1_024 else f"{size / 1_024:,.0f} KB"


def _same(text: str, structured: dict[str, object]) -> bool:
    try:
        read = json.loads(text)
    except ValueError:
        return False
    return read in (structured, *structured.values())
