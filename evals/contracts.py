"""`python -m evals.contracts --data DIR [--target ADDRESS] [--without-concepts]` asks a running service about contracts
that nothing was tuned or fitted on: by search, extraction and IQL, whatever models it uses.

`DIR` holds `cuad` and `contract_nli`."""

import argparse
import asyncio
import random
import sys
import tempfile
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from statistics import median

from evals.chat import service, uploaded
from evals.classifier_data import FORMAL_CATEGORIES
from evals.corpus import is_marked
from evals.data import Data, is_held_out, is_measured, load, part
from evals.extraction_data import natural_lines, plain_questions
from evals.figures import macro_average_precision, mean_of
from evals.overlaps import answers_it
from evals.phrasings import about
from evals.training.texts import Hypothesis, Texts
from proviso_client import AsyncClient
from proviso_service.cli.figures import calibration_error
from proviso_service.reading import Span

_EVERYDAY = Path(__file__).with_name("everyday.toml")
_LEAST_MARKED = 3
_UNANSWERED_SHARE = 1 / 6
_SEED = 20_260
_MATCHED = 0.5
_PAGE = 1_000
_WAIT_S = 300.0

Scored = tuple[str, float, bool]
"""A passage of a contract: the contract, its score, and whether it is marked."""


@dataclass
class Asked:
    """What came of one kind of question: by contract, whether the first result is right, and one of the first three;
    for extractions also whether the first answer is given for certain and right, or wrong."""

    first: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    among_three: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    found: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    wrong: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    seconds: list[float] = field(default_factory=list)

    def rows(self, name: str) -> Iterator[str]:
        shown = {"first": self.first, "among three": self.among_three, "found and right": self.found}
        shown["stated where nothing is marked, or wrong"] = self.wrong
        for what, values in shown.items():
            if values:
                yield f"| {name}: {what} | {mean_of(values)} |"
        yield f"| {name}: seconds | {median(self.seconds):.2f}, longest {max(self.seconds):.2f} |"


@dataclass(frozen=True, slots=True)
class Question:
    kind: str
    contract: str
    text: str
    spans: tuple[Span, ...]


def questions(data: Data, categories: Mapping[str, str]) -> list[Question]:
    """Each category's own question and a plain one, put to each contract where it is marked and to some of the others,
    and the natural questions. Only categories count that `--measured` leaves out of the tuning."""
    rng = random.Random(_SEED)  # noqa: S311
    plain, marked = plain_questions(), {(one.contract, one.category): one.spans for one in data.questions}
    asked = [
        Question(kind, contract, text, marked.get((contract, name), ()))
        for contract in data.contracts
        for name in categories
        if is_held_out("category", name)
        if (contract, name) in marked or rng.random() < _UNANSWERED_SHARE
        for kind, text in (("category questions", categories[name]), ("plain questions", plain[name][1]))
    ]
    for one in natural_lines():
        if one["contract"] in data.contracts:
            spans = tuple(Span(*place) for place in one["evidence"])
            asked.append(Question("natural questions", one["contract"], one["question"], spans))
    return asked


async def searched(client: AsyncClient, matter_id: str, documents: Mapping[str, str], one: Question, to: Asked) -> None:
    began = time.monotonic()
    answer = await client.tools.search(
        matter_id, one.text, document_ids=[documents[one.contract]], page_size=3, timeout_s=_WAIT_S
    )
    to.seconds.append(time.monotonic() - began)
    right = [is_marked_by(Span(hit.citation.start, hit.citation.end), one.spans) for hit in answer.results]
    to.first[one.contract].append(any(right[:1]))
    to.among_three[one.contract].append(any(right))


async def extracted(
    client: AsyncClient, matter_id: str, documents: Mapping[str, str], one: Question, to: Asked
) -> None:
    began = time.monotonic()
    answer = await client.tools.extract(matter_id, one.text, document_ids=[documents[one.contract]], timeout_s=_WAIT_S)
    to.seconds.append(time.monotonic() - began)
    given = [Span(hit.answer_start, hit.answer_end) for hit in answer.citations[:1]]
    given += [Span(hit.citation.answer_start, hit.citation.answer_end) for hit in answer.alternatives]
    right = [answers_it(place, one.spans) for place in given]
    if one.spans:
        to.first[one.contract].append(any(right[:1]))
        to.among_three[one.contract].append(any(right[:3]))
        to.found[one.contract].append(answer.found and any(right[:1]))
    to.wrong[one.contract].append(answer.found and not any(right[:1]))


async def stated(
    client: AsyncClient, matter_id: str, statement: str, document_ids: Sequence[str] = ()
) -> dict[str, list[tuple[Span, float]]]:
    """The passages of each document with their scores."""
    query = statement.rstrip(".").replace("{", "(").replace("}", ")")
    found = {}
    answers = client.tools.stream_iql(
        matter_id, f"{{{query}}}", min_score=0.0, page_size=_PAGE, timeout_s=_WAIT_S, document_ids=document_ids
    )
    async for answer in answers:
        if answer.HasField("document_result"):
            result = answer.document_result
            found[result.document_id] = [(Span(one.start_index, one.end_index), one.score) for one in result.matches]
    return found


@dataclass
class Statements:
    """What one wording of the categories' statements scored: by category, all passages."""

    scored: dict[str, list[list[Scored]]] = field(default_factory=lambda: defaultdict(list))
    seconds: list[float] = field(default_factory=list)

    def rows(self, name: str) -> Iterator[str]:
        unseen = {category: found for category, found in self.scored.items() if is_held_out("category", category)}
        for which, of in ((f"{len(unseen)} left out at first", unseen), (f"all {len(self.scored)}", self.scored)):
            yield f"| IQL, {name}: macro average precision, {which} | {macro_average_precision(of)} |"
        matched = [(score, right) for one in chain(*unseen.values()) for _, score, right in one if score > _MATCHED]
        if matched:
            yield f"| IQL, {name}: calibration error of {len(matched)} matches | {calibration_error(matched):.3f} |"
        yield f"| IQL, {name}: seconds | {median(self.seconds):.2f}, longest {max(self.seconds):.2f} |"


async def judged(
    client: AsyncClient, matter_id: str, documents: Mapping[str, str], data: Data, wordings: Mapping[str, Sequence[str]]
) -> Statements:
    """Asks about each category that is marked in the contracts by all its wordings."""
    names = {document_id: name for name, document_id in documents.items()}
    marked: dict[str, dict[str, tuple[Span, ...]]] = defaultdict(dict)
    for one in data.questions:
        marked[one.category][one.contract] = one.spans
    found = Statements()
    for category, texts in wordings.items():
        for text in texts:
            began = time.monotonic()
            answers = await stated(client, matter_id, text)
            found.seconds.append(time.monotonic() - began)
            scored = [
                (name, score, is_marked_by(place, marked[category].get(name, ())))
                for name, passages in ((names[one], passages) for one, passages in answers.items())
                for place, score in passages
            ]
            if sum(is_right for *_, is_right in scored) >= _LEAST_MARKED:
                found.scored[category].append(scored)
    return found


async def decided(client: AsyncClient, hypotheses: Sequence[Hypothesis], texts: Texts, folder: Path) -> Iterator[str]:
    """How often a hypothesis that an agreement supports, contradicts or does not mention is answered with yes."""
    paths: dict[str, Path] = {}
    for one in hypotheses:
        paths.setdefault(one.agreement, folder / f"{len(paths)}.txt").write_text("\n\n".join(one.sentences))
    matter_id, documents = await uploaded(client, "agreements", list(paths.values()))
    said: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in hypotheses:
        document_id = documents[paths[one.agreement].name]
        scores = await stated(client, matter_id, texts.hypothesis_text(one.key), document_ids=[document_id])
        said[one.choice][one.agreement].append(max((score for _, score in scores[document_id]), default=0) > _MATCHED)
    return (f"| ContractNLI, {choice}: answered yes | {mean_of(found)} |" for choice, found in sorted(said.items()))


def is_marked_by(place: Span, spans: Sequence[Span]) -> bool:
    return any(is_marked(place, span) for span in spans)


async def report(client: AsyncClient, folder: Path, scratch: Path) -> Iterator[str]:
    """The lines of the table on the data in a folder; `scratch` is for what is uploaded."""
    data = part(load(folder / "cuad", 1_000), is_measured)
    texts = Texts(folder)
    matter_id, documents = await uploaded(client, "contracts", list(data.contracts.values()))
    rows: list[Iterator[str]] = []
    kinds: dict[str, tuple[Asked, Asked]] = defaultdict(lambda: (Asked(), Asked()))
    for one in questions(data, texts.questions):
        found, answered = kinds[one.kind]
        if one.spans:
            await searched(client, matter_id, documents, one, found)
        await extracted(client, matter_id, documents, one, answered)
    for kind, (found, answered) in kinds.items():
        rows += [found.rows(f"Search, {kind}"), answered.rows(f"Extract, {kind}")]
    categories = {name: text for name, text in texts.questions.items() if name not in FORMAL_CATEGORIES}
    everyday = tomllib.loads(_EVERYDAY.read_text(encoding="utf-8"))
    asked = {name: [about(name, text)] for name, text in categories.items()}
    rows.append((await judged(client, matter_id, documents, data, asked)).rows("category questions"))
    asked = {name: everyday[name] for name in categories if is_held_out("category", name)}
    rows.append((await judged(client, matter_id, documents, data, asked)).rows("everyday words"))
    rows.append(await decided(client, texts.entailments(held_out=True), texts, scratch))
    heads = (f"{len(documents)} contracts.", "", "| | mean (95 % of resamples of the contracts) |", "|---|---|")
    return chain(heads, *rows)


async def main(options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="proviso-evals-") as folder:
        async with (
            service(options, "local", Path(folder), with_concepts=not options.without_concepts) as address,
            AsyncClient(address, user_id="evals") as client,
        ):
            print("\n".join(await report(client, options.data, Path(folder))))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m evals.contracts", description="Measures search, IQL and Extract.")
    parser.add_argument("--data", type=Path, required=True, help="folder with cuad and contract_nli")
    parser.add_argument("--target", default="", help="ask the service at this address")
    parser.add_argument("--without-concepts", action="store_true", help="take the list of concepts from the service")
    parser.add_argument(
        "--models-dir", type=Path, default=Path(".proviso/models"), help="prepared models [.proviso/models]"
    )
    options = parser.parse_args()
    if options.target and options.without_concepts:
        parser.error("--without-concepts needs a service of its own")
    if not (options.data / "cuad" / "contracts").is_dir():
        parser.error(f"{options.data} has no cuad/contracts")
    return options


if __name__ == "__main__":
    sys.exit(asyncio.run(main(_options())))
