"""An S3 and a web server of this machine; a proxy before the S3 makes its answers fail."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lexmill._data import remote
from object_server import ObjectServer, object_server

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.remote)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(remote, "_BLOCK", 1 << 16)
    monkeypatch.setattr(remote, "_PATIENCE", 1.0)


@pytest.fixture(scope="session")
def moto() -> Iterator[str]:
    """The address of an S3 without faults."""
    server = pytest.importorskip("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def s3(moto: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectServer]:
    """The proxy, to whose S3 `s3://` leads."""
    with object_server(moto) as proxy:
        settings = {
            "AWS_ENDPOINT_URL": proxy.address,
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        # Clients keep the address that they have first seen.
        pytest.importorskip("s3fs").S3FileSystem.clear_instance_cache()
        yield proxy


@pytest.fixture
def bucket(s3: ObjectServer) -> Any:
    """A file system with the bucket `bucket`, empty."""
    files = pytest.importorskip("s3fs").S3FileSystem(use_listings_cache=False, skip_instance_cache=True)
    if files.exists("bucket"):
        files.rm("bucket", recursive=True)
    files.mkdir("bucket")
    return files


@pytest.fixture
def web() -> Iterator[ObjectServer]:
    """A web server."""
    pytest.importorskip("aiohttp")
    with object_server() as server:
        yield server
