"""Measures how far the text of each PDF agrees with a text file of the same name.

`python -m benchmarks.pdf_agreement --data DIR` compares DIR/pdf/NAME.pdf with DIR/contracts/NAME.txt, word by word."""

import argparse
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from proviso_service.reading.canonical import CELL_BREAK, readable
from proviso_service.reading.model import ReadingLimits
from proviso_service.reading.pdf import parse_pdf

# As on a typewriter: quotation marks and dashes are a matter of taste.
_TYPED = str.maketrans({"\u201c": '"', "\u201d": '"', "\u2018": "'", "\u2019": "'", "\u2013": "-", "\u2014": "-"})


@dataclass(frozen=True, slots=True)
class Agreement:
    """Shares from 0 to 1. `recall` is the share of the text file's words that the PDF's text has as often, `precision`
    the share of the PDF's words that the text file has as often, and `in_order` the share of the words of both that
    stand in the same order."""

    name: str
    pages: int
    words: int
    recall: float
    precision: float
    in_order: float


def agreement(name: str, pages: int, text: str, expected: str) -> Agreement:
    """Compares a PDF's canonical text with the expected one. Only words count: neither the white space between them nor
    the form of quotation marks and dashes."""
    found, wanted = _words(text), _words(expected)
    common = (Counter(found) & Counter(wanted)).total()
    in_order = 2 * common_in_order(found, wanted) / max(1, len(found) + len(wanted))
    return Agreement(name, pages, len(found), common / max(1, len(wanted)), common / max(1, len(found)), in_order)


def common_in_order(left: Sequence[str], right: Sequence[str]) -> int:
    """The length of the longest common subsequence. Each row of its table is one integer with a bit for each word on
    the right, so that twenty thousand words take a fraction of a second."""
    places: dict[str, int] = {}
    for place, word in enumerate(right):
        places[word] = places.get(word, 0) | 1 << place
    every = (1 << len(right)) - 1
    row = every
    for word in left:
        matching = row & places.get(word, 0)
        row = ((row + matching) | (row - matching)) & every
    return len(right) - row.bit_count()


def compare(data: Path) -> tuple[list[Agreement], float]:
    """The agreement of every PDF that has a text file, by name, and the pages read per second of CPU time."""
    found = []
    cpu_s = 0.0
    for pdf in sorted((data / "pdf").glob("*.pdf")):
        expected = (data / "contracts" / f"{pdf.stem}.txt").read_text(encoding="utf-8")
        content = pdf.read_bytes()
        begun = time.process_time()
        parsed = parse_pdf(content, ReadingLimits())
        cpu_s += time.process_time() - begun
        found.append(agreement(pdf.stem, len(parsed.pages), parsed.text, expected))
    return found, sum(item.pages for item in found) / cpu_s if cpu_s else 0.0


def table(found: Sequence[Agreement]) -> str:
    """A Markdown table with one line for each document and one for their mean."""
    lines = [f"{'recall':>7} {'prec.':>7} {'order':>7} {'pages':>6} {'words':>7}  document"]
    lines += [
        f"{item.recall:7.4f} {item.precision:7.4f} {item.in_order:7.4f} {item.pages:6} {item.words:7}  {item.name}"
        for item in sorted(found, key=lambda item: item.in_order)
    ]
    means = (mean(getattr(item, share) for item in found) for share in ("recall", "precision", "in_order"))
    return "\n".join([*lines, " ".join(f"{share:7.4f}" for share in means) + "  mean"])


def _words(text: str) -> list[str]:
    return readable(text.replace(CELL_BREAK, " ")).translate(_TYPED).split()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pdf_agreement", description="PDFs against text files.")
    parser.add_argument("--data", type=Path, required=True, help="folder with pdf/NAME.pdf and contracts/NAME.txt")
    found, pages_per_s = compare(parser.parse_args().data)
    if not found:
        parser.error("the folder holds no pdf/*.pdf")
    print(table(found))
    print(f"{pages_per_s:.0f} pages per second of CPU time")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
