"""Tunes the judge: a model that reads what is asked or stated together with a text and tells whether the text supports
it, contradicts it, or does neither. A text that answers a question supports it."""

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from evals.training.bert import Arrays, Bert
from evals.training.descent import Say, Tokens, descend, run
from evals.training.nearest import Nearest, Placed
from evals.training.opposites import opposite_of, part_of, parties
from evals.training.pairs import PairSource
from evals.training.texts import Hypothesis, Passage, Texts
from proviso_service.embedded.judge import Verdict, below_title, joined_tokens

_GROUPS = 16
_CONTRAST_WEIGHT = 0.5
_LIKELY = 12
_TITLE_SHARE = 0.5
_SENTENCE_SHARE, _SENTENCE_SHARE_OF_KINDS = 0.7, 0.4
"""How often a sentence is shown, and not its passage, and that for what asks for a kind of clause."""

_ASKED = {"plain": 0.5, "lawyer": 0.5, "topic": 0.9, "true": 0.5, "false": 0.4, "swap": 0.3} | {
    "short": 0.3,
    "miss": 0.25,
    "near": 0.25,
}
"""What is written about a sentence, and the share of it that an epoch draws."""

_WRONG_TEXTS = {"plain": 3, "lawyer": 3, "topic": 3, "true": 1}
_WRONG_NATURAL = 4
_OPPOSITES = 3_000
_LEAST_WORDS, _MOST_WORDS = 8, 70
_MOST_OF_TITLE = 12
_VERDICTS = {
    "false": Verdict.CONTRADICTS,
    "swap": Verdict.CONTRADICTS,
    "miss": Verdict.NEITHER,
    "near": Verdict.NEITHER,
}
_MODAL = re.compile(r"\b(?:shall|will|must|may|can|cannot|need)\b(?: not)?")


@dataclass(frozen=True, slots=True)
class Case:
    query: str
    text: str
    verdict: Verdict


Group = list[Case]
"""What is asked or stated together with texts that it is judged by; one that supports it comes first."""


class Judge(nn.Module):
    """A reader of pairs, `bert`, and a head on the state of its first token. `weights` hold the head of the model that
    the judge is tuned from, which told one thing, how well a text answers, or of a judge."""

    def __init__(self, bert: Bert, weights: Arrays) -> None:
        super().__init__()
        self.bert = bert
        self.dense = nn.Linear(bert.width, bert.width)
        self.verdicts = nn.Linear(bert.width, len(Verdict))
        for kind in ("weight", "bias"):
            getattr(self.dense, kind).data = torch.from_numpy(np.array(weights[f"judge.dense.{kind}"]))
        if "judge.verdicts.weight" in weights:
            for kind in ("weight", "bias"):
                getattr(self.verdicts, kind).data = torch.from_numpy(np.array(weights[f"judge.verdicts.{kind}"]))
            return
        with torch.no_grad():
            self.verdicts.weight[Verdict.SUPPORTS] = torch.from_numpy(np.array(weights["judge.relevance.weight"]))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Returns the logits of the verdicts, of shape (texts, 3)."""
        found: Tensor = self.verdicts(torch.tanh(self.dense(self.bert(ids, mask)[:, 0])))
        return found.float()

    def tuned(self) -> Arrays:
        """The weights of the tuned layers and of the head, by their names in the graph."""
        head = {
            f"judge.{name}": value.detach().cpu().numpy()
            for name, value in self.named_parameters()
            if "bert" not in name
        }
        return {**self.bert.tuned(), **head}


class CaseSource:
    """Draws cases; every epoch draws others. Wrong texts are those that the tuned encoder finds near the query in the
    same contract. `known_share` is the share drawn of all but what is about a category that figures are measured
    with."""

    def __init__(
        self,
        texts: Texts,
        source: PairSource,
        nearest: Nearest,
        *,
        known_share: float,
    ) -> None:
        self._texts = texts
        self._known_share = known_share
        self._source = source
        self._nearest = nearest
        self._by_contract: dict[str, list[Passage]] = defaultdict(list)
        for passage in source.passages:
            self._by_contract[passage.contract].append(passage)
        self._sentences = nearest.sentences
        self._parties = {name: parties(text for _, text in found) for name, found in self._sentences.items()}
        self._hypotheses = texts.entailments(held_out=False)
        self._likely = self._likely_of(self._hypotheses)

    def epoch(self, rng: random.Random) -> list[Group]:
        measured = [name for name in self._source.categories if name in self._source.measured]
        others = [name for name in self._source.categories if name not in self._source.measured]
        known = [*self._of_natural(rng), *self._of_categories(rng, others), *self._of_headings(rng)]
        known += [*self._of_hypotheses(rng), *self._of_opposites(rng)]
        groups = [*self._of_written(rng), *self._of_categories(rng, measured)]
        groups += rng.sample(known, round(self._known_share * len(known)))
        rng.shuffle(groups)
        return groups

    def _near(self, contract: str, queries: Sequence[str]) -> list[list[Placed]]:
        return self._nearest.near(contract, queries, _LIKELY)

    def _of_written(self, rng: random.Random) -> Iterator[Group]:
        by_contract: dict[str, list[tuple[Passage, str, str, str]]] = defaultdict(list)
        for passage, _, sentence, texts in self._source.written:
            share = 1 if passage.categories & self._source.measured else self._known_share
            drawn = [kind for kind in texts if rng.random() < _ASKED[kind] * share]
            for kind in drawn:
                by_contract[passage.contract].append((passage, sentence, kind, texts[kind]))
        for contract, found in by_contract.items():
            near = self._near(contract, [asked for *_, asked in found])
            for (passage, sentence, kind, asked), likely in zip(found, near, strict=True):
                others = [(its, text) for its, text in likely if text != sentence][1:]
                if kind == "topic":
                    others = [
                        (its, text) for its, text in others if its is not passage and its.titles != passage.titles
                    ]
                wrong = rng.sample(others, min(len(others), _WRONG_TEXTS.get(kind, 0)))
                share = _SENTENCE_SHARE_OF_KINDS if kind == "topic" else _SENTENCE_SHARE
                yield [
                    Case(asked, _shown(rng, passage, sentence, share), _VERDICTS.get(kind, Verdict.SUPPORTS)),
                    *(Case(asked, _shown(rng, its, text, share), Verdict.NEITHER) for its, text in wrong),
                ]

    def _of_opposites(self, rng: random.Random) -> Iterator[Group]:
        """Parts of sentences that the sentence supports, and the same with one change, which it contradicts; and true
        statements with their sentence changed in the one word that says whether something must, may or may not be."""
        for passage, _, sentence, texts in self._source.written:
            if "true" in texts and len(_MODAL.findall(sentence)) == 1 and rng.random() < _ASKED["true"]:
                changed = opposite_of(rng, sentence, self._parties[passage.contract])
                if changed and _MODAL.findall(changed) != _MODAL.findall(sentence):
                    yield [Case(texts["true"], changed, Verdict.CONTRADICTS)]
        for contract in rng.choices(list(self._sentences), k=_OPPOSITES):
            passage, sentence = rng.choice(self._sentences[contract])
            if passage.categories & self._source.left_out:
                continue
            if _LEAST_WORDS <= len(sentence.split()) <= _MOST_WORDS:
                part = part_of(rng, sentence)
                changed = opposite_of(rng, part, self._parties[contract])
                if changed:
                    yield [Case(part, sentence, Verdict.SUPPORTS)]
                    yield [Case(changed, sentence, Verdict.CONTRADICTS)]

    def _of_natural(self, rng: random.Random) -> Iterator[Group]:
        for contract, question, spans in self._texts.natural:
            if contract not in self._sentences:
                continue
            (wrong,) = self._near(contract, [question])
            for span in spans:
                passage = self._source.passage_of(contract, span)
                if passage is None or passage.categories & self._source.left_out:
                    continue
                held = [text for place, text in passage.sentences if place.start < span.end and span.start < place.end]
                if held:
                    apart = [(its, text) for its, text in wrong if its is not passage][1:]
                    yield [
                        Case(question, _shown(rng, passage, rng.choice(held)), Verdict.SUPPORTS),
                        *(
                            Case(question, _shown(rng, its, text), Verdict.NEITHER)
                            for its, text in rng.sample(apart, min(_WRONG_NATURAL, len(apart)))
                        ),
                    ]

    def _of_categories(self, rng: random.Random, categories: Sequence[str]) -> Iterator[Group]:
        for contract, passages in self._by_contract.items():
            if contract not in self._sentences or not categories:
                continue
            queries = [rng.choice(self._texts.wordings[category]) for category in categories]
            near = self._near(contract, queries)
            for category, query, likely in zip(categories, queries, near, strict=True):
                spans = [span for name, span in self._texts.spans[contract] if name == category]
                held = [
                    (passage, text)
                    for passage in passages
                    if category in passage.categories
                    for place, text in passage.sentences
                    if any(place.start < one.end and one.start < place.end for one in spans)
                ]
                wrong = [(its, text) for its, text in likely if category not in its.categories]
                share = _SENTENCE_SHARE_OF_KINDS
                group = [Case(query, _shown(rng, *rng.choice(held), share), Verdict.SUPPORTS)] if held else []
                drawn = rng.sample(wrong, min(len(wrong), 3 if held else 1))
                yield [*group, *(Case(query, _shown(rng, *one, share), Verdict.NEITHER) for one in drawn)]

    def _of_headings(self, rng: random.Random) -> Iterator[Group]:
        headings = self._texts.headings
        by_title: Mapping[str, list[Passage]] = defaultdict(list)
        for passage in self._source.passages:
            if (
                passage.titles
                and not passage.categories & self._source.left_out
                and passage.titles[-1].lower() in headings
            ):
                by_title[passage.titles[-1].lower()].append(passage)
        by_contract: dict[str, list[tuple[str, Passage, str]]] = defaultdict(list)
        for title in sorted(by_title):
            for passage in rng.sample(by_title[title], min(_MOST_OF_TITLE, len(by_title[title]))):
                if passage.sentences and passage.contract in self._sentences:
                    by_contract[passage.contract].append((title, passage, rng.choice(headings[title])))
        for contract, found in by_contract.items():
            near = self._near(contract, [query for *_, query in found])
            for (title, passage, query), likely in zip(found, near, strict=True):
                wrong = [its for its, _ in likely if title not in map(str.lower, its.titles)]
                if wrong:
                    yield [
                        Case(query, passage.text, Verdict.SUPPORTS),
                        Case(query, rng.choice(wrong).text, Verdict.NEITHER),
                    ]

    def _of_hypotheses(self, rng: random.Random) -> Iterator[Group]:
        for one in self._hypotheses:
            wordings = self._texts.hypotheses[one.key]
            same = [self._texts.hypothesis_text(one.key), *wordings["same"]]
            near = [text for at, text in enumerate(one.sentences) if at not in one.deciding and at in self._likely[one]]
            if not one.deciding:
                yield [Case(rng.choice(same), text, Verdict.NEITHER) for text in rng.sample(near, 2)]
                continue
            agrees = one.choice == "Entailment"
            for said, is_same in (
                (same[0], True),
                (rng.choice(same), True),
                (rng.choice(wordings["opposite"]), False),
                (rng.choice(wordings["opposite"]), False),
            ):
                verdict = Verdict.SUPPORTS if is_same is agrees else Verdict.CONTRADICTS
                yield [
                    Case(said, one.sentences[rng.choice(one.deciding)], verdict),
                    Case(said, rng.choice(near), Verdict.NEITHER),
                ]

    def _likely_of(self, hypotheses: Sequence[Hypothesis]) -> dict[Hypothesis, set[int]]:
        """The places of the sentences of its agreement that are nearest to each hypothesis."""
        found: dict[Hypothesis, set[int]] = {}
        agreements: dict[str, NDArray[np.float32]] = {}
        for one in hypotheses:
            if one.agreement not in agreements:
                agreements[one.agreement] = self._nearest.embedded(one.sentences)
            (asked,) = self._nearest.embedded([self._texts.hypothesis_text(one.key)])
            found[one] = set(np.argsort(-(agreements[one.agreement] @ asked))[: len(one.deciding) + _LIKELY].tolist())
        return found


def tune(
    judge: Judge, draw: Callable[[random.Random], list[Group]], tokens: Tokens, epochs: int, seed: int, say: Say
) -> None:
    """Tunes the judge in place: by the verdict on each text, and by the contrast of the text that supports what is
    asked with the others."""

    def loss(groups: Sequence[Group]) -> Tensor:
        cases = [case for group in groups for case in group]
        logits = run(judge, [joined_tokens(tokens(one.query), tokens(one.text)) for one in cases])
        verdicts = torch.tensor([int(one.verdict) for one in cases]).to(logits.device)
        others = torch.logsumexp(logits[:, [Verdict.NEITHER, Verdict.CONTRADICTS]], dim=1)
        margins = (logits[:, Verdict.SUPPORTS] - others).split([len(group) for group in groups])
        contrasts = [
            -functional.log_softmax(found, dim=0)[0]
            for found, group in zip(margins, groups, strict=True)
            if len(group) > 1 and group[0].verdict is Verdict.SUPPORTS
        ]
        contrast = torch.stack(contrasts).mean() if contrasts else 0.0
        return functional.cross_entropy(logits, verdicts) + _CONTRAST_WEIGHT * contrast

    descend(judge, draw, loss, _GROUPS, epochs, seed, say)


def _shown(rng: random.Random, passage: Passage, sentence: str, share: float = _SENTENCE_SHARE) -> str:
    if rng.random() >= share:
        return passage.text
    return below_title(passage.titles if rng.random() < _TITLE_SHARE else (), sentence)
