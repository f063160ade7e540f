"""The package's exceptions: one base class, each subclass also deriving from the builtin that callers expect."""

from __future__ import annotations

__all__ = [
    "ByteTokenWarning",
    "CorpusWarning",
    "DoubledTokenWarning",
    "DroppedRowsWarning",
    "EmptyCorpusError",
    "EmptyCorpusWarning",
    "FileError",
    "FormatError",
    "IdRangeError",
    "InputTypeError",
    "InvalidUtf8Error",
    "LengthLimitWarning",
    "LexmillError",
    "LostStateWarning",
    "MissingFileError",
    "NoLossWarning",
    "OptionError",
    "OptionRangeError",
    "OutputError",
    "RegexError",
    "RemotePathError",
    "RepeatedInputWarning",
    "SkippedRecordsWarning",
    "SpanError",
    "TemplateError",
    "TextTooLongError",
    "TruncationWarning",
    "VocabError",
]


class LexmillError(Exception):
    """Base of every exception that the package raises on purpose."""


class FileError(LexmillError, OSError):
    """Raised when a file cannot be opened, read, written or renamed."""

    def __str__(self) -> str:
        """The whole sentence, which OSError would replace by `[Errno 2]` as soon as `errno` is set."""
        return str(self.args[0]) if len(self.args) == 1 else super().__str__()


class MissingFileError(FileError, FileNotFoundError):
    """Raised by `lexmill.v1` when there is no such file."""


class InvalidUtf8Error(LexmillError, ValueError):
    """Raised when bytes that must be UTF-8 are not."""


class EmptyCorpusError(LexmillError, ValueError):
    """Raised when a corpus to train on holds no words."""


class OptionError(LexmillError, ValueError):
    """Raised when an option is outside its range, as a `vocab_size` below the initial alphabet."""


class OptionRangeError(OptionError, OverflowError):
    """Raised when a number is negative but must not be."""


class FormatError(LexmillError, ValueError):
    """Raised when a file is malformed or names a component type that this version does not know."""


class OutputError(LexmillError, OSError):
    """Raised when a folder of token files cannot be used: it holds something else, or another process writes."""


class RemotePathError(FileError, OptionError):
    """Raised when a path is a URL, such as `s3://bucket/key`, but must be local, or no store has such URLs.

    Texts and token files may have URLs.
    """


class RegexError(LexmillError, ValueError):
    """Raised when a regular expression does not compile, or when a search takes too many steps."""


class VocabError(LexmillError, KeyError):
    """Raised when a token or an id that must be in the vocabulary is not."""

    # KeyError shows the repr of its argument, which would put the message in quotes.
    __str__ = Exception.__str__


class InputTypeError(LexmillError, TypeError):
    """Raised when an argument has a type that the call does not accept."""


class IdRangeError(LexmillError, OverflowError):
    """Raised when an id does not fit the 32 bits of an id or the integer type asked for."""


class TemplateError(LexmillError, ValueError):
    """Raised when a chat template does not compile, fails, or refuses a conversation by `raise_exception`."""


class SpanError(LexmillError, ValueError):
    """Raised when the text of a message cannot be followed through a chat template."""


class TextTooLongError(LexmillError, OverflowError):
    """Raised when a text is too long for 32-bit offsets, or stages lengthen it beyond the limit."""


class LostStateWarning(UserWarning):
    """Warns of a saved file without a setting of the tokenizer: `encode_special_tokens` or `role_to_token`."""


class ByteTokenWarning(UserWarning):
    """Warns of an added token that a `ByteLevel` decoder reads as the bytes of the model's token with the same id."""


class CorpusWarning(UserWarning):
    """Base of warnings about corpora and options with effects that their users may not intend."""


class SkippedRecordsWarning(CorpusWarning):
    """Warns of records that a source has left out, with their number and the first ten.

    Attributes:
        records: their number.
    """

    def __init__(self, message: str = "", records: int = 0) -> None:
        """Keeps the number."""
        super().__init__(message)
        self.records = records


class EmptyCorpusWarning(CorpusWarning):
    """Warns of token files without a token, with the inputs and the records and documents left out of them."""


class NoLossWarning(CorpusWarning):
    """Warns of conversations none of which has a token to learn, so that the loss is zero."""


class RepeatedInputWarning(CorpusWarning):
    """Warns of a file that is given more than once: by a folder or a pattern, under another name, or by a link."""


class DoubledTokenWarning(CorpusWarning):
    """Warns of a token that both an option and the post-processor put between two documents."""


class DroppedRowsWarning(CorpusWarning):
    """Warns of a corpus, or a split of it, that is shorter than one packed row, so that all its tokens are left out."""


class LengthLimitWarning(CorpusWarning):
    """Warns of counts, or of written ids, of texts that the tokenizer has truncated or padded."""


class TruncationWarning(CorpusWarning):
    """Warns of a `max_length` that special tokens alone exceed, so that nothing is truncated."""
