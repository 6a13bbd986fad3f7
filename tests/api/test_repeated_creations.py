"""CreateMatter, CreateSession and ContinueSession sent again under the same request_id, over a real channel."""

import asyncio
from pathlib import Path

import grpc

from proviso_client.v1 import matters_pb2, sessions_pb2
from proviso_client.v1.sessions_pb2_grpc import SessionServiceStub
from tests.api.serving import conversations, refusal, served
from tests.support.running import running_service


async def test_a_matter_is_made_once_under_one_request_id(tmp_path: Path, models_dir: Path) -> None:
    request = matters_pb2.CreateMatterRequest(name="Lease", user_id="ann", request_id="r")
    async with running_service(tmp_path / "data", models_dir) as service:
        made = await asyncio.gather(*[service.matters.CreateMatter(request) for _ in range(8)])
        first = made[0].matter
        named = matters_pb2.Matter(matter_id=first.matter_id, name="Lease of 12 High Street")
        await service.matters.UpdateMatter(matters_pb2.UpdateMatterRequest(matter=named))
    async with running_service(tmp_path / "data", models_dir) as service:
        again = (await service.matters.CreateMatter(request)).matter
        listed = await service.matters.ListMatters(matters_pb2.ListMattersRequest())
        other = matters_pb2.CreateMatterRequest(name="Sale", user_id="ann", request_id="r")
        refused = await refusal(service.matters.CreateMatter(other))
        of_ben = matters_pb2.CreateMatterRequest(name="Sale", user_id="ben", request_id="r")
        bens = (await service.matters.CreateMatter(of_ben)).matter
        await service.matters.DeleteMatter(matters_pb2.DeleteMatterRequest(matter_id=first.matter_id))
        anew = (await service.matters.CreateMatter(request)).matter
    assert {answer.matter.matter_id for answer in made} == {again.matter_id} == {m.matter_id for m in listed.matters}
    assert again.name == "Lease of 12 High Street"
    assert (refused.code, refused.reason) == (grpc.StatusCode.ALREADY_EXISTS, "REQUEST_ID_REUSED")
    assert len({first.matter_id, bens.matter_id, anew.matter_id}) == 3


async def test_matters_without_a_request_id_are_always_new(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path / "data", models_dir) as service:
        ids = {await service.create_matter("Lease") for _ in range(2)}
    assert len(ids) == 2


async def test_a_session_is_made_once_under_one_request_id(tmp_path: Path) -> None:
    request = sessions_pb2.CreateSessionRequest(user_id="ann", request_id="r")
    async with conversations(tmp_path) as domain, served(domain) as server:
        sessions = SessionServiceStub(server.channel)
        made = await asyncio.gather(*[sessions.CreateSession(request) for _ in range(8)])
    async with conversations(tmp_path) as domain, served(domain) as server:
        sessions = SessionServiceStub(server.channel)
        again = await sessions.CreateSession(request)
        named = sessions_pb2.CreateSessionRequest(session_id="s", user_id="ann", request_id="r")
        refused = await refusal(sessions.CreateSession(named))
        bens = await sessions.CreateSession(sessions_pb2.CreateSessionRequest(user_id="ben", request_id="r"))
    assert {answer.session.session_id for answer in made} == {again.session.session_id}
    assert (refused.code, refused.reason) == (grpc.StatusCode.ALREADY_EXISTS, "REQUEST_ID_REUSED")
    assert bens.session.session_id != again.session.session_id


async def test_a_session_is_gone_on_from_once_under_one_request_id(tmp_path: Path) -> None:
    request = sessions_pb2.ContinueSessionRequest(session_id="old", request_id="r")
    async with conversations(tmp_path) as domain, served(domain) as server:
        sessions = SessionServiceStub(server.channel)
        await sessions.CreateSession(sessions_pb2.CreateSessionRequest(session_id="old"))
        made, again = await asyncio.gather(*[sessions.ContinueSession(request) for _ in range(2)])
        refused = await refusal(sessions.CreateSession(sessions_pb2.CreateSessionRequest(request_id="r")))
        listed = await sessions.ListSessions(sessions_pb2.ListSessionsRequest())
    assert made == again
    assert refused.reason == "REQUEST_ID_REUSED"
    assert {session.session_id for session in listed.sessions} == {"old", made.session.session_id}
