"""`Tokenizer`, which can be edited, and `CompiledTokenizer`, which cannot."""

from __future__ import annotations

from errno import ENOENT
from os import PathLike
from typing import final

import lexmill
from lexmill._compat import hub
from lexmill.errors import FileError, MissingFileError
from lexmill.v1._calls import Calls, checked
from lexmill.v1._engine import Engine
from lexmill.v1._limits import Padding, Truncation


@final
class CompiledTokenizer(Calls):
    """A tokenizer that does not change, as `Tokenizer.compile` gives it. Threads share it without a lock.

    Provisional: known from the notes of release candidate 4 alone.
    """

    __slots__ = ()


@final
class Tokenizer(Calls):
    """A tokenizer with padding and truncation that can be set. Copies are cheap and independent.

    Release candidate 3 encodes with this class, later ones with `CompiledTokenizer` alone; here both do, with equal
    results. Provisional until version 1.0.
    """

    __slots__ = ()

    @staticmethod
    def from_file(path: str | PathLike[str]) -> Tokenizer:
        """Reads a `tokenizer.json`.

        Args:
            path: the file.

        Raises:
            MissingFileError: there is no such file.
            FileError: the file cannot be read.
            FormatError: the file is malformed or has a component of an unknown type; the message gives the place.
        """
        try:
            return _tokenizer_of(lexmill.Tokenizer.from_file(path))
        except FileError as error:
            if error.errno != ENOENT:
                raise
            missing = MissingFileError(str(error))
            missing.errno, missing.strerror, missing.filename = error.errno, error.strerror, error.filename
            raise missing from None

    @staticmethod
    def from_pretrained(
        identifier: str,
        revision: str = "main",
        token: str | bool | None = None,
        *,
        cache_dir: str | PathLike[str] | None = None,
        force_download: bool = False,
        local_files_only: bool = False,
        subfolder: str | None = None,
    ) -> Tokenizer:
        """Reads the `tokenizer.json` of a repository of the Hugging Face Hub, or of a local folder.

        The package `huggingface_hub` downloads and caches it.

        Args:
            identifier: the repository, such as `gpt2`, or a local folder.
            revision: a branch, a tag or a commit of the repository.
            token: the access token for a private repository; True for the stored one, False for none.
            cache_dir: the folder of the cache.
            force_download: downloads the file even if it is in the cache.
            local_files_only: reads the cache alone.
            subfolder: the folder of the file in the repository.

        Raises:
            LexmillError: `huggingface_hub` is not installed.
        """
        path = hub.tokenizer_file(
            identifier,
            revision,
            token,
            cache_dir=cache_dir,
            force_download=force_download,
            local_files_only=local_files_only,
            subfolder=subfolder,
        )
        return Tokenizer.from_file(path)

    @staticmethod
    def from_str(json: str) -> Tokenizer:
        """Reads a `tokenizer.json` from text, such as `lexmill.Tokenizer.to_str` gives. Hugging Face has no such call.

        Args:
            json: the contents of the file.

        Raises:
            FormatError: as for `from_file`.
        """
        return _tokenizer_of(lexmill.Tokenizer.from_str(json))

    @staticmethod
    def from_buffer(buffer: bytes) -> Tokenizer:
        """Reads a `tokenizer.json` from bytes. Hugging Face has no such call.

        Args:
            buffer: the contents of the file.

        Raises:
            InvalidUtf8Error: the bytes are not UTF-8.
            FormatError: as for `from_file`.
        """
        return _tokenizer_of(lexmill.Tokenizer.from_buffer(buffer))

    @property
    def padding(self) -> Padding | None:
        """The padding of calls that leave `padding` out; None for none."""
        return self._padding

    @padding.setter
    def padding(self, padding: Padding | None) -> None:
        self._padding = checked("padding", padding, Padding)

    @property
    def truncation(self) -> Truncation | None:
        """The truncation of calls that leave `truncation` out; None for none."""
        return self._truncation

    @truncation.setter
    def truncation(self, truncation: Truncation | None) -> None:
        self._truncation = checked("truncation", truncation, Truncation)

    def compile(self) -> CompiledTokenizer:
        """A tokenizer as this one is now, which does not change. It shares all tables and costs nothing."""
        return CompiledTokenizer._of(self._engine, self._padding, self._truncation)


def _tokenizer_of(tokenizer: lexmill.Tokenizer) -> Tokenizer:
    """Takes over a tokenizer and its limits, without the stride: there are no overflowing encodings."""
    padding, truncation = tokenizer.padding, tokenizer.truncation
    if truncation is not None:
        del truncation["stride"]
    return Tokenizer._of(
        Engine(tokenizer),
        None if padding is None else Padding(**padding),
        None if truncation is None else Truncation(**truncation),
    )
