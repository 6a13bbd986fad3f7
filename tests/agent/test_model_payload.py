"""The payload of a turn's first model call as JSON, and where it is made."""

import hashlib
import json
import threading
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.agent import payload as payloads
from proviso_service.agent import preparation
from proviso_service.agent.payload import ModelPayload, SentMessages
from proviso_service.context.model import ItemRef, ItemType
from proviso_service.turns import HistoryMessage, MessageRole
from tests.support.agent_world import agent_world
from tests.support.catalogs import an_item
from tests.support.scripted_model import text

TEXTS = st.text(st.characters() | st.sampled_from('"\\\n\ud83d\ude00\U0001f600'), max_size=40)
IMAGES = st.lists(st.just({"type": "image", "sha256": "0", "media_type": "image/png"}), max_size=2).map(tuple)
TOOLS = st.lists(st.builds(lambda name: {"parameters": {}, "name": name}, TEXTS), max_size=2).map(tuple)
SAID = st.builds(HistoryMessage, st.sampled_from((MessageRole.USER, MessageRole.ASSISTANT)), TEXTS)
HISTORY = st.lists(SAID, max_size=2).map(lambda said: SentMessages().of("acme", said))


@given(st.builds(ModelPayload, TEXTS, HISTORY, TEXTS, IMAGES, TOOLS, st.just(b"")), st.integers(1, 9))
def test_a_payload_is_written_in_pieces_as_it_is_as_a_whole(payload: ModelPayload, piece_chars: int) -> None:
    last: Any = [{"type": "text", "text": payload.text}, *payload.images] if payload.images else payload.text
    roles = {"human": "user", "ai": "assistant"}
    earlier = [one.message for one in payload.history]
    messages = [{"role": roles[message.type], "content": message.content} for message in earlier]
    whole = {
        "tools": payload.tools,
        "system": payload.system,
        "messages": [*messages, {"role": "user", "content": last}],
    }
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(payloads, "_PIECE_CHARS", piece_chars)
        payload = replace(payload, instructions_json=payloads.instructions_json(payload.system, payload.tools))
        assert payload.to_json() == json.dumps(whole, sort_keys=True)
        assert payload.sha256 == hashlib.sha256(payload.to_json().encode()).hexdigest()


@pytest.mark.parametrize(("characters", "elsewhere"), [(100, False), (150_000, True)], ids=["short", "long"])
async def test_a_long_payload_is_made_away_from_the_event_loop(
    characters: int, elsewhere: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []

    def build(*parts: Any) -> ModelPayload:
        threads.append(threading.current_thread())
        return payloads.build_payload(*parts)

    monkeypatch.setattr(preparation, "build_payload", build)
    item = an_item(ItemRef(ItemType.REFERENCE, "Long"), content="x" * characters)
    world = agent_world(text("Hello."), items=[item])
    await world.run("Hello")
    (thread,) = threads
    assert (thread is not threading.main_thread()) is elsewhere
