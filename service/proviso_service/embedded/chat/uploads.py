"""Questions about files whose summaries came with the message: nothing but those summaries can be quoted."""

import re
from collections.abc import Sequence

from proviso_service.embedded.chat.conversation import Asset, UserMessage
from proviso_service.embedded.chat.lexical import stems
from proviso_service.embedded.chat.rendering import bullets, name, quote

_ABOUT_UPLOADS = re.compile(
    r"\b(?:uploaded|attached|attachments?|my (?:files?|code|uploads?)|these files)\b", re.IGNORECASE
)


def is_about_uploads(message: UserMessage) -> bool:
    """The message points at its files, names one of them, or has nothing else to be about."""
    if not message.assets:
        return False
    named = any(asset.filename.lower() in message.text.lower() for asset in message.assets)
    return named or not message.has_matter or bool(_ABOUT_UPLOADS.search(message.text))


def uploads_answer(question: str, assets: Sequence[Asset]) -> str:
    """The summaries, those sharing words with the question first."""
    asked = stems(question)
    ordered = sorted(assets, key=lambda one: -len(asked & stems(f"{one.filename} {one.summary}")))
    lines = [f"{name(one.filename)}: {quote(one.summary.removesuffix('...').strip(), None)}" for one in ordered]
    return f"Of the attached files I can only see the summaries:\n{bullets(lines)}"
