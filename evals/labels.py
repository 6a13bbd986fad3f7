"""Measures how often the label of a passage, or of a clause inside it, has a number that is not its own.

The number of a clause is read by a few lines of this file, which know nothing of how the service finds clauses."""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.data import is_held_out
from proviso_service.matters import Outline
from proviso_service.reading import ReadDocument, ReadingLimits, Span, read_document

_MEDIA_TYPES = {".txt": "text/plain", ".pdf": "application/pdf", ".md": "text/markdown"}
_WORD = r"(?:\s*[*_#>]+)?\s*(?:(?:section|clause|article)\s+)?"
_OWN = re.compile(
    rf"{_WORD}(?P<number>\d{{1,3}}(?:\.\d{{1,3}})+|\d{{1,2}}(?=[.)]))[.)]?\s+(?=(?-i:[A-Z])|[\"\u201c(\[])",
    re.IGNORECASE,
)
_LABEL = re.compile(rf"{_WORD}(?P<number>\d{{1,3}}(?:\.\d{{1,3}})*)", re.IGNORECASE)
_INSIDE = re.compile(r"(?<=[.;:)\"\u201d])\s*\n[ \t]*(?P<number>\d{1,3}(?:\.\d{1,3})+)\.?[ \t]+(?=[A-Z\"\u201c])")
_CONTENTS = re.compile(r"(?:\.{3,}|[ \t|]{2,}|\. \. )[ .]*\d{0,3}[ \t]*$")
# Two lines of a table of contents, or more of them in one line: a number, a title and a page, and the next.
_ENTRY = rf"{_WORD}\d{{1,3}}(?:\.\d{{1,3}})*[.)]?\s[^\n]{{3,120}}?[\s.|](?:page\s+)?\d{{1,3}}\s+"
_ENTRIES = re.compile(rf"(?:{_ENTRY}){{2}}", re.IGNORECASE)

_HEAD = (
    "| Contracts | passages | wrong label, % | without plain numbers, % | contracts with one | clauses inside"
    " | wrong label, % |"
)


@dataclass(frozen=True, slots=True)
class Count:
    """Of `passages` of a contract, those that begin with a number, those of them with another label; and the clauses
    that begin a line inside a passage, and those of them with another label. `levels` counts the wrong labels of
    passages whose number has several levels; the rest may be items of lists."""

    contract: str
    passages: int
    numbered: int
    wrong: int
    levels: int
    inside: int
    wrong_inside: int


def count(contract: str, read: ReadDocument) -> Count:
    """Compares the labels of one contract with the numbers that stand in it."""
    outline = Outline(read.parsed.headings, read.parsed.pages)
    own = [(number, _number(chunk.heading)) for chunk in read.chunks if (number := _own(chunk.text))]
    wrong = [number for number, label in own if number != label]
    inside: list[bool] = []
    for chunk in read.chunks:
        places = outline.places_within(Span(chunk.start, chunk.end))
        for match in _INSIDE.finditer(chunk.text):
            if _CONTENTS.search(chunk.text[match.end() :].split("\n", 1)[0]):
                continue
            at = chunk.start + match.start("number")
            label = next((place.heading for place in reversed(places) if place.start <= at), chunk.heading)
            inside.append(_plain(match["number"]) == _number(label))
    levels = sum("." in number for number in wrong)
    return Count(contract, len(read.chunks), len(own), len(wrong), levels, len(inside), inside.count(False))


def _own(text: str) -> str:
    """The number that a passage begins with; empty for none, and for lines of a table of contents."""
    match = _OWN.match(text)
    line = text.lstrip().split("\n", 1)[0]
    is_contents = _CONTENTS.search(line) or _ENTRIES.match(text)
    return _plain(match["number"]) if match and not is_contents else ""


def _number(label: str) -> str:
    match = _LABEL.match(label)
    return _plain(match["number"]) if match else ""


def _plain(number: str) -> str:
    """The number without final zeros: 4.0 is clause 4."""
    return re.sub(r"(?:\.0+)+$", "", number)


def contracts(folders: Sequence[Path], nli: Path | None) -> Iterator[tuple[str, str, bytes]]:
    """The name, media type and bytes of each contract in the folders and in the file of ContractNLI."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in _MEDIA_TYPES and path.name != "README.md":
                yield path.stem, _MEDIA_TYPES[path.suffix], path.read_bytes()
    for document in json.loads(nli.read_text())["documents"] if nli else ():
        yield Path(document["file_name"]).stem, "text/plain", document["text"].encode()


def report(counts: Sequence[Count]) -> str:
    """The figures as a table, of all contracts and of the halves that a hash of their names makes."""
    lines = [_HEAD, "|---" * _HEAD.count(" |") + "|"]
    halves = {False: "tuning half", True: "held-out half"}
    parts: list[tuple[str, Sequence[Count]]] = [("all", counts)]
    for half, name in halves.items():
        parts.append((name, [one for one in counts if is_held_out("contract", one.contract) is half]))
    for name, chosen in parts:
        passages, inside = sum(one.passages for one in chosen), sum(one.inside for one in chosen)
        lines.append(
            f"| {len(chosen)}, {name} | {passages:,} | {_percent(sum(one.wrong for one in chosen), passages)}"
            f" | {_percent(sum(one.levels for one in chosen), passages)} | {sum(one.wrong > 0 for one in chosen)}"
            f" | {inside:,} | {_percent(sum(one.wrong_inside for one in chosen), inside)} |"
        )
    return "\n".join(lines)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / max(1, whole):.2f}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.labels", description="Measures the labels of clauses.")
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="folders of .txt, .pdf and .md files")
    parser.add_argument("--nli", type=Path, metavar="FILE", help="contracts of ContractNLI")
    options = parser.parse_args()
    counts = [
        count(name, read_document(media_type, content, ReadingLimits()))
        for name, media_type, content in contracts(options.data, options.nli)
    ]
    if not counts:
        print("There is no contract in these folders.", file=sys.stderr)
        return 1
    print(report(counts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
