"""What makes one reply, or one retrieval, another."""

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage

from proviso_service.agent.caching import CachedReply, CacheScope, TurnCache
from proviso_service.tools.base import ToolScope
from tests.support.agent_world import CALLER, MATTER_ID, PASSAGE, Found, LookupArgs
from tests.support.memory_caches import memory_caches

PAYLOAD: list[AnyMessage] = [SystemMessage("Answer."), HumanMessage("Which law?")]
CALLED = AIMessage("", tool_calls=[{"name": "lookup", "args": {"query": "law"}, "id": "a"}])
SCOPE = ToolScope(CALLER, MATTER_ID)


def turn_cache() -> TurnCache:
    return TurnCache(memory_caches(), CacheScope("local", MATTER_ID, (1,)), "model", "00", len(PAYLOAD))


async def test_a_reply_depends_on_the_messages_after_the_payload_and_on_whether_there_were_tools() -> None:
    cache = turn_cache()
    asked: list[tuple[list[AnyMessage], bool]] = [
        ([*PAYLOAD], True),
        ([*PAYLOAD], False),
        ([*PAYLOAD, CALLED], True),
        ([*PAYLOAD, CALLED.model_copy(update={"additional_kwargs": {"signature": "x"}})], True),
        ([*PAYLOAD, HumanMessage("")], True),
    ]
    for number, (messages, with_tools) in enumerate(asked):
        async with cache.reply(messages, with_tools=with_tools) as lookup:
            assert lookup.found is None
            lookup.keep(CachedReply(AIMessage(str(number)), None))
    for number, (messages, with_tools) in enumerate(asked):
        async with cache.reply(messages, with_tools=with_tools) as lookup:
            assert lookup.found is not None
            assert lookup.found.message.content == str(number)


async def test_a_retrieval_depends_on_the_tool_its_arguments_and_the_document_on_view() -> None:
    cache = turn_cache()
    asked = [
        ("lookup", LookupArgs(query="law"), SCOPE),
        ("search", LookupArgs(query="law"), SCOPE),
        ("lookup", LookupArgs(query="law", limit=4), SCOPE),
        ("lookup", LookupArgs(query="law"), ToolScope(CALLER, MATTER_ID, "d")),
    ]
    for tool, args, scope in asked:
        async with cache.result(tool, args, scope) as lookup:
            assert lookup.found is None
            lookup.keep(Found([PASSAGE]))
    async with cache.result(*asked[0]) as lookup:
        assert lookup.found == Found([PASSAGE])
