"""Catalogs, and folders of agents, for tests."""

from pathlib import Path

from proviso_service.context.catalog.catalog import AgentDefinition, Catalog, CatalogHolder
from proviso_service.context.catalog.items import Approval, CatalogItem, EffectiveMode
from proviso_service.context.catalog.loader import load_agent
from proviso_service.context.model import IncludeMode, ItemRef
from proviso_service.errors import CatalogInvalid, UnsupportedDocument

AGENT = "name: Leases\ndescription: Reads leases.\n"
RULE = "---\nname: Quoting\ndescription: How to quote.\n---\nQuote exactly.\n"
OWN_TOOLS = ("isaacus_iql", "isaacus_search")


def an_item(
    ref: ItemRef,
    include: IncludeMode | None = None,
    content: str = "Content.",
    *,
    priority: int = 0,
    enabled: bool = True,
    approval: Approval = Approval.NONE,
) -> CatalogItem:
    mode = EffectiveMode.of_item(include)
    return CatalogItem.of(ref, "What it is.", content, mode, priority=priority, enabled=enabled, approval=approval)


def a_catalog(*items: CatalogItem) -> Catalog:
    return Catalog(AgentDefinition("Test", ""), items)


def holding(*items: CatalogItem) -> CatalogHolder:
    """A holder whose catalog is read anew as it was."""
    return holding_catalog(a_catalog(*items))


def holding_catalog(catalog: Catalog) -> CatalogHolder:
    """As `holding` does."""

    async def load() -> Catalog:
        return catalog

    return CatalogHolder(load, catalog)


class PlainReader:
    """A ReferenceReader of .txt files."""

    def check(self, filename: str) -> None:
        if not filename.endswith(".txt"):
            raise UnsupportedDocument("Such files are not read.")

    async def text(self, filename: str, content: bytes) -> str:
        if content.startswith(b"%"):
            raise UnsupportedDocument("The file is damaged.")
        return content.decode()


def write(folder: Path, **files: str) -> Path:
    """An agent's folder: `agent.yaml` unless given, and files whose paths have __ for / and a name without its dot."""
    contents = {"agent.yaml": AGENT, **{_path(name): text for name, text in files.items()}}
    for path, text in contents.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return folder


def _path(name: str) -> str:
    stem, _, extension = name.replace("__", "/").rpartition("_")
    return f"{stem}.{extension}"


async def load(folder: Path, **environment: str) -> AgentDefinition:
    return await load_agent(folder, PlainReader(), environment, OWN_TOOLS)


async def faults_of(folder: Path, **environment: str) -> list[str]:
    """Each fault in words; empty where there is none."""
    try:
        await load(folder, **environment)
    except CatalogInvalid as error:
        return [str(fault) for fault in error.faults]
    return []
