"""Loads contracts, questions and the spans that answer them.

The folder holds `contracts/*.txt`, `categories.json` (category: question) and `spans.jsonl` (contract, category, start
and end in code points; one span for each line)."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from proviso_service.reading import Span

CHAT_QUESTIONS = Path(__file__).with_name("chat_questions.json")
_UNTUNED = 52  # of 256


class DataProblem(Exception):
    """The folder does not hold the expected files. The message says what is wrong."""


@dataclass(frozen=True, slots=True)
class Question:
    """The question of a category put to one contract, with the spans that answer it."""

    contract: str
    category: str
    text: str
    spans: tuple[Span, ...]

    @property
    def contract_is_held_out(self) -> bool:
        return is_held_out("contract", self.contract)


@dataclass(frozen=True, slots=True)
class Data:
    """All contracts and questions. `contracts` are paths by name; every question is about one of them."""

    contracts: dict[str, Path]
    questions: tuple[Question, ...]


def is_held_out(kind: str, name: str) -> bool:
    """Whether a contract or category belongs to the half that no choice is based on. Its name alone decides."""
    return _digest(f"{kind} {name}")[0] % 2 == 1


@cache
def kept_out() -> frozenset[str]:
    """The contracts that the questions to the chat model are about: nothing is tuned, fitted or measured on them."""
    matters = json.loads(CHAT_QUESTIONS.read_text(encoding="utf-8"))["matters"]
    return frozenset(name for names in matters.values() for name in names)


def is_untuned(contract: str) -> bool:
    """Whether a contract belongs to those that the encoder and the judge are not tuned on: heads on top of them are
    fitted and measured there. Its name alone decides."""
    return contract not in kept_out() and _digest(f"training {contract}")[0] < _UNTUNED


def load(folder: Path, contracts: int) -> Data:
    """Loads a number of contracts, chosen by their names, with their questions. Raises DataProblem."""
    paths = sorted((folder / "contracts").glob("*.txt"), key=lambda path: _digest(path.name))[:contracts]
    if not paths:
        raise DataProblem(f"{folder} has no contracts/*.txt")
    try:
        categories = json.loads((folder / "categories.json").read_text())
        lines = [json.loads(line) for line in (folder / "spans.jsonl").read_text().splitlines()]
    except (OSError, ValueError) as error:
        raise DataProblem(f"{folder} cannot be read: {error}") from error
    by_name = {path.name: path for path in paths}
    spans: dict[tuple[str, str], list[Span]] = defaultdict(list)
    for line in lines:
        if line["contract"] in by_name:
            spans[line["contract"], line["category"]].append(Span(line["start"], line["end"]))
    questions = tuple(
        Question(contract, category, unquoted(categories[category]), tuple(found))
        for (contract, category), found in sorted(spans.items())
    )
    return Data(by_name, questions)


def unquoted(question: str) -> str:
    """The question without double quotes. In a search they ask for an exact phrase; in these questions they only set
    words apart."""
    return question.translate(dict.fromkeys(map(ord, '"\u201c\u201d')))


def _digest(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()


def is_measured(contract: str) -> bool:
    """Whether nothing is tuned or fitted on a contract, because figures are measured with it."""
    return is_untuned(contract) and is_held_out("contract", contract)


def is_fitted(contract: str) -> bool:
    """Whether what stands on the models is fitted on a contract: on those that no model was tuned on but the measured
    ones."""
    return is_untuned(contract) and not is_measured(contract)


def part(data: Data, includes: Callable[[str], bool]) -> Data:
    """The contracts whose names are included, with their questions."""
    chosen = {name: path for name, path in data.contracts.items() if includes(name)}
    return Data(chosen, tuple(one for one in data.questions if one.contract in chosen))
