"""Images of a message, from their URLs to what the model is sent and what is recorded."""

import asyncio
from base64 import b64decode
from dataclasses import dataclass, field

import pytest

from proviso_service.agent.chat_models import NamedChatModel
from proviso_service.agent.message_images import ImageLoader
from proviso_service.context.assets import image_part
from proviso_service.context.marker import render_marker
from proviso_service.context.model import MatterContext
from proviso_service.images.image import Image, NoImage
from proviso_service.turns import ExitReason, TurnConfig, TurnStart
from tests.support.agent_world import MATTER_ID, AgentWorld, KnownImages, agent_world
from tests.support.image_files import gif, png
from tests.support.scripted_model import ScriptedChatModel, text

ONE, TWO, LOST = (f"https://a.example/{name}" for name in ("1.png", "2.gif", "lost.png"))
KNOWN = KnownImages({ONE: Image("image/png", png()), TWO: Image("image/gif", gif())})
MISSING = "its server does not have it"
NO_GIF = "this model takes no images of the type image/gif"


def recorded(world: AgentWorld) -> list[tuple[str, bool, str]]:
    start = world.events[0]
    assert isinstance(start, TurnStart)
    return [(asset.name, asset.included, asset.note) for asset in start.request_context.assets]


async def test_a_model_that_sees_is_given_bytes_and_no_url_to_load() -> None:
    world = agent_world(text("It shows a signature [Image 2]."), images=KNOWN, sees_images=True)
    final = (await world.run("Look", image_urls=(LOST, ONE, TWO))).final_state
    assert final.exit_reason is ExitReason.COMPLETED
    content = world.model.payloads[0][-1].content
    assert isinstance(content, list)
    said, *parts = content
    assert isinstance(said, dict)
    assert said["text"].endswith("\n\nLook")
    lost, one, two = parts
    assert lost == {"type": "text", "text": f"[Image 1 could not be loaded: {MISSING}]"}
    assert isinstance(one, dict)
    assert b64decode(one.pop("base64")) == png()
    assert one == {"type": "image", "mime_type": "image/png"}
    assert two == {"type": "text", "text": f"[Image 3 could not be loaded: {NO_GIF}]"}
    assert "https://" not in str(world.model.payloads)
    assert recorded(world) == [(LOST, False, MISSING), (ONE, True, ""), (TWO, False, NO_GIF)]


async def test_a_message_without_images_stays_a_text() -> None:
    world = agent_world(text("It is a question."), sees_images=True)
    await world.run("Look")
    assert isinstance(world.model.payloads[0][-1].content, str)


async def test_images_that_a_turn_without_the_model_did_not_need_are_not_loaded() -> None:
    fetcher = Meeting(parties=99)
    world = agent_world(images=fetcher, sees_images=True)
    await world.run("   ", image_urls=(ONE,))
    assert fetcher.running == 0
    assert recorded(world) == [(ONE, False, "the model was not called")]


async def test_the_images_of_a_message_that_is_too_long_are_not_loaded() -> None:
    fetcher = Meeting(parties=99)
    world = agent_world(images=fetcher, sees_images=True, turns=TurnConfig(max_context_chars=1_000))
    final = (await world.run("Look" * 500, image_urls=(ONE,))).final_state
    assert final.exit_reason is ExitReason.MAX_CONTEXT_REACHED
    assert fetcher.running == 0
    assert recorded(world) == [(ONE, False, "the model was not called")]


async def test_what_is_said_of_images_that_were_not_loaded_counts_as_text() -> None:
    world = agent_world(images=KNOWN, sees_images=True, turns=TurnConfig(max_context_chars=1_000))
    room = 1_000 - 500 - len(render_marker(MatterContext(MATTER_ID, "Smith v. Jones"))) - 2
    final = (await world.run("L" * room, image_urls=(LOST,))).final_state
    assert final.exit_reason is ExitReason.MAX_CONTEXT_REACHED


async def test_the_payload_is_another_when_an_image_is() -> None:
    hashes = set()
    for content in (png(), png(2, 2), png(2, 2)):
        world = agent_world(
            text("It is a question."), images=KnownImages({ONE: Image("image/png", content)}), sees_images=True
        )
        await world.run("Look", image_urls=(ONE,))
        start = world.events[0]
        assert isinstance(start, TurnStart)
        hashes.add(start.request_context.payload_sha256)
    assert len(hashes) == 2


@dataclass
class Meeting:
    """Answers nobody before so many ask at once."""

    parties: int
    running: int = 0
    met: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: int = 0
    asked_bytes: list[int] = field(default_factory=list)

    async def fetch(self, url: str, tenant: str, max_bytes: int) -> Image | NoImage:
        self.asked_bytes.append(max_bytes)
        self.running += 1
        if self.running == self.parties:
            self.met.set()
        try:
            await self.met.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return Image("image/png", png())


SEEING = NamedChatModel("scripted", ScriptedChatModel(script=[]))


async def test_the_images_of_a_message_are_loaded_at_the_same_time() -> None:
    async with asyncio.timeout(10):
        images = await ImageLoader(Meeting(5)).load([ONE] * 5, SEEING, "smith")
    assert tuple(use.note for use in images.uses) == ("",) * 5


async def test_a_turn_that_is_cancelled_loads_no_further() -> None:
    fetcher = Meeting(parties=99)
    world = agent_world(images=fetcher, sees_images=True)
    task = asyncio.ensure_future(world.run("Look", image_urls=(ONE, TWO)))
    async with asyncio.timeout(10):
        while fetcher.running < 2:  # noqa: ASYNC110 - the turn's own steps come first
            await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert fetcher.cancelled == 2


@pytest.mark.parametrize(("number", "max_bytes"), [(1, 3_932_160), (3, 3_932_160), (4, 3_145_728), (5, 2_516_582)])
async def test_the_images_of_a_message_share_the_room_that_a_model_has(number: int, max_bytes: int) -> None:
    fetcher = Meeting(number)
    left_out = [""] * number + ["it is not among the selected assets"]
    await ImageLoader(fetcher).load([ONE] * (number + 1), SEEING, "smith", left_out)
    assert fetcher.asked_bytes == [max_bytes] * number


async def test_an_image_that_was_made_smaller_is_recorded_as_such() -> None:
    known = KnownImages({ONE: Image("image/jpeg", png(), "its 4 x 4 pixels were compressed")})
    (use,) = (await ImageLoader(known).load([ONE], SEEING, "smith")).uses
    assert (use.included, use.note) == (True, "its 4 x 4 pixels were compressed")


async def test_only_a_model_that_cannot_see_is_given_urls() -> None:
    model = NamedChatModel("embedded", ScriptedChatModel(script=[]), takes_image_urls=True)
    images = await ImageLoader(Meeting(parties=99)).load([ONE], model, "smith")
    assert [image_part(1, use) for use in images.uses] == [{"type": "image_url", "image_url": {"url": ONE}}]


async def test_an_answer_that_rests_on_an_image_names_it_by_its_number() -> None:
    answer = "The invoice is over “4,000 euros in all” [Image 2]."
    world = agent_world(text(answer), images=KNOWN, sees_images=True)
    final = (await world.run("How much?", image_urls=(LOST, ONE))).final_state
    assert (final.exit_reason, final.message) == (ExitReason.COMPLETED, answer)


@pytest.mark.parametrize("cited", ["[Image 1]", "[Image 3]", "[Image 0]", "[2]", ""])
async def test_an_image_that_the_model_was_not_given_grounds_nothing(cited: str) -> None:
    answer = text(f"The invoice is over 4,000 euros {cited}.")
    world = agent_world(answer, answer, images=KNOWN, sees_images=True)
    final = (await world.run("How much?", image_urls=(LOST, ONE))).final_state
    assert final.exit_reason is ExitReason.LLM_GENERATION_FAILURE
