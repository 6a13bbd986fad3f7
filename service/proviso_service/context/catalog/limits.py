"""How large an agent may be."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """Of an agent's folder. Characters are code points of an item's content."""

    max_agent_bytes: int = 256 * 1024
    max_markdown_bytes: int = 1024 * 1024
    max_file_bytes: int = 10 * 1024 * 1024
    max_items: int = 1_000
    max_servers: int = 32
    max_item_chars: int = 200_000
    max_total_chars: int = 5_000_000
    time_limit_s: float = 60.0
