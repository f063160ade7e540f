"""The stores of URLs, through fsspec, which is an optional dependency. A call that fails for a while is made again.

The library knows the protocols, the credentials and the settings of each store.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from lexmill.errors import FileError, LexmillError, RemotePathError

__all__ = ["file_error", "info_of", "is_web", "store_of", "tried"]

T = TypeVar("T")

_PAUSES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds between tries, after fsspec's own ones."""

_FINAL = (FileNotFoundError, IsADirectoryError, PermissionError, NotImplementedError, ImportError, LexmillError)
_NO_CREDENTIALS = frozenset(["DefaultCredentialsError", "NoCredentialsError", "PartialCredentialsError"])
"""Errors that come again however often one tries; some by their names, since their libraries may be absent."""


def store_of(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it.

    Raises:
        LexmillError: a package is not installed.
        RemotePathError: no store has such URLs.
    """
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        message = f"{url} needs the package fsspec: pip install 'lexmill[remote]'"
        raise LexmillError(message) from error
    try:
        # Lists that the library remembers would hide files that other programs write meanwhile.
        store, path = url_to_fs(url, use_listings_cache=False)
    except ImportError as error:
        message = f"{url} needs another package: {error}"
        raise LexmillError(message) from error
    except ValueError as error:
        message = f"{url} is not on this machine, and fsspec cannot read it: {error}"
        raise RemotePathError(message) from error
    return store, path


def is_web(url: str) -> bool:
    return url.partition("://")[0].lower() in ("http", "https")


def info_of(url: str) -> dict[str, Any]:
    store, path = store_of(url)
    return dict(tried(url, partial(store.info, path)))


def tried(url: str, call: Callable[[], T], action: str = "read") -> T:
    """The answer of a store, which is asked again if it fails for a while.

    Args:
        url: the file.
        call: asks the store.
        action: the call in a word, for messages: `read`, `write` or `remove`.

    Raises:
        FileError: there is no such file, the store refuses it, or fails each time.
    """
    pauses = iter(_PAUSES)
    while True:
        try:
            return call()
        except LexmillError:
            raise
        except Exception as error:
            cause = _cause(url, error)
            if _is_final(cause):
                raise _refused(url, cause, action) from error
            if (pause := next(pauses, None)) is None:
                message = f"cannot {action} {url}: {len(_PAUSES) + 1} tries failed, the last one by {_described(cause)}"
                raise file_error(message, getattr(cause, "errno", None) or errno.EIO, url) from error
            time.sleep(pause)


def _cause(url: str, error: Exception) -> Exception:
    """The error itself; for a file of the web, the error that the client takes for a missing file."""
    cause = error.__cause__ if is_web(url) and isinstance(error, FileNotFoundError) else None
    return cause if isinstance(cause, Exception) else error


def _code(error: Exception) -> int:
    """The status of the answer that an error tells; 0 if it tells none."""
    response = getattr(error, "response", None)
    # One after the other: some clients warn of a name that another one has.
    found = (getattr(one, name, None) for one, name in ((error, "status"), (response, "status_code"), (error, "code")))
    return next((code for code in found if isinstance(code, int)), 0)


def _is_final(error: Exception) -> bool:
    """True for an error that comes again however often one tries."""
    # Other such answers are to a request that came too late, too early or too often.
    is_refused = 400 <= _code(error) < 500 and _code(error) not in (408, 425, 429)
    return isinstance(error, _FINAL) or is_refused or type(error).__name__ in _NO_CREDENTIALS


def _refused(url: str, error: Exception, action: str) -> FileError:
    is_missing = isinstance(error, FileNotFoundError) or _code(error) in (404, 410)
    number = errno.ENOENT if is_missing else getattr(error, "errno", None)
    verb = "open" if action == "read" else action
    return file_error(f"cannot {verb} {url}: {os.strerror(number) if number else error}", number, url)


def _described(error: Exception) -> str:
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def file_error(message: str, number: int | None, url: str) -> FileError:
    """An error that carries `errno`, `strerror` and `filename`, and says the whole sentence."""
    error = FileError(message)
    error.errno, error.filename = number, url
    error.strerror = os.strerror(number) if number else message
    return error
