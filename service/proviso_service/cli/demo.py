"""`proviso demo`: the whole service at work on sample documents, in under a minute."""

from pathlib import Path
from typing import Annotated

import typer

from proviso_service.cli.prepare import prepare_models


def demo(
    models_dir: Annotated[Path, typer.Option(help="Folder of the embedded models; prepared when missing.")] = Path(
        ".proviso/models"
    ),
) -> None:
    """Start a server, upload sample agreements and hold a conversation about them.

    Needs no key, no network and no configuration; everything but the models lies in a temporary folder.
    """
    import asyncio
    import tempfile

    from proviso_service.cli.demo_run import run_demo

    prepare_models(models_dir)
    with tempfile.TemporaryDirectory(prefix="proviso-demo-") as folder:
        asyncio.run(run_demo(Path(folder), models_dir.resolve()))
