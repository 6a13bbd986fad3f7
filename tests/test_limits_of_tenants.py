"""The limits of a tenant, over a channel."""

from pathlib import Path

import grpc
import pytest

from proviso_client.v1 import access_pb2, matters_pb2
from proviso_client.v1.access_pb2_grpc import AccessServiceStub
from tests.api.serving import refusal, refused_with
from tests.support.running import final_of, running_service
from tests.support.scripted_model import Step

TOKENS_OF_A_TURN = 12


async def test_turns_end_with_the_tokens_of_the_day_and_usage_says_so(tmp_path: Path, models_dir: Path) -> None:
    script = [Step(["Hello", "."])] * 2
    limits = {"tokens_per_day": TOKENS_OF_A_TURN, "documents": 1, "requests_per_minute": 1_000}
    async with running_service(tmp_path, models_dir, *script, limits=limits) as service:
        matter_id = await service.create_matter(Services="# Fees\n\nUSD 12,000.")
        assert final_of(await service.ask("Hello", matter_id)).usage.output_tokens
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await service.ask("Hello again", matter_id)
        tokens = refused_with(refused.value)
        with pytest.raises(grpc.aio.AioRpcError) as full:
            await service.upload(matter_id, "more.md", b"# More")
        usage = (await AccessServiceStub(service.channel).GetUsage(access_pb2.GetUsageRequest())).usage
    assert (tokens.code, tokens.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED")
    (violation,) = tokens.details["QuotaFailure"].violations
    assert violation.subject == "tenants/local"
    assert violation.description == "The limit of 12 tokens a day is used up for tenants/local"
    assert tokens.details["RetryInfo"].retry_delay.seconds > 0
    assert "RetryInfo" not in refused_with(full.value).details
    used = {access_pb2.Quota.Name(one.quota): (int(one.used), int(one.limit)) for one in usage}
    assert used["QUOTA_TOKENS_PER_DAY"] == (TOKENS_OF_A_TURN, TOKENS_OF_A_TURN)
    assert used["QUOTA_DOCUMENTS"] == (1, 1)


async def test_requests_beyond_the_limit_of_a_minute_are_refused(tmp_path: Path, models_dir: Path) -> None:
    async with running_service(tmp_path, models_dir, limits={"requests_per_minute": 2}) as service:
        for _ in range(2):
            await service.matters.ListMatters(matters_pb2.ListMattersRequest())
        refused = await refusal(service.matters.ListMatters(matters_pb2.ListMattersRequest()))
    assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED")
