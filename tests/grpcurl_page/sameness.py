"""Whether two outputs of a command are the same but for what differs from run to run.

Times, durations, scores and page tokens may differ. So may ids and the digests of what has ids in it, but one that
stands for another does so everywhere on the page. A stream's tokens are joined, as they come in more or fewer messages;
and how many messages a stream leaves out does not matter."""

import difflib
import json
import re
from typing import Any

from tests.grpcurl_page.cuts import elements

_IDS = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r"|call_[0-9a-f]{24}"
    r'|(?<=Sha256": ")(?<!contentSha256": ")[0-9a-f]{64}'
)
_CHANGING = (
    (re.compile(r"(?<=Message: )(?:context deadline exceeded|Deadline Exceeded)"), "<past its deadline>"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"), "<time>"),
    (re.compile(r'"\d+\.\d+s"'), '"<duration>"'),
    (re.compile(r"(?<=: )-?\d+\.\d+(?:e-?\d+)?(?=,?$)", re.MULTILINE), "<score>"),
    (re.compile(r'(?<="nextPageToken": ")[^"]+'), "<token>"),
)
_CUT_MESSAGES = re.compile(r"^\.\.\.(?:\n|$)", re.MULTILINE)


class Correspondence:
    """Which id of one run stands for which of another."""

    def __init__(self) -> None:
        self._there: dict[str, str] = {}
        self._here: dict[str, str] = {}

    def difference(self, here: str, there: str) -> str:
        """Empty when the two outputs are the same; else the lines that differ."""
        ours, theirs = _masked(here), _masked(there)
        if ours != theirs:
            return "\n".join(difflib.unified_diff(ours.splitlines(), theirs.splitlines(), "page", "run", lineterm=""))
        for mine, other in zip(_ids(here), _ids(there), strict=True):
            if self._there.setdefault(mine, other) != other or self._here.setdefault(other, mine) != mine:
                return f"{mine} stood for another id before than {other}"
        return ""


def _masked(output: str) -> str:
    output = _CUT_MESSAGES.sub("", _with_tokens_joined(output))
    output = _IDS.sub("<id>", output)
    for pattern, name in _CHANGING:
        output = pattern.sub(name, output)
    return output


def _ids(output: str) -> list[str]:
    """Each once, as a message may tell an id more often in one run than in the other."""
    return list(dict.fromkeys(_IDS.findall(output)))


def _with_tokens_joined(output: str) -> str:
    messages: list[dict[str, Any] | str] = []
    for lines in elements(output.splitlines(), ""):
        event = _token_event(lines)
        before = messages[-1] if messages else ""
        if event and isinstance(before, dict) and before["token"]["textId"] == event["token"]["textId"]:
            before["token"]["text"] += event["token"]["text"]
            before["sequence"] = event["sequence"]
        elif event:
            event["token"].setdefault("firstSequence", event["sequence"])
            messages.append(event)
        else:
            messages.append("\n".join(lines))
    return "\n".join(part if isinstance(part, str) else json.dumps(part, indent=2) for part in messages)


def _token_event(lines: list[str]) -> dict[str, Any] | None:
    if '  "token": {' not in lines:
        return None
    try:
        event: dict[str, Any] = json.loads("\n".join(lines))
    except ValueError:
        return None
    return event if "sequence" in event and {"textId", "text"} <= event["token"].keys() else None
