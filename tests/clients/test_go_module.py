"""The Go client as a module: its form, its own tests, and the Go that documents show."""

import pytest

from tests.support.code_blocks import code_blocks
from tests.support.go_smoke import BUILD_LIMIT_S, ROOT, GoModule

pytestmark = pytest.mark.timeout(BUILD_LIMIT_S + 30)  # a first build, with nothing in Go's cache


def test_the_module_is_formatted_vetted_and_passes_its_own_tests(go_module: GoModule) -> None:
    assert go_module.run("gofmt", "-l", "proviso", "smoke") == ""
    go_module.run("go", "vet", "./proviso", "./smoke")
    go_module.run("go", "test", "-vet=off", "-count=1", "./proviso")


def test_the_go_of_the_documents_compiles(go_module: GoModule) -> None:
    [program] = code_blocks(ROOT / "clients" / "go" / "README.md", "go")
    go_module.write("readme/main.go", program)
    functions = code_blocks(ROOT / "docs" / "contract.md", "go")
    assert functions
    go_module.write("page/page.go", "\n".join(functions))
    go_module.run("go", "vet", "./readme", "./page")
