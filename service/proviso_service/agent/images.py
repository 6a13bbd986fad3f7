"""The images of a message: loaded all at once and shown to the model as bytes. No model is given a URL that it would
load itself."""

import asyncio
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import HumanMessage

from proviso_service.agent.chat_models import NamedChatModel
from proviso_service.context.images import Image, ImageFetcher, NoImage
from proviso_service.settings import ImageSettings

IMAGE_NOT_SEEN = "the embedded model cannot see images"

Part = dict[str, object]
"""A part of a message's content, as LangChain has them."""


@dataclass(frozen=True, slots=True)
class MessageImages:
    """`parts` follow the message's text, in the order of the images; `notes` say for each image why the model was not
    given it, and are empty where it was."""

    parts: tuple[Part, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def shown(self) -> tuple[int, ...]:
        """Numbers of the images that the model was given, from 1."""
        return tuple(number for number, note in enumerate(self.notes, 1) if not note)

    def after(self, message: HumanMessage) -> HumanMessage:
        """The message with its images."""
        if not self.parts:
            return message
        content: list[str | Part] = [{"type": "text", "text": message.content}, *self.parts]
        return HumanMessage(content)


class ImageLoader:
    """What the agent does with image URLs."""

    def __init__(self, fetcher: ImageFetcher, settings: ImageSettings) -> None:
        self._fetcher = fetcher
        self._max_message_bytes = settings.max_message_bytes

    async def load(self, urls: Sequence[str], model: NamedChatModel, tenant: str) -> MessageImages:
        """One that cannot be loaded is noted to the model; the others go on. Cancelled, it leaves nothing behind."""
        if model.takes_image_urls:
            parts: list[Part] = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
            return MessageImages(tuple(parts), (IMAGE_NOT_SEEN,) * len(urls))
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._fetcher.fetch(url, tenant)) for url in urls]
        shown = self._within_limit([_taken(task.result(), model) for task in tasks])
        return await asyncio.to_thread(_message_images, shown) if shown else MessageImages()

    def _within_limit(self, images: Sequence[Image | NoImage]) -> list[Image | NoImage]:
        """Without the images that do not fit beside those before them."""
        left = self._max_message_bytes
        kept: list[Image | NoImage] = []
        for image in images:
            size = len(image.content) if isinstance(image, Image) else 0
            fits = size <= left
            left -= size if fits else 0
            kept.append(image if fits else NoImage("the images of this message are too large together"))
        return kept


def _taken(image: Image | NoImage, model: NamedChatModel) -> Image | NoImage:
    if isinstance(image, NoImage) or image.media_type in model.image_types:
        return image
    return NoImage(f"this model takes no images of the type {image.media_type}")


def _message_images(images: Sequence[Image | NoImage]) -> MessageImages:
    parts: list[Part] = []
    notes: list[str] = []
    for number, image in enumerate(images, 1):
        if isinstance(image, NoImage):
            parts.append({"type": "text", "text": f"[Image {number} could not be loaded: {image.reason}]"})
            notes.append(image.reason)
        else:
            parts.append(_image_part(image))
            notes.append("")
    return MessageImages(tuple(parts), tuple(notes))


def _image_part(image: Image) -> Part:
    return {"type": "image", "base64": b64encode(image.content).decode("ascii"), "mime_type": image.media_type}
