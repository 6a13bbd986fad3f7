"""The assets of a message: images, and summaries of documents."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, ValidationInfo

from proviso_service.api.domain import Limits
from proviso_service.api.requests.base import RequestModel, at_most
from proviso_service.api.requests.context import DocumentContextModel
from proviso_service.context.model import DocumentSummary
from proviso_service.errors import FieldViolation
from proviso_service.value_faults import refusal

MAX_URL_CHARS = 2_048


def _https(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        raise refusal("must be an https URL") from None
    if parts.scheme != "https" or not parts.hostname:
        raise refusal("must be an https URL")
    return url


def limits_of(info: ValidationInfo) -> Limits:
    """What the request was parsed with."""
    limits = info.context
    assert isinstance(limits, Limits)  # noqa: S101 - the servicer passes them
    return limits


ImageUrl = Annotated[str, Field(max_length=MAX_URL_CHARS), AfterValidator(_https)]
AssetName = Annotated[str, Field(min_length=1, max_length=MAX_URL_CHARS)]


class WithAssets(RequestModel):
    """A message that comes with assets."""

    image_urls: Annotated[tuple[ImageUrl, ...], at_most(5)]
    document_context: Annotated[tuple[DocumentContextModel, ...], at_most(20)]
    selected_assets: Annotated[tuple[AssetName, ...], at_most(25)]

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterable[FieldViolation]:
        names = {*values["image_urls"], *(document["filename"] for document in values["document_context"])}
        for place, name in enumerate(values["selected_assets"]):
            if name not in names:
                yield FieldViolation(f"selected_assets[{place}]", "is neither a file name nor a URL of this message")

    def documents(self) -> tuple[DocumentSummary, ...]:
        return tuple(document.to_domain() for document in self.document_context)
