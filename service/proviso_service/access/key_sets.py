"""The keys that tokens are checked with: a JSON Web Key Set in a file or at an address, which may change."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import structlog
from jwt import PyJWK
from jwt.exceptions import InvalidKeyError, PyJWKError

ALGORITHMS = frozenset({"RS256", "ES256", "EdDSA"})
MAX_BYTES = 256 * 1024
MAX_KEYS = 100
TIMEOUT_S = 5.0
FRESH_S = 300.0
"""A set is read again after this time, while calls go on with the one that is known."""

READINGS = 3
"""Readings that may follow one another at once, so that a key which the issuer has just added is found."""

RETRY_S = 10.0
"""The time after which there may be one more reading, however many tokens name unknown keys."""

MAX_WAITING = 512
"""Calls that may wait for a reading. Tokens that name unknown keys must not take the places of all calls meanwhile."""

_MIN_RSA_BITS = 2_048

_log = structlog.get_logger(__name__)


class UnreadableKeySet(Exception):
    """The set cannot be had, or is none; the message is for the operator."""


@dataclass(frozen=True, slots=True)
class _Held:
    """The keys by their ids, and when they were read, on the monotonic clock."""

    keys: Mapping[str, PyJWK]
    read_at: float


class KeySet:
    """The keys at `source`, a path or an https address. `clock` counts seconds."""

    def __init__(self, source: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._source = source
        self._clock = clock
        self._held = _Held({}, -FRESH_S)
        self._readings_left = float(READINGS)
        self._counted_at = clock()
        self._reading: asyncio.Task[None] | None = None
        self._waiting = 0

    async def open(self) -> None:
        """Reads the set for the first time. Raises UnreadableKeySet."""
        await self._read()

    async def close(self) -> None:
        """Ends a reading that is under way."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def find(self, key_id: str) -> PyJWK | None:
        """The key of this id. A token that names none is checked with the only key of a set that has one."""
        key = self._known(key_id)
        if self._clock() - self._held.read_at < FRESH_S and key is not None:
            return key
        # A reading that is under way may have begun before the issuer added the key: then there is one more.
        may_be_late, reading = self._is_reading, self._read_soon()
        if key is None:
            key = await self._after(reading, key_id)
        if key is None and may_be_late:
            key = await self._after(self._read_soon(), key_id)
        return key

    async def _after(self, reading: asyncio.Task[None] | None, key_id: str) -> PyJWK | None:
        """What is known of a key once a reading is over."""
        if reading is not None and self._waiting < MAX_WAITING:
            self._waiting += 1
            try:
                await asyncio.wait([reading])
            finally:
                self._waiting -= 1
        return self._known(key_id)

    @property
    def _is_reading(self) -> bool:
        return self._reading is not None and not self._reading.done()

    def _known(self, key_id: str) -> PyJWK | None:
        keys = self._held.keys
        if not key_id and len(keys) == 1:
            return next(iter(keys.values()))
        return keys.get(key_id)

    def _read_soon(self) -> asyncio.Task[None] | None:
        """The reading that is under way, or a new one; None where there were too many just now."""
        if not self._is_reading:
            now = self._clock()
            self._readings_left = min(READINGS, self._readings_left + (now - self._counted_at) / RETRY_S)
            self._counted_at = now
            if self._readings_left < 1:
                return None
            self._readings_left -= 1
            self._reading = asyncio.create_task(self._read_again())
        return self._reading

    async def _read_again(self) -> None:
        try:
            await self._read()
        except UnreadableKeySet as error:
            _log.warning("key_set_not_read", error=str(error), kept_keys=len(self._held.keys))

    async def _read(self) -> None:
        data = await (_fetched(self._source) if "://" in self._source else _read_file(self._source))
        self._held = _Held(_keys_of(self._source, data), self._clock())


async def _fetched(url: str) -> bytes:
    body = b""
    try:
        async with (
            asyncio.timeout(TIMEOUT_S),
            httpx.AsyncClient(timeout=TIMEOUT_S) as client,
            client.stream("GET", url) as response,
        ):
            response.raise_for_status()
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > MAX_BYTES:
                    raise UnreadableKeySet(f"The key set at {url} has more than {MAX_BYTES} bytes")
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
        raise UnreadableKeySet(f"The key set at {url} cannot be read: {error or type(error).__name__}") from error
    return body


async def _read_file(path: str) -> bytes:
    try:
        data = await asyncio.to_thread(_first_bytes, Path(path), MAX_BYTES + 1)
    except OSError as error:
        raise UnreadableKeySet(f"The key set {path} cannot be read: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise UnreadableKeySet(f"The key set {path} has more than {MAX_BYTES} bytes")
    return data


def _first_bytes(path: Path, count: int) -> bytes:
    with path.open("rb") as file:
        return file.read(count)


def _keys_of(source: str, data: bytes) -> Mapping[str, PyJWK]:
    """The public keys for signatures of the algorithms that are accepted. A key that is none of these is left out: a
    set may hold keys for other purposes."""
    try:
        entries = json.loads(data)["keys"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnreadableKeySet(f"{source} is no JSON Web Key Set") from error
    keys = dict(_usable(entries[:MAX_KEYS])) if isinstance(entries, list) else {}
    if not keys:
        raise UnreadableKeySet(f"{source} has no public key for {', '.join(sorted(ALGORITHMS))}")
    return keys


def _usable(entries: Sequence[Any]) -> list[tuple[str, PyJWK]]:
    found = []
    for entry in entries:
        is_public = isinstance(entry, dict) and entry.get("kty") in ("RSA", "EC", "OKP") and "d" not in entry
        if not is_public or entry.get("use", "sig") != "sig":
            continue
        try:
            if "verify" not in entry.get("key_ops", ("verify",)):
                continue
            key = PyJWK(entry)
        except (InvalidKeyError, PyJWKError, ValueError, TypeError):
            continue
        is_strong = entry["kty"] != "RSA" or key.key.key_size >= _MIN_RSA_BITS
        if key.algorithm_name in ALGORITHMS and is_strong:
            found.append((str(entry.get("kid", "")), key))
    return found
