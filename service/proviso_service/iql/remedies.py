"""How a fault of a query is mended: in words for people, and as changes of the query for programs."""

from dataclasses import dataclass

from proviso_service.iql.syntax import Span


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of the query: `text` takes the place of `span`. `label` says what it does, for people."""

    span: Span
    text: str
    label: str

    def applied(self, query: str) -> str:
        return query[: self.span.start] + self.text + query[self.span.end :]


@dataclass(frozen=True, slots=True)
class Remedy:
    """A suggestion, and the changes that carry it out: one of them is enough. None where a person has to decide."""

    suggestion: str
    edits: tuple[Edit, ...] = ()


def replacing(lead: str, span: Span, *texts: str) -> Remedy:
    """Any of the texts in the place of `span`."""
    return Remedy(f"{lead} {' or '.join(texts)}", tuple(Edit(span, text, text) for text in texts))


def leaving_out(suggestion: str, span: Span, what: str = "it") -> Remedy:
    return Remedy(suggestion, (left_out(span, what),))


def left_out(span: Span, what: str = "it") -> Edit:
    return Edit(span, "", f"Leave {what} out")


def operator_at(query: str, span: Span, operator: str) -> Edit:
    """The operator in the place of `span`, with white space around it."""
    before, after = query[: span.start], query[span.end :]
    left = " " if before and not before[-1].isspace() and before[-1] != "(" else ""
    right = "" if after[:1].isspace() else " "
    return Edit(span, f"{left}{operator}{right}", operator)


def closed(query: str, place: int, sign: str, label: str) -> Edit:
    """The closing sign behind the last word that stands before `place`."""
    end = len(query[:place].rstrip())
    # Behind a backslash the sign would belong to the words.
    blank = " " if query[:end].endswith("\\") else ""
    return Edit(Span(end, place), blank + sign, label)
