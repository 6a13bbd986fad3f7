"""What makes two requests the same."""

import hashlib
import json

from pydantic import TypeAdapter

from proviso_service.turns.ports import TurnRequest

_REQUEST = TypeAdapter(TurnRequest)


def payload_sha256(request: TurnRequest) -> str:
    """SHA-256 (hex) of what a request asks for: without its request_id, and without on_disconnect, which says how the
    answer is fetched. Fields at their default are left out, so that a field added later changes no earlier hash."""
    payload = _REQUEST.dump_python(request, mode="json", exclude={"request_id", "on_disconnect"}, exclude_defaults=True)
    return hashlib.sha256(json.dumps(payload, sort_keys=True).encode("ascii")).hexdigest()
