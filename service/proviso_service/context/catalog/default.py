"""The agent that ships with the service."""

from importlib import resources
from pathlib import Path


def default_agent_folder() -> Path:
    return Path(str(resources.files(__package__).joinpath("default_agent")))
