"""Settings of the service together with limits that no operator sets."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from proviso_service.config import ServiceConfig
from proviso_service.settings import Settings


def configured(values: Mapping[str, Any]) -> tuple[Settings, ServiceConfig]:
    """The service's settings and configuration for `values`: settings, and groups of settings and of limits, as in
    `{"llm": "local", "turns": {"time_limit_s": 60, "heartbeat_s": 0.1}}`. What is neither is refused."""
    chosen, limits = {}, {}
    for name, value in values.items():
        if not isinstance(value, Mapping):
            chosen[name] = value
            continue
        known = _fields_of(name)
        chosen[name] = {field: one for field, one in value.items() if field in known}
        limits[name] = {field: one for field, one in value.items() if field not in known}
    chosen = {name: value for name, value in chosen.items() if value != {} or name in Settings.model_fields}
    settings = Settings.model_validate(chosen)
    return settings, ServiceConfig.of(settings, limits)


def _fields_of(group: str) -> frozenset[str]:
    """The names of the settings in a group; none where there is no such group of settings."""
    field = Settings.model_fields.get(group)
    kind = field and field.annotation
    return frozenset(kind.model_fields) if isinstance(kind, type) and issubclass(kind, BaseModel) else frozenset()
