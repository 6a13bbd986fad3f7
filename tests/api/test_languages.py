"""Documents and questions in several languages: those that the models read find each other, and of the others the
service says so when a document comes in and in answers."""

import pytest

from proviso_client.v1 import tools_pb2
from tests.support.running import RunningService, text_of

LEASE = "# Lease\n\n## 1. Rent\n\nThe rent is EUR 900 a month, and it is payable on the first day of each month.\n"
MIETVERTRAG = (
    "# Mietvertrag\n\n## 1. Miete\n\nDie Miete beträgt 900 Euro im Monat und ist am ersten Werktag zu zahlen.\n\n"
    "## 2. Kündigung\n\nDer Vertrag kann von jeder Partei mit einer Frist von drei Monaten gekündigt werden.\n\n"
    "## 3. Haustiere\n\nDer Mieter darf in der Wohnung weder Hunde noch Katzen halten.\n"
)
HUUROVEREENKOMST = (
    "# Huurovereenkomst\n\n## 1. Huur\n\nDe huur bedraagt 900 euro per maand en moet worden betaald op de eerste dag "
    "van elke maand.\n\n## 2. Opzegging\n\nHet contract kan door de huurder worden opgezegd met een termijn van drie "
    "maanden.\n"
)
KNOWN = "English, French, German, Italian, Spanish"
IN_DUTCH = f"huur.md is in Dutch, but the models here read {KNOWN}: what they find or miss there is not reliable."
ASKED_IN_DUTCH = f"This is asked in Dutch, but the models here read {KNOWN}."


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How much notice must be given to end the lease?", "drei Monaten"),
        ("Is the tenant allowed to keep pets in the flat?", "Hunde noch Katzen"),
        ("Wie lange vorher muss man kündigen?", "drei Monaten"),
        ("Combien de temps à l'avance faut-il résilier le contrat ?", "drei Monaten"),
        ("¿Puede el inquilino tener animales en la vivienda?", "Hunde noch Katzen"),
        ("L'inquilino può tenere animali nell'appartamento?", "Hunde noch Katzen"),
    ],
)
async def test_a_question_in_any_of_its_languages_finds_a_clause_in_another(
    service: RunningService, question: str, answer: str
) -> None:
    matter = await service.create_matter(f"Wohnung {question}", mietvertrag=MIETVERTRAG)
    [document] = await service.wait_until_ready(matter)
    assert (document.language, list(document.warnings)) == ("de", [])
    found = await service.tools.Search(tools_pb2.SearchRequest(matter_id=matter, query=question))
    assert answer in found.results[0].chunk_text
    assert list(found.warnings) == []
    extracted = await service.tools.Extract(
        tools_pb2.ExtractRequest(matter_id=matter, question=question, min_score=0.01)
    )
    assert answer in extracted.citations[0].text_excerpt
    assert list(extracted.warnings) == []


async def test_a_statement_ranks_passages_in_another_language(service: RunningService) -> None:
    matter = await service.create_matter("Aussagen", mietvertrag=MIETVERTRAG)
    await service.wait_until_ready(matter)
    for statement in ("{The tenant must not keep any animals.}", "{Der Mieter darf keine Tiere haben.}"):
        request = tools_pb2.ExecuteIqlRequest(matter_id=matter, query=statement, min_score=0.001)
        answered = await service.tools.ExecuteIql(request)
        [result] = answered.document_results
        assert "Hunde noch Katzen" in max(result.matches, key=lambda one: one.score).text


async def test_a_language_that_no_model_reads_is_told_at_ingestion_and_in_every_answer(service: RunningService) -> None:
    matter = await service.create_matter("Leases", lease=LEASE, huur=HUUROVEREENKOMST)
    documents = {one.filename: one for one in await service.wait_until_ready(matter)}
    ids = {name: one.document_id for name, one in documents.items()}
    assert [documents[name].language for name in ("lease.md", "huur.md")] == ["en", "nl"]
    assert list(documents["lease.md"].warnings) == []
    assert list(documents["huur.md"].warnings) == [IN_DUTCH]

    answers = (
        await service.tools.Search(tools_pb2.SearchRequest(matter_id=matter, query="rent")),
        await service.tools.ExecuteIql(tools_pb2.ExecuteIqlRequest(matter_id=matter, query="{rent}")),
        await service.tools.Extract(tools_pb2.ExtractRequest(matter_id=matter, question="What is the rent?")),
        await service.tools.Classify(tools_pb2.ClassifyRequest(matter_id=matter, clause_types=["Rent"])),
    )
    assert [list(one.warnings) for one in answers] == [[IN_DUTCH]] * 4
    streamed = service.tools.StreamIql(
        tools_pb2.StreamIqlRequest(query=tools_pb2.ExecuteIqlRequest(matter_id=matter, query="{rent}"))
    )
    assert [list(one.summary.warnings) async for one in streamed if one.HasField("summary")] == [[IN_DUTCH]]
    english = await service.tools.Search(
        tools_pb2.SearchRequest(matter_id=matter, query="rent", document_ids=[ids["lease.md"]])
    )
    assert list(english.warnings) == []
    asked = "Hoe hoog is de huur van het appartement en wanneer moet die worden betaald?"
    dutch = await service.tools.Extract(
        tools_pb2.ExtractRequest(matter_id=matter, question=asked, document_ids=[ids["lease.md"]])
    )
    assert list(dutch.warnings) == [ASKED_IN_DUTCH]
    assert IN_DUTCH in text_of(await service.ask("What is the notice period?", matter))
    assert "I search better when you ask in English." in text_of(await service.ask(asked, matter))
