"""Says that a document does not hold what was asked for: what was looked for, and in which document."""

from collections.abc import Collection

from proviso_service.embedded.chat.conversation import Evidence
from proviso_service.embedded.chat.phrases import pattern, patterns
from proviso_service.embedded.chat.request import TargetDocuments, UserRequest
from proviso_service.embedded.chat.wording import joined, name, said
from proviso_service.embedded.sentences import one_line
from proviso_service.language import ENGLISH
from proviso_service.tool_results import ListedDocument, TurnResult


def not_found(request: UserRequest, target: TargetDocuments, evidence: Evidence) -> str:
    """Says that the documents that were searched have no answer, of the one on view first where all were searched;
    empty where no document was searched by itself."""
    documents = target.documents or ((request.viewed,) if request.viewed else ())
    if not documents or not all(evidence.has_searched(one.document_id) for one in documents):
        return ""
    sentence = _none(request, joined([_named(request, one) for one in documents]))
    is_alone = evidence.listing is not None and evidence.listing.total_count == 1
    if not is_alone and any(not search.document_ids for search in evidence.searches):
        return f"{sentence}, {said('none_elsewhere', request.language)}"
    return f"{sentence}.{offer(request, target, evidence)}"


def none_in_view(request: UserRequest, evidence: Evidence, quoted: Collection[str]) -> str:
    """Returns the first sentence of an answer that quotes other documents only, where the document on view was searched
    by itself; empty for other answers. `quoted` are the ids of the documents."""
    viewed = request.viewed
    if viewed is None or viewed.document_id in quoted or not evidence.has_searched(viewed.document_id):
        return ""
    none = _none(request, on_view(viewed.filename, request.language))
    return f"{none}; {said('from_others', request.language)}\n\n"


def view_without_match(result: TurnResult) -> str:
    """Names the document on view where the result of an analysis tells that it was analysed and has none of what others
    have; empty otherwise."""
    viewed = result.on_view
    return on_view(viewed.filename) if viewed and viewed.searched and not viewed.found else ""


def offer(request: UserRequest, target: TargetDocuments, evidence: Evidence) -> str:
    """Offers to look in the other documents where the document on view alone was searched and the matter has others."""
    is_view_alone = request.viewed is not None and target.ids == [request.viewed.document_id]
    return f" {said('offer', request.language)}" if is_view_alone and evidence.has_other_documents else ""


def on_view(filename: str, language: str = ENGLISH) -> str:
    return said("on_view", language, where=name(filename))


def searched_document(request: UserRequest, target: TargetDocuments) -> str:
    """Names the one document that was searched; empty where there are several, or all of the matter."""
    return _named(request, target.documents[0]) if len(target.documents) == 1 else ""


def _named(request: UserRequest, document: ListedDocument) -> str:
    is_viewed = request.viewed is not None and request.viewed.document_id == document.document_id
    return on_view(document.filename, request.language) if is_viewed else name(document.filename)


def _none(request: UserRequest, where: str) -> str:
    """Says that something was not found there, in the question's own words where they are a noun."""
    if request.section:
        return said("no_noun", noun="such section", where=where)
    question = one_line(request.bare_question).rstrip(" ?.!")
    for opening in patterns("asked_noun"):
        if found := opening.match(question):
            what = pattern("place_of_noun").sub("", found["what"])
            if pattern("plain_noun").fullmatch(what):
                return said("no_noun", noun=what, where=where)
    return said("nothing", request.language, where=where)
