"""How the results of an IQL query are shown: a table of documents, then the matches; for programs, JSON lines."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from google.protobuf.json_format import MessageToDict
from rich.console import Console
from rich.table import Table
from rich.text import Text

from proviso_client.v1 import tools_pb2
from proviso_service.cli.output import console, print_json, printable
from proviso_service.reading.words import WordForms, significant_words, telling_words

Show = Callable[[tools_pb2.StreamIqlResponse], None]

_HIGHLIGHT = "bold yellow"


@dataclass(slots=True)
class Found:
    """Results by their place in the matter, and the summary once it is there."""

    query: str
    explain: bool
    results: dict[int, tools_pb2.IqlDocumentResult] = field(default_factory=dict)
    summary: tools_pb2.ExecuteIqlResponse = field(default_factory=tools_pb2.ExecuteIqlResponse)

    def add(self, step: tools_pb2.StreamIqlResponse) -> None:
        if step.HasField("summary"):
            self.summary = step.summary
        else:
            self.results[step.document_index] = step.document_result

    def best_first(self) -> list[tools_pb2.IqlDocumentResult]:
        """By score, then as they are in the matter; those with an error last."""
        ordered = [result for _, result in sorted(self.results.items())]
        return sorted(ordered, key=lambda result: (bool(result.error), -result.score))


@contextmanager
def showing_progress(*, as_json: bool) -> Iterator[Show]:
    """Yields what to call with each step. Progress goes to stderr, on terminals only."""
    if as_json:
        yield lambda step: print_json(_record(step))
        return
    with console(stderr=True).status("Analysing") as status:

        def show(step: tools_pb2.StreamIqlResponse) -> None:
            totals = step.totals
            status.update(
                f"Analysed {totals.documents_done} of {totals.document_count} documents, {totals.total_matches} matches"
            )

        yield show


def report(found: Found) -> None:
    out = console()
    for warning in found.summary.warnings:
        console(stderr=True).print(f"Note: {printable(warning)}")
    results = found.best_first()
    out.print(_documents(results))
    marks = WordForms(telling_words(significant_words(found.query)))
    for result in results:
        if result.matches:
            _show_matches(out, result, marks)
    out.print(f"\n{_totals(found)}")


def _documents(results: Sequence[tools_pb2.IqlDocumentResult]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading, justify in (("score", "right"), ("matches", "right"), ("document", "left")):
        table.add_column(heading, justify=justify, no_wrap=True, header_style="bold")  # type: ignore[arg-type]
    for result in results:
        name = Text(printable(result.filename or result.document_id))
        if result.error:
            table.add_row("-", "-", name.append(f": {printable(result.error)}", style="red"))
        else:
            table.add_row(f"{result.score:.2f}", str(result.match_count), name)
    return table


def _show_matches(out: Console, result: tools_pb2.IqlDocumentResult, marks: WordForms) -> None:
    for match in result.matches:
        label = Text(printable(match.citation.label), style="bold")
        out.print(Text("\n").append(label).append(f"  {match.score:.2f}  {match.citation.permalink}", style="dim"))
        out.print(_marked(match.text, marks))
        for one in match.statement_scores:
            out.print(Text(f"  {one.score:.2f}  {printable(one.statement)}", style="dim"))
    if result.truncated:
        rest = result.match_count - len(result.matches)
        out.print(Text(f"\n{rest} more in {printable(result.filename)} not shown", style="dim"))


def _marked(text: str, marks: WordForms) -> Text:
    marked = Text(printable(text))
    for span, _ in marks.find(text):
        marked.stylize(_HIGHLIGHT, span.start, span.end)
    return marked


def _totals(found: Found) -> str:
    summary = found.summary
    matching = sum(1 for result in found.results.values() if result.match_count)
    average = f", average score {summary.average_score:.2f}" if summary.total_matches else ""
    matches = f"{summary.total_matches} match{'' if summary.total_matches == 1 else 'es'}"
    return f"{matches} in {matching} of {summary.document_count} documents{average} ({printable(summary.model)})"


def _record(step: tools_pb2.StreamIqlResponse) -> dict[str, object]:
    kind = "summary" if step.HasField("summary") else "document"
    message = step.summary if kind == "summary" else step.document_result
    fields = MessageToDict(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
    return {kind: fields}
