"""Loading a tokenizer for a command."""

from __future__ import annotations

from lexmill import Tokenizer
from lexmill.cli.files import STANDARD, check_inputs
from lexmill.cli.outcome import UsageError
from lexmill.errors import FormatError, VocabError

__all__ = ["load_tokenizer"]


def load_tokenizer(path: str) -> Tokenizer:
    """The tokenizer of a `tokenizer.json`.

    Raises:
        FileError: there is no such file, or it cannot be read.
        FormatError: it does not describe a tokenizer; the message begins with the file's name.
    """
    if path == STANDARD:
        message = f"the tokenizer must be a file, not stdin ({STANDARD})"
        raise UsageError(message)
    check_inputs([path])
    try:
        return Tokenizer.from_file(path)
    except (ValueError, VocabError) as error:
        message = str(error)
        raise FormatError(message if path in message else f"{path}: {message}") from None
