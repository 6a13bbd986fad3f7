"""Documents and questions in languages that the models do not read: the service says so when a document comes in and in
answers."""

from pathlib import Path

from proviso_client.v1 import tools_pb2
from tests.support.running import running_service, text_of

LEASE = "# Lease\n\n## 1. Rent\n\nThe rent is EUR 900 a month, and it is payable on the first day of each month.\n"
MIETVERTRAG = (
    "# Mietvertrag\n\n## 1. Miete\n\nDie Miete beträgt 900 Euro im Monat und ist am ersten Werktag zu zahlen.\n\n"
    "## 2. Kündigung\n\nDer Vertrag kann von jeder Partei mit einer Frist von drei Monaten gekündigt werden.\n"
)
IN_GERMAN = (
    "mietvertrag.md is in German, but the models here read English: what they find or miss there is not reliable."
)
ASKED_IN_GERMAN = "This is asked in German, but the models here read English."


async def test_a_language_that_no_model_reads_is_told_at_ingestion_and_in_every_answer(
    tmp_path: Path, models_dir: Path
) -> None:
    async with running_service(tmp_path / "data", models_dir) as service:
        matter = await service.create_matter("Leases", lease=LEASE, mietvertrag=MIETVERTRAG)
        documents = {one.filename: one for one in await service.wait_until_ready(matter)}
        ids = {name: one.document_id for name, one in documents.items()}
        assert [documents[name].language for name in ("lease.md", "mietvertrag.md")] == ["en", "de"]
        assert list(documents["lease.md"].warnings) == []
        assert list(documents["mietvertrag.md"].warnings) == [IN_GERMAN]

        answers = (
            await service.tools.Search(tools_pb2.SearchRequest(matter_id=matter, query="rent")),
            await service.tools.ExecuteIql(tools_pb2.ExecuteIqlRequest(matter_id=matter, query="{rent}")),
            await service.tools.Extract(tools_pb2.ExtractRequest(matter_id=matter, question="What is the rent?")),
            await service.tools.Classify(tools_pb2.ClassifyRequest(matter_id=matter, clause_types=["Rent"])),
        )
        assert [list(one.warnings) for one in answers] == [[IN_GERMAN]] * 4
        streamed = service.tools.StreamIql(
            tools_pb2.StreamIqlRequest(query=tools_pb2.ExecuteIqlRequest(matter_id=matter, query="{rent}"))
        )
        assert [list(one.summary.warnings) async for one in streamed if one.HasField("summary")] == [[IN_GERMAN]]
        english = await service.tools.Search(
            tools_pb2.SearchRequest(matter_id=matter, query="rent", document_ids=[ids["lease.md"]])
        )
        assert list(english.warnings) == []
        german = await service.tools.Extract(
            tools_pb2.ExtractRequest(
                matter_id=matter, question="Wie hoch ist die Miete?", document_ids=[ids["lease.md"]]
            )
        )
        assert list(german.warnings) == [ASKED_IN_GERMAN]
        assert IN_GERMAN in text_of(await service.ask("What is the notice period?", matter))
        assert "Ich suche besser, wenn Sie auf Englisch fragen." in text_of(
            await service.ask("Wie hoch ist die Miete?", matter)
        )
