"""What the vectors are: true to the weights, the same in any company, and near when the meaning is near."""

from pathlib import Path

import numpy as np
import pytest

from proviso_service.embedded import MiniLmEmbedder, MiniLmEncoder
from proviso_service.embedded.prepare import ENCODER_SOURCE, read_float_tensors
from proviso_service.embedded.tuned import ENCODER, tuned
from tests.embedded import bert_reference

TEXTS = (
    "This Agreement shall be governed by the laws of the State of New York.",
    "In no event shall either party be liable for any indirect or consequential damages.",
    "Confidential Information means all non-public information that one party discloses to the other, in any form.",
    "TERM. Five (5) years from the Effective Date, unless terminated earlier under Section 12.3(b)(iv)!",
    "Le présent contrat est régi par le droit français; 合同; § 4 Abs. 2",
    "rent",
    "",
)


@pytest.fixture(scope="module")
def encoder(models_dir: Path) -> MiniLmEncoder:
    return MiniLmEncoder.load(models_dir, threads=1)


def test_vectors_agree_with_the_float_weights(encoder: MiniLmEncoder) -> None:
    weights = {**read_float_tensors(ENCODER_SOURCE.find() / "model.safetensors"), **tuned(ENCODER)}
    for text in filter(None, TEXTS):
        ids = encoder.tokens(text)
        assert encoder.encode([ids])[0] @ bert_reference.embed(weights, ids) > 0.99, text


async def test_vectors_are_unit_rows_in_order(embedder: MiniLmEmbedder) -> None:
    vectors = await embedder.embed_documents(TEXTS)

    assert vectors.shape == (len(TEXTS), embedder.dimensions)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for text, vector in zip(TEXTS, vectors, strict=True):
        assert vector @ await embedder.embed_query(text) > 0.9999, text


async def test_no_texts_have_no_vectors(embedder: MiniLmEmbedder) -> None:
    assert (await embedder.embed_documents([])).shape == (0, 384)


def test_a_text_has_the_same_vector_in_any_company(encoder: MiniLmEncoder) -> None:
    tokens = [encoder.tokens(text) for text in TEXTS]
    together = encoder.encode(tokens)
    for ids, vector in zip(tokens, together, strict=True):
        np.testing.assert_allclose(encoder.encode([ids])[0], vector, atol=1e-4)


async def test_related_sentences_are_closer_than_unrelated_ones(embedder: MiniLmEmbedder) -> None:
    query = await embedder.embed_query("What is the governing law of the agreement?")
    law, damages, *_ = await embedder.embed_documents(TEXTS)
    (weather,) = await embedder.embed_documents(["It will rain on Tuesday in the north."])

    assert query @ law > query @ damages + 0.1
    assert query @ law > query @ weather + 0.3


async def test_words_past_the_models_tokens_change_nothing(embedder: MiniLmEmbedder) -> None:
    long = "indemnity " * 300
    first, second = await embedder.embed_documents([long, long + "and another subject entirely"])

    np.testing.assert_allclose(first, second, atol=1e-5)


@pytest.mark.parametrize("text", ["\x00", "\ud800 half a pair", " \n\t ", "x" * 3_000_000, " " * 3_000_000, "🂡" * 999])
async def test_odd_texts_have_vectors_too(embedder: MiniLmEmbedder, text: str) -> None:
    assert np.linalg.norm(await embedder.embed_query(text)) == pytest.approx(1, abs=1e-5)
