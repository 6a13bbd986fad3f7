"""Turns that find what earlier ones have kept, and what is never kept (DESIGN section 4, caches)."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import httpx
import pytest

from proviso_service.agent.caching.turn_cache import Caches
from proviso_service.agent.chat_models import ChatModels, NamedChatModel
from proviso_service.agent.program import Agent
from proviso_service.context.images import Image
from proviso_service.context.model import DocumentSummary, MatterContext
from proviso_service.context.sessions import MessageRole
from proviso_service.security.identity import Caller
from proviso_service.turns.events import Citation, Event, FinalState, Token, ToolEnd, ToolStart, TurnStart
from proviso_service.turns.exit_reasons import ExitReason, Retryable
from proviso_service.turns.ports import HistoryMessage, TurnOptions, TurnRequest
from tests.support.agent_world import (
    CALLER,
    MATTER_ID,
    PASSAGE,
    AgentWorld,
    Found,
    KnownImages,
    Lookup,
    OneMatter,
    agent_world,
)
from tests.support.memory_caches import memory_caches
from tests.support.scripted_model import Call, ScriptedChatModel, Step, calls, text

LOOKUP = Call("lookup", '{"query": "law"}')
GROUNDED = "It says “governed by the laws of Ohio” [1]."
QUESTION = "Which law?"
CONVERSATION = calls(LOOKUP), text("It says “governed ", "by the laws of Ohio” [1].")


def cached_world(*script: Step, caches: Caches | None = None, **parts: Any) -> AgentWorld:
    return agent_world(*script, caches=caches or memory_caches(), **parts)


async def twice(world: AgentWorld, **request: Any) -> tuple[FinalState, FinalState]:
    first = (await world.run(QUESTION, **request)).final_state
    return first, (await world.run(QUESTION, **request)).final_state


def alike(final: FinalState) -> FinalState:
    """Without what the time and the cache make different."""
    assert final.request_context is not None
    plain = replace(final.request_context, timestamp=final.request_context.timestamp.min)
    messages = tuple(replace(m, request_context=None) for m in final.messages)
    assert len(final.tool_call_records) == final.tool_calls
    return replace(
        final,
        request_context=plain,
        messages=messages,
        usage=type(final.usage)(),
        duration_s=None,
        from_cache=False,
        tool_call_records=(),
    )


async def test_a_repeated_question_calls_no_model_and_no_retrieval_and_ends_alike() -> None:
    lookup = Lookup()
    world = cached_world(*CONVERSATION, tools=[lookup])
    first, second = await twice(world)
    assert (len(world.model.payloads), len(lookup.scopes)) == (2, 1)
    assert (first.from_cache, second.from_cache) == (False, True)
    assert alike(first) == alike(second)
    assert (second.message, second.cycles, second.tool_calls) == (GROUNDED, 2, 1)


async def test_a_hit_sends_no_tokens_but_its_tools_and_citations() -> None:
    world = cached_world(*CONVERSATION)
    await world.run(QUESTION)
    before = [event for event in world.events if not isinstance(event, Token)]
    second = (await world.run(QUESTION)).final_state
    assert [type(e) for e in world.events] == [TurnStart, ToolStart, ToolEnd, Citation]
    assert world.events[-1] == before[-1] == second.citations[0]
    (end,) = [e for e in world.events if isinstance(e, ToolEnd)]
    assert end.from_cache
    assert replace(end, from_cache=False, duration_s=0) == replace(_of(before, ToolEnd)[0], duration_s=0)


async def test_usage_tells_calls_from_hits() -> None:
    first, second = await twice(cached_world(*CONVERSATION))
    usage = first.usage
    assert (usage.input_tokens, usage.output_tokens, usage.model_calls) == (20, 2, 2)
    assert [(c.model, c.input_tokens, c.from_cache, c.failed) for c in usage.calls] == [
        ("scripted", 10, False, False)
    ] * 2
    assert all(call.duration_s > 0 for call in usage.calls)
    usage = second.usage
    assert (usage.input_tokens, usage.output_tokens, usage.model_calls) == (0, 0, 0)
    assert [(c.model, c.input_tokens, c.duration_s, c.from_cache) for c in usage.calls] == [
        ("scripted", 0, 0, True)
    ] * 2


async def test_the_fill_of_the_context_is_told_in_tokens_also_on_a_hit() -> None:
    world = cached_world(*CONVERSATION)
    for final in await twice(world):
        (start,) = _of(world.events, TurnStart)
        assert start.request_context.fill.tokens_used is None
        assert final.request_context is not None
        assert final.request_context.fill.tokens_used == 10
        assert final.messages[-1].request_context == final.request_context


async def test_with_the_cache_disabled_a_turn_neither_reads_nor_writes() -> None:
    off = TurnOptions(disable_cache=True)
    caches = memory_caches()
    world = cached_world(text("Hello, one."), text("Hello, two."), text("Hello, three."), caches=caches)
    answers = [(await world.run(QUESTION, options=options)).final_state for options in (off, TurnOptions(), off)]
    assert [(a.message, a.from_cache) for a in answers] == [
        ("Hello, one.", False),
        ("Hello, two.", False),
        ("Hello, three.", False),
    ]
    assert (caches.replies.hits, caches.replies.misses) == (0, 1)


async def test_an_entry_ends_with_its_time() -> None:
    now = [0.0]
    world = cached_world(text("Hello, one."), text("Hello, two."), caches=memory_caches(lambda: now[0]))
    assert (await world.run(QUESTION)).final_state.message == "Hello, one."
    now[0] = 3_599.0
    assert (await world.run(QUESTION)).final_state.message == "Hello, one."
    now[0] = 3_600.0
    assert (await world.run(QUESTION)).final_state.message == "Hello, two."


async def test_a_change_of_the_matters_documents_is_a_miss_and_drops_what_was_kept() -> None:
    matter, caches = OneMatter(), memory_caches()
    lookup = Lookup([PASSAGE], [PASSAGE])
    world = cached_world(*CONVERSATION, *CONVERSATION, *CONVERSATION, matters=matter, caches=caches, tools=[lookup])
    for version in (1, 2, 1):
        matter.version = version
        final = (await world.run(QUESTION)).final_state
        assert (final.message, final.from_cache) == (GROUNDED, False)
    assert len(lookup.scopes) == 3


async def test_the_versions_at_the_start_of_a_turn_count_for_all_of_it() -> None:
    """What changes meanwhile is not taken for what was there before."""
    matter, hold = OneMatter(), asyncio.Event()
    world = cached_world(Step(["Hello, one."], hold_after=hold), text("Hello, two."), matters=matter)
    running = asyncio.create_task(world.run(QUESTION))
    await world.model.held.wait()
    matter.version = 2
    hold.set()
    await running
    assert (await world.run(QUESTION)).final_state.message == "Hello, two."


OTHER_REQUESTS: list[dict[str, Any]] = [
    {"message": "Which  law?"},
    {"options": TurnOptions(max_turns=5)},
    {"options": TurnOptions(max_tool_calls=1)},
    {"options": TurnOptions(max_context_chars=11_000)},
    {"history": (HistoryMessage(MessageRole.USER, "Hello"), HistoryMessage(MessageRole.ASSISTANT, "Good day."))},
    {"document_context": (DocumentSummary("a.md", "md", "A lease."),)},
    {"image_urls": ("https://example.org/a.png",)},
    {"matter_context": None, "document_context": (DocumentSummary("a.md", "md", "A lease."),)},
]


@pytest.mark.parametrize("other", OTHER_REQUESTS, ids=[" ".join(r) + str(i) for i, r in enumerate(OTHER_REQUESTS)])
async def test_a_request_that_differs_is_a_miss(other: dict[str, Any]) -> None:
    world = cached_world(text("Hello, one."), text("Hello, two."))
    await world.run(QUESTION)
    final = (await world.run(**({"message": QUESTION} | other))).final_state
    assert (final.message, final.from_cache) == ("Hello, two.", False)


async def test_images_count_by_their_bytes() -> None:
    url = "https://example.org/a.png"
    images = KnownImages({url: Image("image/png", b"one")})
    world = cached_world(text("Hello, one."), text("Hello, two."), images=images, sees_images=True)
    await world.run(QUESTION, image_urls=(url,))
    assert (await world.run(QUESTION, image_urls=(url,))).final_state.message == "Hello, one."
    images.known = {url: Image("image/png", b"two")}
    assert (await world.run(QUESTION, image_urls=(url,))).final_state.message == "Hello, two."


class OtherLookup(Lookup):
    description = "Looks something up elsewhere."


class WarmerModel(ScriptedChatModel):
    """The same model with another temperature."""

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"temperature": 1}


def use(agent: Agent, models: ChatModels) -> None:
    agent.engine = replace(agent.engine, means=replace(agent.engine.means, models=models))


async def test_worlds_that_differ_do_not_answer_for_each_other() -> None:
    """In the schemas of tools, the settings of retrieval, the model or its settings, around the same caches."""
    caches = memory_caches()
    await cached_world(text("Hello, one."), caches=caches).run(QUESTION)
    schemas = cached_world(text("Hello, two."), caches=caches, tools=[OtherLookup()])
    setup = cached_world(text("Hello, two."), caches=replace(caches, setup="another embedder"))
    model, warmer = cached_world(text("Hello, two."), caches=caches), cached_world(caches=caches)
    another = ChatModels(NamedChatModel("another", model.model, takes_image_urls=True))
    use(model.agent, another)
    warm = WarmerModel(script=[text("Hello, two.")])
    warmest = ChatModels(NamedChatModel("scripted", warm, takes_image_urls=True))
    use(warmer.agent, warmest)
    for world in (schemas, setup, model, warmer):
        assert (await world.run(QUESTION)).final_state.message == "Hello, two."
    assert (await cached_world(caches=caches).run(QUESTION)).final_state.message == "Hello, one."


class AnyTenant(OneMatter):
    """The same matter id in every tenant."""

    async def get(self, tenant: str, matter_id: str) -> Any:
        return await super().get("local", matter_id)


async def test_another_tenant_is_a_miss() -> None:
    world = cached_world(text("Hello, one."), text("Hello, two."), matters=AnyTenant())
    request = TurnRequest(QUESTION, matter_context=None, document_context=(DocumentSummary("a.md", "md", "Rent."),))
    answers = []
    for caller in (CALLER, Caller("local", "ben"), Caller("other", "ada")):
        outcome = await world.agent.start(caller, "turn-1", request, world.events.append, world.persons).run()
        answers.append(outcome.final_state.message)
    assert answers == ["Hello, one.", "Hello, one.", "Hello, two."]


REFUSED = httpx.HTTPStatusError("no", request=httpx.Request("POST", "http://m/"), response=httpx.Response(400))


@pytest.mark.parametrize(
    ("rejected", "answer"),
    [
        (text("The cap is 5,000."), "Good day."),
        (calls(Call("no_such_tool", call_id="a")), "Good day."),
        (calls(Call("lookup", "{}", "a")), "Good day."),
        (calls(Call("lookup", "query=law", "a")), "Good day."),
        (calls(replace(LOOKUP, call_id="a"), Call("lookup", "{}", "b")), GROUNDED),
    ],
    ids=["ungrounded", "unknown tool", "bad arguments", "not JSON", "one bad of two"],
)
async def test_a_reply_that_was_not_accepted_is_asked_for_again(rejected: Step, answer: str) -> None:
    """And the accepted one after it is not."""
    world = cached_world(rejected, text(answer), rejected)
    first, second = await twice(world)
    assert first.message == second.message == answer
    assert [call.from_cache for call in second.usage.calls] == [False, True]


@pytest.mark.parametrize("broken", [Step(), Step(["Good "], error=ConnectionError("cut"))], ids=["empty", "cut"])
async def test_what_came_in_place_of_a_broken_reply_is_kept(broken: Step) -> None:
    first, second = await twice(cached_world(broken, text("Good day.")))
    assert (first.from_cache, second.from_cache) == (False, True)
    assert first.message == second.message == "Good day."


@pytest.mark.parametrize(
    "ending",
    [[Step(), Step()], [text("The cap is 5,000.")] * 2, [Step(error=REFUSED)]],
    ids=["empty twice", "ungrounded twice", "refused"],
)
async def test_a_turn_that_fails_leaves_nothing_behind(ending: list[Step]) -> None:
    world = cached_world(*ending, text("Good day."))
    assert (await world.run(QUESTION)).final_state.exit_reason is not ExitReason.COMPLETED
    final = (await world.run(QUESTION)).final_state
    assert (final.message, final.from_cache) == ("Good day.", False)


async def test_a_turn_that_is_cancelled_in_the_stream_leaves_nothing_behind() -> None:
    world = cached_world(Step(["Good "], hold_after=asyncio.Event()), text("Good day."))
    running = asyncio.create_task(world.run(QUESTION))
    await world.model.held.wait()
    running.cancel()
    await asyncio.wait([running])
    final = (await world.run(QUESTION)).final_state
    assert (final.message, final.from_cache) == ("Good day.", False)


async def test_a_cancelled_call_is_accounted_for() -> None:
    world = cached_world(Step(["Good "], hold_after=asyncio.Event()))
    execution = world.agent.start(CALLER, "turn-1", _request(), world.events.append, world.persons)
    running = asyncio.create_task(execution.run())
    await world.model.held.wait()
    running.cancel()
    await asyncio.wait([running])
    usage = execution.interrupted(ExitReason.CANCELLED, Retryable.NOT_APPLICABLE).final_state.usage
    assert [(call.failed, call.from_cache, call.duration_s > 0) for call in usage.calls] == [(True, False, True)]


async def test_a_retried_call_is_two_calls_of_which_one_failed() -> None:
    world = cached_world(Step(["Good "], error=ConnectionError("cut")), text("Good day."))
    usage = (await world.run(QUESTION)).final_state.usage
    assert [call.failed for call in usage.calls] == [True, False]
    assert usage.model_calls == 2


async def test_a_retrieval_that_finds_nothing_is_made_again() -> None:
    lookup = Lookup([], [PASSAGE])
    world = cached_world(calls(LOOKUP), calls(LOOKUP), text(GROUNDED), tools=[lookup])
    assert (await world.run(QUESTION)).final_state.exit_reason is ExitReason.COMPLETED
    assert [end.from_cache for end in _of(world.events, ToolEnd)] == [False, False]


class PartialLookup(Lookup):
    """One that could not look everywhere."""

    async def run(self, scope: Any, args: Any) -> Any:
        found = await super().run(scope, args)
        return PartlyFound(found.passages)


class PartlyFound(Found):
    @property
    def partial(self) -> bool:
        return True


class Listing(Lookup):
    is_retrieval = False


@pytest.mark.parametrize(
    "tool",
    [PartialLookup(), Listing(), Lookup(RuntimeError("no"))],
    ids=["partial", "no retrieval", "failed"],
)
async def test_these_results_are_never_kept(tool: Lookup) -> None:
    world = cached_world(calls(LOOKUP), calls(LOOKUP), text("Good day."), tools=[tool])
    await world.run(QUESTION)
    assert [end.from_cache for end in _of(world.events, ToolEnd)] == [False, False]
    assert len(tool.scopes) == 2


async def test_the_same_retrieval_twice_in_one_message_runs_once_and_counts_twice() -> None:
    lookup = Lookup()
    world = cached_world(calls(LOOKUP, LOOKUP), text(GROUNDED), tools=[lookup])
    final = (await world.run(QUESTION)).final_state
    assert (final.tool_calls, len(lookup.scopes)) == (2, 1)
    assert [end.from_cache for end in _of(world.events, ToolEnd)] == [False, True]
    assert final.message == GROUNDED


@pytest.mark.parametrize("other", ['{"query": "fees"}', '{"query": "law", "limit": 4}'])
async def test_other_arguments_are_another_retrieval(other: str) -> None:
    world = cached_world(calls(LOOKUP, Call("lookup", other)), text(GROUNDED))
    await world.run(QUESTION)
    assert [end.from_cache for end in _of(world.events, ToolEnd)] == [False, False]


async def test_arguments_that_mean_the_same_are_the_same_retrieval() -> None:
    world = cached_world(calls(LOOKUP, Call("lookup", '{"limit": 5, "query": "law"}')), text(GROUNDED))
    await world.run(QUESTION)
    assert [end.from_cache for end in _of(world.events, ToolEnd)] == [False, True]


async def test_ten_identical_turns_at_once_make_one_model_call_of_each_kind() -> None:
    hold, lookup = asyncio.Event(), Lookup()
    world = cached_world(replace(CONVERSATION[0], hold_after=hold), CONVERSATION[1], tools=[lookup])
    seen: list[list[Event]] = [[] for _ in range(10)]
    executions = [world.agent.start(CALLER, f"turn-{i}", _request(), seen[i].append, world.persons) for i in range(10)]
    turns = [asyncio.create_task(execution.run()) for execution in executions]
    await world.model.held.wait()
    hold.set()
    finals = [outcome.final_state for outcome in await asyncio.gather(*turns)]
    assert (len(world.model.payloads), len(lookup.scopes)) == (2, 1)
    assert [final.message for final in finals] == [GROUNDED] * 10
    assert sum(final.usage.model_calls for final in finals) == 2
    assert [bool(_of(events, Token)) for events in seen].count(True) == 1


async def test_a_question_with_ids_that_a_provider_counts_anew_keeps_its_calls_apart() -> None:
    """A reply from the cache holds "call-1"; the model, asked anew in the next cycle, gives the same id."""
    first, second = Call("lookup", '{"query": "law"}', "call-1"), Call("lookup", '{"query": "fees"}', "call-1")
    lookup = Lookup(RuntimeError("for the moment"), [PASSAGE])
    world = cached_world(calls(first), text("Good day."), calls(second), text(GROUNDED), tools=[lookup])
    await world.run(QUESTION)
    final = (await world.run(QUESTION)).final_state
    ids = [event.call_id for event in _of(world.events, ToolStart)]
    assert len(ids) == len(set(ids)) == final.tool_calls == 2


async def test_what_becomes_of_a_reply_in_its_turn_does_not_change_what_is_kept() -> None:
    world = cached_world(*CONVERSATION)
    await world.run(QUESTION)
    world.model.payloads[1][-2].tool_calls[0]["args"]["query"] = "changed"  # type: ignore[attr-defined]
    final = (await world.run(QUESTION)).final_state
    assert (final.from_cache, final.message) == (True, GROUNDED)


async def test_a_turn_whose_end_could_not_be_stored_did_not_end_with_the_cached_answer() -> None:
    world = cached_world(text("Good day."))
    await world.run(QUESTION)
    execution = world.agent.start(CALLER, "turn-2", _request(), world.events.append, world.persons)
    assert (await execution.run()).final_state.from_cache
    assert not execution.interrupted(ExitReason.INTERNAL_ERROR, Retryable.MAYBE).final_state.from_cache


async def test_the_time_of_a_turn_is_told() -> None:
    final = (await cached_world(text("Good day.")).run(QUESTION)).final_state
    assert final.duration_s is not None
    assert final.duration_s >= final.usage.calls[0].duration_s > 0


def _request() -> TurnRequest:
    return TurnRequest(QUESTION, MatterContext(MATTER_ID))


def _of(events: Sequence[Any], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]
