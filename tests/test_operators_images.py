"""Images from hosts that the operator lists, from the message over the wire to what the chat model is sent."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import grpc
import pytest
from PIL import Image

from proviso_client.v1 import context_pb2, sessions_pb2
from proviso_service.images.destinations import NOT_ALLOWED, NOT_HTTPS
from tests.support.gemini_replies import MODEL, says
from tests.support.gemini_server import KEY, GeminiServer, gemini_server
from tests.support.gemini_wire import Blob
from tests.support.image_files import painted, written
from tests.support.running import RunningService, final_of, running_service
from tests.support.web_server import WebServer, file, redirect, web_server

ANSWER = "Is it a seal?"
DAMAGED = "it is damaged or incomplete"
NOTED = "[Image {} could not be loaded: {}]"
SIGNATURE = "X-Amz-Signature=5ecre7"


@dataclass(frozen=True)
class World:
    service: RunningService
    web: WebServer
    gemini: GeminiServer

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.web.port}{path}"

    async def show(self, *urls: str, **fields: Any) -> tuple[list[context_pb2.AssetUse], list[Blob | str]]:
        """What the turn records of the images, and what the model was sent after the message: images and texts."""
        self.gemini.then(says(ANSWER))
        final = final_of(await self.service.ask("Look", await self.service.create_matter(), image_urls=urls, **fields))
        assert final.message == ANSWER
        _, *parts = self.gemini.asked[-1].contents[-1].parts
        return list(final.request_context.assets), [part.inline_data or str(part.text) for part in parts]


@asynccontextmanager
async def world(tmp_path: Path, models_dir: Path, *listed: str) -> AsyncIterator[World]:
    """`listed` are the operator's hosts, with PORT in place of the port of the server of images."""
    async with web_server() as web, gemini_server() as gemini:
        hosts = [entry.replace("PORT", str(web.port)) for entry in listed]
        chosen: dict[str, Any] = {"GOOGLE_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": gemini.base_url}
        chosen |= {"llm": f"google_genai:{MODEL}", "images": {"allowed_hosts": hosts, "time_limit_s": 60}}
        async with running_service(tmp_path / "data", models_dir, **chosen) as service:
            yield World(service, web, gemini)


@pytest.fixture
async def private(tmp_path: Path, models_dir: Path) -> AsyncIterator[World]:
    async with world(tmp_path, models_dir, "http://127.0.0.1:PORT") as running:
        yield running


@pytest.mark.parametrize("listed", ["http://127.0.0.1:PORT", "http://127.0.0.1", "http://localhost"])
async def test_a_listed_host_may_be_private_and_speak_plain_http(tmp_path: Path, models_dir: Path, listed: str) -> None:
    async with world(tmp_path, models_dir, listed) as running:
        running.web.answers["/a.png"] = file(painted())
        host = "localhost" if "localhost" in listed else "127.0.0.1"
        (asset,), (sent,) = await running.show(running.url("/a.png", host))
        assert asset.included
        assert isinstance(sent, Blob)
        assert (sent.mime_type, sent.data) == ("image/png", painted())


@pytest.mark.parametrize(
    ("listed", "url", "reason"),
    [
        ("127.0.0.1:PORT", "http://127.0.0.1:PORT/a.png", NOT_HTTPS),
        ("http://127.0.0.1:9", "http://127.0.0.1:PORT/a.png", NOT_ALLOWED),
        ("http://127.0.0.1:PORT", "http://localhost:PORT/a.png", NOT_ALLOWED),
        ("http://127.0.0.1:PORT", "https://localhost:PORT/a.png", NOT_ALLOWED),
        ("http://127.0.0.1:PORT", "http://[::ffff:127.0.0.1]:PORT/a.png", NOT_ALLOWED),
        ("http://127.0.0.1:PORT", "http://0x7f000001:PORT/a.png", NOT_ALLOWED),
    ],
)
async def test_what_is_not_listed_is_guarded_as_before(
    tmp_path: Path, models_dir: Path, listed: str, url: str, reason: str
) -> None:
    async with world(tmp_path, models_dir, listed) as running:
        running.web.answers["/a.png"] = file(painted())
        (asset,), (sent,) = await running.show(url.replace("PORT", str(running.web.port)))
        assert (asset.included, asset.note) == (False, reason)
        assert sent == NOTED.format(1, reason)
        assert not running.web.requests


@pytest.mark.parametrize(
    "to", ["http://169.254.169.254/latest/meta-data/", "http://127.0.0.1:9/a.png", "https://10.0.0.1/a.png"]
)
async def test_a_listed_host_cannot_lead_on_to_another(private: World, to: str) -> None:
    private.web.answers["/a.png"] = redirect(to)
    (asset,), _ = await private.show(private.url("/a.png"))
    assert not asset.included
    assert asset.note in {NOT_ALLOWED, NOT_HTTPS}


async def test_an_image_that_is_too_large_for_the_model_is_scaled_down(private: World) -> None:
    large = painted("PNG", 1_700, 1_300)
    wide = written(Image.new("L", (9_000, 40), 200), "PNG")
    assert len(large) > 6_000_000
    private.web.answers |= {"/large.png": file(large), "/wide.png": file(wide)}
    assets, sent = await private.show(private.url("/large.png"), private.url("/wide.png"))
    for asset, blob, size in zip(assets, sent, ((1_700, 1_300), (9_000, 40)), strict=True):
        assert isinstance(blob, Blob)
        assert (asset.included, asset.media_type, blob.mime_type) == (True, "image/jpeg", "image/jpeg")
        assert asset.note.startswith(f"its {size[0]} x {size[1]} pixels were compressed")
        assert len(blob.data) < 4_000_000
        with Image.open(BytesIO(blob.data)) as shown:
            shown.load()
            assert max(shown.size) <= 8_000
            assert shown.width / shown.height == pytest.approx(size[0] / size[1], rel=0.03)


async def test_five_large_images_all_reach_the_model(private: World) -> None:
    for number in range(5):
        private.web.answers[f"/{number}.png"] = file(painted("PNG", 1_100, 1_000 + number))
    assets, sent = await private.show(*(private.url(f"/{number}.png") for number in range(5)))
    assert all(asset.included for asset in assets)
    assert sum(len(blob.data) for blob in sent if isinstance(blob, Blob)) <= 12 * 1024 * 1024
    assert len(sent) == 5


@pytest.mark.parametrize("label", ["image/png", "text/plain", "application/octet-stream"])
async def test_an_image_goes_by_its_bytes_whatever_its_name_and_label_say(private: World, label: str) -> None:
    photo = painted("JPEG")
    private.web.answers["/a.png"] = file(photo, label)
    (asset,), (sent,) = await private.show(private.url("/a.png"))
    assert isinstance(sent, Blob)
    assert (asset.media_type, sent.mime_type, sent.data) == ("image/jpeg", "image/jpeg", photo)


def broken_in_the_middle(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes(byte ^ 0x55 for byte in content[middle : middle + 40]) + content[middle + 40 :]


def half(content: bytes, end: bytes = b"") -> bytes:
    return content[: len(content) // 2] + end


@pytest.mark.parametrize(
    "content",
    [
        broken_in_the_middle(painted("PNG", 60, 60)),
        half(painted("PNG", 60, 60), painted("PNG")[-12:]),
        half(painted("JPEG", 60, 60)),
        half(painted("WEBP", 60, 60)),
        half(painted("WEBP", 60, 60, lossless=True)),
    ],
    ids=["png broken in the middle", "png cut, with an end", "jpeg cut", "webp cut", "lossless webp cut"],
)
async def test_a_damaged_image_is_noticed_and_noted_and_the_others_are_shown(private: World, content: bytes) -> None:
    private.web.answers |= {"/broken": file(content, ""), "/sound": file(painted("WEBP"), "image/webp")}
    assets, sent = await private.show(private.url("/broken"), private.url("/sound"))
    assert [(asset.included, asset.note) for asset in assets] == [(False, DAMAGED), (True, "")]
    assert sent[0] == NOTED.format(1, DAMAGED)
    assert isinstance(sent[1], Blob)


async def test_a_presigned_url_may_be_long_and_one_that_is_too_long_is_noted(private: World) -> None:
    long = f"/a.png?{SIGNATURE}&{'t' * 6_000}=1"
    private.web.answers[long] = file(painted())
    assets, sent = await private.show(private.url(long), private.url(f"/b.png?{'t' * 8_192}"))
    assert [asset.included for asset in assets] == [True, False]
    assert assets[1].note == "its address has more than 8,192 characters"
    assert isinstance(sent[0], Blob)


async def test_a_url_of_the_web_that_cannot_be_loaded_does_not_fail_the_message(private: World) -> None:
    private.web.answers["/a.png"] = file(painted())
    assets, _ = await private.show(private.url("/a.png"), "http://example.org/b.png", "https://ada:pass@example.org/c")
    assert [asset.included for asset in assets] == [True, False, False]
    assert [asset.name for asset in assets[1:]] == ["http://example.org/b.png", "https://example.org/c"]


async def test_what_is_no_url_at_all_is_refused_with_its_path(private: World) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await private.service.ask("Look", image_urls=[private.url("/a.png"), "C:\\a.png", "file:///etc/passwd"])
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "image_urls[1]" in str(refused.value.details())


SECRETS = ("5ecre7", "t0ken", "frag", "pa55")


@pytest.mark.parametrize("selected", ["url", "name", "none"])
async def test_signatures_of_urls_are_kept_and_shown_nowhere(
    private: World, tmp_path: Path, capfd: pytest.CaptureFixture[str], selected: str
) -> None:
    path = f"/a.png?{SIGNATURE}&token=t0ken#frag"
    private.web.answers[path.partition("#")[0]] = file(painted())
    lost = f"http://ann:pa55@127.0.0.1:{private.web.port}/lost.png?sig=5ecre7"
    assets = {"url": [private.url(path), lost], "name": [private.url("/a.png"), private.url("/lost.png")], "none": []}
    (shown, missing), _ = await private.show(
        private.url(path), lost, session_id="s1", request_id="r1", selected_assets=assets[selected]
    )
    assert (shown.included, shown.name) == (True, private.url("/a.png"))
    assert (missing.included, missing.name) == (False, private.url("/lost.png"))
    listed = await private.service.sessions.ListMessages(sessions_pb2.ListMessagesRequest(session_id="s1"))
    assert [message.request_context.assets[0].name for message in listed.messages if message.request_context.assets]
    preview = await private.service.sessions.PreviewRequestContext(
        sessions_pb2.PreviewRequestContextRequest(session_id="s1", message="Look", image_urls=[private.url(path)])
    )
    asked = str(private.gemini.asked)
    kept = b"".join(one.read_bytes() for one in (tmp_path / "data").rglob("*sqlite3*"))
    for secret in SECRETS:
        assert secret not in f"{listed} {preview} {asked}"
        assert secret.encode() not in kept
        assert secret not in "".join(capfd.readouterr())


async def test_only_the_selected_one_of_two_urls_that_differ_in_their_query_is_shown(private: World) -> None:
    for number in (1, 2):
        private.web.answers[f"/image?id={number}"] = file(painted("PNG", 8, number))
    urls = [private.url(f"/image?id={number}") for number in (1, 2)]
    assets, sent = await private.show(*urls, selected_assets=[urls[1]])
    assert [asset.included for asset in assets] == [False, True]
    assert isinstance(sent[1], Blob)
    assert sent[1].data == painted("PNG", 8, 2)


async def test_an_address_of_metadata_is_loaded_from_only_where_it_is_listed_itself(
    tmp_path: Path, models_dir: Path
) -> None:
    async with world(tmp_path, models_dir, "http://localhost:PORT", "10.0.0.7") as running:
        for host in ("169.254.169.254", "[fd00:ec2::254]", "100.100.100.200"):
            (asset,), _ = await running.show(f"https://{host}/a.png")
            assert (asset.included, asset.note) == (False, NOT_ALLOWED)
