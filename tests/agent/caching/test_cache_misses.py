"""What answers for nothing but itself: requests, worlds, tenants and times that differ."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from proviso_service.agent.chat_models import ChatModels, NamedChatModel
from proviso_service.agent.execution import Agent
from proviso_service.context.model import DocumentSummary
from proviso_service.identity import Caller
from proviso_service.images.image import Image
from proviso_service.turns import HistoryMessage, MessageRole, TurnOptions, TurnRequest
from tests.agent.caching.cached_world import CONVERSATION, GROUNDED, QUESTION, cached_world
from tests.support.agent_world import CALLER, PASSAGE, KnownImages, Lookup, OneMatter
from tests.support.memory_caches import memory_caches
from tests.support.scripted_model import ScriptedChatModel, Step, text


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
    agent.dependencies = replace(agent.dependencies, models=models)


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
        outcome = await world.agent.start(world.turn(request, caller=caller)).run()
        answers.append(outcome.final_state.message)
    assert answers == ["Hello, one.", "Hello, one.", "Hello, two."]
