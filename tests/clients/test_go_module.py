"""The Go client as a module: its form, its own tests, a module that uses it, and the Go that documents show."""

from pathlib import Path

import pytest

from tests.support.code_blocks import code_blocks
from tests.support.go_smoke import BUILD_LIMIT_S, ROOT, GoModule, run_go

pytestmark = pytest.mark.timeout(BUILD_LIMIT_S + 30)  # a first build, with nothing in Go's cache


USER = """\
package main

import (
	"fmt"

	pb "github.com/proviso-legal/proviso/clients/go/gen/proviso/v1"
	"github.com/proviso-legal/proviso/clients/go/proviso"
)

func main() {
	request := &pb.ChatRequest{Message: proviso.Slice("The naïve tenant 😀 pays.", 4, 18)}
	fmt.Println(request.GetMessage())
}
"""
LOOP = """\
package root

import (
	"context"
	"fmt"

	"google.golang.org/grpc"

	pb "github.com/proviso-legal/proviso/clients/go/gen/proviso/v1"
	"github.com/proviso-legal/proviso/clients/go/proviso"
)

func ask(ctx context.Context, connection *grpc.ClientConn, question string) {
LOOP
}
"""
OFFLINE = {"GOFLAGS": "-buildvcs=false -mod=mod -p=2", "GOPROXY": "off", "GOSUMDB": "off", "GOWORK": "off"}


def test_the_module_is_formatted_vetted_and_passes_its_own_tests(go_module: GoModule) -> None:
    assert go_module.run("gofmt", "-l", ".") == ""
    go_module.run("go", "vet", "./proviso", "./smoke")
    go_module.run("go", "test", "-vet=off", "-count=1", "./proviso")


@pytest.mark.usefixtures("go_module")  # which has filled Go's cache of modules
def test_another_module_uses_it_with_one_replace_and_no_generator(tmp_path: Path) -> None:
    path = run_go(ROOT / "clients" / "go", "go", "list", "-m").strip()
    assert "." in path.split("/")[0]
    (tmp_path / "main.go").write_text(USER, encoding="utf-8")
    (tmp_path / "go.mod").write_text("module example.com/user\n\ngo 1.26.0\n", encoding="utf-8")
    replacing = f"-replace={path}={ROOT / 'clients' / 'go'}"
    run_go(tmp_path, "go", "mod", "edit", f"-require={path}@v0.0.0", replacing)
    assert run_go(tmp_path, "go", "run", ".", **OFFLINE) == "naïve tenant 😀\n"


def test_the_go_of_the_documents_compiles(go_module: GoModule) -> None:
    chat, credentials = code_blocks(ROOT / "clients" / "go" / "README.md", "go")
    go_module.write("readme/main.go", chat)
    go_module.write("credentials/main.go", credentials)
    [loop] = code_blocks(ROOT / "README.md", "go")
    go_module.write("root/main.go", LOOP.replace("LOOP", loop))
    functions = code_blocks(ROOT / "docs" / "contract.md", "go")
    assert functions
    go_module.write("page/page.go", "\n".join(functions))
    go_module.run("go", "vet", "./readme", "./credentials", "./root", "./page")
