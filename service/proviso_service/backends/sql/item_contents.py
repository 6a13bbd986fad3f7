"""SqlContentStore: contents of context items by their hash."""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping

from sqlalchemy import Connection, select

from proviso_service.backends.sql.database import Store, insert, reading
from proviso_service.backends.sql.tables import item_contents

_MAX_REMEMBERED = 10_000


class SqlContentStore(Store):
    """The ContentStore port on a Database."""

    @reading
    def contents(self, transaction: Connection, tenant: str, hashes: Collection[str]) -> Mapping[str, str]:
        query = select(item_contents.c.content_sha256, item_contents.c.content).where(
            item_contents.c.tenant == tenant, item_contents.c.content_sha256.in_(list(hashes))
        )
        return {row.content_sha256: row.content for row in transaction.execute(query)}


def keep_contents(transaction: Connection, tenant: str, contents: Mapping[str, str]) -> None:
    """Stores those that are new."""
    if contents:
        rows = [{"tenant": tenant, "content_sha256": sha, "content": text} for sha, text in contents.items()]
        transaction.execute(insert(item_contents).on_conflict_do_nothing(), rows)


class KnownContents:
    """Which contents this process has stored lately: not every turn writes what hardly ever changes. Bounded."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()

    def new(self, tenant: str, contents: Mapping[str, str]) -> dict[str, str]:
        """Those of `contents` that may not be stored yet."""
        return {sha: text for sha, text in contents.items() if (tenant, sha) not in self._known}

    def stored(self, tenant: str, hashes: Iterable[str]) -> None:
        """To be told once they are."""
        for sha in hashes:
            self._known[tenant, sha] = None
        while len(self._known) > _MAX_REMEMBERED:
            self._known.popitem(last=False)
