"""Tests of reading the size of an image without decoding it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proviso_service.images.image import BrokenImage, ImageHeader, UnknownImage, read_image_header
from tests.support.image_files import gif, jpeg, png, webp

SIDES = st.integers(1, 16_383)
WHOLE = [png(), jpeg(), gif(), webp(), webp(form="VP8L"), webp(form="VP8 ")]


@given(SIDES, SIDES)
def test_type_and_size_are_those_of_the_file(width: int, height: int) -> None:
    files = {
        "image/png": [png(width, height)],
        "image/jpeg": [jpeg(width, height)],
        "image/gif": [gif(width, height)],
        "image/webp": [webp(width, height, form) for form in ("VP8X", "VP8L", "VP8 ")],
    }
    for media_type, contents in files.items():
        for content in contents:
            assert read_image_header(content) == ImageHeader(media_type, width, height)


@pytest.mark.parametrize("content", [b"", b"<html>", b"%PDF-1.7", b"BM" + bytes(60), b"<svg/>", b"RIFF....WAVEfmt "])
def test_what_is_no_image_of_the_web_is_unknown(content: bytes) -> None:
    with pytest.raises(UnknownImage):
        read_image_header(content)


@pytest.mark.parametrize("content", WHOLE)
def test_an_image_that_was_cut_anywhere_is_not_taken_for_whole(content: bytes) -> None:
    for length in range(len(content)):
        with pytest.raises((BrokenImage, UnknownImage)):
            read_image_header(content[:length])


def test_a_jpeg_of_nothing_but_empty_segments_is_given_up() -> None:
    with pytest.raises(BrokenImage):
        read_image_header(b"\xff\xd8" + b"\xff\xe0\0\x02" * 100_000 + b"\xff\xd9")


@given(st.sampled_from(WHOLE), st.data())
def test_damaged_headers_raise_nothing_else(content: bytes, data: st.DataObject) -> None:
    broken = bytearray(content)
    for _ in range(3):
        broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    try:
        header = read_image_header(bytes(broken))
    except (BrokenImage, UnknownImage):
        return
    assert header.width >= 0
    assert header.height >= 0
