"""Members of matters for tests that are not about them."""

from proviso_service.access import MatterRole


class Everybody:
    """Everybody owns every matter."""

    async def role_of(self, tenant: str, matter_id: str, user: str) -> MatterRole:
        return MatterRole.OWNER


EVERYBODY = Everybody()
