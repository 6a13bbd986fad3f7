import pytest

from proviso_service.iql import TemplateCatalog


@pytest.fixture(scope="session")
def catalog() -> TemplateCatalog:
    return TemplateCatalog.load()
