"""`proviso serve`: the service."""

from pathlib import Path
from typing import Annotated

import typer

from proviso_service.cli.configuration import load_settings
from proviso_service.cli.problems import UsageProblem


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on [default: 127.0.0.1].")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 takes a free one [default: 50051].")] = None,
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder of everything the service keeps [default: .proviso].")
    ] = None,
    models_dir: Annotated[
        Path | None, typer.Option(help="Folder of the embedded models [default: models in the data folder].")
    ] = None,
    llm: Annotated[str | None, typer.Option(help="Chat model: local, or <provider>:<model> [default: local].")] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Allow an address other than loopback without TLS.")
    ] = False,
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
    import asyncio
    import gc
    import os

    # gRPC's own library writes lines of its own about what is told here in one.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")

    # Importing makes many objects and no garbage; with the collector off the start takes about a quarter less.
    gc.disable()
    from proviso_service.server import serve as run
    from proviso_service.wiring import StartupError

    try:
        asyncio.run(run(settings))
    except StartupError as error:
        raise UsageProblem(str(error)) from error
