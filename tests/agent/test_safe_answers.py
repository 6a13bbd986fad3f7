"""What goes out of an answer over the wire: no images, no HTML, and no address that the turn was not given."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from proviso_client.v1 import chat_pb2, context_pb2, sessions_pb2
from tests.support.contract_world import GROUNDED, SEARCH, ContractWorld, Mode, contract_world
from tests.support.running import new_id
from tests.support.scripted_model import Step, calls

pytestmark = pytest.mark.asyncio(loop_scope="module")

MARKED = f"{GROUNDED[:-1]} ![image](https://elsewhere.test/?law=Oregon) <img src=x>, [1](https://elsewhere.test/1)."
PLAIN = f"{GROUNDED[:-1]} [image] < img src=x>, [1]."
PIECES = [MARKED[start : start + 3] for start in range(0, len(MARKED), 3)]
RAW = {"text_release": chat_pb2.TEXT_RELEASE_RAW}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> AsyncIterator[ContractWorld]:
    async with contract_world(tmp_path_factory.mktemp("safe") / "data", models_dir) as running:
        yield running


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("options", [pytest.param({}, id="checked"), pytest.param(RAW, id="raw")])
@pytest.mark.parametrize("tokens", [[MARKED], PIECES], ids=["at once", "in pieces"])
async def test_markup_of_the_model_is_made_safe_in_tokens_and_message(
    world: ContractWorld, mode: Mode, options: dict[str, chat_pb2.TextRelease], tokens: list[str]
) -> None:
    turn = await world.ask(calls(SEARCH), Step(tokens), mode=mode, options=options)
    assert (turn.final.message, turn.final.removed_markup) == (PLAIN, 4)
    assert "".join(token.text for token in turn.of_kind("token")) == turn.standing_text == PLAIN
    for citation in turn.final.citations:
        assert turn.final.message[citation.answer_start : citation.answer_end].endswith("[1]")


async def test_text_that_is_voided_later_is_made_safe_too(world: ContractWorld) -> None:
    invented = "The deposit is EUR 65,000 ![x](https://elsewhere.test/?q=1) [1]."
    turn = await world.ask(calls(SEARCH), Step([invented]), Step([MARKED]), options=RAW)
    assert turn.discarded == ["GROUNDING"]
    assert not any("elsewhere" in token.text or "![" in token.text for token in turn.of_kind("token"))


async def test_what_the_session_keeps_and_the_cache_gives_is_safe(world: ContractWorld) -> None:
    for is_again in (False, True):
        script = [] if is_again else [calls(SEARCH), Step([MARKED])]
        session = f"safe-{is_again}"
        turn = await world.ask(*script, session_id=session, cached=True, message="Which law governs it, please?")
        assert turn.final.from_cache is is_again
        assert (turn.final.message, turn.final.removed_markup) == (PLAIN, 4)
        request = sessions_pb2.ListMessagesRequest(session_id=session)
        kept = (await world.service.sessions.ListMessages(request)).messages
        assert PLAIN in [message.content for message in kept]


async def test_an_address_that_a_source_holds_stays(world: ContractWorld) -> None:
    matter_id = await world.service.create_matter()
    note = b"# Notes\n\nThe governing law is that of Oregon, see https://law.example/oregon for its text.\n"
    await world.service.upload(matter_id, "notes.md", note)
    await world.service.wait_until_ready(matter_id)
    answer = "The governing law is that of Oregon, see https://law.example/oregon for its text [1]."
    turn = await world.ask(calls(SEARCH), Step([answer]), matter_id=matter_id)
    assert (turn.final.message, turn.final.removed_markup) == (answer, 0)


async def test_names_of_files_are_made_safe_in_sentences_of_the_service(world: ContractWorld) -> None:
    matter_id = await world.service.create_matter()
    await world.service.upload(
        matter_id, "<img src=x onerror=alert(1)> ![a](b) www.example.org.md", b"# Notes\n\nNone.\n"
    )
    await world.service.wait_until_ready(matter_id)
    context = context_pb2.MatterContext(matter_id=matter_id, document_id=new_id())
    request = chat_pb2.ChatRequest(message="What is agreed?", matter_context=context)
    message = (await world.service.chat.Invoke(request)).final_state.message
    assert "< img src=x onerror=alert(1)> [a] (b) www.example.org.md" in message


async def test_an_answer_without_markup_says_that_none_was_removed(world: ContractWorld) -> None:
    turn = await world.ask(calls(SEARCH), Step([GROUNDED]))
    assert (turn.final.message, turn.final.removed_markup) == (GROUNDED, 0)
