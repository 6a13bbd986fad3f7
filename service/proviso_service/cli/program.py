"""The command line: every command with its flags, and what becomes of failures.

Commands import what they need when they run, so that `proviso --help` is fast and `proviso serve` loads nothing that it
does not use. What a command does is in the module that it imports.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from proviso_service.cli import audit
from proviso_service.cli.configuration import DataDir, load_settings
from proviso_service.cli.job_commands import jobs
from proviso_service.cli.key_commands import keys
from proviso_service.cli.output import CommandError, UsageProblem
from proviso_service.cli.seal_commands import seal
from proviso_service.cli.server_options import Server, connecting

app = typer.Typer(
    name="proviso",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
agent = typer.Typer(name="agent", help="Work on an agent's folder.", no_args_is_help=True, rich_markup_mode=None)

ModelsDir = Annotated[
    Path | None,
    typer.Option(help="Folder of the embedded models [default: models in the data folder].", metavar="FOLDER"),
]
ModelProcesses = Annotated[
    int | None,
    typer.Option(min=1, help="Processes for the embedded models [default: they run in this one].", metavar="N"),
]
DEFAULT_MODELS_DIR = Path(".proviso/models")


def run() -> None:
    """Runs the command that is named in sys.argv, and ends the process with its exit code."""
    try:
        app(prog_name="proviso")
    except CommandError as error:
        sys.stderr.write(f"proviso: {' '.join(error.message.split())}\n")
        sys.exit(error.exit_code)


@app.callback(invoke_without_command=True)
def _proviso(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Proviso answers questions about legal matters, with citations."""
    if version:
        from importlib.metadata import version as version_of

        typer.echo(f"proviso {version_of('proviso-service')}")
        raise typer.Exit


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on [default: 127.0.0.1].", metavar="HOST")] = None,
    port: Annotated[
        int | None, typer.Option(help="Port to listen on; 0 takes a free one [default: 50051].", metavar="PORT")
    ] = None,
    data_dir: DataDir = None,
    models_dir: ModelsDir = None,
    llm: Annotated[
        str | None,
        typer.Option(help="Chat model: local, or <provider>:<model> [default: local].", metavar="MODEL"),
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Allow an address other than loopback without TLS.")
    ] = False,
    workers: ModelProcesses = None,
) -> None:
    """Run the service until SIGTERM or Ctrl-C.

    Flags beat PROVISO_ variables, which beat proviso.toml.
    """
    settings = load_settings(
        {
            ("server", "host"): host,
            ("server", "port"): port,
            ("server", "insecure"): insecure or None,
            ("data_dir",): data_dir,
            ("models_dir",): models_dir,
            ("llm",): llm,
        }
    )
    import os

    # gRPC's own library would otherwise write several lines about a failure that is told here in one.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    from proviso_service.cli.running import run

    run("serve", settings, workers or 0)


@app.command()
def worker(
    data_dir: DataDir = None,
    models_dir: ModelsDir = None,
    workers: ModelProcesses = None,
) -> None:
    """Ingest the documents that services take in.

    Runs until SIGTERM or Ctrl-C. It shares their PostgreSQL, Redis and S3 store, and listens on no port. Settings are
    read as by serve.
    """
    settings = load_settings({("data_dir",): data_dir, ("models_dir",): models_dir})
    from proviso_service.cli.running import run

    run("work", settings, workers or 0)


@app.command()
def demo(
    models_dir: Annotated[
        Path, typer.Option(help="Folder of the embedded models; prepared when missing.", metavar="FOLDER")
    ] = DEFAULT_MODELS_DIR,
) -> None:
    """Start a server and talk to it about sample agreements.

    Needs no key, no network and no configuration; everything but the models lies in a temporary folder.
    """
    from proviso_service.cli.demo import run_demo

    run_demo(models_dir)


@app.command()
@connecting
def ingest(
    paths: Annotated[
        list[Path], typer.Argument(help="Files and folders (.pdf .docx .html .md .txt).", metavar="PATHS")
    ],
    matter: Annotated[str, typer.Option(help="Name of the matter; made when there is none.", metavar="NAME")] = "",
    matter_per_folder: Annotated[
        bool, typer.Option("--matter-per-folder", help="A matter for each folder inside PATHS, named as it.")
    ] = False,
    documentation: Annotated[
        bool, typer.Option("--documentation", help="Into the documentation, which belongs to no matter.")
    ] = False,
    *,
    server: Server,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line for each file, then a summary.")] = False,
) -> None:
    """Upload documents, and wait until they can be searched.

    They go to a matter, to several, or to the documentation. Running it again is safe: files that are there already are
    left as they are. Files that failed are tried again. In the documentation a changed file replaces the earlier one of
    its name as soon as it can be searched.
    """
    from proviso_service.cli.discovery import find_files
    from proviso_service.cli.ingest_report import ingest_and_report

    found = find_files(paths, matter, per_folder=matter_per_folder, documentation=documentation)
    if ingest_and_report(found, server, documentation=documentation, as_json=as_json):
        raise typer.Exit(1)


@app.command()
@connecting
def export(
    matter: Annotated[str, typer.Argument(help="Name of the matter.", metavar="MATTER")],
    file: Annotated[Path, typer.Argument(help="A new file for the ZIP archive.", metavar="FILE")],
    *,
    all_conversations: Annotated[
        bool, typer.Option("--all-conversations", help="Those of all users: administrators only.")
    ] = False,
    server: Server,
) -> None:
    """Write a matter to a ZIP archive.

    Its documents and your conversations about it are in it. Only its owners and administrators may.
    """
    from proviso_service.cli.exporting import export

    export(server, matter, file, all_conversations=all_conversations)


@app.command()
@connecting
def chat(
    matter: Annotated[
        str, typer.Option(help="Name of the matter to talk about; none when left out.", metavar="NAME")
    ] = "",
    document: Annotated[str, typer.Option(help="File name of the document on view.", metavar="NAME")] = "",
    session: Annotated[
        str, typer.Option(help="Conversation to go on with; a new one when left out.", metavar="ID")
    ] = "",
    message: Annotated[str | None, typer.Option(help="Ask this one message and end.", metavar="TEXT")] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Show text as the model writes it, before it is checked.")] = False,
    *,
    server: Server,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line for each event; needs --message.")] = False,
) -> None:
    """Talk to the assistant about a matter.

    Lines that begin with a slash are commands; /help lists them. Ctrl-C cancels the answer under way, a second one
    leaves; Ctrl-D ends the conversation.
    """
    if document and not matter:
        raise UsageProblem("--document needs --matter, the matter that holds it")
    if message is not None and not message.strip():
        raise UsageProblem("--message is empty")
    if as_json and message is None:
        raise UsageProblem("--json needs --message, the message to ask")
    from proviso_service.cli import conversation

    code = conversation.chat(
        server,
        matter_name=matter,
        document_name=document,
        session_id=session,
        message=message,
        raw=raw,
        as_json=as_json,
    )
    raise typer.Exit(code)


@app.command()
@connecting
def history(
    session: Annotated[str, typer.Argument(help="The session, as named by proviso chat --session.", metavar="SESSION")],
    *,
    server: Server,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON line for each message, with the contract's field names.")
    ] = False,
) -> None:
    """Show the messages of a session, oldest first.

    Each answer says how its turn ended, which tools it called, what its context was, and how it was rated.
    """
    import asyncio

    from proviso_service.cli.session_commands import print_history

    asyncio.run(print_history(session, server, as_json=as_json))


@app.command()
@connecting
def iql(
    query: Annotated[
        str, typer.Argument(help="The query, for example '{IS confidentiality clause}'.", metavar="QUERY")
    ],
    matter: Annotated[str, typer.Option(help="Name of the matter.", metavar="NAME")] = "",
    document: Annotated[
        list[str] | None, typer.Option(help="File name of a document to analyse; may be repeated.", metavar="NAME")
    ] = None,
    min_score: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="A passage above this score matches [default: the server's].", metavar="SCORE"),
    ] = None,
    all_matches: Annotated[
        bool, typer.Option("--all", help="Show all matches of each document, not just the best 20.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each statement scores by itself.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Only read the query, without a server.")] = False,
    *,
    server: Server,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line for each document, then a summary.")] = False,
) -> None:
    """Find passages that satisfy an IQL query.

    With --check, show how the query is understood, or what is wrong with it.
    """
    if not check and not matter:
        raise UsageProblem("Give --matter NAME, or --check to look at the query alone")
    import asyncio

    from proviso_service.cli.iql import check_query, run_query

    if check:
        raise typer.Exit(check_query(query, as_json=as_json))
    raise typer.Exit(
        asyncio.run(
            run_query(
                query,
                server,
                matter,
                document or [],
                min_score,
                explain=explain,
                all_matches=all_matches,
                as_json=as_json,
            )
        )
    )


@app.command()
def prepare(
    models_dir: Annotated[
        Path, typer.Option(help="Folder of the embedded models.", metavar="FOLDER")
    ] = DEFAULT_MODELS_DIR,
) -> None:
    """Prepare the embedded models; nothing is downloaded.

    They come from the installed packages. Running it again is safe and quick.
    """
    from proviso_service.cli.local_server import prepare_models

    prepare_models(models_dir)


@app.command()
@connecting
def reindex(
    *,
    server: Server,
    data_dir: Annotated[
        Path | None,
        typer.Option(help="Folder to work in when no server answers [default: .proviso].", metavar="FOLDER"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines of the progress, then a summary.")] = False,
) -> None:
    """Build the search index anew from the passages in the database.

    A running server does it while it answers. Nothing is lost when it is stopped: each document has its old entries
    until it has the new ones.
    """
    from proviso_service.cli.reindex import rebuild

    try:
        rebuild(server, data_dir, as_json=as_json)
    except KeyboardInterrupt:
        typer.echo("Stopped. A running server goes on; without one, some documents keep their old entries.", err=True)
        raise


@app.command()
@connecting
def reembed(
    *,
    server: Server,
    forget_others: Annotated[
        bool, typer.Option("--forget-others", help="In the end, delete the vectors of all other models.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines of the progress, then a summary.")] = False,
) -> None:
    """Embed again what another model has embedded.

    The server does it while it answers; when it is stopped, the next call goes on from there. Vectors of the earlier
    model stay beside the new ones until --forget-others.
    """
    from proviso_service.cli.reindex import reembed

    reembed(server, forget_others=forget_others, as_json=as_json)


@app.command()
@connecting
def evaluate(
    folder: Annotated[
        Path, typer.Argument(help="Documents, and labels.jsonl with what is known of them.", metavar="FOLDER")
    ],
    chat: Annotated[bool, typer.Option("--chat/--no-chat", help="Ask the chat model, too.")] = True,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the matter that is made for it.")] = False,
    *,
    server: Server,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line for each way to ask.")] = False,
) -> None:
    """Measure how often the service is right.

    It asks what the labels ask, by search, extraction, IQL and chat, and says how often each was right, how long it
    took and what it cost. In the end it prints the bands of the models' scores, for proviso.toml.
    """
    from proviso_service.cli.evaluate import evaluate

    evaluate(folder, server, keep=keep, chat=chat, as_json=as_json)


@app.command()
def doctor(
    data_dir: DataDir = None,
    models_dir: ModelsDir = None,
    as_json: Annotated[bool, typer.Option("--json", help="The findings as one JSON object.")] = False,
) -> None:
    """Find what is wrong with the set-up, and say how to mend it.

    Checks settings, storage, models and port, and changes nothing. Exits with 1 when something would keep the service
    from working.
    """
    from proviso_service.cli.doctor import check_and_report

    raise typer.Exit(check_and_report(data_dir, models_dir, as_json=as_json))


@app.command()
def backup(
    destination: Annotated[Path, typer.Argument(help="A new folder for the backup.", metavar="FOLDER")],
    data_dir: DataDir = None,
) -> None:
    """Copy all that the service keeps to a folder.

    The service may be running. Chroma's files and the models are left out: they can be made again. Exits with 1 when
    an uploaded file was missing or damaged already; the rest is backed up.
    """
    from proviso_service.cli.backup import make_backup

    raise typer.Exit(make_backup(destination, data_dir))


@app.command()
def restore(
    source: Annotated[Path, typer.Argument(help="The folder of a backup.", metavar="FOLDER")],
    data_dir: DataDir = None,
) -> None:
    """Restore a backup into a new data folder.

    Every hash in it is compared first.
    """
    from proviso_service.cli.backup import restore_backup

    restore_backup(source, data_dir)


@app.command()
@connecting
def health(server: Server) -> None:
    """Say whether the server is SERVING.

    Exits with 0 when it is, with 1 when it is not.
    """
    import asyncio

    from proviso_service.cli.connection import check_health

    asyncio.run(check_health(server))
    typer.echo("SERVING")


app.add_typer(agent)


@agent.callback()
def _agent() -> None:
    """Keeps `check` a command of its own while it is the only one."""


@agent.command()
def check(
    path: Annotated[
        Path | None, typer.Argument(help="The folder [default: that of the settings].", metavar="FOLDER")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line for each item or fault.")] = False,
) -> None:
    """Show what an agent's folder holds, or what is wrong with it.

    The folder is read as the service would read it. Variables that enabled MCP servers name must be set, as for the
    service.
    """
    from proviso_service.cli.agent_check import check_agent

    raise typer.Exit(check_agent(path, as_json=as_json))


app.add_typer(audit.commands)
app.add_typer(jobs)
app.add_typer(keys)
app.add_typer(seal)
