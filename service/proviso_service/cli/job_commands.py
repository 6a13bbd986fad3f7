"""`proviso jobs`: the ingestions that are not done, as a running service tells of them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated

import typer

from proviso_service.cli.server_options import Server, connecting

if TYPE_CHECKING:
    from proviso_client import AsyncClient
    from proviso_client.v1.matters_pb2 import Document

jobs = typer.Typer(
    name="jobs", help="Documents that wait, are under way, or have failed.", no_args_is_help=True, rich_markup_mode=None
)

MatterId = Annotated[str, typer.Argument(help="Id of the matter, or documentation.", metavar="MATTER")]
DocumentId = Annotated[str, typer.Argument(help="Id of the document.", metavar="DOCUMENT")]


@jobs.command("list")
@connecting
def list_jobs(
    failed: Annotated[bool, typer.Option("--failed", help="Only documents that have failed.")] = False,
    *,
    server: Server,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line for each document.")] = False,
) -> None:
    """List the documents that are not ready, the oldest first.

    Each has its state, the process at work on it, and why it failed.
    """
    asyncio.run(_list(server, failed_only=failed, as_json=as_json))


@jobs.command("retry")
@connecting
def retry_job(matter: MatterId, document: DocumentId, *, server: Server) -> None:
    """Have a document that failed ingested once more."""
    asyncio.run(_change(server, lambda client: client.retry_job(matter, document)))


@jobs.command("cancel")
@connecting
def cancel_job(matter: MatterId, document: DocumentId, *, server: Server) -> None:
    """End the ingestion of a document; it has failed then."""
    asyncio.run(_change(server, lambda client: client.cancel_job(matter, document)))


async def _list(server: Server, *, failed_only: bool, as_json: bool) -> None:
    from google.protobuf.json_format import MessageToDict

    from proviso_service.cli.connection import connect
    from proviso_service.cli.output import print_json, printable

    async with connect(server) as connection:
        async for job in connection.client.jobs(failed_only=failed_only):
            if as_json:
                print_json(MessageToDict(job, preserving_proto_field_name=True))
                continue
            document = job.document
            place = f"{document.matter_id} {document.document_id}"
            told = f" on {job.worker}" if job.worker else ""
            reason = f": {document.failure_reason}" if document.failure_reason else ""
            typer.echo(printable(f"{_state(document)}{told} {place} {document.filename}{reason}"))


async def _change(server: Server, change: "Callable[[AsyncClient], Awaitable[Document]]") -> None:
    from proviso_service.cli.connection import connect
    from proviso_service.cli.output import printable

    async with connect(server) as connection:
        document = await change(connection.client)
    typer.echo(printable(f"{_state(document)} {document.filename}"))


def _state(document: "Document") -> str:
    from proviso_client.v1.matters_pb2 import DocumentStatus

    return DocumentStatus.Name(document.status).removeprefix("DOCUMENT_STATUS_")
