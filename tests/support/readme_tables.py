"""The tables of the README that the code knows better: settings and exit reasons.

`python -m tests.support.readme_tables` prints them."""

from collections.abc import Iterator

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from proviso_service.settings import Settings
from proviso_service.turns import EXIT_SEMANTICS, Retryable

_RETRYABLE = {
    Retryable.YES: "yes",
    Retryable.NO: "no",
    Retryable.MAYBE: "maybe",
    Retryable.NOT_APPLICABLE: "n/a",
}


def settings_table() -> list[str]:
    """One row for each setting: variable, default, meaning."""
    rows = [f"| `{name}` | {_default(field)} | {field.description} |" for name, field in _fields(Settings, "PROVISO_")]
    return ["| variable | default | meaning |", "|---|---|---|", *rows]


def exit_reason_table() -> list[str]:
    """One row for each exit reason: retryable, displayed."""
    rows = [
        f"| {reason.name} | {_RETRYABLE[semantics.retryable]} | {'yes' if semantics.display_message else 'no'} |"
        for reason, semantics in EXIT_SEMANTICS.items()
    ]
    return ["| exit reason | retryable | display the message |", "|---|---|---|", *rows]


def _fields(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, FieldInfo]]:
    for name, field in model.model_fields.items():
        annotation = field.annotation
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            yield from _fields(annotation, f"{prefix}{name.upper()}__")
        else:
            alias = field.validation_alias
            yield (alias if isinstance(alias, str) else f"{prefix}{name.upper()}"), field


def _default(field: FieldInfo) -> str:
    return f"`{field.default}`" if field.default not in (None, "") else ""


if __name__ == "__main__":
    print("\n".join([*settings_table(), "", *exit_reason_table()]))
