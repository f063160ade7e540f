"""Files of stores for libraries that read streams of Python."""

from __future__ import annotations

import io

from lexmill._data.remote import RemoteFile

__all__ = ["RemoteStream"]


class RemoteStream(io.RawIOBase):
    """A file of a store as a stream of bytes that can be read at any place.

    Attributes:
        size: bytes of the file.
    """

    def __init__(self, url: str) -> None:
        """Opens the file.

        Raises:
            FileError: there is no such file, or the store gives no answer.
        """
        self._file, self._at = RemoteFile(url), 0
        self.size = self._file.size

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True."""
        return True

    def tell(self) -> int:
        """The place of the next byte."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Sets the place of the next byte."""
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence]
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # any buffer, which io makes this one of
        """Fills the buffer, unless the file ends before; answers the number of bytes.

        Raises:
            FileError: the store does not give the bytes after all tries.
            FormatError: the file was modified.
        """
        filled = 0
        while filled < len(buffer) and self._at < self.size:
            start, block = self._file.block(self._at)
            found = memoryview(block)[self._at - start : self._at - start + len(buffer) - filled]
            buffer[filled : filled + len(found)] = found
            self._at += len(found)
            filled += len(found)
        return filled

    def check_unchanged(self) -> None:
        """Compares the file with its status when it was opened.

        Raises:
            FormatError: it has another size or version.
        """
        self._file.check_unchanged()
