"""What the whole service displays of the answers in the corpus of grounding."""

from pathlib import Path

import pytest

from proviso_service.turns import ExitReason
from tests.support.grounding_corpus import Verdict, scores
from tests.support.grounding_world import grounding_world, report


@pytest.mark.timeout(300)
async def test_no_false_sentence_is_displayed_or_streamed_and_hardly_a_true_one_is_refused(
    tmp_path: Path, models_dir: Path
) -> None:
    async with grounding_world(tmp_path, models_dir) as world:
        judged = [await world.outcome(answer) for answer in world.corpus.answers]
    total = scores(judged)["all"]
    assert (total.displayed, total.streamed, total.silent) == (0, 0, 0), report(judged)
    assert total.refused_share <= 0.02, report(judged)
    nothing_left = [one for one in judged if {s.verdict for s in one.answer.sentences} == {Verdict.FALSE}]
    ends = {(one.reason, one.cause) for one in nothing_left if not one.answer.beyond}
    causes = {"UNGROUNDED", "NOTHING_FOUND"}
    assert ends <= {(ExitReason.LLM_GENERATION_FAILURE, cause) for cause in causes}, report(judged)
