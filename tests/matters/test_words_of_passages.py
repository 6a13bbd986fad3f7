"""What a classifier reads in passages is there as soon as their document is READY."""

from pathlib import Path

from proviso_client.v1 import tools_pb2 as pb
from proviso_service.embedded import EmbeddedClassifier
from proviso_service.models import ModelPassage, PassageWords, Scores
from tests.support.running import running_service
from tests.support.word_classifier import WordClassifier
from tests.support.word_embedder import WordEmbedder

LEASE = (
    "# Lease\n\n## 1. Rent\n\nTenant shall pay the rent every month.\n\n## 2. Law\n\nThe laws of Oregon govern this."
)


class ReadingWhenAsked(EmbeddedClassifier):
    """A classifier that can be asked about what was read before, and about nothing else."""

    reads = 0

    def read(self, passages: list[ModelPassage]) -> PassageWords:  # type: ignore[override]
        self.reads += 1
        return super().read(passages)

    async def score(self, statement: str, passages: object) -> Scores:
        raise AssertionError("texts were read")


async def test_a_document_is_read_while_it_is_ingested_and_not_by_a_query(tmp_path: Path, models_dir: Path) -> None:
    classifier = ReadingWhenAsked.load(WordEmbedder())
    async with running_service(tmp_path, models_dir, classifier=classifier) as service:
        matter_id = await service.create_matter(lease=LEASE)
        assert classifier.reads == 1
        for query in ("{This is a clause about rent.}", "{This is a governing law clause.}"):
            answer = await service.tools.ExecuteIql(pb.ExecuteIqlRequest(matter_id=matter_id, query=query))
            assert [result.error for result in answer.document_results] == [""]
        assert classifier.reads == 1


async def test_documents_are_ingested_for_a_classifier_that_reads_nothing_before(
    tmp_path: Path, models_dir: Path
) -> None:
    async with running_service(tmp_path, models_dir, classifier=WordClassifier()) as service:
        matter_id = await service.create_matter(lease=LEASE)
        answer = await service.tools.ExecuteIql(pb.ExecuteIqlRequest(matter_id=matter_id, query="{rent}"))
        assert answer.total_matches == 1
