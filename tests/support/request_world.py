"""Turns of an agent whose sessions, turns and contents are stored for good."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proviso_service.agent.rebuilding import RebuiltRequest, RequestRebuilder
from proviso_service.backends.sql.database import Database
from proviso_service.backends.sql.sessions import SqlContentStore, SqlSessionStore
from proviso_service.backends.sql.turns import SqlTurnStore
from proviso_service.context.catalog.catalog import Catalog
from proviso_service.context.catalog.items import CatalogItem
from proviso_service.context.model import MatterContext, RequestContext
from proviso_service.identity import Caller
from proviso_service.turns import TurnOutcome, TurnRequest
from tests.support.agent_world import CALLER, MATTER_ID, AgentWorld, agent_world
from tests.support.catalogs import a_catalog, holding_catalog
from tests.support.migrated import state_in
from tests.support.scripted_model import text


@dataclass
class RequestWorld:
    """`turn_ids` are those of the turns so far. Every answer is a question back."""

    agent: AgentWorld
    sessions: SqlSessionStore
    turns: SqlTurnStore
    contents: SqlContentStore
    turn_ids: list[str] = field(default_factory=list)

    async def ask(self, message: str, caller: Caller = CALLER, **fields: Any) -> TurnOutcome:
        fields.setdefault("matter_context", MatterContext(MATTER_ID))
        request = TurnRequest(message, **fields)
        turn_id = f"turn-{len(self.turn_ids) + 1}"
        self.turn_ids.append(turn_id)
        await self.turns.begin(caller, turn_id, request, "", "test", 60)
        self.agent.events.clear()
        outcome = await self.agent.agent.start(self.agent.turn(request, turn_id=turn_id, caller=caller)).run()
        await self.turns.finish(caller, turn_id, request.session_id, 9, outcome, "test")
        return outcome

    async def context_of(self, message: str, caller: Caller = CALLER, **fields: Any) -> RequestContext:
        """Of a turn that calls the model."""
        context = (await self.ask(message, caller, **fields)).final_state.request_context
        assert context is not None
        assert context.payload_sha256
        return context

    async def rebuilt(self, *items: CatalogItem, turn_id: str = "", caller: Caller = CALLER) -> RebuiltRequest:
        """The last turn's request, or another's, rebuilt beside a catalog of these items, or else that of the agent."""
        catalog = a_catalog(*items) if items else self.agent.agent.dependencies.catalog.current
        return await self.rebuilt_beside(catalog, turn_id, caller)

    async def rebuilt_beside(self, catalog: Catalog, turn_id: str = "", caller: Caller = CALLER) -> RebuiltRequest:
        rebuilder = RequestRebuilder(self.turns, self.contents, holding_catalog(catalog))
        return await rebuilder.rebuild(caller, turn_id or self.turn_ids[-1])


@asynccontextmanager
async def request_world(
    folder: Path, items: Sequence[CatalogItem] = (), *, answers: int = 9, **options: Any
) -> AsyncIterator[RequestWorld]:
    database = Database(state_in(folder))
    try:
        sessions = SqlSessionStore(database)
        script = [text("What do you mean?")] * answers
        world = agent_world(*script, sessions=sessions, items=items, **options)
        yield RequestWorld(world, sessions, SqlTurnStore(database), SqlContentStore(database))
    finally:
        await database.close()
