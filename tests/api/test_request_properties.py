"""Whatever bytes arrive: a request is valid, or every fault in it is named."""

from contextlib import suppress

from google.protobuf.message import DecodeError, Message
from hypothesis import given
from hypothesis import strategies as st

from proviso_client.v1 import chat_pb2, context_pb2, matters_pb2, tools_pb2
from proviso_service.api.chat import ChatRequestModel
from proviso_service.api.request_models import RequestLimits, RequestModel, parse
from proviso_service.api.tools import GetDocumentTextRequestModel, SearchRequestModel
from proviso_service.api.uploads import UploadHeaderModel
from proviso_service.errors import InvalidRequest
from proviso_service.turns import TurnConfig

LIMITS = RequestLimits(TurnConfig())
UUID = "25e70284-6124-4a2b-9c89-0123456789ab"
NUMBERS = st.integers(-(2**31), 2**31 - 1)
TEXTS = st.text(max_size=80) | st.sampled_from([UUID, UUID.upper(), "https://example.org/a.png", "https://[", ""])

chat_requests = st.builds(
    chat_pb2.ChatRequest,
    message=TEXTS,
    matter_context=st.none() | st.builds(context_pb2.MatterContext, matter_id=TEXTS, document_name=TEXTS),
    image_urls=st.lists(TEXTS, max_size=7),
    document_context=st.lists(st.builds(context_pb2.DocumentContext, filename=TEXTS, type=TEXTS), max_size=3),
    session_id=TEXTS,
    request_id=TEXTS,
    on_disconnect=NUMBERS,
    options=st.none() | st.builds(chat_pb2.ChatOptions, model=TEXTS, max_turns=NUMBERS),
)
searches = st.builds(
    tools_pb2.SearchRequest,
    matter_id=TEXTS,
    query=TEXTS,
    page_size=NUMBERS,
    min_score=st.none() | st.floats(),
    document_ids=st.lists(TEXTS, max_size=3),
)


def accepted(model: type[RequestModel], message: Message) -> RequestModel | None:
    """The parsed request; None when it names what is wrong with it."""
    try:
        return parse(model, message, context=LIMITS)
    except InvalidRequest as error:
        violations = error.violations
    assert violations
    assert all(violation.field and violation.description for violation in violations)
    return None


@given(chat_requests)
def test_an_accepted_chat_request_keeps_the_rules(message: chat_pb2.ChatRequest) -> None:
    parsed = accepted(ChatRequestModel, message)
    if isinstance(parsed, ChatRequestModel):
        request = parsed.to_domain()
        assert all(url.startswith("https://") for url in request.image_urls)
        assert (request.options.max_turns or 1) <= LIMITS.turns.max_turns
        assert request.message == message.message


@given(searches)
def test_an_accepted_search_keeps_the_rules(message: tools_pb2.SearchRequest) -> None:
    parsed = accepted(SearchRequestModel, message)
    if isinstance(parsed, SearchRequestModel):
        query = parsed.to_domain()
        assert query.matter_id == UUID
        assert set(query.document_ids) <= {UUID}
        assert 1 <= query.max_results <= 50
        assert 0 <= query.threshold <= 1


@given(TEXTS, TEXTS, TEXTS)
def test_an_accepted_upload_header_keeps_the_rules(matter_id: str, filename: str, sha256: str) -> None:
    message = matters_pb2.UploadHeader(matter_id=matter_id, filename=filename, sha256=sha256)
    parsed = accepted(UploadHeaderModel, message)
    if isinstance(parsed, UploadHeaderModel):
        header = parsed.to_domain()
        assert (header.matter_id, header.filename, header.sha256) == (UUID, filename, "")


@given(st.binary(max_size=200))
def test_no_bytes_that_decode_make_validation_fail_otherwise(data: bytes) -> None:
    for model in (ChatRequestModel, SearchRequestModel, GetDocumentTextRequestModel, UploadHeaderModel):
        message = model.proto()
        with suppress(DecodeError):
            message.ParseFromString(data)
            accepted(model, message)
