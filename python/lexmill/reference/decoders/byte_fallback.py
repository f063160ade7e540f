"""From tokens `<0xNN>` to the text that the bytes spell.

Neighbouring bytes are one text. Where they are not UTF-8, each of them becomes U+FFFD, the good ones too. A sign in
place of the first digit is allowed, as in Hugging Face.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

BYTE = re.compile(r"<0x([0-9A-Fa-f]{2}|\+[0-9A-Fa-f])>")


@dataclass(frozen=True)
class ByteFallback:
    """Reads runs of bytes; all other tokens stay.

    With `by_character` the characters before the first wrong byte of a run are kept, as in a stream.
    """

    by_character: bool = False

    def decode(self, tokens: list[str]) -> list[str]:
        """Returns a text for each run, or for each byte of a malformed one."""
        decoded: list[str] = []
        run = b""
        for token in tokens:
            match = BYTE.fullmatch(token)
            if match is not None:
                run += bytes([int(match[1], 16)])
                continue
            decoded += [*self._texts(run), token]
            run = b""
        return decoded + self._texts(run)

    def _texts(self, run: bytes) -> list[str]:
        try:
            return [run.decode("utf-8")] if run else []
        except UnicodeDecodeError as error:
            good = run[: error.start] if self.by_character else b""
            kept = [good.decode("utf-8")] if good else []
            return [*kept, *["\ufffd"] * (len(run) - len(good))]
