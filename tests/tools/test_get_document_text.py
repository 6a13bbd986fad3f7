"""What the model is shown of a document's text is what it may quote."""

import json

from proviso_service.matters.model import DocumentText
from proviso_service.tools.base import Passage
from proviso_service.tools.get_document_text import TextResult
from tests.support.agent_world import document

TEXT = "".join(f"Clause {n}.\n" for n in range(10_000))


def test_only_what_can_be_shown_is_a_source() -> None:
    numbered: list[Passage] = []

    def number(passage: Passage) -> int:
        numbered.append(passage)
        return len(numbered)

    rendered = TextResult(DocumentText(document(), TEXT, 500, len(TEXT) + 500, truncated=False)).render(number, 1_000)
    shown = json.loads(rendered.text)["text"]
    (passage,) = numbered
    assert rendered.truncated
    assert passage.start == 500
    assert TEXT.startswith(passage.text)
    assert len(shown) <= len(passage.text) <= 1_000
    assert passage.text.startswith(shown)


def test_a_part_says_its_page_and_headings_and_is_cited_by_them() -> None:
    numbered: list[Passage] = []

    def number(passage: Passage) -> int:
        numbered.append(passage)
        return len(numbered)

    path = ("Lease", "1. Rent")
    part = DocumentText(document(), "The rent.", 500, 900, truncated=False, page=3, section_path=path)
    shown = json.loads(TextResult(part).render(number, 1_000).text)
    assert (shown["page"], shown["section_path"]) == (3, list(path))
    assert numbered == [Passage(document().document_id, document().filename, 500, "The rent.", 3, "1. Rent")]
