"""A replica of the drill: `python -m tests.drill.replica DATA MODELS SETTINGS`.

The service of client_service.py, whose model plays the script in the message. What an upload leaves whose replica was
killed is given up after half a minute and not after two hours, so that the drill can see it gone."""

import asyncio
import json
import sys
from pathlib import Path

from proviso_service.agent import state
from proviso_service.matters import clearing
from tests.support import client_service

LOOK_S, ABANDONED_S = 10.0, 30.0


if __name__ == "__main__":
    setattr(state, "AnswerCheck", client_service.LenientCheck)  # noqa: B010
    clearing.LOOK_S, clearing.ABANDONED_S = LOOK_S, ABANDONED_S
    asyncio.run(client_service.main(Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])))
