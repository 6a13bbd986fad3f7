"""The code that documents show."""

import re
from pathlib import Path


def code_blocks(document: Path, language: str) -> list[str]:
    """What stands between the fences of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
