"""Which models serve, by the settings."""

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from proviso_service.backends.isaacus.analysis import IsaacusClassifier
from proviso_service.backends.isaacus.client import IsaacusConfig
from proviso_service.embedded import EmbeddedClassifier, encoder_id
from proviso_service.settings import Settings
from proviso_service.wiring_models import BackEndUnavailable, ModelLoader, back_ends, server_addresses, vector_model

KEY = "isk-1"


def chosen(key: str | None = None, **backends: str) -> dict[str, str]:
    found = back_ends(settings(key, None, **backends))
    return {port: str(back_end) for port, back_end in found.by_port.items()}


def settings(key: str | None = None, models_dir: Path | None = None, **backends: str) -> Settings:
    values: dict[str, Any] = {"models": backends, "models_dir": models_dir}
    return Settings.model_validate(values | ({} if key is None else {"ISAACUS_API_KEY": key}))


@pytest.mark.parametrize("key", [None, "", "  "])
def test_without_a_key_everything_is_embedded(key: str | None) -> None:
    assert chosen(key) == {
        "embedder": "embedded",
        "classifier": "embedded",
        "extractor": "embedded",
        "reranker": "none",
    }


def test_a_key_brings_isaacus_but_leaves_the_vectors_that_are_stored() -> None:
    assert chosen(KEY) == {"embedder": "embedded"} | dict.fromkeys(("classifier", "extractor", "reranker"), "isaacus")


def test_each_port_has_its_own_back_end() -> None:
    assert chosen(KEY, embedder="isaacus", classifier="embedded", extractor="embedded", reranker="none") == {
        "embedder": "isaacus",
        "classifier": "embedded",
        "extractor": "embedded",
        "reranker": "none",
    }


@pytest.mark.parametrize("port", ["embedder", "classifier", "extractor", "reranker"])
def test_isaacus_without_a_key_says_what_to_set(port: str) -> None:
    with pytest.raises(BackEndUnavailable) as caught:
        chosen(**{port: "isaacus"})
    assert str(caught.value) == f"PROVISO_MODELS__{port.upper()}=isaacus needs a key: set ISAACUS_API_KEY"


@pytest.mark.parametrize("key", ["two words", "caf\u00e9", "a\nb"])
def test_a_key_that_cannot_be_sent_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(BackEndUnavailable, match="ISAACUS_API_KEY") as caught:
        chosen(key)
    assert key not in str(caught.value)


def test_a_key_is_not_shown_by_the_settings() -> None:
    assert KEY not in repr(settings(KEY))


@pytest.mark.parametrize(
    "url", ["", "api.isaacus.com/v1", "ftp://host/v1", "https:///v1", "https://h/?k=1", "https://h:99999/v1"]
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="must be an address such as"):
        Settings.model_validate({"ISAACUS_BASE_URL": url})


def test_an_address_with_a_password_is_refused() -> None:
    with pytest.raises(ValueError, match="must hold no name or password"):
        Settings.model_validate({"ISAACUS_BASE_URL": "https://me:pw@host/v1"})


async def test_vectors_are_of_the_embedder_and_its_dimensions(models_dir: Path, tmp_path: Path) -> None:
    assert (await vector_model(settings(None, models_dir))).model_id == encoder_id(with_languages=True)
    assert (await vector_model(settings(None, tmp_path))).model_id == encoder_id(with_languages=False)
    hosted = await vector_model(settings(embedder="isaacus"), IsaacusConfig(dimensions=256))
    assert (hosted.model_id, hosted.dimensions) == ("isaacus/kanon-2-embedder/256", 256)


def test_the_key_in_the_address_of_a_model_server_is_not_shown() -> None:
    chosen = settings(embedder="https://:xy%2Fzzy@gpu.example.com:8443/tei/#BAAI/bge-m3", reranker="http://[::1]:80")
    first, second = server_addresses(chosen).values()
    assert (first.url, first.model) == ("https://gpu.example.com:8443/tei", "BAAI/bge-m3")
    assert (second.url, second.model) == ("http://[::1]:80", "")
    assert (first.key.get_secret_value(), second.key.get_secret_value()) == ("xy/zzy", "")
    assert "zzy" not in f"{chosen!r} {chosen.model_dump_json()} {first!r}"
    assert back_ends(chosen).by_port["embedder"] == back_ends(chosen).by_port["reranker"] == "server"


async def test_hosted_models_need_no_embedded_one(tmp_path: Path) -> None:
    hosted = settings(KEY, tmp_path / "nothing", embedder="isaacus")
    async with AsyncExitStack() as stack:
        models = await ModelLoader(hosted, back_ends(hosted), IsaacusConfig(), stack).models()
        assert models.embedder.model_id.startswith("isaacus/")
        assert isinstance(models.classifier, IsaacusClassifier)
        assert models.classifier_vectors == ""


async def test_the_embedded_classifier_takes_vectors_of_its_own_model(
    models_dir: Path,
) -> None:
    mixed = settings(KEY, models_dir, embedder="isaacus", classifier="embedded")
    async with AsyncExitStack() as stack:
        opening = ModelLoader(mixed, back_ends(mixed), IsaacusConfig(), stack)
        models = await opening.models()
        assert models.embedder.model_id.startswith("isaacus/")
        assert isinstance(models.classifier, EmbeddedClassifier)
        assert models.classifier_vectors == encoder_id(with_languages=True)
        assert await opening.minilm() is await opening.minilm()


async def test_an_embedded_embedder_shares_its_vectors_with_the_classifier(models_dir: Path) -> None:
    embedded = settings(None, models_dir)
    async with AsyncExitStack() as stack:
        models = await ModelLoader(embedded, back_ends(embedded), IsaacusConfig(), stack).models()
        assert models.embedder.model_id == encoder_id(with_languages=True) == models.classifier_vectors
        assert models.reranker is None
