"""What is known in a turn, as far as a sentence may speak of it without a citation: the names, figures and counts of
its sources and of the question."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal

from proviso_service.agent.grounding.counts import is_known_count, is_small_word
from proviso_service.agent.grounding.names import missing_names
from proviso_service.agent.grounding.sources import Sources
from proviso_service.agent.grounding.statement import Statement
from proviso_service.agent.grounding.words import words_of
from proviso_service.reading import Figure, Value, is_total, stands_in, values_of

_FILE = "filename: "
_HUNDREDTH = Decimal("0.0101")


@dataclass(slots=True)
class TurnKnowledge:
    """The sources of a turn, the person's message, and the figures that the answer has shown so far."""

    sources: Sources
    question: str
    shown: list[Figure] = field(default_factory=list)
    _files: frozenset[str] | None = None

    @property
    def files(self) -> frozenset[str]:
        """The names of the files that the turn's tools have told. They are read once: no tool runs during a reply."""
        if self._files is None:
            told = (line for one in self.sources.own_results() for line in one.text.splitlines())
            listed = {line.removeprefix(_FILE) for line in told if line.startswith(_FILE)}
            self._files = frozenset({passage.filename for passage in self.sources.passages} | listed)
        return self._files

    def files_in(self, text: str) -> list[str]:
        """The files of the turn that a text names."""
        return [name for name in self.files if name in text]

    def is_name(self, quoted: str) -> bool:
        """Whether words in quotation marks are the name of a file, a heading, a matter or a reference."""
        names = [self.sources.names, *(source.label for source in self.sources.all())]
        names += [source.text for source in self.sources.own_results()]
        return any(holds(name, quoted) for name in names)

    def has_names(self, read: Statement) -> bool:
        if not read.names:
            return True
        words = words_of(self.question) | words_of(self.sources.names)
        for source in self.sources.all():
            words |= source.around(read.text).words
        return not missing_names(read.names, words)

    def has_figures(self, read: Statement, *, of_own_tools: bool = False, files: int = 0) -> bool:
        """Whether the figures of a sentence that states no facts stand anywhere in the sources or the question, or are
        counts of what was found, or of the `files` that it names. `of_own_tools` says that only the results of the
        service's own tools count."""
        if not read.values:
            return True
        known: list[Value] = values_of(self.sources.names)
        for source in self.sources.own_results() if of_own_tools else self.sources.all():
            known += source.around(read.text).values
        if not of_own_tools:
            known += values_of(self.question)
        counts = self.counts | ({files} if files else set())
        return all(self._is_known(value, read, known, counts) for value in read.values)

    def _is_known(self, value: Value, read: Statement, known: list[Value], counts: set[int]) -> bool:
        if isinstance(value, Figure) and not value.unit:
            is_right = is_known_count(value, read.unquoted, counts)
            if is_right is not None:
                return is_right
            if is_small_word(value, read.unquoted) or is_total(value, self.shown):
                return True
        return stands_in(value, known)

    def is_score(self, value: Figure) -> bool:
        """Whether a figure is a score of the service's own tools, rounded to hundredths."""
        told = (one for source in self.sources.own_results() for one in source.values if isinstance(one, Figure))
        amount = min(value.amounts)
        return (
            not value.unit and 0 <= amount <= 1 and any(abs(min(one.amounts) - amount) < _HUNDREDTH / 2 for one in told)
        )

    @property
    def counts(self) -> set[int]:
        documents = {passage.document_id for passage in self.sources.passages}
        return self.sources.counts | {len(documents), len(self.sources)}


def without_notes(text: str, notes: Iterable[str]) -> str:
    """The text with blanks for those of the notes that it holds, so that positions stay the same."""
    for note in notes:
        if words := note.strip(" \t\n.,;:!?").split():
            wanted = r"\s+".join(map(re.escape, words))
            text = re.sub(wanted, lambda found: " " * len(found[0]), text, flags=re.IGNORECASE)
    return text


def holds(text: str, quoted: str) -> bool:
    """Whether a text has these words, in capitals or not and whatever the white space."""
    wanted = " ".join(quoted.split()).casefold().strip(".,;:!?")
    return bool(wanted) and wanted in " ".join(text.split()).casefold()


def lists_file(facts: str, item: str) -> bool:
    """Whether an item of a list is the name of a file that the result of a tool has told."""
    return f"{_FILE}{item.strip().lstrip('-*• ')}" in facts.splitlines()
