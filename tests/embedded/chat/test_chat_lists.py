"""Lists of what a document says, over the whole service: an enumeration is given whole, also where it goes on over
several passages."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from proviso_client.v1 import chat_pb2, context_pb2
from tests.support.running import RunningService, final_of, input_of, running_service

pytestmark = pytest.mark.asyncio(loop_scope="module")

THINGS = (
    "drawings",
    "moulds",
    "samples",
    "master keys",
    "test reports",
    "price lists",
    "customer files",
    "spare parts",
)
DUTIES = [
    f"return all {thing} of the Licensor that it holds, or that anyone holds on its behalf, in the state in "
    "which it got them, at its own cost and within the thirty days that follow the end of this Agreement"
    for thing in THINGS
]
OTHERS = "\n\n".join(
    f"{number}. {title}\n\nThe parties shall deal with {title.lower()} in good faith, as is usual in their trade, and "
    f"shall tell each other in time of whatever bears on {title.lower()}."
    for number, title in enumerate(("Delivery", "Quality", "Publicity", "Insurance"), 3)
)
CONTRACT = (
    "# Licence Agreement\n\n1. Licence\n\nThe Licensor grants the Licensee a licence to make the Products.\n\n"
    "2. Consequences of Termination\n\nWhen this Agreement ends, the Licensee shall:\n\n"
    + "\n\n".join(f"({letter}) {duty};" for letter, duty in zip("abcdefgh", DUTIES, strict=True)).rstrip(";")
    + f".\n\n{OTHERS}\n"
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> AsyncIterator[RunningService]:
    async with running_service(tmp_path_factory.mktemp("data"), models_dir) as service:
        yield service


async def test_what_is_to_be_done_is_listed_to_the_last_item(service: RunningService) -> None:
    matter_id = await service.create_matter()
    document_id = (await service.upload(matter_id, "licence.md", CONTRACT.encode())).document_id
    await service.wait_until_ready(matter_id)
    context = context_pb2.MatterContext(matter_id=matter_id, document_id=document_id)
    question = "The licence is over. What are the things that the licensee has to return to the licensor?"
    events = [
        event async for event in service.chat.Chat(chat_pb2.ChatRequest(message=question, matter_context=context))
    ]
    read = [input_of(event) for event in events if event.WhichOneof("event") == "tool_start"]
    assert 0 < len(read) <= 3
    assert read[-1]["document_id"] == document_id
    final = final_of(events)
    assert not final.omitted_sentences, final.message
    for letter, thing in zip("abcdefgh", THINGS, strict=True):
        assert f"\n  - “({letter}) return all {thing} " in final.message, final.message
    cited = {CONTRACT[one.start : one.end].split(" of the Licensor")[0] for one in final.citations}
    assert {f"({letter}) return all {thing}" for letter, thing in zip("abcdefgh", THINGS, strict=True)} <= cited
