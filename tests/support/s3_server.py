"""An S3 store on loopback, in a process of its own: `python -m tests.support.s3_server` writes its port, and ends with
its standard input."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import uuid4

import httpx
import obstore
from obstore.store import S3Store

PREFIX = "uploaded/files"


@dataclass(frozen=True)
class Bucket:
    """A bucket that holds nothing yet."""

    port: int
    name: str

    @classmethod
    def new(cls, port: int) -> "Bucket":
        bucket = cls(port, f"bucket-{uuid4().hex}")
        bucket._call("PUT")
        return bucket

    @property
    def url(self) -> str:
        """What PROVISO_STORAGE__BLOB_URL is set to."""
        return f"s3://{self.name}/{PREFIX}"

    @property
    def store(self) -> S3Store:
        """All that is in the bucket, not only under the prefix."""
        return S3Store(self.name, endpoint=f"http://127.0.0.1:{self.port}")

    def objects(self) -> list[str]:
        return sorted(found["path"] for objects in obstore.list(self.store) for found in objects)

    def unfinished_uploads(self) -> int:
        """How many uploads in parts were neither completed nor given up."""
        return self._call("GET", "?uploads").count("<Upload>")

    def _call(self, method: str, query: str = "") -> str:
        answer = httpx.request(method, f"http://127.0.0.1:{self.port}/{self.name}{query}")
        return answer.raise_for_status().text


def environment(port: int) -> dict[str, str]:
    """The variables of AWS that lead to the store at a port."""
    return {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ALLOW_HTTP": "true",
        "AWS_REGION": "eu-central-1",
        "AWS_ACCESS_KEY_ID": "the-access-key",
        "AWS_SECRET_ACCESS_KEY": "the-secret-key",
    }


@contextmanager
def s3_server() -> Iterator[int]:
    """Yields the port of the store."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.s3_server"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with process:
        assert process.stdout is not None
        yield int(process.stdout.readline())


def _main() -> None:
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    sys.stdout.write(f"{server.get_host_and_port()[1]}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    _main()
