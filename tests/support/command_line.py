"""What the tests of the command line share."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import NamedTuple

TEXT = "the cat sat on the mat\n\nder Größe nach: 東京 🦀 e\u0301\r\nthe end, no newline"
COMMAND = [sys.executable, "-m", "lexmill"]


class Result(NamedTuple):
    code: int
    stdout: bytes
    stderr: str

    @property
    def outcome(self) -> dict[str, object]:
        found = json.loads(self.stdout)
        assert isinstance(found, dict)
        return found


Run = Callable[..., Result]
