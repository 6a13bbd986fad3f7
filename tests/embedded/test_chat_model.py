"""The embedded chat model as LangChain drives it: streaming, binding, usage."""

import asyncio

import pytest
from langchain_core.messages import AIMessageChunk, HumanMessage
from langchain_core.messages.ai import add_ai_message_chunks
from langchain_core.tools import tool

from proviso_service.embedded import EmbeddedChatModel, MiniLmEmbedder
from proviso_service.embedded.chat_model import MODEL_NAME
from tests.support.scripted_matter import TOOLS, ScriptedMatter, marker, run_turn

QUESTION = "What is the governing law of the NDA?"


@pytest.fixture
def model(embedder: MiniLmEmbedder) -> EmbeddedChatModel:
    return EmbeddedChatModel(embedder=embedder)


@pytest.mark.parametrize("question", ["Hello", "List all documents", "Show me the NDA", QUESTION])
async def test_streamed_pieces_join_to_the_generated_message(
    model: EmbeddedChatModel, embedder: MiniLmEmbedder, question: str
) -> None:
    turn = await run_turn(model, ScriptedMatter(embedder), question)
    steps = [index for index, message in enumerate(turn.messages) if message.type == "ai"]
    for index in steps:
        before, generated = turn.messages[:index], turn.messages[index]
        pieces = [piece async for piece in model.bind_tools(TOOLS).astream(before)]
        joined = add_ai_message_chunks(*[piece for piece in pieces if isinstance(piece, AIMessageChunk)])
        assert joined.text == generated.text
        assert joined.tool_calls == getattr(generated, "tool_calls", None)
        assert joined.usage_metadata == getattr(generated, "usage_metadata", None)
        assert joined.response_metadata["model_name"] == MODEL_NAME
        assert all(len(str(piece.text).split()) <= 1 for piece in pieces)
        assert [piece.usage_metadata is not None for piece in pieces] == [False] * (len(pieces) - 1) + [True]


async def test_tool_calls_use_only_bound_tools_and_declared_arguments(model: EmbeddedChatModel) -> None:
    @tool
    def isaacus_search(query: str) -> str:
        """Searches."""
        return query

    reply = await model.bind_tools([isaacus_search]).ainvoke([HumanMessage(marker() + "What is the governing law?")])
    assert [(call["name"], set(call["args"])) for call in reply.tool_calls] == [("isaacus_search", {"query"})]
    assert reply.response_metadata["finish_reason"] == "tool_calls"


async def test_tool_choice_none_offers_no_tool(model: EmbeddedChatModel) -> None:
    bound = model.bind_tools(TOOLS, tool_choice="none")
    assert (await bound.ainvoke([HumanMessage(marker() + QUESTION)])).tool_calls == []


async def test_call_ids_follow_from_content_and_position(model: EmbeddedChatModel) -> None:
    bound = model.bind_tools(TOOLS)
    first = await bound.ainvoke([HumanMessage(marker() + QUESTION)])
    again = await bound.ainvoke([HumanMessage(marker() + QUESTION)])
    later = await bound.ainvoke([HumanMessage("Hi"), HumanMessage(marker() + QUESTION)])
    assert first.tool_calls[0]["id"] == again.tool_calls[0]["id"] != later.tool_calls[0]["id"]


async def test_usage_counts_what_was_read_and_written(model: EmbeddedChatModel) -> None:
    reply = await model.ainvoke([HumanMessage("Hello")])
    usage = reply.usage_metadata
    assert usage is not None
    assert usage["input_tokens"] == 2
    assert usage["output_tokens"] == -(-len(str(reply.text)) // 4)
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]


def test_it_also_answers_without_an_event_loop(model: EmbeddedChatModel) -> None:
    assert model.invoke("Hello").text.startswith("Hello.")


async def test_the_loop_stays_free_while_it_thinks(model: EmbeddedChatModel) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    await model.warm_up()
    ticking.cancel()
    assert ticks > 1


async def test_no_message_at_all_is_a_greeting(model: EmbeddedChatModel) -> None:
    assert (await model.ainvoke("")).text.startswith("Hello.")
