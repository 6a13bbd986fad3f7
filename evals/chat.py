"""`python -m evals.chat --data DIR` asks a running service the questions of chat_questions.json and grades what it
answers: by the passages that it quotes, the values that it states and the documents that it names."""

import argparse
import asyncio
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median

from evals.chat_grading import GRADES, Answer, ChatQuestion, grade, read_questions
from proviso_client import AsyncClient

QUESTIONS = Path(__file__).with_name("chat_questions.json")
READY_S = 900.0
TURN_S = 300.0
_WITHOUT_CONCEPTS = (
    "from proviso_service.embedded.classifier import content; content.load_concepts = lambda stemmer: {};"
    "from proviso_service.cli import main; main()"
)
Graded = tuple[ChatQuestion, Answer, str]


@asynccontextmanager
async def service(
    options: argparse.Namespace, llm: str, folder: Path, *, with_concepts: bool = True
) -> AsyncIterator[str]:
    """Yields the address of the service that the options name as target, or else of one that is started for this.
    `with_concepts` tells whether the classifier and the extractor of this one have their list of concepts."""
    if options.target:
        yield options.target
        return
    started = ("serve", "--port", "0", "--data-dir", folder, "--models-dir", options.models_dir, "--llm", llm)
    program = ("-m", "proviso_service.cli") if with_concepts else ("-c", _WITHOUT_CONCEPTS)
    log = folder / "service.log"
    with log.open("wb") as written:
        process = await asyncio.create_subprocess_exec(*(sys.executable, *program, *map(str, started)), stderr=written)
    try:
        while (serving := re.search(r" serving .*address=(\S+)", log.read_text())) is None:
            if process.returncode is not None:
                raise RuntimeError(log.read_text())
            await asyncio.sleep(0.1)
        yield serving[1]
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def uploaded(client: AsyncClient, name: str, contracts: Sequence[Path]) -> tuple[str, Mapping[str, str]]:
    """A matter with the contracts: its id, and the ids of the documents by name."""
    matter_id = (await client.matters.create(name)).matter_id
    ids = {}
    for path in contracts:
        answer = await client.documents.upload(matter_id, path.read_bytes(), filename=path.name)
        ids[path.name] = answer.document.document_id
    await client.documents.wait_until_ready(matter_id, timeout_s=READY_S)
    return matter_id, ids


async def ask(client: AsyncClient, question: ChatQuestion, matter_id: str, documents: Mapping[str, str]) -> Answer:
    """Sends the messages one after the other, in a session of their own, and returns the last answer."""
    session_id = f"{time.monotonic_ns()}"
    viewed = documents[question.view] if question.view else ""
    for message in question.ask:
        began, tools = time.monotonic(), list[str]()
        turn = client.chat(message, session_id=session_id, matter_id=matter_id, document_id=viewed, timeout_s=TURN_S)
        async for _ in turn:
            event = turn.last_event
            if event is not None and event.WhichOneof("event") == "tool_start":
                tools.append(event.tool_start.tool)
        answer = Answer(await turn.result(), documents, time.monotonic() - began, tools)
    return answer


async def asked(client: AsyncClient, options: argparse.Namespace) -> list[Graded]:
    matters, questions = read_questions(options.questions)
    others = sorted((options.data / "contracts").glob("*.txt"))
    graded: list[Graded] = []
    for matter, names in matters.items():
        chosen = [one for one in questions if one.matter == matter and one.is_held_out in options.halves]
        if not chosen:
            continue
        beside = [path for path in others if path.name not in names][: max(0, options.contracts - len(names))]
        contracts = [options.data / "contracts" / name for name in names] + beside
        matter_id, documents = await uploaded(client, matter, contracts)
        for question in chosen:
            answer = await ask(client, question, matter_id, documents)
            graded.append((question, answer, grade(question, answer)))
    return graded


def report(graded: Sequence[Graded]) -> str:
    """The grades by half and kind, and the seconds."""
    lines = []
    for half in (False, True):
        of_half = [one for one in graded if one[0].is_held_out is half]
        if not of_half:
            continue
        lines += [f"#### {'Held out' if half else 'Worked with'}: {len(of_half)} questions", ""]
        lines += ["| kind | " + " | ".join(GRADES) + " |", "|---" * (len(GRADES) + 1) + "|"]
        for kind in [*sorted({question.kind for question, _, _ in of_half}), "all"]:
            counts = Counter(got for question, _, got in of_half if kind in (question.kind, "all"))
            lines.append(f"| {kind} | " + " | ".join(str(counts[one]) for one in GRADES) + " |")
        lines.append("")
    seconds = sorted(answer.seconds for _, answer, _ in graded)
    calls = [len(answer.tools) for _, answer, _ in graded]
    lines.append(
        f"Seconds: median {median(seconds):.2f}, longest {seconds[-1]:.2f}. "
        f"Tool calls: median {median(calls):g}, most {max(calls)}."
    )
    return "\n".join(lines)


def told(graded: Sequence[Graded]) -> str:
    """Each question with its grade and its answer."""
    return "\n\n".join(
        f"## {got}: {question.kind}, {question.matter}, {answer.seconds:.2f} s, {', '.join(answer.tools)}\n"
        f"{f'[{question.view}] ' if question.view else ''}{' / '.join(question.ask)}\n-> {answer.final.message}"
        for question, answer, got in graded
    )


async def main(options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="proviso-evals-") as folder:
        async with (
            service(options, options.llm, Path(folder)) as address,
            AsyncClient(address, user_id="evals") as client,
        ):
            graded = await asked(client, options)
    if options.answers:
        options.answers.write_text(told(graded), encoding="utf-8")
    print(report(graded))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m evals.chat", description="Grades answers to questions in a chat.")
    parser.add_argument("--data", type=Path, required=True, help="folder of contracts")
    parser.add_argument("--questions", type=Path, default=QUESTIONS, help="the questions [those of the project]")
    parser.add_argument("--llm", default="local", help="the chat model, as for `proviso serve` [local]")
    parser.add_argument("--target", default="", help="ask the service at this address")
    parser.add_argument("--half", choices=("both", "worked-with", "held-out"), default="both", help="of the questions")
    parser.add_argument("--contracts", type=int, default=0, metavar="N", help="as many in each matter, for the time")
    parser.add_argument("--answers", type=Path, metavar="FILE", help="write the answers to this file")
    parser.add_argument(
        "--models-dir", type=Path, default=Path(".proviso/models"), help="prepared models [.proviso/models]"
    )
    options = parser.parse_args()
    options.halves = {"both": {True, False}, "worked-with": {False}, "held-out": {True}}[options.half]
    return options


if __name__ == "__main__":
    sys.exit(asyncio.run(main(_options())))
