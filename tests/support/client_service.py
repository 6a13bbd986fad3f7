"""The whole service as a process of its own, for the tests of clients in other languages:
`python -m tests.support.client_service DATA MODELS SETTINGS`, the last being JSON, as in `{"turns": {"grace_s": 1}}`.

Its model plays the script in the message (see message_scripted_model.py), and `isaacus_extract` needs an approval. What
it tells is a line of JSON each, behind `@ `: `{"port": 50051}` when it is SERVING, and whenever a reader comes to a
turn or leaves it `{"attached": 1, "at_ms": 1790000000000.0}`, the number of those that all turns have and the time, in
milliseconds since 1970. It stops at SIGTERM, and when its input ends: whoever started it is gone."""

import asyncio
import json
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from proviso_service.agent import state
from proviso_service.agent.chat_models import ChatModels, NamedChatModel
from proviso_service.agent.grounding import AnswerCheck, Outcome
from proviso_service.agent.grounding.statement import CheckedSentence
from proviso_service.telemetry.logging import configure_logging
from proviso_service.turns.turn import ConnectedReaders
from proviso_service.wiring import App
from tests.support.configured import configured
from tests.support.marked_tools import needing_approval
from tests.support.message_scripted_model import MessageScriptedModel


class LenientCheck(AnswerCheck):
    """Lets every token out at once and holds every sentence: the tests of clients are about what goes over the wire,
    and their scripted answers rest on nothing. What an answer cites is looked up as always."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._is_last_try = True
        check = self._check.check

        def lenient(sentence: str) -> CheckedSentence:
            checked = check(sentence)
            return checked if checked.is_held else CheckedSentence(sentence, Outcome.SEARCHED)

        self._check = SimpleNamespace(check=lenient)  # type: ignore[assignment]

    def feed(self, piece: str) -> str:
        super().feed(piece)
        return piece

    def finish(self) -> str:
        super().finish()
        return ""


APPROVED_TOOL = "isaacus_extract"


def tell(**fields: Any) -> None:
    print(f"@ {json.dumps(fields)}", flush=True)


def tell_readers(count: int) -> None:
    tell(attached=count, at_ms=time.time() * 1000)


@contextmanager
def readers_announced() -> Iterator[None]:
    connected, readers = ConnectedReaders.connected, 0

    @contextmanager
    def announced(attendance: ConnectedReaders) -> Iterator[None]:
        nonlocal readers
        with connected(attendance):
            readers += 1
            tell_readers(readers)
            try:
                yield
            finally:
                readers -= 1
                tell_readers(readers)

    with patch.object(ConnectedReaders, "connected", announced):
        yield


async def main(data_dir: Path, models_dir: Path, chosen: dict[str, Any]) -> None:
    usual = {"data_dir": data_dir, "models_dir": models_dir, "server": {"port": 0, "drain_s": 0.5}}
    settings, config = configured(usual | chosen)
    configure_logging(settings.telemetry)
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stopping.set)
    loop.add_reader(sys.stdin.fileno(), stopping.set)  # nothing is ever written to it: it can be read when it has ended
    app = await App.start(settings, ChatModels(NamedChatModel("scripted", MessageScriptedModel())), config=config)
    tell(port=app.port)
    await stopping.wait()
    await app.stop()


if __name__ == "__main__":
    setattr(state, "AnswerCheck", LenientCheck)  # noqa: B010
    with readers_announced(), needing_approval(APPROVED_TOOL):
        asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])))
