"""Refuses calls while the service is not ready, and new work while it stops."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from proviso_service.api.interceptors.chain import Call
from proviso_service.api.readiness import Readiness
from proviso_service.errors import Draining, NotReady

OWN = "/proviso.v1."
NEW_WORK = frozenset({"/proviso.v1.MatterService/UploadDocument"})
"""Beside turns, which are refused where they start: a repeated request still finds the turn that it began."""


class Gate:
    """Follows readiness. A stopping service still answers what lets a caller finish: resuming, cancelling, reading."""

    def __init__(self, readiness: Readiness) -> None:
        self._readiness = readiness

    @asynccontextmanager
    async def __call__(self, call: Call) -> AsyncIterator[None]:
        if self._readiness.stopping and call.method in NEW_WORK:
            raise Draining
        if not self._readiness.started and call.method.startswith(OWN):
            raise NotReady("The service is starting")
        yield
