"""Folders and patterns of stores, by the rule of paths."""

from __future__ import annotations

import errno
import glob
from collections.abc import Callable
from functools import partial

from lexmill._data.remote import seen
from lexmill._data.stores import info_of, is_web, store_of, tried
from lexmill.errors import FileError

__all__ = ["in_folder", "is_folder", "is_pattern", "matches"]


def is_folder(url: str) -> bool:
    """True if a URL stands for a folder; files of web servers have none."""
    if is_web(url) or glob.has_magic(url):
        return False
    try:
        info = info_of(url)
    except FileError as error:
        if error.errno == errno.ENOENT:
            return False
        raise
    if info["type"] == "directory":
        return True
    seen(url, info)
    return False


def is_pattern(url: str) -> bool:
    """True if a URL is a pattern; in an address of the web, a question mark begins a query."""
    return not is_web(url) and glob.has_magic(url)


def in_folder(url: str) -> list[str]:
    """The files of a folder and of its folders, as `lexmill._data.file_names.in_folder` gives them."""
    return sorted(
        (file for file, inner, is_dir in _listed(url, "find") if not is_dir and not any(map(_is_hidden, inner))),
        key=lambda file: file.split("/"),
    )


def matches(pattern: str, kind_of: Callable[[str], object]) -> dict[str, bool]:
    """Files and folders that match a pattern in the order of their names, each with True if it is a folder.

    `kind_of` gives the format that the name of a file says, or None. As elsewhere in patterns, names that begin with a
    dot have to be spelled, and so do names without data that begin with an underscore.
    """
    is_named = any(part.startswith("_") for part in pattern.split("/"))
    has_dots = any(part.startswith(".") for part in pattern.split("/"))

    def is_wanted(inner: list[str], *, is_dir: bool) -> bool:
        *folders, name = inner
        has_data = not is_dir and kind_of(name) is not None
        underscored = [part for part in (*folders, *([] if has_data else [name])) if part.startswith("_")]
        return (is_named or not underscored) and (has_dots or not any(part.startswith(".") for part in inner))

    if pattern.endswith("**/"):
        # Folders alone, the outermost one among them.
        return {}
    found = [match for match in _listed(pattern, "glob") if match[-1] or not pattern.endswith("/")]
    return dict(sorted((url, is_dir) for url, inner, is_dir in found if is_wanted(inner, is_dir=is_dir)))


def _listed(url: str, call: str) -> list[tuple[str, list[str], bool]]:
    """The list of a store: URLs, the parts of each after the folder of all, and True for folders."""
    store, path = store_of(url)
    folder, folder_path = url.rstrip("/"), path.rstrip("/")
    if call == "glob":
        # The folder before the first wildcard.
        folder = url[: len(url) - len(_after_fixed(url))].rstrip("/")
        folder_path = path[: len(path) - len(_after_fixed(path))].rstrip("/")
    answer = tried(url, partial(getattr(store, call), path, detail=True))
    found: list[tuple[str, list[str], bool]] = []
    for name, info in answer.items():
        is_dir, is_inside = info["type"] == "directory", name.startswith(folder_path)
        inner = name[len(folder_path) :].strip("/") if is_inside else name
        # A pattern of buckets begins in no folder.
        file = f"{folder}/{inner}" if is_inside and "://" in folder else store.unstrip_protocol(name)
        # Stores of objects keep empty ones with the names of folders.
        if not inner or (name.endswith("/") and not is_dir):
            continue
        if not is_dir:
            seen(file, info)
        found.append((file, inner.split("/"), is_dir))
    return found


def _after_fixed(pattern: str) -> str:
    """The end of a pattern from the first part with a wildcard on."""
    parts = pattern.split("/")
    first = next((number for number, part in enumerate(parts) if glob.has_magic(part)), len(parts))
    return "/".join(parts[first:])


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "_"))
