"""Runs a process of the service until it is told to stop."""

import asyncio
import gc
from typing import Literal

from proviso_service.cli.lean_imports import leave_out_unused
from proviso_service.cli.output import UsageProblem
from proviso_service.settings import Settings


def run(what: Literal["serve", "work"], settings: Settings, workers: int) -> None:
    """Serves, or ingests documents. Raises UsageProblem when it cannot start."""
    # Importing makes many objects and no garbage; with the collector off the start takes about a quarter less.
    gc.disable()
    leave_out_unused()
    from proviso_service import server
    from proviso_service.wiring_resources import StartupError

    try:
        asyncio.run(getattr(server, what)(settings, workers))
    except StartupError as error:
        raise UsageProblem(str(error)) from error
