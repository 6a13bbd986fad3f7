"""`proviso iql`: an IQL query over a matter, or a look at the query alone."""

from typing import TYPE_CHECKING, Annotated

import typer

from proviso_service.cli.problems import UsageProblem

if TYPE_CHECKING:
    from proviso_service.cli.iql_report import Found


def iql(
    query: Annotated[str, typer.Argument(help="The query, for example '{IS confidentiality clause}'.")],
    matter: Annotated[str, typer.Option(help="Name of the matter.")] = "",
    document: Annotated[
        list[str] | None, typer.Option(help="File name of a document to analyse; may be repeated.")
    ] = None,
    min_score: Annotated[
        float | None, typer.Option(min=0, max=1, help="A passage above this score matches [default: the server's].")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each statement scores by itself.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Only read the query, without a server.")] = False,
    address: Annotated[str, typer.Option(help="The server, host:port.")] = "127.0.0.1:50051",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line for each document, then a summary.")] = False,
) -> None:
    """Find passages that satisfy an IQL query.

    With --check, show how the query is understood, or what is wrong with it.
    """
    if check:
        from proviso_service.cli.iql_check import check_query

        raise typer.Exit(check_query(query, as_json=as_json))
    if not matter:
        raise UsageProblem("Give --matter NAME, or --check to look at the query alone")
    import asyncio

    from proviso_service.cli.iql_report import Found, report

    found = Found(query, explain=explain)
    asyncio.run(_run(found, address, matter, document or [], min_score, as_json=as_json))
    if not as_json:
        report(found)


async def _run(
    found: "Found", address: str, matter_name: str, filenames: list[str], min_score: float | None, *, as_json: bool
) -> None:
    from proviso_client.v1 import tools_pb2
    from proviso_service.cli.client import connect, find_document, find_matter
    from proviso_service.cli.iql_report import showing_progress

    async with connect(address) as client:
        matter = await find_matter(client, matter_name)
        documents = [await find_document(client, matter, filename) for filename in filenames]
        request = tools_pb2.ExecuteIqlRequest(
            matter_id=matter.matter_id,
            query=found.query,
            document_ids=[document.document_id for document in documents],
            min_score=min_score,
            explain=found.explain,
        )
        with showing_progress(as_json=as_json) as show:
            async for step in client.tools.StreamIql(tools_pb2.StreamIqlRequest(query=request)):
                found.add(step)
                show(step)
