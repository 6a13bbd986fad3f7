"""`proviso prepare`: the embedded models."""

from pathlib import Path
from typing import Annotated

import typer

from proviso_service.cli.output import console
from proviso_service.cli.problems import CommandError


def prepare(
    models_dir: Annotated[Path, typer.Option(help="Folder of the embedded models.")] = Path(".proviso/models"),
) -> None:
    """Prepare the embedded models from the installed packages; nothing is downloaded.

    Running it again is safe and quick.
    """
    prepare_models(models_dir)


def prepare_models(models_dir: Path) -> Path:
    """Returns the folder of the embedding model. Raises CommandError."""
    from proviso_service.embedded.prepare import ModelSourceMissing
    from proviso_service.embedded.prepare import prepare as prepare_minilm

    out = console(stderr=True)
    try:
        with out.status("Preparing the embedding model"):
            folder = prepare_minilm(models_dir)
    except (ModelSourceMissing, OSError, ValueError, RuntimeError, ImportError) as error:
        raise CommandError(f"The embedded models could not be prepared in {models_dir}: {error}") from error
    out.print(f"Embedding model ready in {folder}")
    return folder
