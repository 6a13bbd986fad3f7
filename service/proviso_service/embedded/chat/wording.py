"""The fixed sentences of the embedded chat model, and the forms of names, quotes and references in its answers."""

from collections.abc import Iterable, Sequence

from proviso_service.embedded.chat.phrases import Intent
from proviso_service.embedded.chat.text import one_line
from proviso_service.tool_results import DocumentList, FailedDocument, FoundPassage

NO_ANSWER = "I don't have enough information in the current documentation to answer that."
NO_IMAGES = "I can't see images; I can only read the text of documents."
NO_MATTER = (
    "I can't look into documents here, because no matter is selected. "
    "Please select the matter that you are working with and ask again."
)
NO_TOOLS = "I can't look into the documents for this answer, because the tool that this needs is not available."
NO_DOCUMENTS = "The matter has no documents yet, so there is nothing to quote from."
TOOL_FAILED = "I could not look that up, because the search did not work. Please try again."
ALL_FOUND = "These are the places that I found, the surest first; there may be others:"
OFFER = "Shall I look in the other documents?"
WHICH_DOCUMENT = "Please name the document that you mean."

_CAN = (
    "I can list the documents of a matter, show their text, find and quote passages, count the documents that mention "
    "something, and compare what two documents say."
)
FIXED_ANSWERS = {
    Intent.GREETING: f"Hello. {_CAN} What would you like to know?",
    Intent.THANKS: "You're welcome. Ask whenever you need something else from the documents.",
    Intent.ABOUT: (
        f"I'm Proviso's built-in assistant. {_CAN} I answer with quotes and their sources only, and I can't see images."
    ),
    Intent.ADVICE: (
        "I can't give legal advice or predict an outcome. I can quote what the documents say, "
        "for example on termination, liability or governing law."
    ),
    Intent.OFF_TOPIC: f"I can only help with the documents of a legal matter. {_CAN}",
}


_MAX_NAME_CHARS = 160
_MAX_LISTED = 30
_STRAIGHT = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"'})


def name(text: str) -> str:
    """Writes a file name or a heading on one line. Its quotation marks become straight, because curly ones mark
    quotes."""
    return one_line(text.translate(_STRAIGHT), _MAX_NAME_CHARS)


def place(passage: FoundPassage) -> str:
    """Writes where a passage is from: `Lease.pdf (4. Rent)`."""
    heading = name(passage.heading.lstrip("# "))
    return f"{name(passage.filename)} ({heading})" if heading else name(passage.filename)


def quote(text: str, ref: int | None) -> str:
    """Writes `“text” [ref]`. Double quotation marks in the text become straight, so that the end of the quote is
    clear."""
    return f"“{text.translate(_STRAIGHT)}”{reference(ref)}"


def reference(ref: int | None) -> str:
    return "" if ref is None else f" [{ref}]"


_PHRASES = {
    "not sure": {
        "en": "I found no passage that answers this for certain{where}. The closest:",
        "de": "Ich habe keine Stelle gefunden, die das sicher beantwortet{where}. Am nächsten kommen:",
        "fr": "Je n'ai pas trouvé de passage qui y réponde avec certitude{where}. Les plus proches :",
    },
    "asked abroad": {
        "en": "I search better when you ask in English.",
        "de": "Ich suche besser, wenn Sie auf Englisch fragen.",
        "fr": "Je cherche mieux si vous posez la question en anglais.",
    },
    "none for certain": {
        "en": "I found no document that says so for certain. These come close:",
        "de": "Ich habe kein Dokument gefunden, das dies sicher regelt. Diese kommen dem nahe:",
        "fr": "Je n'ai trouvé aucun document qui le dise avec certitude. Ceux-ci s'en approchent :",
    },
}
_IN = {"en": " in ", "de": " in ", "fr": " dans "}


def phrase(key: str, language: str, where: str) -> str:
    """Returns a sentence of the answers in the language of the question, in English where there is none of it. `where`
    names the documents that were searched."""
    spoken = language if language in _PHRASES[key] else "en"
    return _PHRASES[key][spoken].format(where=f"{_IN[spoken]}{where}" if where else "")


def faulty_query(query: str, character: int, fault: str) -> str:
    """Shows a query of the person's with its fault under the place where it is, which is counted from 1."""
    caret = " " * (character - 1) + "^"
    return f"The query could not be read:\n\n```\n{one_line(query)}\n{caret}\n```\n\n{fault}"


def bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def joined(names: Sequence[str]) -> str:
    """Joins names as `A`, `A and B` or `A, B and C`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def not_analysed(documents: Sequence[FailedDocument]) -> str:
    """Writes the paragraph that names the documents, each with the reason; it is empty when there are none."""
    names = [_with_reason(one) for one in documents]
    return f"\n\nNot analysed: {joined(names)}." if names else ""


def _with_reason(document: FailedDocument) -> str:
    """Writes `Lease.pdf (still being processed; try again shortly)`."""
    called = document.filename or document.document_id
    reason = name(document.error.removeprefix(called).strip().removeprefix("is ").rstrip("."))
    return f"{name(called)} ({reason})" if reason else name(called)


def document_lines(listing: DocumentList) -> str:
    """Lists documents with the states of those that are not ready, and counts those that are not shown."""
    shown = listing.documents[:_MAX_LISTED]
    lines = [
        name(one.filename) + ("" if one.is_ready else f" ({name(one.processing_status.lower())})") for one in shown
    ]
    more = listing.total_count - len(shown)
    return bullets([*lines, f"and {more} more"] if more > 0 else lines)
