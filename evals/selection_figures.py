"""Measures how well the selected items match the wanted ones."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass

from evals.selection_data import Message
from proviso_service.context.model import ItemRef

Chosen = Collection[ItemRef]


@dataclass(frozen=True, slots=True)
class SelectionFigures:
    """Shares from 0 to 1, over all items of all messages. `disturbed` is the share of the messages that want no item
    but got one; `chosen` is the mean number of items for each message."""

    messages: int
    precision: float
    recall: float
    disturbed: float
    chosen: float

    @property
    def f1(self) -> float:
        return 2 * self.precision * self.recall / max(1e-9, self.precision + self.recall)

    def as_dict(self) -> dict[str, float]:
        return asdict(self) | {"f1": self.f1}


def figures(messages: Sequence[Message], chosen: Sequence[Chosen]) -> SelectionFigures:
    right = sum(len(message.wanted & set(found)) for message, found in zip(messages, chosen, strict=True))
    taken, wanted = sum(map(len, chosen)), sum(len(message.wanted) for message in messages)
    unwanted = [found for message, found in zip(messages, chosen, strict=True) if not message.wanted]
    return SelectionFigures(
        len(messages),
        precision=right / max(1, taken),
        recall=right / max(1, wanted),
        disturbed=sum(map(bool, unwanted)) / max(1, len(unwanted)),
        chosen=taken / max(1, len(messages)),
    )


def table(ways: Mapping[str, SelectionFigures]) -> str:
    """The figures as a Markdown table."""
    rows = [
        f"| {way} | {100 * one.precision:.0f} | {100 * one.recall:.0f} | {100 * one.f1:.0f} "
        f"| {100 * one.disturbed:.0f} | {one.chosen:.1f} |"
        for way, one in ways.items()
    ]
    head = "| | Precision, % | Recall, % | F1 | Disturbed, % | Items a message |"
    return "\n".join((head, "|---|---|---|---|---|---|", *rows))
