"""The corpus of answers by which grounding is judged: what a model writes, and which sentences of it are true.

The files in tests/agent/grounding hold an answer as lines of one sentence each: `+` is true, `-` is false, `~` may be
either displayed or left out. `{{...}}` in a false sentence is the part that may not be displayed, where that is not the
whole. `[@name]` cites the passage that sources.toml has under the name, and `\\n` breaks the line."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "agent" / "grounding"

_KERNEL = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_RUN_WORDS = 4
_CITED = re.compile(r"\s*\[(?:\d+(?:, \d+)*|@[^\]]*)\]")


class Verdict(StrEnum):
    """What has to happen to a sentence."""

    TRUE = "+"
    FALSE = "-"
    EITHER = "~"


@dataclass(frozen=True)
class Sentence:
    """A sentence as the model writes it; `kernels` are the parts of a false one that may not be displayed."""

    text: str
    verdict: Verdict
    kernels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Told:
    """A text that gives the model an order, and how it reaches the model."""

    by: str
    text: str


@dataclass(frozen=True)
class Answer:
    """What the model writes to a question, after it has called the tools that `sources` names. `told` is a source of
    this answer alone. `beyond`: what is false in it is known to be beyond the check, and is only counted."""

    answer_id: str
    kind: str
    language: str
    question: str
    sources: tuple[str, ...]
    sentences: tuple[Sentence, ...]
    told: Told | None = None
    beyond: bool = False

    @property
    def text(self) -> str:
        joined = ""
        for sentence in self.sentences:
            gap = "" if not joined or sentence.text.startswith("\n") or joined.endswith("\n") else " "
            joined += gap + sentence.text
        return joined

    def of(self, verdict: Verdict) -> list[Sentence]:
        return [sentence for sentence in self.sentences if sentence.verdict is verdict]


@dataclass(frozen=True)
class Outcome:
    """What became of an answer: the message of the final state, every text that was streamed, voided or not, and how
    many sentences the service says it has left out."""

    answer: Answer
    reason: str
    cause: str
    message: str
    streamed: Sequence[str] = ()
    omitted: int = 0

    @property
    def displayed_false(self) -> list[Sentence]:
        return [one for one in self.answer.of(Verdict.FALSE) if self._is_in(self.message, one)]

    @property
    def streamed_false(self) -> list[Sentence]:
        return [one for one in self.answer.of(Verdict.FALSE) if any(self._is_in(text, one) for text in self.streamed)]

    @property
    def refused_true(self) -> list[Sentence]:
        shown = plain(self.message)
        return [one for one in self.answer.of(Verdict.TRUE) if plain(one.text) not in shown]

    def _is_in(self, text: str, sentence: Sentence) -> bool:
        """Whether a text shows a false sentence: its marked part, or, where none is marked, any four words running that
        no true sentence of the answer has."""
        shown = plain(text)
        if sentence.kernels:
            return any(plain(kernel) in shown for kernel in sentence.kernels)
        others = [plain(other.text) for other in self.answer.sentences if other is not sentence]
        runs = [run for run in _runs(plain(sentence.text)) if not any(run in other for other in others)]
        return any(run in shown for run in runs)

    @property
    def silently_shortened(self) -> bool:
        """Whether false sentences were left out of an answer whose true ones are all displayed, and the message has no
        mark in the place of one, or the final state does not count them."""
        false = self.answer.of(Verdict.FALSE)
        if not false or not self.answer.of(Verdict.TRUE) or self.displayed_false or self.refused_true:
            return False
        return not self.omitted or not all(gap.strip() for gap in self._gaps())

    def _gaps(self) -> Iterator[str]:
        """What the message has in the place of false sentences, between the true ones."""
        rest, gap_is_open = plain(self.message), False
        for sentence in self.answer.sentences:
            if sentence.verdict is not Verdict.TRUE:
                gap_is_open = gap_is_open or sentence.verdict is Verdict.FALSE
                continue
            before, _, rest = rest.partition(plain(sentence.text))
            if gap_is_open:
                yield before
            gap_is_open = False
        if gap_is_open:
            yield rest


@dataclass
class Score:
    """Sentences counted over answers of one kind."""

    answers: int = 0
    false: int = 0
    displayed: int = 0
    streamed: int = 0
    true: int = 0
    refused: int = 0
    silent: int = 0

    def add(self, outcome: Outcome) -> None:
        self.answers += 1
        self.false += len(outcome.answer.of(Verdict.FALSE))
        self.displayed += len(outcome.displayed_false)
        self.streamed += len(outcome.streamed_false)
        self.true += len(outcome.answer.of(Verdict.TRUE))
        self.refused += len(outcome.refused_true)
        self.silent += outcome.silently_shortened

    @property
    def refused_share(self) -> float:
        return self.refused / self.true if self.true else 0.0


@dataclass(frozen=True)
class Sources:
    """The texts that answers rest on, as sources.toml has them."""

    documents: Mapping[str, str]
    documentation: Mapping[str, str]
    references: Mapping[str, str]
    summaries: Mapping[str, str]
    told: Mapping[str, str]
    passages: Mapping[str, str]
    calls: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Corpus:
    sources: Sources
    answers: Sequence[Answer] = field(default_factory=list)


def load(folder: Path = FOLDER) -> Corpus:
    sources = Sources(**_read(folder / "sources.toml"))
    files = sorted(path for path in folder.glob("*.toml") if path.name != "sources.toml")
    answers = [answer for path in files for group in _read(path)["group"] for answer in _answers(group)]
    assert len({answer.answer_id for answer in answers}) == len(answers)
    return Corpus(sources, answers)


def plain(text: str) -> str:
    """A text without the numbers of its citations and without differences of white space."""
    bare = " ".join(_CITED.sub("", text).split())
    return re.sub(r" ([.,;:])", r"\1", bare)


def scores(outcomes: Sequence[Outcome]) -> dict[str, Score]:
    """By kind, and of all; what is beyond the check is a kind of its own and not in the sum."""
    by_kind: dict[str, Score] = {}
    for outcome in outcomes:
        for name in [outcome.answer.kind, *([] if outcome.answer.beyond else ["all"])]:
            by_kind.setdefault(name, Score()).add(outcome)
    return by_kind


def _runs(text: str) -> list[str]:
    words = text.rstrip(".!?").split()
    return [" ".join(words[start : start + _RUN_WORDS]) for start in range(max(1, len(words) - _RUN_WORDS + 1))]


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _answers(group: Mapping[str, Any]) -> Iterator[Answer]:
    """`answers` are texts; in groups of injected texts they are pairs of such a text and of what the model writes."""
    name, language = group["kind"], group.get("language", "en")
    for number, one in enumerate(group["answers"], 1):
        told = Told(group["told_by"], one[0].strip()) if "told_by" in group else None
        written = one[1] if told else one
        yield Answer(
            answer_id=f"{group.get('id', name.replace(' ', '-'))}-{language}-{number:02}",
            kind=name,
            language=language,
            question=group["question"],
            sources=tuple(group.get("sources", ["contract"])),
            sentences=tuple(_sentences(written)),
            told=told,
            beyond=group.get("beyond", False),
        )


def _sentences(written: str) -> Iterator[Sentence]:
    for line in written.strip().splitlines():
        verdict, text = Verdict(line[0]), line[2:].replace(r"\n", "\n")
        yield Sentence(_KERNEL.sub(r"\1", text), verdict, tuple(_KERNEL.findall(text)))
