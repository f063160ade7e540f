"""Files from the Hugging Face Hub, through its own client, which is an optional dependency."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lexmill._data.optional import optional_module


def tokenizer_file(identifier: str, revision: str, token: str | bool | None, **options: Any) -> str:  # noqa: ANN401
    """The path of a repository's `tokenizer.json`, downloaded unless it is in the client's cache.

    `identifier` is a repository or a local folder. The client's settings hold: its cache, offline mode and endpoint.
    `options` are further arguments of the client's `hf_hub_download`, such as `cache_dir`.

    Raises:
        LexmillError: `huggingface_hub` is not installed.
        Exception: an error of the client, such as `RepositoryNotFoundError`.
    """
    folder = Path(identifier)
    if folder.is_dir():
        return str(folder / (options.get("subfolder") or "") / "tokenizer.json")
    message = "from_pretrained needs the package huggingface_hub: pip install 'lexmill[hub]'"
    hub = optional_module("huggingface_hub", message)
    return str(hub.hf_hub_download(identifier, "tokenizer.json", revision=revision, token=token, **options))
