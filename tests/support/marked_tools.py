"""Tools of the service's own that need an approval."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from proviso_service.context.catalog.items import Approval, ToolPolicy


@contextmanager
def needing_approval(*tools: str) -> Iterator[None]:
    """For services that are started inside. Other tools need what the agent's folder says."""
    otherwise = ToolPolicy.approval_of

    def approval_of(policy: ToolPolicy, tool: str) -> Approval:
        return Approval.REQUIRED if tool in tools else otherwise(policy, tool)

    with patch.object(ToolPolicy, "approval_of", approval_of):
        yield
