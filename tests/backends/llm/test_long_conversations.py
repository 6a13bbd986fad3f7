"""What the client of a provider does with a conversation before it sends it. All of that runs on the event loop, and so
must not grow much with the conversation. It is counted, since times say nothing on a busy machine."""

from functools import partial
from typing import Any

import pytest
from google.genai.types import FunctionCall, Part
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_google_genai.chat_models import _parse_chat_history

from proviso_service.backends.llm.factory import build_chat_model
from proviso_service.settings import Settings
from tests.support.counting import calls_during
from tests.support.gemini_replies import says
from tests.support.gemini_server import KEY, gemini_server

NOBODY = "http://127.0.0.1:9"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
PROVIDERS: dict[str, dict[str, Any]] = {
    "google_genai:gemini-2.5-flash": {"GOOGLE_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": NOBODY},
    "openai:gpt-4.1": {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": NOBODY},
    "anthropic:claude-sonnet-4-5": {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": NOBODY},
}


KINDS = (HumanMessage, AIMessage)


def conversation(messages: int) -> list[AnyMessage]:
    said = [kind(f"What was said {n}, in some words more.") for n in range(messages // 2) for kind in KINDS]
    return [SystemMessage("You are Proviso."), *said, HumanMessage("Who?")]


@pytest.mark.parametrize("llm", PROVIDERS)
async def test_each_message_of_a_conversation_takes_a_few_calls_to_be_sent(llm: str) -> None:
    built = build_chat_model(Settings.model_validate({"llm": llm, **PROVIDERS[llm]}))

    async def attempt(messages: list[AnyMessage]) -> None:
        with pytest.raises(Exception):  # noqa: B017, PT011  nobody listens, whatever the client makes of that
            async for _ in built.model._astream(list(messages)):
                pass

    empty, long = conversation(0), conversation(120)
    await attempt(long)
    counted = [min([await calls_during(partial(attempt, said)) for _ in range(3)]) for said in (empty, long)]
    if built.close is not None:
        await built.close()
    print(f"{llm}: {counted[0]} calls without history, {counted[1]} with 120 messages")
    assert counted[1] <= counted[0] + 40 * 120


async def test_gemini_is_sent_what_its_own_client_would_make_of_the_conversation() -> None:
    image = {"type": "image", "base64": PIXEL, "mime_type": "image/png"}
    call = {"name": "isaacus_search", "args": {"query": "law"}, "id": "call-1", "type": "tool_call"}
    messages: list[AnyMessage] = [
        *conversation(4)[1:],
        AIMessage("It is Jane."),
        HumanMessage([{"type": "text", "text": "Which law?"}, image]),
        AIMessage("", tool_calls=[call]),
        ToolMessage("§ 9", tool_call_id="call-1", name="isaacus_search"),
        HumanMessage("Answer again."),
    ]
    async with gemini_server() as gemini:
        chosen = {"GOOGLE_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": gemini.base_url}
        built = build_chat_model(Settings.model_validate({"llm": "google_genai:gemini-2.5-flash", **chosen}))
        gemini.then(says("Yes."))
        async for _ in built.model._astream([SystemMessage("You are Proviso."), *messages]):
            pass
        [asked] = gemini.asked
    _, contents = _parse_chat_history(messages, model="gemini-2.5-flash")
    sent = [content.model_dump(mode="json", exclude_none=True) for content in contents]
    received = [type(contents[0]).model_validate(content.model_dump()) for content in asked.contents]
    assert [content.model_dump(mode="json", exclude_none=True) for content in received] == sent
    assert Part(function_call=FunctionCall(name="isaacus_search", args={"query": "law"})) in (contents[-3].parts or [])
