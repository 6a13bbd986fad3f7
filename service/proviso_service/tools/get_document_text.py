"""The tool `get_document_text`: a document's text, whole or in part."""

from dataclasses import dataclass
from typing import Any

from pydantic import Field

from proviso_service.errors import InvalidRequest
from proviso_service.matters.model import DocumentText
from proviso_service.matters.reading import TextPart
from proviso_service.matters.service import Matters
from proviso_service.tools.base import Number, Passage, Rendered, ToolArgs, ToolScope, matter_of
from proviso_service.tools.rendering import MIN_TEXT_CHARS, fit_text


class GetDocumentTextArgs(ToolArgs):
    document_id: str = Field("", max_length=64, description="UUID of the document; this or filename.")
    filename: str = Field("", max_length=255, description="File name of the document; this or document_id.")
    start: int = Field(0, ge=0, description="Where to start, in characters.")
    page: int = Field(0, ge=0, description="Page to read, from 1, instead of start.")
    heading: str = Field("", max_length=512, description='Section to read, by title or number ("12.3"), not start.')
    max_length: int = Field(50_000, ge=1, le=700_000, description="Most characters to return.")


@dataclass(frozen=True, slots=True)
class TextResult:
    """Part of a document's text."""

    part: DocumentText

    @property
    def found(self) -> bool:
        return bool(self.part.text)

    def data(self) -> dict[str, Any]:
        return {
            "document_id": self.part.document.document_id,
            "filename": self.part.document.filename,
            "file_type": self.part.document.file_type,
            "character_count": self.part.character_count,
            "truncated": self.part.truncated,
            "start": self.part.start,
            "page": self.part.page,
            "section_path": list(self.part.section_path),
            "text": self.part.text,
        }

    def render(self, number: Number, max_chars: int) -> Rendered:
        document = self.part.document
        # What is not shown is no source: JSON holds at most as many characters of the text as it is long.
        shown = self.part.text[: max(max_chars, MIN_TEXT_CHARS)]
        heading = self.part.section_path[-1] if self.part.section_path else ""
        ref = number(Passage(document.document_id, document.filename, self.part.start, shown, self.part.page, heading))
        return fit_text({"ref": ref, **self.data()}, "text", max_chars)


class GetDocumentText:
    """Reads a document's text."""

    name = "get_document_text"
    description = (
        "Read the text of one document: whole, one page, one section, or from a position on. Use it when the user "
        "wants to see a document. Cite what you quote from it by its ref."
    )
    args = GetDocumentTextArgs
    needs_matter = True
    is_retrieval = False

    def __init__(self, matters: Matters) -> None:
        self._matters = matters

    async def run(self, scope: ToolScope, args: GetDocumentTextArgs) -> TextResult:
        document_id = args.document_id or ("" if args.filename else scope.document_id or "")
        if not document_id and not args.filename:
            raise InvalidRequest.of("document_id", "document_id or filename is required")
        return TextResult(
            await self._matters.document_text(
                scope.caller.tenant,
                matter_of(scope),
                document_id=document_id,
                filename="" if document_id else args.filename,
                part=TextPart(args.start, args.page, args.heading, args.max_length),
            )
        )
