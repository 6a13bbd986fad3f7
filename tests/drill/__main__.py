"""`make drill`: replicas and workers behind Envoy, used by many, while they, Redis and PostgreSQL are killed.

Every minute, 20 s apart, a replica or a worker is killed, then Redis, and PostgreSQL is restarted. The exit code is 0
where the oracle finds nothing wrong; otherwise the logs of all processes are kept.
"""

import argparse
import asyncio
import math
import random
import shutil
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

from proviso_client import AsyncClient, TlsCredentials
from tests.drill.deployment import Deployment, deployed, models_folder
from tests.drill.ledger import Ledger
from tests.drill.oracle import check_all
from tests.drill.users import PATIENT, Users, stable_matters

CONNECTIONS = 8
STABLE_MATTERS = 6
UPLOADERS = 2
STEP_S = 20.0
FOUND_AGAIN_S = 5.0
"""Within so long all processes are connected with Redis again."""

ENDING_S = 300.0


async def main(options: argparse.Namespace, folder: Path) -> Ledger:
    ledger = Ledger()
    (folder / "notes").mkdir()
    async with AsyncExitStack() as stack:
        deployment = await stack.enter_async_context(
            deployed(folder, models_folder(), options.replicas, options.workers)
        )
        trusting = TlsCredentials(root_ca=deployment.authority.ca)
        clients = [
            await stack.enter_async_context(
                AsyncClient(deployment.envoy.target, credentials=trusting, retries=PATIENT, options=_of_its_own(number))
            )
            for number in range(CONNECTIONS)
        ]
        stable = await stable_matters(clients[0], ledger, STABLE_MATTERS)
        users = Users(
            clients,
            ledger,
            random.Random(options.seed),  # noqa: S311
            folder / "notes",
            stable,
            asyncio.Event(),
        )
        print(f"{options.chats} chats at once, {options.replicas} replicas, {options.workers} workers", flush=True)
        people = [asyncio.create_task(users.chat(number)) for number in range(options.chats)]
        people += [asyncio.create_task(users.keep_documents()) for _ in range(UPLOADERS)]
        try:
            await _kill_all_the_time(deployment, ledger, options.minutes)
            users.stopping.set()
            _, late = await asyncio.wait(people, timeout=ENDING_S)
            if late:
                ledger.fault(f"{len(late)} users have not come to an end within {ENDING_S:g} s")
        finally:
            for person in people:
                person.cancel()
            ended = await asyncio.gather(*people, return_exceptions=True)
        for failure in ended:
            if isinstance(failure, Exception):
                ledger.fault(f"a user of the drill failed: {failure!r}")
        await check_all(ledger, deployment, clients[0])
        for event in ("redis_lost", "redis_recovered", "storage_unreadable", "storage_recovered"):
            ledger.counts[f"log lines {event}"] = deployment.logged(event)
    return ledger


def _of_its_own(number: int) -> list[tuple[str, int]]:
    """Options of a channel that shares its connection with no other."""
    return [("grpc.use_local_subchannel_pool", 1), ("drill.number", number)]


async def _kill_all_the_time(deployment: Deployment, ledger: Ledger, minutes: float) -> None:
    begun, steps = time.monotonic(), round(minutes * 60 / STEP_S)
    done: list[str] = []
    for step in range(steps):
        await asyncio.sleep(max(0.0, begun + step * STEP_S + STEP_S / 2 - time.monotonic()))
        match step % 3:
            case 0:
                is_worker = deployment.workers and step // 3 % 2
                killed = await deployment.kill_next(deployment.workers if is_worker else deployment.replicas)
            case 1:
                ledger.redis_lost_until_s = math.inf
                killed = await deployment.restart_redis()
                ledger.redis_lost_until_s = time.monotonic() + FOUND_AGAIN_S
            case _:
                killed = await deployment.restart_postgres()
        done.append(killed)
        ledger.count(f"kills of {killed.partition('-')[0]}")
        for part in deployment.parts:
            if (code := part.ended_of_itself()) is not None:
                ledger.fault(f"{part.name} ended of itself with {code}")
                part.start()
        if step % 3 == 2 or step == steps - 1:
            print(f"minute {step // 3 + 1:2}: killed {', '.join(done)}; {_line(ledger)}", flush=True)
            done = []
    await asyncio.sleep(max(0.0, begun + steps * STEP_S - time.monotonic()))


def _line(ledger: Ledger) -> str:
    counts = ledger.counts
    under_way = counts["turns begun"] - counts["turns ended"]
    return (
        f"{counts['turns ended']} turns ended, {under_way} under way, {counts['decisions']} decisions, "
        f"{counts['documents uploaded']} documents uploaded, {len(ledger.gone_documents)} deleted, "
        f"{len(ledger.wrong)} wrong"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.drill", description="The drill of docs/reliability.md.")
    parser.add_argument("--minutes", type=float, default=20.0, help="how long processes are killed [20]")
    parser.add_argument("--chats", type=int, default=100, help="chats at once [100]")
    parser.add_argument("--replicas", type=int, default=3, help="processes that serve [3]")
    parser.add_argument("--workers", type=int, default=2, help="processes that ingest; 0: the replicas do [2]")
    parser.add_argument("--seed", type=int, default=1, help="of what users do [1]")
    return parser.parse_args()


if __name__ == "__main__":
    chosen, place = _options(), Path(tempfile.mkdtemp(prefix="drill-"))
    found = asyncio.run(main(chosen, place))
    print("".join(f"{count:8}  {what}\n" for what, count in sorted(found.counts.items())), end="")
    print(f"{len(found.wrong):8}  wrong")
    if found.wrong:
        print(f"The logs are in {place}")
    else:
        shutil.rmtree(place)
    sys.exit(bool(found.wrong))
