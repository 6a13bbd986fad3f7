"""Assets of a turn: what the model is given of them, and what the request context says of the others."""

import pytest

from proviso_service.context.model import AssetUse, DocumentSummary
from proviso_service.images.image import Image
from proviso_service.turns import TurnStart
from tests.support.agent_world import AgentWorld, KnownImages, agent_world
from tests.support.image_files import gif, png
from tests.support.scripted_model import text

API = DocumentSummary("api.md", "md", "The interface.")
RENT = DocumentSummary("rent.md", "md", "When rent is due.")
ONE, TWO = "https://a.example/1.png", "https://a.example/2.gif"
KNOWN = KnownImages({ONE: Image("image/png", png()), TWO: Image("image/png", gif())})


def uses(world: AgentWorld) -> list[tuple[str, bool, str]]:
    return [(use.name, use.included, use.note) for use in assets(world)]


def assets(world: AgentWorld) -> tuple[AssetUse, ...]:
    start = world.events[0]
    assert isinstance(start, TurnStart)
    return start.request_context.assets


async def test_the_documents_of_a_message_stand_before_it_and_in_the_context() -> None:
    world = agent_world(text("What do you mean?"))
    await world.run("Compare", document_context=(API, RENT))
    block = "[Uploaded Documents Context]\n- api.md (md): The interface.\n- rent.md (md): When rent is due.\n\nCompare"
    assert str(world.model.payloads[0][-1].content).endswith(block)
    assert [use.text for use in assets(world)] == [
        "- api.md (md): The interface.",
        "- rent.md (md): When rent is due.",
    ]


async def test_repeated_and_unselected_assets_are_left_out_with_a_note() -> None:
    world = agent_world(text("What do you mean?"), images=KNOWN, sees_images=True)
    await world.run(
        "Compare",
        document_context=(API, RENT, RENT),
        image_urls=(TWO, ONE, ONE),
        selected_assets=("rent.md", ONE),
    )
    assert uses(world) == [
        ("api.md", False, "it is not among the selected assets"),
        ("rent.md", True, ""),
        ("rent.md", False, "it is the same as an earlier one"),
        (TWO, False, "it is not among the selected assets"),
        (ONE, True, ""),
        (ONE, False, "it is the same as image 2"),
    ]
    content = world.model.payloads[0][-1].content
    assert isinstance(content, list)
    said, first, second, third = content
    assert isinstance(said, dict)
    assert said["text"].count("- ") == said["text"].count("rent.md") == 1
    assert first == {"type": "text", "text": "[Image 1 is left out: it is not among the selected assets]"}
    assert isinstance(second, dict)
    assert second["type"] == "image"
    assert third == {"type": "text", "text": "[Image 3 is left out: it is the same as image 2]"}


async def test_over_the_budget_the_documents_closest_to_the_message_are_kept() -> None:
    filler = DocumentSummary("other.md", "md", "Nothing of the kind at all. " * 10)
    documents = tuple(DocumentSummary(f"{n}.md", "md", f"Matter {n}. {filler.summary}") for n in range(19))
    world = agent_world(text("What do you mean?"))
    await world.run("When rent is due", document_context=(*documents, RENT))
    kept = [use.name for use in assets(world) if use.included]
    assert kept[-1] == "rent.md"
    assert 1 < len(kept) < 20
    left_out = {use.note for use in assets(world) if not use.included}
    assert left_out == {
        "the summaries together have more than 4,000 characters or 1,000 tokens; those closest to the message were kept"
    }


@pytest.mark.parametrize("name", ["rent.md", ONE])
async def test_a_selected_asset_that_is_the_only_one_enters(name: str) -> None:
    world = agent_world(text("What do you mean?"), images=KNOWN, sees_images=True)
    await world.run("Look", document_context=(API, RENT), image_urls=(ONE, TWO), selected_assets=(name,))
    assert [use.name for use in assets(world) if use.included] == [name]
