"""The command line: names of the commands and what becomes of their failures."""

import sys

import typer

from proviso_service.cli.agent import agent
from proviso_service.cli.chat import chat
from proviso_service.cli.demo import demo
from proviso_service.cli.doctor import doctor
from proviso_service.cli.health import health
from proviso_service.cli.history import history
from proviso_service.cli.ingest import ingest
from proviso_service.cli.iql import iql
from proviso_service.cli.prepare import prepare
from proviso_service.cli.problems import CommandError
from proviso_service.cli.reindex import reindex
from proviso_service.cli.serve import serve

app = typer.Typer(
    name="proviso",
    help="Proviso answers questions about legal matters, with citations.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for command in (serve, demo, ingest, chat, history, iql, prepare, reindex, doctor, health):
    app.command()(command)
app.add_typer(agent)


def run() -> None:
    """Runs the command named in sys.argv; ends the process with its exit code."""
    try:
        app(prog_name="proviso")
    except CommandError as error:
        sys.stderr.write(f"proviso: {' '.join(error.message.split())}\n")
        sys.exit(error.exit_code)
