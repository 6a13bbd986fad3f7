"""The tool `get_document_text`: a document's text, whole or in part."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from proviso_service.errors import DocumentNotFound, InvalidRequest
from proviso_service.matters import Document, DocumentText, Matters, TextPart
from proviso_service.tool_results import TEXT_TOOL, DocumentPart
from proviso_service.tools.base import LookedIn, Number, Rendered, SourcePassage, ToolArgs, ToolScope, matter_of
from proviso_service.tools.rendering import fitting_length, to_json


class GetDocumentTextArgs(ToolArgs):
    document_id: str = Field("", max_length=64, description="UUID of the document; this or filename.")
    filename: str = Field("", max_length=255, description="File name of the document; this or document_id.")
    start: int = Field(0, ge=0, description="Where to start, in characters.")
    page: int = Field(0, ge=0, description="Page to read, from 1, instead of start.")
    heading: str = Field("", max_length=512, description='Section to read, by title or number ("12.3"), not start.')
    max_length: int = Field(50_000, ge=1, le=700_000, description="Most characters to return.")

    @property
    def room(self) -> int:
        """A clause with all its items is seldom shorter."""
        return 2


MAX_NAMED = 12
_LONGEST_REF = 1_000


@dataclass(frozen=True, slots=True)
class TextResult:
    """A part of a document's text."""

    part: DocumentText

    @property
    def found(self) -> bool:
        return bool(self.part.text)

    def looked_in(self) -> LookedIn:
        read = frozenset({self.part.document.document_id})
        return LookedIn(asked=read, found=read if self.found else frozenset())

    def data(self) -> dict[str, Any]:
        return DocumentPart(
            document_id=self.part.document.document_id,
            filename=self.part.document.filename,
            file_type=self.part.document.file_type,
            character_count=self.part.character_count,
            truncated=self.part.truncated,
            start=self.part.start,
            page=self.part.page,
            section_path=self.part.section_path,
            next_start=self.part.next_start,
            text=self.part.text,
        ).as_json()

    def render(self, number: Number, max_chars: int) -> Rendered:
        """As much of the text as fits, and how to get the rest. Text that is not shown cannot be cited."""
        longest = {"ref": _LONGEST_REF, **self.data()} | _going_on(self.part.character_count)
        length = fitting_length(longest, "text", max_chars)
        is_cut = length < len(self.part.text)
        shown = self.data() | {"text": self.part.text[:length], "truncated": self.part.truncated or is_cut}
        if shown["truncated"]:
            shown |= _going_on(self.part.start + length)
        return Rendered(to_json({"ref": number(self._passage(length)), **shown}), shown["truncated"])

    def _passage(self, length: int) -> SourcePassage:
        part, document = self.part, self.part.document
        heading = part.section_path[-1] if part.section_path else ""
        text = part.text[:length]
        return SourcePassage(document.document_id, document.filename, part.start, text, part.page, heading, part.places)


class GetDocumentText:
    """Reads a document's text."""

    name = TEXT_TOOL
    description = (
        "Read the text of one document: from its beginning, one page, one section, or from a position on. Use it when "
        'the user wants to see a document ("Show me the full document"), not to look something up in it. A long text '
        "comes in parts: next_start is where to go on. Cite what you quote from it by its ref."
    )
    args = GetDocumentTextArgs
    needs_matter = True
    is_retrieval = False

    def __init__(self, matters: Matters) -> None:
        self._matters = matters

    async def run(self, scope: ToolScope, args: GetDocumentTextArgs) -> TextResult:
        """Reads the text. Raises DocumentNotFound, whose hint names the documents that exist."""
        document_id = args.document_id or ("" if args.filename else scope.document_id or "")
        if not document_id and not args.filename:
            raise InvalidRequest.of("document_id", "document_id or filename is required")
        tenant, matter_id = scope.caller.tenant, matter_of(scope)
        try:
            part = await self._matters.document_text(
                tenant,
                matter_id,
                document_id=document_id,
                filename="" if document_id else args.filename,
                part=TextPart(args.start, args.page, args.heading, args.max_length),
            )
        except DocumentNotFound as error:
            documents = await self._matters.all_documents(tenant, matter_id)
            raise DocumentNotFound(error.name, _what_there_is(documents)) from error
        return TextResult(part)


def _what_there_is(documents: Sequence[Document]) -> str:
    names = [document.filename for document in documents]
    if not names:
        return "The matter has no documents."
    more = f" and {len(names) - MAX_NAMED} more, see list_matter_documents" if len(names) > MAX_NAMED else ""
    return f"The documents are {', '.join(names[:MAX_NAMED])}{more}."


def _going_on(start: int) -> dict[str, Any]:
    hint = f"The text goes on: call get_document_text with this document_id and start={start} to read what follows."
    return {"next_start": start, "hint": hint}
