"""A consumer of Arrow arrays by ctypes alone: reads the lists, structs and numbers that lexmill gives out."""

from __future__ import annotations

import ctypes
import itertools
from typing import Any

from arrow_producer import Array, Release, Schema

NUMBERS: dict[bytes, type[Any]] = {
    b"C": ctypes.c_uint8,
    b"S": ctypes.c_uint16,
    b"i": ctypes.c_int32,
    b"I": ctypes.c_uint32,
    b"l": ctypes.c_int64,
}

_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype = ctypes.c_void_p
_pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)


def _children(structure: Any, kind: Any) -> list[Any]:
    addresses = (
        (ctypes.c_void_p * structure.n_children).from_address(structure.children) if structure.n_children else []
    )
    return [kind.from_address(address) for address in addresses]


def _buffer(array: Any, at: int, kind: Any, length: int) -> list[Any]:
    assert array.offset == 0
    address = (ctypes.c_void_p * array.n_buffers).from_address(array.buffers)[at]
    return list((kind * length).from_address(address)) if length else []


def _read(schema: Any, array: Any) -> list[Any]:
    fields, parts = _children(schema, Schema), _children(array, Array)
    columns = [_read(field, part) for field, part in zip(fields, parts, strict=True)]
    if schema.format == b"+s":
        names = [field.name.decode() for field in fields]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    if schema.format == b"+L":
        splits = _buffer(array, 1, ctypes.c_int64, array.length + 1)
        return [columns[0][start:end] for start, end in itertools.pairwise(splits)]
    if schema.format.startswith(b"+w:"):
        width = int(schema.format[3:])
        return [columns[0][at * width : (at + 1) * width] for at in range(array.length)]
    return _buffer(array, 1, NUMBERS[schema.format], array.length)


def values(producer: Any) -> list[Any]:
    """The rows of an object with `__arrow_c_array__`; the last child is moved out and released after its parent."""
    schema_capsule, array_capsule = producer.__arrow_c_array__()
    schema = Schema.from_address(_pointer(schema_capsule, b"arrow_schema"))
    array = Array.from_address(_pointer(array_capsule, b"arrow_array"))
    del producer
    rows = _read(schema, array)
    address = (ctypes.c_void_p * array.n_children).from_address(array.children)[array.n_children - 1]
    child, place = Array(), Array.from_address(address)
    ctypes.memmove(ctypes.byref(child), address, ctypes.sizeof(Array))
    place.release = None
    before = _read(_children(schema, Schema)[-1], child)
    Release(array.release)(ctypes.addressof(array))
    assert _read(_children(schema, Schema)[-1], child) == before
    Release(child.release)(ctypes.addressof(child))
    return rows
