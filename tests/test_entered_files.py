"""How much of the service a reader has to follow: the files that one chat, one query and one upload enter.

`pytest -rP tests/test_entered_files.py` lists them."""

from pathlib import Path

from proviso_client.v1 import tools_pb2
from proviso_service.cli.demo import SAMPLES
from tests.support.entered_files import EnteredFiles
from tests.support.running import final_of, running_service

# Twelve of them check every sentence against its sources, each by one thing that is read from it; two tell the language
# of a question and say the service's own sentences in it; two record it in the audit; six run the statements of every
# turn, in SQLite or PostgreSQL, without SQLAlchemy and together; three store where it stands, so that another process
# can go on with it; one notes which matters a turn may know of; one says when a turn may begin; one compares vectors
# for all who search; fourteen extract the answer itself, by the words, values and concepts of sentences; two rank what
# the search has found, where no answer is sure. Two more may be of work in the background that falls into the same
# moment.
MOST_OF_A_CHAT = 143

PACKING = "matters/packing.py"
QUESTION = "What is the notice period?"


async def test_one_chat_enters_few_files(tmp_path: Path, models_dir: Path) -> None:
    entered = EnteredFiles()
    with entered.watching():
        async with running_service(tmp_path / "data", models_dir) as service:
            first, *others = sorted(SAMPLES.iterdir())
            matter_id = await service.create_matter()
            for sample in others:
                await service.upload(matter_id, sample.name, sample.read_bytes())
            await service.wait_until_ready(matter_id)
            with entered.counting() as upload:
                await service.upload(matter_id, first.name, first.read_bytes())
                await service.wait_until_ready(matter_id)
            # The index of the matter is brought up to date in the background, after this at any time, and is not the
            # chat's: of the files that this enters only PACKING is none that a search enters anyway.
            await service.tools.Search(tools_pb2.SearchRequest(matter_id=matter_id, query=QUESTION))
            with entered.counting() as chat:
                events = await service.ask(QUESTION, matter_id)
            with entered.counting() as query:
                request = tools_pb2.ExecuteIqlRequest(matter_id=matter_id, query="{IS confidentiality clause}")
                await service.tools.ExecuteIql(request)

    assert final_of(events).citations
    for name, files in (("chat", chat), ("query", query), ("upload", upload)):
        print(f"{name}: {len(files)} files", *sorted(files), sep="\n  ")
    assert len(chat - {PACKING}) <= MOST_OF_A_CHAT
