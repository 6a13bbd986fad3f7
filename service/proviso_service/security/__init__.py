"""Who calls, and what they may see."""
