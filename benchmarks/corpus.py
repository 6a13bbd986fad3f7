"""The documents of the document benchmark: a folder with `contracts/*.txt`, `pdf/*.pdf` and `categories.json`, as in
CUAD v1."""

import json
from dataclasses import dataclass
from pathlib import Path


class NoCorpus(Exception):
    """The folder does not hold the files that the benchmark reads."""


@dataclass(frozen=True, slots=True)
class Corpus:
    contracts: tuple[Path, ...]
    pdfs: tuple[Path, ...]
    questions: tuple[str, ...]


def read_corpus(folder: Path, max_contracts: int | None = None) -> Corpus:
    """Reads the corpus from a folder. Raises NoCorpus."""
    contracts = tuple(sorted((folder / "contracts").glob("*.txt")))
    pdfs = tuple(sorted((folder / "pdf").glob("*.pdf")))
    try:
        questions = tuple(json.loads((folder / "categories.json").read_text(encoding="utf-8")).values())
    except (OSError, ValueError) as error:
        raise NoCorpus(f"{folder} has no readable categories.json") from error
    if not contracts or not pdfs:
        raise NoCorpus(f"{folder} has no contracts/*.txt or no pdf/*.pdf")
    return Corpus(contracts[:max_contracts], pdfs[:max_contracts], questions)
