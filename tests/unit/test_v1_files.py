"""`lexmill.v1.Tokenizer` from files, from text, and from the Hub."""

from __future__ import annotations

import errno
import json
import pickle
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lexmill.errors import FileError, FormatError, InputTypeError, InvalidUtf8Error, MissingFileError
from lexmill.v1 import Padding, Tokenizer, Truncation
from v1_small import plain


def test_limits_of_a_file_become_values(tmp_path: Path) -> None:
    other = plain()
    other.enable_truncation(5, stride=2, strategy="only_first", direction="left")
    other.enable_padding(direction="left", pad_id=2, pad_type_id=1, pad_token="[p]", length=7, pad_to_multiple_of=4)
    other.save(str(tmp_path / "tokenizer.json"))
    for own in (Tokenizer.from_file(tmp_path / "tokenizer.json"), Tokenizer.from_buffer(other.to_str().encode())):
        assert own.truncation == Truncation(5, "only_first", "left")
        assert own.padding == Padding("left", 2, 1, "[p]", 7, 4)
        assert own.encode("a b c d").ids == other.encode("a b c d").ids
        own.padding = own.truncation = None
        assert own.encode("a b c d").ids == [0, 4, 5, 6, 7, 1]


def test_files_that_cannot_be_read_are_errors(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="No such file") as raised:
        Tokenizer.from_file(str(tmp_path / "none.json"))
    assert isinstance(raised.value, FileNotFoundError)
    assert (raised.value.errno, raised.value.filename) == (errno.ENOENT, str(tmp_path / "none.json"))
    with pytest.raises(FileError) as other:
        Tokenizer.from_file(tmp_path)
    assert not isinstance(other.value, FileNotFoundError)
    with pytest.raises(InputTypeError):
        Tokenizer.from_file(5)  # type: ignore[arg-type]
    for broken in ("", '{"a":', "[]", json.dumps({"version": "1.0"})):
        (tmp_path / "broken.json").write_text(broken)
        for call, argument in (
            (Tokenizer.from_file, tmp_path / "broken.json"),
            (Tokenizer.from_str, broken),
            (Tokenizer.from_buffer, broken.encode()),
        ):
            with pytest.raises(FormatError):
                call(argument)  # type: ignore[operator]
    with pytest.raises(InvalidUtf8Error):
        Tokenizer.from_buffer(b'{"a\xff"')


def test_the_client_of_the_hub_gets_all_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    plain().save(str(tmp_path / "tokenizer.json"))
    hub = ModuleType("huggingface_hub")

    def download(*arguments: Any, **options: Any) -> str:
        asked.append((arguments, options))
        return str(tmp_path / "tokenizer.json")

    hub.hf_hub_download = download  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    options: Any = {"cache_dir": "c", "force_download": True, "local_files_only": True, "subfolder": "s"}
    own = Tokenizer.from_pretrained("some/where", "v2", False, **options)
    assert own.encode("a").ids == [0, 4, 1]
    assert asked == [(("some/where", "tokenizer.json"), {"revision": "v2", "token": False, **options})]
    assert Tokenizer.from_pretrained(str(tmp_path)).encode("a").ids == [0, 4, 1]
    assert Tokenizer.from_pretrained(str(tmp_path.parent), subfolder=tmp_path.name).encode("a").ids == [0, 4, 1]
    assert len(asked) == 1


def test_roles_of_a_file_are_kept_by_pickles_and_compiling() -> None:
    other = plain()
    other.role_to_token = {"bos_token": "a"}
    own = Tokenizer.from_str(other.to_str(version="2.0"))
    for same in (own, own.compile(), pickle.loads(pickle.dumps(own))):
        assert same.role_to_token == {"bos_token": "a"}
    assert own.encode("a b").ids == other.encode("a b").ids
