"""The texts that the models are tuned on: passages of the contracts, and what people ask and state about them."""

import hashlib
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from string import ascii_lowercase, digits
from typing import Any

from evals.classifier_data import FORMAL_CATEGORIES
from evals.corpus import is_marked
from evals.data import is_held_out, is_untuned, kept_out, unquoted
from evals.extraction_data import NATURAL_QUESTIONS
from evals.phrasings import phrasings
from proviso_service.embedded.classifier.words import plain_titles
from proviso_service.embedded.pieces import Piece, pieces_of
from proviso_service.models import ModelPassage
from proviso_service.reading import ReadingLimits, Span, read_document, readable

WRITTEN = Path(__file__).parent / "written"

_TEST_SHARE = 52 / 256
_NEAR_SHARE = 0.5
_SHINGLE_WORDS = 8
_LETTERS = 120
_ALPHABETS = (ascii_lowercase, ascii_lowercase, "aeioulmnrst", "qwxzjkv", ascii_lowercase + digits, "?!.,*", "a", "q")


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a contract: its place, its text as the models read it, its own titles and its sentences, which are
    placed in the contract."""

    contract: str
    span: Span
    text: str
    titles: tuple[str, ...]
    sentences: tuple[tuple[Span, str], ...]
    categories: frozenset[str]


@dataclass(frozen=True, slots=True)
class Written:
    """What was written about one sentence of a contract. `texts` has the questions and statements by what they are:
    `plain`, `lawyer` and `short` are answered by the sentence, `topic` says in general what it is about, `true` is
    supported, `false` and `swap` are contradicted, by what must or may be and by who, when or how much, and `miss` and
    `near` are neither."""

    contract: str
    span: Span
    texts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A hypothesis about an agreement of ContractNLI: the agreement's sentences, those that decide it, and whether they
    support (`Entailment`) or contradict it (`Contradiction`); `NotMentioned` has none."""

    agreement: str
    key: str
    sentences: tuple[str, ...]
    deciding: tuple[int, ...]
    choice: str


@dataclass(frozen=True)
class Texts:
    """All texts of one folder of data (`cuad` and `contract_nli` beside each other)."""

    folder: Path

    @cached_property
    def split(self) -> "Split":
        texts = {path.name: path.read_text() for path in sorted((self.folder / "cuad" / "contracts").glob("*.txt"))}
        return split_of(texts)

    @cached_property
    def questions(self) -> dict[str, str]:
        """The categories' questions."""
        found: dict[str, str] = json.loads((self.folder / "cuad" / "categories.json").read_text())
        return {name: unquoted(text).replace("\xa0", " ") for name, text in found.items()}

    @cached_property
    def spans(self) -> Mapping[str, Sequence[tuple[str, Span]]]:
        """The marked spans with their categories, by contract."""
        found: dict[str, list[tuple[str, Span]]] = defaultdict(list)
        for line in (self.folder / "cuad" / "spans.jsonl").read_text().splitlines():
            one = json.loads(line)
            found[one["contract"]].append((one["category"], Span(one["start"], one["end"])))
        return found

    def passages(self, contracts: Iterable[str]) -> list[Passage]:
        return [passage for name in contracts for passage in self._passages_of(name)]

    def _passages_of(self, name: str) -> Iterable[Passage]:
        content = (self.folder / "cuad" / "contracts" / name).read_bytes()
        marked = self.spans.get(name, ())
        for chunk in read_document("text/plain", content, ReadingLimits()).chunks:
            place = Span(chunk.start, chunk.end)
            yield Passage(
                name,
                place,
                readable(chunk.text),
                plain_titles(ModelPassage(chunk.text, chunk.section_path)),
                tuple(_placed(piece, chunk.start) for piece in pieces_of(chunk.text) if not piece.is_title),
                frozenset(category for category, span in marked if is_marked(place, span)),
            )

    @cached_property
    def translations(self) -> list[tuple[str, str]]:
        """Texts in other languages, each with the English one that it is a translation of: a sentence of a contract, or
        what was written about one."""
        about = {(one.contract, one.span): one.texts for one in self.written}
        found = []
        for one in _lines(WRITTEN / "translations.jsonl"):
            place = Span(*one["evidence"])
            if one["kind"] == "sentence":
                content = (self.folder / "cuad" / "contracts" / one["contract"]).read_text()
                found.append((one["text"], " ".join(content[place.start : place.end].split())))
            else:
                found.append((one["text"], about[one["contract"], place][one["kind"]]))
        return found

    @cached_property
    def written(self) -> list[Written]:
        return [
            Written(contract["contract"], Span(*one.pop("evidence")), one)
            for contract in _lines(WRITTEN / "sentences.jsonl")
            for one in contract["sentences"]
        ]

    @cached_property
    def natural(self) -> list[tuple[str, str, tuple[Span, ...]]]:
        """Questions with their contract and evidence."""
        return [
            (one["contract"], one["question"], tuple(Span(*span) for span in one["evidence"]))
            for one in _lines(NATURAL_QUESTIONS)
        ]

    @cached_property
    def headings(self) -> Mapping[str, Sequence[str]]:
        """Everyday wordings by heading."""
        found: dict[str, list[str]] = json.loads((WRITTEN / "headings.json").read_text())
        return found

    @cached_property
    def wordings(self) -> Mapping[str, Sequence[str]]:
        """All wordings of the categories but those that figures are measured with."""
        written: dict[str, dict[str, list[str]]] = json.loads((WRITTEN / "categories.json").read_text())
        return {
            name: [*phrasings(name, question), *written[name]["everyday"], *written[name]["lawyer"]]
            for name, question in self.questions.items()
        }

    @cached_property
    def others(self) -> list[str]:
        """Texts that have nothing to do with contracts, and some that mean nothing."""
        general = json.loads((WRITTEN / "general.json").read_text(encoding="utf-8"))
        rng = random.Random(0)  # noqa: S311
        return [*general["everyday"], *general["assistant"], *chain(*general["languages"].values()), *_letters(rng)]

    @cached_property
    def hypotheses(self) -> Mapping[str, Mapping[str, Sequence[str]]]:
        """The wordings of each hypothesis that say the `same` and the `opposite`."""
        found: dict[str, dict[str, list[str]]] = json.loads((WRITTEN / "hypotheses.json").read_text())
        return found

    @cached_property
    def _agreements(self) -> Mapping[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "contract_nli" / "dev.json").read_text())
        return found

    def hypothesis_text(self, key: str) -> str:
        found: str = self._agreements["labels"][key]["hypothesis"]
        return found

    def entailments(self, *, held_out: bool) -> list[Hypothesis]:
        """The hypotheses on the agreements of one part."""
        found = []
        for one in self._agreements["documents"]:
            if (_share(f"agreement {one['file_name']}") < _TEST_SHARE) is not held_out:
                continue
            sentences = tuple(readable(one["text"][start:end]) for start, end in one["spans"])
            for key, label in one["annotation_sets"][0]["annotations"].items():
                found.append(Hypothesis(one["file_name"], key, sentences, tuple(label["spans"]), label["choice"]))
        return found


@dataclass(frozen=True, slots=True)
class Split:
    """Contracts by what they are for: `kept_out` are asked about by the questions to the chat model, `test` are for
    figures, `tuned` are tuned on, and `near` would be tuned on but hold what one of the others holds."""

    kept_out: frozenset[str]
    test: frozenset[str]
    tuned: frozenset[str]
    near: frozenset[str]


def split_of(texts: Mapping[str, str]) -> Split:
    """Splits contracts by their names. A contract is near another when half of the shingles of the shorter one are in
    both."""
    apart_by_name = kept_out()
    test = frozenset(name for name in texts if is_untuned(name))
    others = texts.keys() - apart_by_name - test
    shingles = {name: _shingles(text) for name, text in texts.items()}
    apart = [shingles[name] for name in sorted(apart_by_name | test) if name in shingles]
    near = frozenset(name for name in others if any(_are_near(shingles[name], one) for one in apart))
    return Split(apart_by_name, test, frozenset(others - near), near)


def is_measured(category: str) -> bool:
    """Whether a category is kept out of the tuning whose figures are shown."""
    return is_held_out("category", category)


def clause_categories(names: Iterable[str]) -> list[str]:
    return [name for name in names if name not in FORMAL_CATEGORIES]


def _letters(rng: random.Random) -> Iterable[str]:
    """Words of letters drawn at random, and some of one letter alone."""
    for length in rng.choices((1, 1, 2, 3), k=_LETTERS):
        words = ("".join(rng.choices(rng.choice(_ALPHABETS), k=rng.randint(3, 11))) for _ in range(length))
        yield " ".join(words)


def _placed(piece: Piece, start: int) -> tuple[Span, str]:
    return Span(start + piece.start, start + piece.end), readable(piece.text)


def _shingles(text: str) -> frozenset[int]:
    words = re.findall(r"\w+", text.lower())
    return frozenset(hash(tuple(words[at : at + _SHINGLE_WORDS])) for at in range(len(words) - _SHINGLE_WORDS))


def _are_near(one: frozenset[int], other: frozenset[int]) -> bool:
    return len(one & other) > _NEAR_SHARE * max(1, min(len(one), len(other)))


def _share(name: str) -> float:
    return hashlib.sha256(name.encode()).digest()[0] / 256


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
