"""The README says what is so."""

import asyncio
import contextlib
import io
import re
from pathlib import Path

from proviso_client import AsyncClient
from proviso_service.variables import CONFIG_VARIABLE, settings_page, variable_name, variables
from tests.support.code_blocks import code_blocks
from tests.support.readme_tables import exit_reason_table
from tests.support.running import RunningService

_ROOT = Path(__file__).parents[1]


def test_the_exit_reasons_of_the_contract_page_are_those_of_the_code() -> None:
    assert "\n".join(exit_reason_table()) in (_ROOT / "docs" / "contract.md").read_text(encoding="utf-8")


def test_the_readme_is_read_in_one_sitting() -> None:
    assert len((_ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


async def test_the_python_of_the_readme_prints_a_turn(service: RunningService) -> None:
    [program] = code_blocks(_ROOT / "README.md", "python")
    async with AsyncClient(f"127.0.0.1:{service.app.port}") as client:
        matter = await client.matters.create("Leases")
    names = {"matter_id": matter.matter_id}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        await asyncio.to_thread(exec, program.replace("localhost:50051", f"127.0.0.1:{service.app.port}"), names)
    assert "exit_reason: EXIT_REASON_COMPLETED" in printed.getvalue()


def test_the_settings_of_the_readme_are_rows_of_the_page() -> None:
    readme = (_ROOT / "README.md").read_text(encoding="utf-8")
    rows = [line for line in readme.splitlines() if re.match(r"\| `(PROVISO_|[A-Z]+_API_KEY)", line)]
    assert len(rows) == 5
    assert set(rows) <= set(settings_page().splitlines())


def test_the_page_of_settings_is_fresh() -> None:
    page = (_ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert page == settings_page(), "run `make settings`"


def test_an_operator_has_at_most_some_seventy_settings() -> None:
    assert len(list(variables())) <= 76


def test_every_variable_that_the_documents_name_is_a_setting() -> None:
    known = {variable.name for variable in variables()} | {CONFIG_VARIABLE}
    groups = tuple(f"{variable_name(variable.path[:1])}__" for variable in variables() if len(variable.path) > 1)
    for document in [_ROOT / "README.md", _ROOT / "CONTRIBUTING.md", *(_ROOT / "docs").glob("*.md")]:
        named = set(re.findall(r"PROVISO_(?!GATEWAY|PYTHON)[A-Z_]+", document.read_text(encoding="utf-8")))
        unknown = {name for name in named - known if not (name.endswith("__") and name in groups)}
        assert not unknown, document.name


def test_every_file_that_the_documents_link_to_is_there() -> None:
    documents = [_ROOT / "README.md", _ROOT / "CONTRIBUTING.md", *(_ROOT / "docs").glob("*.md")]
    for document in documents:
        text = document.read_text(encoding="utf-8")
        targets = [part.split(")")[0].split("#")[0] for part in text.split("](")[1:]]
        for target in targets:
            if target and "://" not in target:
                assert (document.parent / target).exists(), f"{document.name} links to {target}"
