"""What a tenant and its keys may use."""

import time

import pytest
from limits.aio.storage import MemoryStorage

from proviso_service.access import Quota, Quotas
from proviso_service.errors import QuotaExceeded
from proviso_service.identity import Caller
from proviso_service.settings import LimitSettings

ANN = Caller("acme", "ann", key="pvk_1")
BEN = Caller("acme", "ben", key="pvk_2")
EVE = Caller("other", "eve", key="pvk_3")
DAY_S, MINUTE_S = 86_400, 60


def quotas(stored: tuple[int, int] = (0, 0), **limits: float) -> Quotas:
    async def of_tenant(tenant: str) -> tuple[int, int]:
        return stored if tenant == "acme" else (0, 0)

    return Quotas(LimitSettings.model_validate(limits), MemoryStorage(), of_tenant)


async def used(kept: Quotas, quota: Quota) -> int:
    return next(one.used for one in await kept.usage("acme") if one.quota is quota)


async def test_requests_beyond_the_limit_are_refused_for_the_tenant_until_its_minute_is_over() -> None:
    kept = quotas(requests_per_minute=2)
    await kept.admit_request(ANN)
    await kept.admit_request(BEN)
    with pytest.raises(QuotaExceeded, match=r"The limit of 2 requests a minute is used up for tenants/acme") as refused:
        await kept.admit_request(ANN)
    assert refused.value.retry_after_s is not None
    assert 0 < refused.value.retry_after_s <= MINUTE_S
    await kept.admit_request(EVE)


async def test_a_clock_that_is_set_back_keeps_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, now = quotas(requests_per_minute=1, turns_per_day=1), time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    for step_s in (0, -DAY_S, 2 * DAY_S, -2 * DAY_S):
        now += step_s
        await kept.admit_request(ANN)
        await kept.admit_turn(ANN)
        for correction_s in (0, -30):
            now += correction_s
            with pytest.raises(QuotaExceeded) as refused:
                await kept.admit_request(ANN)
            assert refused.value.retry_after_s is not None
            assert 0 < refused.value.retry_after_s <= 2 * MINUTE_S


async def test_a_key_uses_no_more_than_its_share() -> None:
    kept = quotas(requests_per_minute=4, key_share=0.5)
    for _ in range(2):
        await kept.admit_request(ANN)
    with pytest.raises(QuotaExceeded, match="tenants/acme/keys/pvk_1"):
        await kept.admit_request(ANN)
    for _ in range(2):
        await kept.admit_request(BEN)
    assert await used(kept, Quota.REQUESTS) == 4


async def test_a_turn_begins_only_while_there_are_turns_and_tokens() -> None:
    kept = quotas(turns_per_day=3, tokens_per_day=100)
    await kept.admit_turn(ANN)
    await kept.charge_tokens(ANN, 99)
    await kept.admit_turn(ANN)
    await kept.charge_tokens(ANN, 500)
    with pytest.raises(QuotaExceeded, match="100 tokens a day") as refused:
        await kept.admit_turn(BEN)
    assert refused.value.retry_after_s is not None
    assert MINUTE_S < refused.value.retry_after_s <= DAY_S
    assert (await used(kept, Quota.TURNS), await used(kept, Quota.TOKENS)) == (2, 599)


async def test_streams_are_counted_while_they_are_open() -> None:
    kept = quotas(streams=2, key_share=0.5)
    with kept.stream(ANN):
        with pytest.raises(QuotaExceeded, match="1 streams at once"), kept.stream(ANN):
            pass
        with kept.stream(BEN):
            assert await used(kept, Quota.STREAMS) == 2
    assert await used(kept, Quota.STREAMS) == 0
    with kept.stream(ANN):
        pass


@pytest.mark.parametrize(("stored", "quota"), [((3, 10), "documents"), ((2, 100), "bytes of documents")])
async def test_an_upload_begins_only_while_there_is_room(stored: tuple[int, int], quota: str) -> None:
    kept = quotas(stored, documents=3, bytes=100)
    with pytest.raises(QuotaExceeded) as refused:
        await kept.admit_upload(ANN)
    assert (refused.value.quota, refused.value.retry_after_s) == (quota, None)
    await kept.admit_upload(EVE)


async def test_without_limits_nothing_is_refused_or_counted() -> None:
    kept = quotas((5, 50))
    for _ in range(100):
        await kept.admit_request(ANN)
        await kept.admit_turn(ANN)
    await kept.charge_tokens(ANN, 1_000)
    await kept.admit_upload(ANN)
    usage = await kept.usage("acme")
    assert {one.quota: one.used for one in usage if one.used} == {Quota.DOCUMENTS: 5, Quota.BYTES: 50}
    assert not any(one.limit for one in usage)
