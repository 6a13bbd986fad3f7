"""Measuring which agent items are chosen."""

import pytest

from evals.selection import best, judge
from evals.selection_data import Message, load_labelled
from evals.selection_figures import figures, table
from proviso_service.context.selection.config import SelectionConfig
from tests.support.word_embedder import WordEmbedder


def test_the_labelled_set_is_as_large_as_it_should_be_and_halved() -> None:
    labelled = load_labelled()
    assert len(labelled.items) == len({item.ref for item in labelled.items}) == 100
    assert len(labelled.messages) == len({message.text for message in labelled.messages}) >= 60
    for held_out in (False, True):
        half = labelled.half(held_out=held_out)
        assert len(half) >= 0.4 * len(labelled.groups()["English"])
        assert any(not message.wanted for message in half)
    for group in ("German", "French", "Spanish", "short English"):
        assert len(labelled.groups()[group]) >= 30


def test_figures_count_items_over_all_messages() -> None:
    one, other, *_ = (item.ref for item in load_labelled().items)
    messages = [Message("a", frozenset({one})), Message("b", frozenset({one, other})), Message("c", frozenset())]
    found = figures(messages, [[one], [one], [other]])
    assert (found.precision, found.recall, found.disturbed, found.chosen) == pytest.approx((2 / 3, 2 / 3, 1, 1))
    assert "| Way | 67 | 67 | 67 | 100 | 1.0 |" in table({"Way": found})


async def test_the_best_settings_are_no_worse_than_others_in_the_tuning_half() -> None:
    judged = await judge(load_labelled(), WordEmbedder(), [1.0])
    chosen = judged.figures(best(judged, [1.0]), held_out=False)
    other = judged.figures(SelectionConfig(word_weight=1.0, min_score=0.6, max_distance=0.05), held_out=False)
    assert chosen.f1 >= other.f1 > 0.3
