"""Sessions, the catalog and the tools through the Python client, of the real service, with either client."""

from uuid import uuid4

import pytest

from proviso_client.errors import AlreadyExists, InvalidIql, NotFound
from proviso_client.v1 import catalog_pb2, context_pb2, sessions_pb2, tools_pb2
from tests.support.client_kinds import Connect
from tests.support.stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_sessions_are_made_listed_and_deleted(connect: Connect, staged: Stage) -> None:
    async with connect(staged.target, user_id=f"user-{uuid4()}") as client:
        made = [(await client.sessions.create(name)).session_id for name in ("a", "b", "c")]
        with pytest.raises(AlreadyExists):
            await client.sessions.create("a")
        assert sorted([session.session_id async for session in client.sessions.list(page_size=1)]) == made
        await client.sessions.delete("b")
        with pytest.raises(NotFound):
            await client.sessions.get("b")


async def test_a_session_goes_on_from_another_with_its_last_answers(connect: Connect, staged: Stage) -> None:
    async with connect(staged.target, user_id=f"user-{uuid4()}") as client:
        question = f"What about {uuid4()}?"
        _, go_on = staged.held(question)
        go_on.set()
        await client.chat(question, session_id="old", matter_id=staged.matter_id).result()
        made = await client.sessions.continue_from("old", "new")
        assert (made.session_id, made.message_count) == ("new", 2)
        assert made.matter_context.matter_id == staged.matter_id
        assert (await client.sessions.continue_from("old")).session_id not in ("", "old", "new")
        with pytest.raises(AlreadyExists):
            await client.sessions.continue_from("old", "new")
        with pytest.raises(NotFound):
            await client.sessions.continue_from("never made")


async def test_a_matter_and_a_session_are_renamed(connect: Connect, staged: Stage) -> None:
    async with connect(staged.target, user_id=f"user-{uuid4()}") as client:
        matter = await client.matters.create("Lease")
        await client.matters.update(matter.matter_id, name="Sale", notes="Due in May")
        assert (await client.matters.update(matter.matter_id, notes="")).notes == ""
        assert (await client.matters.get(matter.matter_id)).name == "Sale"
        await client.sessions.create("s")
        assert (await client.sessions.update("s", title="Rent")).title == "Rent"
        with pytest.raises(NotFound):
            await client.sessions.update("never made", title="Rent")


async def test_an_answer_is_rated_and_operators_see_it(connect: Connect, staged: Stage) -> None:
    async with connect(staged.target, user_id=f"user-{uuid4()}") as client:
        question = f"What about {uuid4()}?"
        _, go_on = staged.held(question)
        go_on.set()
        turn = client.chat(question, session_id="s", matter_id=staged.matter_id)
        await turn.result()
        rating = await client.sessions.rate(turn.turn_id, "down", reason="incomplete", text="No date")
        assert rating.reason == sessions_pb2.RATING_REASON_INCOMPLETE
        assert [message.rating async for message in client.sessions.messages("s")][1] == rating
        listed = {rated.turn_id: rated.rating async for rated in client.ratings("down", page_size=1)}
        assert listed[turn.turn_id] == rating
        assert turn.turn_id not in {rated.turn_id async for rated in client.ratings("up")}
        assert await client.sessions.rate(turn.turn_id, "unspecified") == sessions_pb2.AnswerRating()


async def test_items_come_into_a_session_and_leave_it(connect: Connect, staged: Stage) -> None:
    async with connect(staged.target, user_id=f"user-{uuid4()}") as client:
        rules = [entry async for entry in client.catalog.list("rule", page_size=2)]
        assert {entry.item.type for entry in rules} == {context_pb2.CONTEXT_ITEM_TYPE_RULE}
        before = await client.sessions.create("s")
        wanted = next(entry.item for entry in rules if entry.item not in [held.item for held in before.items])
        after = await client.sessions.add_item("s", "rule", wanted.name)
        assert wanted in [held.item for held in after.items]
        assert await client.sessions.remove_item("s", wanted.type, wanted.name) == await client.sessions.get("s")
        with pytest.raises(NotFound) as raised:
            await client.sessions.add_item("s", "rule", wanted.name[:-1])
        assert any(wanted.name in match for match in raised.value.near_matches)


async def test_a_request_context_is_previewed_rebuilt_and_suggested_from(connect: Connect, staged: Stage) -> None:
    async with connect(staged.target, user_id=f"user-{uuid4()}") as client:
        question = f"What about {uuid4()}?"
        _, go_on = staged.held(question)
        go_on.set()
        await client.sessions.create("s")
        context = await client.sessions.preview("s", question, matter_id=staged.matter_id)
        assert context.matter_context.matter_id == staged.matter_id
        turn = client.chat(question, session_id="s", matter_id=staged.matter_id)
        await turn.result()
        assert (await client.sessions.rebuild(turn.turn_id)).matches
        assert (await client.sessions.suggest_removals("s")).answers == 1


async def test_the_catalog_is_read_and_reloaded(connect: Connect, staged: Stage) -> None:
    async with connect(staged.target) as client:
        items = [entry async for entry in client.catalog.list()]
        assert await client.catalog.reload() == len(items)
        rule = next(e.item for e in items if e.item.type == context_pb2.CONTEXT_ITEM_TYPE_RULE)
        assert (await client.catalog.get("rule", rule.name)).content
        servers = await client.catalog.tool_servers()
        assert all(server.state != catalog_pb2.TOOL_SERVER_STATE_UNSPECIFIED for server in servers)


async def test_the_tools_answer_about_a_matter(connect: Connect, staged: Stage) -> None:
    matter_id = staged.matter_id
    async with connect(staged.target) as client:
        found = await client.tools.search(matter_id, "governing law", page_size=1)
        assert "Oregon" in found.results[0].chunk_text
        assert (await client.tools.extract(matter_id, "Which law governs the agreement?")).question
        assert (await client.tools.classify(matter_id, clause_types=["governing law"])).clause_types_searched
        listed = await client.tools.list_documents(matter_id)
        assert [document.filename for document in listed.documents] == ["agreement.md"]
        part = await client.tools.document_text(matter_id, filename="agreement.md", max_chars=10)
        assert len(part.text) == 10
        assert (await client.tools.documentation("annual leave")).output


async def test_iql_is_run_streamed_and_parsed(connect: Connect, staged: Stage) -> None:
    query = "{This is a governing law clause.}"
    async with connect(staged.target) as client:
        whole = await client.tools.execute_iql(staged.matter_id, query, min_score=0.1)
        streamed = [part async for part in client.tools.stream_iql(staged.matter_id, query, min_score=0.1)]
        assert isinstance(streamed[-1], tools_pb2.StreamIqlResponse)
        assert streamed[-1].summary.total_matches == whole.total_matches
        assert (await client.tools.parse_iql(query)).statements == ["This is a governing law clause."]
        assert "termination clause" in {template.name for template in await client.tools.iql_templates()}
        with pytest.raises(InvalidIql) as raised:
            await client.tools.execute_iql(staged.matter_id, "{one} AND")
        (fault,) = raised.value.faults
        assert (fault.start, fault.end) == (9, 9)
        assert fault.message.startswith("missing statement")
        assert raised.value.violations
        with pytest.raises(InvalidIql):
            _ = [part async for part in client.tools.stream_iql(staged.matter_id, "{one} AND")]


async def test_the_index_is_rebuilt_while_its_progress_is_told(connect: Connect, staged: Stage) -> None:
    async with connect(staged.target) as client:
        progress = [(part.vectors_done, part.vectors_total) async for part in client.rebuild_index()]
    assert progress[-1][0] == progress[-1][1] > 0
