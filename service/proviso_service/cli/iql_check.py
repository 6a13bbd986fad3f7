"""How a query is understood, told without a server."""

import json
import sys
from collections.abc import Iterator
from typing import Any

from proviso_service.cli.configuration import load_settings
from proviso_service.cli.output import print_json, printable
from proviso_service.cli.problems import UsageProblem
from proviso_service.iql import (
    IqlSyntaxError,
    Limits,
    TemplateCatalog,
    TemplateFileError,
    canonical_text,
    parse,
    render,
    statements,
    tree_json,
)

_NAMES = {"and": "AND", "or": "OR", "not": "NOT", "average": "+"}


def check_query(query: str, *, as_json: bool) -> int:
    """Shows the query's tree, or its faults with a mark under each; returns the exit code. The settings decide on
    templates and limits."""
    settings = load_settings().iql
    limits = Limits(settings.max_length, settings.max_statements, settings.max_depth)
    try:
        tree = parse(query, TemplateCatalog.load(settings.templates_file), limits)
    except TemplateFileError as error:
        raise UsageProblem(str(error)) from error
    except IqlSyntaxError as error:
        _show_faults(error, as_json=as_json)
        return 1
    shape = json.loads(tree_json(tree))
    needed = statements(tree)
    if as_json:
        print_json({"canonical": canonical_text(tree), "tree": shape, "statements": needed})
        return 0
    lines = [printable(canonical_text(tree)), "", *_drawn(shape), "", "Statements to score:"]
    sys.stdout.write("\n".join([*lines, *(f"  {printable(statement)}" for statement in needed)]) + "\n")
    return 0


def _show_faults(error: IqlSyntaxError, *, as_json: bool) -> None:
    if not as_json:
        sys.stderr.write(f"{render(error)}\n")
        return
    faults = [
        {"start": p.span.start, "end": p.span.end, "message": p.message, "suggestions": p.suggestions}
        for p in error.problems
    ]
    print_json({"errors": faults})


def _drawn(node: dict[str, Any], indent: str = "") -> Iterator[str]:
    """A node on a line, what it holds indented below it."""
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
