"""The images of a message. They are loaded at the same time and given to the model as bytes; no model is given a URL
that it would load itself."""

import asyncio
import hashlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from proviso_service.agent.chat_models import NamedChatModel
from proviso_service.context.assets import IMAGE_NOT_SEEN
from proviso_service.context.model import AssetKind, AssetUse, image_name
from proviso_service.images.image import Image, ImageFetcher, NoImage

_MAX_IMAGE_BYTES = 3_932_160
"""Most bytes of one image: in base64 they are the 5 MiB that providers take."""

_MAX_MESSAGE_BYTES = 12 * 1024 * 1024
"""Most bytes of all images of a message together."""


@dataclass(frozen=True, slots=True)
class MessageImages:
    """The images of a message. `uses` say of each image, in order, whether the model is given it; `data` holds the
    bytes of those images in base64, by their SHA-256 in hexadecimal."""

    uses: tuple[AssetUse, ...] = ()
    data: Mapping[str, str] = field(default_factory=dict)


def noted_images(urls: Sequence[str], notes: Sequence[str]) -> MessageImages:
    """The images of a message of which none is loaded, each with the reason."""
    return MessageImages(tuple(_noted(url, note) for url, note in zip(urls, notes, strict=True)))


class ImageLoader:
    """Loads the images of messages."""

    def __init__(self, fetcher: ImageFetcher) -> None:
        self._fetcher = fetcher

    async def load(
        self, urls: Sequence[str], model: NamedChatModel, tenant: str, left_out: Sequence[str] = ()
    ) -> MessageImages:
        """Loads images from `urls`. Each is scaled down to its part of what a model takes. An image that cannot be
        loaded is noted with the reason, and the others are still loaded. `left_out` says for each image why it is not
        to be loaded; an empty text means that it is. When cancelled, it leaves no download behind."""
        reasons = left_out or [""] * len(urls)
        if model.takes_image_urls:
            return noted_images(urls, [reason or IMAGE_NOT_SEEN for reason in reasons])
        max_bytes = min(_MAX_IMAGE_BYTES, _MAX_MESSAGE_BYTES // max(1, sum(not reason for reason in reasons)))
        async with asyncio.TaskGroup() as group:
            tasks = [
                None if reason else group.create_task(self._fetcher.fetch(url, tenant, max_bytes))
                for url, reason in zip(urls, reasons, strict=True)
            ]
        images = [
            NoImage(reason) if task is None else _taken(task.result(), model)
            for task, reason in zip(tasks, reasons, strict=True)
        ]
        return await asyncio.to_thread(_message_images, urls, images) if images else MessageImages()


def _taken(image: Image | NoImage, model: NamedChatModel) -> Image | NoImage:
    if isinstance(image, NoImage) or image.media_type in model.image_types:
        return image
    return NoImage(f"this model takes no images of the type {image.media_type}")


def _message_images(urls: Sequence[str], images: Sequence[Image | NoImage]) -> MessageImages:
    uses: list[AssetUse] = []
    data: dict[str, str] = {}
    for url, image in zip(urls, images, strict=True):
        if isinstance(image, NoImage):
            uses.append(_noted(url, image.reason))
            continue
        sha256 = hashlib.sha256(image.content).hexdigest()
        data[sha256] = b64encode(image.content).decode("ascii")
        use = AssetUse(AssetKind.IMAGE, image_name(url), True, image.note)
        uses.append(replace(use, content_sha256=sha256, media_type=image.media_type))
    return MessageImages(tuple(uses), data)


def _noted(url: str, note: str) -> AssetUse:
    return AssetUse(AssetKind.IMAGE, image_name(url), included=False, note=note)
