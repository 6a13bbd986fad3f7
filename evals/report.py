"""Writes the results of a run as Markdown tables and as JSON."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from evals.figures import DEPTHS, SLICES, Answer, Figure, figure


@dataclass(frozen=True, slots=True)
class Report:
    """The results. `answers` has the answers of each ranking, by its name, to the same questions."""

    contracts: int
    chunks: int
    chunk_chars: int
    answers: Mapping[str, Sequence[Answer]]

    def text(self) -> str:
        return "\n".join(self._lines())

    def json(self) -> str:
        slices = {name: {way: asdict(one) for way, one in figures.items()} for name, figures in self._slices()}
        categories = {name: {way: asdict(one) for way, one in figures.items()} for name, figures in self._categories()}
        head = {"contracts": self.contracts, "chunks": self.chunks, "chunk_chars": self.chunk_chars, "depths": DEPTHS}
        return json.dumps(head | {"slices": slices, "categories": categories}, indent=1)

    def _lines(self) -> Iterator[str]:
        yield f"{self.contracts} contracts, {self.chunks:,} passages of at most {self.chunk_chars} characters."
        depths = " | ".join(f"at {depth}" for depth in DEPTHS)
        for name, figures in self._slices():
            questions = next(iter(figures.values())).questions
            yield f"\n### {name[0].upper()}{name[1:]}: {questions} questions\n"
            yield f"| Recall, % | {depths} |"
            yield "|---" * (len(DEPTHS) + 1) + "|"
            for way, one in figures.items():
                yield f"| {way} | {' | '.join(_cells(one))} |"
        yield "\n### Recall at 5 by category, %\n"
        yield f"| Category | Questions | {' | '.join(self.answers)} |"
        yield "|---" * (len(self.answers) + 2) + "|"
        for name, figures in self._categories():
            questions = next(iter(figures.values())).questions
            cells = " | ".join(f"{100 * one.recall[1]:.0f}" for one in figures.values())
            yield f"| {name} | {questions} | {cells} |"

    def _slices(self) -> Iterator[tuple[str, dict[str, Figure]]]:
        for name, includes in SLICES.items():
            chosen = {way: [one for one in found if includes(one.question)] for way, found in self.answers.items()}
            if all(chosen.values()):
                yield name, {way: figure(found) for way, found in chosen.items()}

    def _categories(self) -> Iterator[tuple[str, dict[str, Figure]]]:
        """The table by category; held-out categories are marked with an asterisk."""
        questions = [one.question for one in next(iter(self.answers.values()))]
        for category, held_out in sorted({(one.category, one.category_is_held_out) for one in questions}):
            figures = {
                way: figure([one for one in found if one.question.category == category])
                for way, found in self.answers.items()
            }
            yield category + (" *" if held_out else ""), figures


def _cells(one: Figure) -> Iterator[str]:
    for recall, low, high in zip(one.recall, one.low, one.high, strict=True):
        yield f"{100 * recall:.1f} ({100 * low:.0f} to {100 * high:.0f})"
