from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.analysis_world import AnalysisWorld, analysis_world


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[AnalysisWorld]:
    async with analysis_world(tmp_path) as made:
        yield made
