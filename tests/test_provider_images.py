"""Images of messages on the wires of providers: the bytes that the guarded fetcher loaded, and no URL."""

from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from proviso_service.images.destinations import Destinations
from proviso_service.images.fetcher import WebImageFetcher
from proviso_service.images.image import ImageConfig
from tests.support.gemini_replies import MODEL as GEMINI
from tests.support.gemini_replies import says as gemini_says
from tests.support.gemini_server import KEY as GEMINI_KEY
from tests.support.gemini_server import gemini_server
from tests.support.image_files import painted, png
from tests.support.openai_server import KEY as OPENAI_KEY
from tests.support.openai_server import MODEL as OPENAI
from tests.support.openai_server import openai_server
from tests.support.openai_server import says as openai_says
from tests.support.running import RunningService, final_of, running_service
from tests.support.web_server import Certificates, WebServer, certificates, file, web_server

HOST = "files.example.org"
LOST = "[Image 2 could not be loaded: its server does not have it]"


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return certificates(tmp_path_factory.mktemp("tls"), HOST)


def fetcher(tls: Certificates) -> WebImageFetcher:
    """The service's own, which may connect to loopback in these tests alone."""

    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    return WebImageFetcher(ImageConfig(), Destinations(resolve, may_connect=lambda _: True), lambda: tls.client)


async def show(service: RunningService, web: WebServer) -> None:
    web.answers |= {
        "/a.png": file(png()),
        "/lost.png": file(b"", status="404 Not Found"),
        "/b.jpg": file(painted("JPEG"), "image/jpeg"),
    }
    urls = [f"https://{HOST}:{web.port}{path}" for path in web.answers]
    final = final_of(await service.ask("Look", await service.create_matter(), image_urls=urls))
    assert final.message == "Is it a seal?"
    assert [asset.included for asset in final.request_context.assets] == [True, False, True]


async def test_gemini_is_sent_the_bytes_of_images(tmp_path: Path, models_dir: Path, tls: Certificates) -> None:
    async with web_server(tls.server) as web, gemini_server() as gemini:
        gemini.then(gemini_says("Is it a seal?"))
        chosen: dict[str, Any] = {"GOOGLE_API_KEY": GEMINI_KEY, "GOOGLE_GEMINI_BASE_URL": gemini.base_url}
        async with running_service(
            tmp_path / "data", models_dir, fetcher=fetcher(tls), llm=f"google_genai:{GEMINI}", **chosen
        ) as service:
            await show(service, web)
    said, first, lost, third = gemini.asked[0].contents[-1].parts
    assert said.text
    assert said.text.endswith("Look")
    assert lost.text == LOST
    sent = [(part.inline_data.mime_type, part.inline_data.data) for part in (first, third) if part.inline_data]
    assert sent == [("image/png", png()), ("image/jpeg", painted("JPEG"))]


async def test_openai_is_sent_the_bytes_of_images(tmp_path: Path, models_dir: Path, tls: Certificates) -> None:
    async with web_server(tls.server) as web, openai_server() as openai:
        openai.then(openai_says("Is it a seal?"))
        chosen: dict[str, Any] = {"OPENAI_API_KEY": OPENAI_KEY, "OPENAI_BASE_URL": f"{openai.base_url}/v1"}
        async with running_service(
            tmp_path / "data", models_dir, fetcher=fetcher(tls), llm=f"openai:{OPENAI}", **chosen
        ) as service:
            await show(service, web)
    content = openai.asked[0].messages[-1].content
    assert isinstance(content, list)
    assert content[2].text == LOST
    urls = [part.image_url.url for part in content if part.image_url]
    assert [url.partition(",")[0] for url in urls] == ["data:image/png;base64", "data:image/jpeg;base64"]
    assert [b64decode(url.partition(",")[2]) for url in urls] == [png(), painted("JPEG")]
