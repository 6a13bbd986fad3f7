"""Whether bytes from the web are an image that may be handed on."""

from proviso_service.images.destinations import Refused
from proviso_service.images.headers import BrokenImage, ImageHeader, UnknownImage, read_image_header
from proviso_service.images.model import Image
from proviso_service.settings import ImageSettings

_SAYS_NOTHING = frozenset({"", "application/octet-stream", "binary/octet-stream"})
"""Content types of stores that do not know what they keep."""

_OTHER_NAMES = {"image/jpg": "image/jpeg"}


def check_image(content: bytes, content_type: str, settings: ImageSettings) -> Image:
    """The image, if the bytes are what the Content-Type header says they are. Raises Refused."""
    header = _header(content)
    declared = content_type.partition(";")[0].strip().lower()
    if declared not in _SAYS_NOTHING and _OTHER_NAMES.get(declared, declared) != header.media_type:
        raise Refused("its server says that it is something else than it is")
    if not header.width or not header.height:
        raise Refused("it is damaged or incomplete")
    if max(header.width, header.height) > settings.max_side_pixels:
        raise Refused(f"it is more than {settings.max_side_pixels} pixels wide or high")
    if header.width * header.height > settings.max_pixels:
        raise Refused(f"it has more than {settings.max_pixels / 1_000_000:g} million pixels")
    return Image(header.media_type, content)


def _header(content: bytes) -> ImageHeader:
    try:
        return read_image_header(content)
    except UnknownImage:
        raise Refused("it is no PNG, JPEG, GIF or WebP image") from None
    except BrokenImage:
        raise Refused("it is damaged or incomplete") from None
