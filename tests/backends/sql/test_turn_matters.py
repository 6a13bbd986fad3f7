"""Which matters turns know: as new turns note it, and as the migration finds it for turns that were there before."""

import sqlite3
from contextlib import closing
from pathlib import Path

from proviso_client.v1 import chat_pb2, sessions_pb2
from proviso_service.backends.sql.migrations.versions.v0012_deletions import MATTERS_OF_EARLIER_TURNS, OWN_MATTERS
from tests.support.running import AGREEMENT, running_service
from tests.support.scripted_model import Step

SCRIPT = [Step([f"The fee is not known to me, {number}."]) for number in range(20)]
QUESTION = "What is the fee?"


async def test_the_migration_finds_what_new_turns_note(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path, models_dir, *SCRIPT) as service:
        first, second = [await service.create_matter(name, agreement=AGREEMENT) for name in ("First", "Second")]
        asked = [
            (await service.ask(QUESTION, matter_id, session_id=session_id))[0].turn_id
            for session_id, matter_id in (("s", first), ("s", second), ("s", ""), ("t", second), ("", first), ("u", ""))
        ]
        request = sessions_pb2.ContinueSessionRequest(session_id="s", new_session_id="s-2")
        await service.sessions.ContinueSession(request)
        asked.append((await service.ask(QUESTION, session_id="s-2"))[0].turn_id)
        marked = f'[CONTEXT] The user has selected matter "First" (matter_id: {first}).\n{QUESTION}'
        history = [chat_pb2.HistoryMessage(role="MESSAGE_ROLE_USER", content=marked)]
        asked.append((await service.ask("And the term?", history=history))[0].turn_id)
    both = {first, second}
    with closing(sqlite3.connect(tmp_path / "state.sqlite3")) as state:
        noted = known(state)
        expected = [{first}, both, both, {second}, {first}, set(), both, {first}]
        assert [noted.get(turn_id, set()) for turn_id in asked] == expected
        state.execute("DELETE FROM turn_matters")
        state.execute(OWN_MATTERS)
        state.execute(MATTERS_OF_EARLIER_TURNS)
        assert known(state) == noted


def known(state: sqlite3.Connection) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for turn_id, matter_id in state.execute("SELECT turn_id, matter_id FROM turn_matters"):
        found.setdefault(turn_id, set()).add(matter_id)
    return found
