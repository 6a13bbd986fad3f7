"""`proviso iql`: finds passages that satisfy an IQL query, or tells without a server how a query is understood."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.json_format import MessageToDict
from rich.console import Console
from rich.table import Table
from rich.text import Text

from proviso_client import AsyncClient
from proviso_client.errors import InvalidIql
from proviso_client.v1 import tools_pb2
from proviso_service.cli.configuration import load_settings
from proviso_service.cli.connection import connect, find_document, find_matter
from proviso_service.cli.output import UsageProblem, console, print_json, printable
from proviso_service.cli.server_options import Server
from proviso_service.iql import (
    IqlSyntaxError,
    QuerySpan,
    TemplateCatalog,
    TemplateFileError,
    canonical_text,
    marked,
    misreadings,
    parse,
    statements,
    tree_json,
)
from proviso_service.reading import WordForms, significant_words, telling_words

_NAMES = {"and": "AND", "or": "OR", "not": "NOT", "average": "+"}
_HIGHLIGHT = "bold yellow"
_LARGEST_PAGE = 1_000
"""The most matches of a document that the service gives at a time."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong at a place of a query, and what would mend it."""

    span: QuerySpan
    message: str
    suggestions: tuple[str, ...]


@dataclass(slots=True)
class QueryOutcome:
    """What a query has found: results by their place in the matter, and the summary once it has come."""

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
        """Returns the results by score, then in the order of the matter. Those with an error come last."""
        ordered = [result for _, result in sorted(self.results.items())]
        return sorted(ordered, key=lambda result: (bool(result.error), -result.score))


async def run_query(
    query: str,
    server: Server,
    matter_name: str,
    filenames: Sequence[str],
    min_score: float | None,
    *,
    explain: bool,
    all_matches: bool,
    as_json: bool,
) -> int:
    """Shows what a query finds in a matter, or in the named documents of it, or the query's faults. Returns the exit
    code. Raises CommandError.

    Without `all_matches` the service chooses how many matches of each document it gives, the best ones.
    """
    found = QueryOutcome(query, explain=explain)
    async with connect(server) as connection:
        client = connection.client
        matter = await find_matter(client, matter_name)
        documents = [await find_document(client, matter, filename) for filename in filenames]
        document_ids = [document.document_id for document in documents]
        fields: dict[str, Any] = {"document_ids": document_ids, "explain": explain}
        fields |= {} if min_score is None else {"min_score": min_score}
        fields |= {"page_size": _LARGEST_PAGE} if all_matches else {}
        try:
            with _showing_progress(as_json=as_json) as show:
                async for answer in client.tools.stream_iql(matter.matter_id, query, **fields):
                    if all_matches and answer.HasField("document_result"):
                        await _add_other_pages(client, matter.matter_id, query, answer.document_result, fields)
                    found.add(answer)
                    show(answer)
        except InvalidIql as error:
            faults = [Fault(QuerySpan(f.start, f.end), f.message, tuple(f.suggestions)) for f in error.faults]
            _show_faults(query, faults, as_json=as_json)
            return 1
    if not as_json:
        _report(found)
    return 0


async def _add_other_pages(
    client: AsyncClient, matter_id: str, query: str, result: tools_pb2.IqlDocumentResult, fields: dict[str, Any]
) -> None:
    """Adds the matches of a document that its first page had no room for, in the order of the text."""
    while token := result.next_page_token:
        answer = await client.tools.execute_iql(matter_id, query, page_token=token, **fields)
        result.next_page_token = ""
        for page in answer.document_results:
            result.matches.extend(page.matches)
            result.next_page_token = page.next_page_token
    result.matches.sort(key=lambda match: match.start_index)
    result.truncated = len(result.matches) < result.match_count


@contextmanager
def _showing_progress(*, as_json: bool) -> Iterator[Callable[[tools_pb2.StreamIqlResponse], None]]:
    """Yields a function to be called with each answer of the server. Progress is shown on stderr, on terminals only."""
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


def _report(found: QueryOutcome) -> None:
    """Shows a table of the documents, then the matches of each."""
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
        out.print(_highlighted(match.text, marks))
        if match.HasField("explanation"):
            for line in _explained(match.explanation):
                out.print(Text(line, style="dim"))
    if result.truncated:
        rest = result.match_count - len(result.matches)
        out.print(Text(f"\n{rest} more in {printable(result.filename)}; --all shows them", style="dim"))


def _explained(node: tools_pb2.IqlNode, indent: str = "  ") -> Iterator[str]:
    """Yields a line for a node with its score, and below it the indented lines of its operands."""
    words = printable(node.statement) or tools_pb2.IqlNodeType.Name(node.type).removeprefix("IQL_NODE_TYPE_")
    yield f"{indent}{node.score:.2f}  {words}"
    for operand in node.operands:
        yield from _explained(operand, f"{indent}  ")


def _highlighted(text: str, marks: WordForms) -> Text:
    shown = Text(printable(text))
    for span, _ in marks.find(text):
        shown.stylize(_HIGHLIGHT, span.start, span.end)
    return shown


def _totals(found: QueryOutcome) -> str:
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


def check_query(query: str, *, as_json: bool) -> int:
    """Shows how a query is understood, or its faults with a mark under each. Returns the exit code.

    The templates and limits are those of the settings. Raises UsageProblem when the settings are wrong.
    """
    settings = load_settings().iql
    try:
        catalog = TemplateCatalog.load(settings.templates_file)
        tree = parse(query, catalog)
    except TemplateFileError as error:
        raise UsageProblem(str(error)) from error
    except IqlSyntaxError as error:
        faults = [Fault(problem.span, problem.message, problem.suggestions) for problem in error.problems]
        _show_faults(query, faults, as_json=as_json)
        return 1
    shape = json.loads(tree_json(tree))
    needed = statements(tree)
    warnings = list(misreadings(tree, catalog))
    if as_json:
        print_json({"canonical": canonical_text(tree), "tree": shape, "statements": needed, "warnings": warnings})
        return 0
    sys.stderr.writelines(f"Note: {printable(warning)}\n" for warning in warnings)
    lines = [printable(canonical_text(tree)), "", *_drawn(shape), "", "Statements to score:"]
    sys.stdout.write("\n".join([*lines, *(f"  {printable(statement)}" for statement in needed)]) + "\n")
    return 0


def _show_faults(query: str, faults: Sequence[Fault], *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "errors": [
                    {"start": f.span.start, "end": f.span.end, "message": f.message, "suggestions": f.suggestions}
                    for f in faults
                ]
            }
        )
    else:
        sys.stderr.write("\n\n".join(marked(query, f.span, f.message, f.suggestions) for f in faults) + "\n")


def _drawn(node: dict[str, Any], indent: str = "") -> Iterator[str]:
    """Yields a line for a node of the query, and below it the indented lines of what it holds."""
    match node["type"]:
        case "statement":
            yield f"{indent}{printable(node['text'])}"
        case "template":
            arguments = "".join(f' "{argument}"' for argument in node["arguments"])
            yield f"{indent}IS {node['name']}{printable(arguments)}"
        case "comparison":
            yield indent + " ".join(node["comparators"])
            yield from _below(node["operands"], indent)
        case kind:
            yield indent + _NAMES[kind]
            yield from _below(node.get("operands") or [node["operand"]], indent)


def _below(operands: list[dict[str, Any]], indent: str) -> Iterator[str]:
    for operand in operands:
        yield from _drawn(operand, f"{indent}  ")
