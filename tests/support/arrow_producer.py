"""A producer of Arrow columns by ctypes alone, which may be told to lie in every field."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from typing import Any

Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
Fill = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
LastError = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


class Schema(ctypes.Structure):
    _fields_ = (
        ("format", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("metadata", ctypes.c_char_p),
        ("flags", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("children", ctypes.c_void_p),
        ("dictionary", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    )


class Array(ctypes.Structure):
    _fields_ = (
        ("length", ctypes.c_int64),
        ("null_count", ctypes.c_int64),
        ("offset", ctypes.c_int64),
        ("n_buffers", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("buffers", ctypes.c_void_p),
        ("children", ctypes.c_void_p),
        ("dictionary", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    )


class Stream(ctypes.Structure):
    _fields_ = (
        ("get_schema", ctypes.c_void_p),
        ("get_next", ctypes.c_void_p),
        ("get_last_error", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    )


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


class Producer:
    """What all objects below keep alive, and how often something of theirs was released."""

    def __init__(self, format: str, /, **lies: Any) -> None:
        self.format, self.lies = format, lies
        self.released: list[str] = []
        self.kept: list[Any] = []

    def callback(self, kind: Callable[[Any], Any], function: Callable[..., Any]) -> int | None:
        made = kind(function)
        self.kept.append(made)
        return ctypes.cast(made, ctypes.c_void_p).value

    def release(self, structure: type[Any], name: str) -> int | None:
        def release(address: int) -> None:
            self.released.append(name)
            structure.from_address(address).release = None

        return self.callback(Release, release)

    def buffer(self, content: bytes | None) -> int:
        if content is None:
            return 0
        made = ctypes.create_string_buffer(content, max(len(content), 1))
        self.kept.append(made)
        return ctypes.addressof(made)

    def schema(self) -> Schema:
        made = Schema(format=self.format.encode(), name=b"", release=self.release(Schema, "schema"))
        self.kept.append(made)
        if "format" in self.lies:
            made.format = self.lies["format"]
        if "dictionary" in self.lies:
            values = Schema(format=self.lies["dictionary"], name=b"", release=self.release(Schema, "values"))
            self.kept.append(values)
            made.dictionary = ctypes.addressof(values)
        return made

    def array(self, length: int, buffers: Sequence[bytes | None]) -> Array:
        pointers = (ctypes.c_void_p * len(buffers))(*map(self.buffer, buffers))
        self.kept.append(pointers)
        # -1: nobody has counted the nulls.
        made = Array(length=length, null_count=-1, n_buffers=len(buffers), buffers=ctypes.addressof(pointers))
        made.release = self.release(Array, "array")
        for name, value in self.lies.items():
            if name in dict(Array._fields_) and name != "dictionary":
                setattr(made, name, value)
        return made

    def capsule(self, structure: Any, name: bytes) -> Any:
        self.kept += [structure, name]
        return _new_capsule(ctypes.addressof(structure), name, None)


class ArrayColumn(Producer):
    """An object with `__arrow_c_array__`; `lies` are fields that are not what they should be."""

    def __init__(self, format: str, length: int, buffers: Sequence[bytes | None], /, **lies: Any) -> None:
        super().__init__(format, **lies)
        self.made = self.array(length, buffers)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]:
        names = self.lies.get("names", (b"arrow_schema", b"arrow_array"))
        return self.capsule(self.schema(), names[0]), self.capsule(self.made, names[1])


class StreamColumn(Producer):
    """An object with `__arrow_c_stream__`: arrays of `(length, buffers)`, then an error if one is given."""

    def __init__(
        self, format: str, arrays: Sequence[tuple[int, Sequence[bytes | None]]], error: bytes | None = None
    ) -> None:
        super().__init__(format)
        self.arrays, self.error = list(arrays), error

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        def get_schema(stream: int, out: int) -> int:
            ctypes.memmove(out, ctypes.addressof(self.schema()), ctypes.sizeof(Schema))
            return 0

        def get_next(stream: int, out: int) -> int:
            if not self.arrays and self.error is not None:
                return 5
            array = self.array(*self.arrays.pop(0)) if self.arrays else Array()
            ctypes.memmove(out, ctypes.addressof(array), ctypes.sizeof(Array))
            return 0

        made = Stream(
            get_schema=self.callback(Fill, get_schema),
            get_next=self.callback(Fill, get_next),
            get_last_error=self.callback(LastError, lambda stream: self.buffer(self.error) if self.error else None),
            release=self.release(Stream, "stream"),
        )
        return self.capsule(made, b"arrow_array_stream")


def offsets(*values: int, size: int = 4) -> bytes:
    """A buffer of offsets of `size` bytes each."""
    return struct.pack(f"{len(values)}{'i' if size == 4 else 'q'}", *values)


def inline_view(text: bytes) -> bytes:
    """A view that holds its text."""
    return struct.pack("i12s", len(text), text)


def distant_view(length: int, buffer: int, offset: int, prefix: bytes = b"....") -> bytes:
    """A view into a data buffer, with the first four bytes of its text."""
    return struct.pack("i4sii", length, prefix, buffer, offset)
