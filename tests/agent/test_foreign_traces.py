"""What people write goes to no tracing service that a library of the agent knows of."""

from typing import Any

import langsmith
import pytest

from proviso_service.turns import ExitReason
from tests.support.agent_world import agent_world
from tests.support.scripted_model import text


class RecordingClient(langsmith.Client):
    """Keeps what it is to send."""

    def __init__(self) -> None:
        super().__init__("http://127.0.0.1:9", api_key="key", auto_batch_tracing=False)
        self.given: list[Any] = []

    def create_run(self, *args: Any, **kwargs: Any) -> None:
        self.given.append((args, kwargs))

    def update_run(self, *args: Any, **kwargs: Any) -> None:
        self.given.append((args, kwargs))


async def test_a_turn_is_not_traced_by_langsmith_where_that_is_on(monkeypatch: pytest.MonkeyPatch) -> None:
    client = RecordingClient()
    monkeypatch.setattr("langchain_core.tracers.langchain.get_client", lambda: client)
    with langsmith.tracing_context(enabled=True, client=client):
        outcome = await agent_world(text("Is it about the agreement?")).run("Which law?")
    assert outcome.final_state.exit_reason is ExitReason.COMPLETED
    assert client.given == []
