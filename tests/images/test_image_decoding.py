"""Tests of decoding images: what is damaged is found, and what is too large for a model is made smaller."""

import struct
from collections.abc import AsyncIterator
from io import BytesIO

import pytest
from PIL import Image as Images

from proviso_service.images.decoding import ImageDecoder
from proviso_service.images.destinations import FetchRefused
from proviso_service.images.image import DAMAGED, Image, ImageConfig
from tests.support.image_files import jpeg, painted, png, written

SETTINGS = ImageConfig(max_pixels=1_000_000, max_model_pixels=250_000, max_model_side=1_000)
MANY = 10_000_000


@pytest.fixture
async def decoder() -> AsyncIterator[ImageDecoder]:
    decoding = ImageDecoder(SETTINGS)
    yield decoding
    decoding.close()


async def refusal(decoder: ImageDecoder, content: bytes) -> str:
    with pytest.raises(FetchRefused) as refused:
        await decoder.image(content, MANY)
    return str(refused.value)


def shown(image: Image) -> Images.Image:
    assert image.media_type == "image/jpeg"
    with Images.open(BytesIO(image.content)) as picture:
        picture.load()
        return picture


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
async def test_a_sound_image_that_fits_is_passed_on_as_it_is(decoder: ImageDecoder, kind: str) -> None:
    content = painted(kind, 60, 50)
    assert await decoder.image(content, len(content)) == Image(f"image/{kind.lower()}", content)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
@pytest.mark.parametrize("divisor", [2, 3, 10])
async def test_an_image_keeps_its_shape_when_it_is_made_to_fit(decoder: ImageDecoder, kind: str, divisor: int) -> None:
    content = painted(kind, 600, 300)
    image = await decoder.image(content, len(content) // divisor)
    assert len(image.content) <= len(content) // divisor
    picture = shown(image)
    assert picture.width / picture.height == pytest.approx(2, rel=0.05)
    assert image.note.startswith("its 600 x 300 pixels were compressed")


async def test_an_image_may_be_made_as_small_as_it_takes(decoder: ImageDecoder) -> None:
    assert len((await decoder.image(painted("PNG", 600, 300), 2_000)).content) <= 2_000


async def test_a_long_image_fits_the_longest_side(decoder: ImageDecoder) -> None:
    assert shown(await decoder.image(painted("PNG", 30, 2_000), MANY)).size == (15, 1_000)


async def test_a_scaled_image_has_no_more_pixels_than_a_model_can_use(decoder: ImageDecoder) -> None:
    content = painted("PNG", 900, 900)
    width, height = shown(await decoder.image(content, len(content) - 1)).size
    assert 240_000 < width * height <= 250_000


async def test_what_is_transparent_becomes_white(decoder: ImageDecoder) -> None:
    for picture in (Images.new("RGBA", (60, 60), (255, 0, 0, 0)), Images.new("LA", (60, 60), (0, 0))):
        content = written(picture, "PNG", compress_level=0)
        assert min(shown(await decoder.image(content, 2_000)).convert("L").tobytes()) > 250


async def test_sixteen_bits_of_grey_keep_their_brightness(decoder: ImageDecoder) -> None:
    picture = Images.new("I;16", (60, 60), 0x4000)
    small = shown(await decoder.image(written(picture, "PNG", compress_level=0), 1_000))
    assert set(small.convert("L").tobytes()) <= set(range(0x3E, 0x43))


async def test_a_photograph_is_turned_upright(decoder: ImageDecoder) -> None:
    exif = Images.Exif()
    exif[0x0112] = 6
    content = painted("JPEG", 200, 100, exif=exif.tobytes())
    picture = shown(await decoder.image(content, len(content) // 2))
    assert picture.height > picture.width


async def test_colours_of_print_and_palettes_are_taken(decoder: ImageDecoder) -> None:
    for content in (
        written(Images.new("CMYK", (300, 300), (0, 255, 255, 0)), "JPEG", quality=100),
        written(Images.new("P", (300, 300)), "PNG", compress_level=0),
        written(Images.new("1", (900, 900)), "PNG", compress_level=0),
    ):
        assert shown(await decoder.image(content, len(content) - 1)).mode == "RGB"


async def test_of_a_moving_image_the_first_picture_is_made_smaller(decoder: ImageDecoder) -> None:
    frames = [Images.new("RGB", (300, 300), colour) for colour in ("red", "blue")]
    content = written(frames[0], "GIF", save_all=True, append_images=frames[1:])
    red, _, blue = shown(await decoder.image(content, len(content) - 1)).getpixel((5, 5))  # type: ignore[misc]
    assert red > 200 > blue


def damaged(content: bytes, at: int, to: bytes) -> bytes:
    return content[:at] + to + content[at + len(to) :]


@pytest.mark.parametrize("at", [60, 200, -30])
async def test_one_wrong_bit_of_a_png_is_noticed(decoder: ImageDecoder, at: int) -> None:
    content = painted("PNG", 20, 20)
    place = at % len(content)
    assert await refusal(decoder, damaged(content, place, bytes([content[place] ^ 1]))) == DAMAGED


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
async def test_an_image_that_was_cut_is_noticed_whatever_stands_at_its_end(
    decoder: ImageDecoder, kind: str, share: float
) -> None:
    content = painted(kind, 100, 100)
    cut = content[: int(len(content) * share)]
    end = {"PNG": content[-12:], "GIF": b";"}.get(kind, b"")
    for one in (cut, cut + end):
        assert await refusal(decoder, one) == DAMAGED


async def test_more_pixels_than_allowed_are_not_decoded(decoder: ImageDecoder) -> None:
    for content in (png(2_000, 501), jpeg(65_535, 65_535)):
        assert await refusal(decoder, content) == "it has more than 1 million pixels"


async def test_a_header_that_states_other_sizes_in_two_places_is_refused(decoder: ImageDecoder) -> None:
    small, large = painted("WEBP", 10, 10), painted("WEBP", 900, 900)
    frame = large[12:]
    extended = b"VP8X" + struct.pack("<I", 10) + bytes(4) + small[26:26] + (9).to_bytes(3, "little") * 2
    content = b"RIFF" + struct.pack("<I", 4 + len(extended) + len(frame)) + b"WEBP" + extended + frame
    assert await refusal(decoder, content) == DAMAGED


@pytest.mark.parametrize(("scans", "reason"), [(300, "it would take too long to decode"), (2_000, DAMAGED)])
async def test_a_jpeg_of_very_many_scans_is_not_decoded(scans: int, reason: str) -> None:
    decoder = ImageDecoder(ImageConfig())
    content = written(Images.new("L", (2_000, 2_000)), "JPEG", progressive=True)
    at = content.rindex(b"\xff\xda")
    assert await refusal(decoder, content[:at] + content[at : at + 12] * scans + content[at:]) == reason
    decoder.close()


async def test_a_photograph_may_hold_a_preview_and_a_film(decoder: ImageDecoder) -> None:
    preview = painted("JPEG", 20, 20)
    note = b"\xff\xe2" + struct.pack(">H", 2 + len(preview)) + preview
    photo = painted("JPEG", 900, 900)
    whole = photo[:2] + note + photo[2:] + b"film" + b"\xff\xda\xff\xd9\xff\xda" * 5_000
    assert await decoder.image(whole, MANY) == Image("image/jpeg", whole)
    cut = photo[:2] + note + photo[2 : len(photo) // 2]
    for broken in (cut, cut + bytes(2_000)):
        assert await refusal(decoder, broken) == DAMAGED
