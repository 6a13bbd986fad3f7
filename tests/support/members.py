"""Members of matters and an audit for tests that are not about them."""

from proviso_service.access import Done, MatterRole
from proviso_service.identity import Act


class Everybody:
    """Everybody owns every matter."""

    async def role_of(self, tenant: str, matter_id: str, user: str) -> MatterRole:
        return MatterRole.OWNER


class NotKept:
    """An audit that forgets everything."""

    async def append(self, act: Act, done: Done) -> None: ...


EVERYBODY = Everybody()
NOT_KEPT = NotKept()
