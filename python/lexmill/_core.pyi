from asyncio import Future
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Protocol, TypeAlias, final, overload

import numpy as np
import numpy.typing as npt

from lexmill import decoders as decoders
from lexmill import models as models
from lexmill import normalizers as normalizers
from lexmill import pre_tokenizers as pre_tokenizers
from lexmill import processors as processors
from lexmill import trainers as trainers
from lexmill._data.mixtures import DomainTokens, Weight
from lexmill._data.stored_run import StoredRun
from lexmill._data.write_tokens import FedBlock
from lexmill._types import OnProgress
from lexmill.decoders import Decoder
from lexmill.models import Model
from lexmill.normalizers import Normalizer
from lexmill.pre_tokenizers import PreTokenizer
from lexmill.processors import PostProcessor
from lexmill.sources import Source
from lexmill.trainers import SuperwordOptions, Trainer

_Path: TypeAlias = str | PathLike[str]
_Ids: TypeAlias = Sequence[int] | npt.NDArray[np.integer[Any]]
_Words: TypeAlias = list[str] | tuple[str, ...] | npt.NDArray[np.str_]
_Input: TypeAlias = str | _Words | tuple[str, str] | tuple[_Words, _Words]

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

_Column: TypeAlias = _ArrowArray | _ArrowStream
_Texts: TypeAlias = Iterable[str] | Iterable[bytes] | npt.NDArray[np.str_ | np.bytes_ | np.object_] | _Column
_Side: TypeAlias = Literal["left", "right"]
_Utf8Errors: TypeAlias = Literal["strict", "replace"]
_SpanEnd: TypeAlias = Literal["token", "sentence", "paragraph"]
_Truncation: TypeAlias = Literal["longest_first", "only_first", "only_second", "do_not_truncate"]
_Padding: TypeAlias = Literal["longest", "max_length", "do_not_pad"]

__all__ = [
    "LONGEST_ROW",
    "AddedToken",
    "CountedWords",
    "Encoding",
    "FileSource",
    "NormalizedString",
    "PreTokenizedString",
    "Regex",
    "Session",
    "TextBlock",
    "TextIterator",
    "Token",
    "TokenArrays",
    "Tokenizer",
    "WordCounts",
    "__version__",
    "array_record_rows",
    "arrow_stream_batches",
    "binary_start",
    "continue_training_words",
    "decoders",
    "extend_bpe_words",
    "input_path",
    "is_same_version",
    "is_url",
    "local_path",
    "merge_token_files",
    "models",
    "normalizers",
    "parquet_token_group",
    "parquet_token_groups",
    "pre_tokenizers",
    "processors",
    "read_token_manifest",
    "resident_bytes",
    "script_codes",
    "script_ranges",
    "special_affixes",
    "tar_token_rows",
    "tokenize_files",
    "train_bpe_words",
    "train_parity_bpe_words",
    "train_unigram_words",
    "train_wordlevel_words",
    "train_wordpiece_words",
    "trainers",
    "word_scripts",
    "write_row_index",
    "write_token_manifest",
]

LONGEST_ROW: int
"""Tokens of a packed row at most."""
__version__: str

def resident_bytes() -> int | None:
    """Bytes of the process that lie in memory; None where the system does not tell."""

def binary_start(start: bytes) -> str | None:
    """The kind of a file that begins with these bytes, as the end of a sentence; None if they may be text."""

def input_path(path: _Path) -> str:
    """The path itself, which may be a URL."""

def is_same_version(then: str | None, now: str | None) -> bool:
    """True if no mark tells two versions of a file apart, each a list such as `etag abc; modified 1795790400`."""

def is_url(path: _Path) -> bool:
    """True if a path is a URL such as `s3://bucket/key`."""

def local_path(path: _Path) -> str:
    """The path itself, unless it is a URL."""

def script_codes() -> dict[str, str]:
    """The name of each script by its code of ISO 15924, such as `Latn`."""

def script_ranges() -> list[tuple[int, int, str]]:
    """First and last code point and the name of their script, for all characters, ascending and without gaps."""

def word_scripts(texts: Iterable[str], classes: npt.NDArray[np.uint8]) -> dict[str, npt.NDArray[Any]]:
    """The words of texts and their scripts; the attributes of `lexmill.reports.scripts.BlockScripts` by name.

    Args:
        texts: the texts.
        classes: by code point, the number of its script, 0 for none and 1 for white space; `uint8`.
    """

def tokenize_files(
    tokenizer: Tokenizer,
    sources: Sequence[FileSource],
    folder: _Path,
    *,
    format: str,
    preset: str | None,
    begin_id: int | None,
    end_id: int | None,
    add_special_tokens: bool,
    pack: int | None,
    packing: str,
    pad_id: int | None,
    pack_columns: Sequence[str],
    validation: float,
    seed: int,
    shuffle: bool,
    part_bytes: int,
    signed: bool,
    columns: Sequence[tuple[str, str | None]],
    offsets: bool,
    join: bool,
    messages: tuple[str, str, Callable[[int, int], Iterator[FedBlock]]] | None,
    existing: str,
    store: StoredRun | None,
    num_threads: int | None,
    on_progress: OnProgress | None,
) -> None:
    """Tokenizes the records of sources to the files of a folder; see `lexmill.tokenize_files`."""

def merge_token_files(
    folders: Sequence[_Path],
    out: _Path,
    *,
    overwrite: bool,
    on_progress: OnProgress | None,
) -> None:
    """Joins the Megatron files of finished runs to one pair of files in a folder; see `lexmill.merge_token_files`."""

def write_row_index(
    lengths: npt.NDArray[np.uint32],
    folder: _Path,
    *,
    length: int,
    packing: str,
    seed: int | None,
    manifest: str,
    on_progress: OnProgress | None,
) -> None:
    """Writes the index of rows of one length over documents of these lengths to a folder, and completes its manifest, a
    JSON object; see `lexmill.pack_tokens`.
    """

def read_token_manifest(folder: _Path) -> str | None:
    """The manifest of a folder of token files as JSON, if there is one."""

def write_token_manifest(folder: _Path, manifest: str) -> None:
    """Puts a manifest, as JSON, into a folder of token files, in place of the one before."""

def special_affixes(tokenizer: Tokenizer) -> tuple[list[int], list[int]] | None:
    """The special ids that the post-processor puts before and after each text; None if it does more than that."""

def arrow_stream_batches(path: _Path, column: str) -> tuple[int, list[tuple[int, int, int]]]:
    """The bits of the integers in a column of lists of an Arrow stream, and where its record batches lie: for each its
    number of rows, and the bytes of the file at which offsets and values of the column begin. The columns before it
    must have lists of integers, too.
    """

def parquet_token_groups(path: _Path, column: str) -> list[tuple[int, int]]:
    """For each row group of a Parquet file of token files its number of rows, and of values in a column of lists."""

def parquet_token_group(path: _Path, group: int, column: str) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """The values of a column of lists in a row group of Parquet token files, end to end, and the places where its rows
    begin and end. Values beyond 31 bits are negative.
    """

def tar_token_rows(path: _Path, dtype: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The position and the size in bytes of the ids of each row, in a tar file of arrays of the type `dtype`."""

def array_record_rows(path: _Path) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The position and the size in bytes of each record of an `ArrayRecord` file. A block header of 24 bytes interrupts
    records at every multiple of 64 KiB.
    """

def train_bpe_words(
    words: Sequence[tuple[str, int]], *, num_threads: int | None = None, byte_level: bool = False, **options: object
) -> tuple[list[str], list[tuple[str, str]]]:
    """Trains byte-pair merges on counted words; further arguments go to `BpeTrainer`.

    The words are taken as they are, first seen first.
    """

def extend_bpe_words(
    words: Sequence[tuple[str, int]],
    vocab: Sequence[tuple[str, int]],
    merges: Sequence[tuple[str, str]],
    *,
    ignore_merges: bool = False,
    first_id: int = 0,
    max_words: int | None = None,
    num_threads: int | None = None,
    **options: object,
) -> tuple[list[tuple[str, int]], list[tuple[str, str]]]:
    """Trains byte-pair merges after the merges of a model, on counted words; further arguments go to `BpeTrainer`.

    Returns the tokens of the model with their ids, and its merges.
    """

def continue_training_words(
    model: Model,
    words: Sequence[tuple[str, int]],
    trainer: Trainer,
    *,
    added: Sequence[tuple[str, int]] | None = None,
    replace: int | None = None,
    num_threads: int | None = None,
) -> tuple[Model, dict[int, str]]:
    """Learns further tokens for `model` from counted words, and returns the model with them, and the replaced tokens by
    id; `added` are added tokens with their ids.

    The words are taken as they are, first seen first.
    """

def train_parity_bpe_words(
    corpora: Sequence[Sequence[tuple[str, int]]],
    dev: Sequence[Sequence[tuple[str, int]]] | None = None,
    *,
    num_threads: int | None = None,
    **options: object,
) -> tuple[list[str], list[tuple[str, str]]]:
    """Trains byte-pair merges on the counted words of several languages; further arguments go to `ParityBpeTrainer`."""

def train_unigram_words(
    words: Sequence[tuple[str, int]], *, num_threads: int | None = None, byte_level: bool = False, **options: object
) -> tuple[list[tuple[str, float]], int | None]:
    """Trains a unigram model on counted words; further arguments go to `UnigramTrainer`.

    The words are taken as they are, first seen first.
    """

def train_wordlevel_words(words: Sequence[tuple[str, int]], **options: object) -> list[str]:
    """Trains word-level models on counted words; further arguments go to `WordLevelTrainer`."""

def train_wordpiece_words(
    words: Sequence[tuple[str, int]], *, num_threads: int | None = None, byte_level: bool = False, **options: object
) -> tuple[list[str], list[tuple[str, str]]]:
    """Trains `WordPiece` on counted words; further arguments go to `WordPieceTrainer`.

    The words are taken as they are, first seen first.
    """

@final
class AddedToken:
    """A token that is cut out of the text before any other stage sees it.

    Args:
        content: the text of the token.
        single_word: is found only between characters that belong to no word.
        lstrip: takes the white space before it.
        rstrip: takes the white space after it.
        normalized: is looked for in normalized text; None is the opposite of `special`.
        special: is left out when decoding with `skip_special_tokens`.
    """
    def __new__(
        cls,
        content: str | None = None,
        *,
        single_word: bool = False,
        lstrip: bool = False,
        rstrip: bool = False,
        normalized: bool | None = None,
        special: bool = False,
    ) -> AddedToken: ...
    @property
    def content(self) -> str: ...
    @content.setter
    def content(self, content: str) -> None: ...
    @property
    def single_word(self) -> bool: ...
    @property
    def lstrip(self) -> bool: ...
    @property
    def rstrip(self) -> bool: ...
    @property
    def normalized(self) -> bool: ...
    @property
    def special(self) -> bool: ...
    @special.setter
    def special(self, special: bool) -> None: ...
    def __getstate__(self) -> dict[str, str | bool]: ...
    def __setstate__(self, state: dict[str, str | bool]) -> None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __lt__(self, other: AddedToken, /) -> bool: ...
    def __le__(self, other: AddedToken, /) -> bool: ...
    def __gt__(self, other: AddedToken, /) -> bool: ...
    def __ge__(self, other: AddedToken, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Regex:
    """A regular expression in Oniguruma's syntax, as `tokenizer.json` files hold them.

    Args:
        s: the expression.

    Raises:
        RegexError: it does not compile.
    """
    def __new__(cls, s: str) -> Regex: ...
    def __getnewargs__(self) -> tuple[str]: ...

_Chars: TypeAlias = int | tuple[int, int] | slice
_Behavior: TypeAlias = Literal["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
_Split: TypeAlias = tuple[str, tuple[int, int], list[Token] | None]

@final
class NormalizedString:
    """A text that is changed step by step and keeps its original: every character of `normalized` stands for characters
    of `original`.

    Args:
        sequence: the text.
    """
    def __new__(cls, sequence: str) -> NormalizedString: ...
    @property
    def normalized(self) -> str:
        """The text after all changes."""
    @property
    def original(self) -> str:
        """The text before all changes."""
    def nfd(self) -> None:
        """Canonical decomposition."""
    def nfkd(self) -> None:
        """Compatibility decomposition."""
    def nfc(self) -> None:
        """Canonical composition."""
    def nfkc(self) -> None:
        """Compatibility composition."""
    def lowercase(self) -> None:
        """Puts each character in lower case."""
    def uppercase(self) -> None:
        """Puts each character in upper case."""
    def prepend(self, s: str) -> None:
        """Puts a text before the first character."""
    def append(self, s: str) -> None:
        """Puts a text after the last character."""
    def lstrip(self) -> None:
        """Takes white space off the beginning."""
    def rstrip(self) -> None:
        """Takes white space off the end."""
    def strip(self) -> None:
        """Takes white space off both ends."""
    def clear(self) -> None:
        """Takes all text away."""
    def replace(self, pattern: str | Regex, content: str) -> None:
        """Puts `content` in place of every match of a text or a regular expression. An empty text is found nowhere.

        Raises:
            RegexError: a search in the text takes too many steps.
        """
    def filter(self, func: Callable[[str], bool]) -> None:
        """Keeps the characters for which `func(character)` is True."""
    def map(self, func: Callable[[str], str]) -> None:
        """Puts the character that `func(character)` returns in the place of each character."""
    def for_each(self, func: Callable[[str], object]) -> None:
        """Calls `func(character)` for each character."""
    def split(self, pattern: str | Regex, behavior: _Behavior) -> list[NormalizedString]:
        """Cuts the text at the matches of a text or a regular expression; `behavior` is one of `removed`, `isolated`,
        `merged_with_previous`, `merged_with_next` and `contiguous`.

        Raises:
            ValueError: another behavior.
            RegexError: a search in the text takes too many steps.
        """
    def slice(self, range: _Chars) -> NormalizedString | None:
        """The part of the text at some characters: an index, a pair of indices or a slice. None if they begin after the
        end.

        Negative indices count from the end in bytes, as in Hugging Face.
        """
    def __getitem__(self, range: _Chars, /) -> NormalizedString | None: ...

@final
class PreTokenizedString:
    """A text cut into splits, which get their tokens one by one.

    Args:
        s: the text, at first one split.
    """
    def __new__(cls, s: str) -> PreTokenizedString: ...
    def split(self, func: Callable[[int, NormalizedString], Sequence[NormalizedString]]) -> None:
        """Puts the `NormalizedString` objects that `func(index, split)` returns in the place of each split without
        tokens.
        """
    def normalize(self, func: Callable[[NormalizedString], object]) -> None:
        """Calls `func(split)` with the `NormalizedString` of each split without tokens, which `func` may change."""
    def tokenize(self, func: Callable[[str], list[Token]]) -> None:
        """Gives each split without tokens the list of `Token` objects that `func(text)` returns for its text."""
    def get_splits(
        self,
        offset_referential: Literal["original", "normalized"] = "original",
        offset_type: Literal["char", "byte"] = "char",
    ) -> list[_Split]:
        """The splits: text, offsets and tokens of each. `offset_referential` is `original` or `normalized`,
        `offset_type` is `char` or `byte`.

        Raises:
            ValueError: another name.
        """
    def to_encoding(self, type_id: int = 0, word_idx: int | None = None) -> Encoding:
        """An encoding of the tokens. Each split is a word, or all are word `word_idx`.

        Raises:
            LexmillError: a split has no tokens yet.
        """

@final
class Token:
    """One token of a pre-token: id, text, and byte offsets in the pre-token.

    Args:
        id: its number in the vocabulary.
        value: its text.
        offsets: its first byte in the pre-token and one past its last.
    """
    def __new__(cls, id: int, value: str, offsets: tuple[int, int]) -> Token: ...
    @property
    def id(self) -> int: ...
    @property
    def value(self) -> str: ...
    @property
    def offsets(self) -> tuple[int, int]: ...
    def as_tuple(self) -> tuple[int, str, tuple[int, int]]:
        """Id, text and offsets."""
    def __getnewargs__(self) -> tuple[int, str, tuple[int, int]]: ...

@final
class Encoding:
    """The tokens of one text or of a pair; every attribute is built when asked for."""
    def __new__(cls) -> Encoding: ...
    @staticmethod
    def merge(encodings: Sequence[Encoding], growing_offsets: bool = True) -> Encoding:
        """Joins encodings; with `growing_offsets` each starts where the one before ended.

        Args:
            encodings: in the order of the result.
            growing_offsets: the offsets of each encoding begin where the encoding before ends, as if the texts were
                one.
        """
    @property
    def ids(self) -> list[int]:
        """Token ids."""
    @property
    def type_ids(self) -> list[int]:
        """Type id of each token, set by the post-processor: most often 0 for the first text and 1 for the second."""
    @property
    def tokens(self) -> list[str]:
        """Tokens as the vocabulary spells them."""
    @property
    def offsets(self) -> list[tuple[int, int]]:
        """Half-open character ranges of the text."""
    @property
    def word_ids(self) -> list[int | None]:
        """Number of the pre-token that each token belongs to."""
    @property
    def words(self) -> list[int | None]:
        """As `word_ids`; deprecated."""
    @property
    def sequence_ids(self) -> list[int | None]:
        """Number of the input sequence that each token belongs to."""
    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for special tokens and padding, 0 for text."""
    @property
    def attention_mask(self) -> list[int]:
        """0 for padding, 1 for everything else."""
    @property
    def overflowing(self) -> list[Encoding]:
        """The encodings that truncation cut off."""
    @property
    def n_sequences(self) -> int:
        """Number of input sequences."""
    def set_sequence_id(self, sequence_id: int) -> None:
        """Marks all tokens as tokens of one input sequence."""
    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """The token that holds a character."""
    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """The word that holds a character."""
    def token_to_chars(self, token_index: int) -> tuple[int, int] | None:
        """The character range of a token."""
    def token_to_sequence(self, token_index: int) -> int | None:
        """The input sequence of a token."""
    def token_to_word(self, token_index: int) -> int | None:
        """The word of a token."""
    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        """The character range of a word."""
    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        """The first token of a word and one past its last."""
    def pad(
        self,
        length: int,
        *,
        direction: _Side = "right",
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",
    ) -> None:
        """Pads the encoding and its overflowing encodings to `length` tokens.

        Args:
            length: tokens after padding; a longer encoding stays as it is.
            direction: the side of the padding, `left` or `right`.
            pad_id: the id of padding.
            pad_type_id: the type id of padding.
            pad_token: the text of padding.
        """
    def truncate(self, max_length: int, stride: int = 0, direction: _Side = "right") -> None:
        """Keeps at most `max_length` tokens; the rest becomes `overflowing`.

        Args:
            max_length: tokens to keep.
            stride: tokens that each overflowing encoding repeats from the one before.
            direction: the side that is cut off, `left` or `right`.
        """
    def __len__(self) -> int: ...
    def __getstate__(self) -> bytes: ...
    def __setstate__(self, state: bytes) -> None: ...

@final
class FileSource:
    """Files of one format, opened by a class of `lexmill.sources`, with a report of the records left out.

    Args:
        paths: the files, in the order of their texts.
        format: `lines`, `json-lines`, `csv`, `parquet`, `arrow` or `documents`.
        column: the name of the column; for CSV, also its number; for JSON lines, the keys that lead to the text,
            from the outermost object inward.
        separator: for CSV, the character between values; for documents, the text that ends each, or None for whole
            files.
        errors: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD.
        on_error: `raise`, or `skip` to leave out broken records.

    Raises:
        OptionError: an option has another value.
    """

    def __new__(
        cls,
        paths: Sequence[_Path],
        *,
        format: str = "lines",
        column: str | int | list[str] | None = None,
        separator: str | None = None,
        errors: _Utf8Errors = "strict",
        on_error: Literal["raise", "skip"] = "raise",
    ) -> FileSource: ...
    @staticmethod
    def of_stream(
        data: _ArrowStream, *, column: str, errors: _Utf8Errors = "strict", on_error: Literal["raise", "skip"] = "raise"
    ) -> FileSource:
        """The stream of an object with `__arrow_c_stream__`, which is read once.

        Args:
            data: the object.
            column: the name of the column.
            errors: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD.
            on_error: `raise`, or `skip` to leave out broken records.

        Raises:
            InputTypeError: the object has no such method.
            OptionError: an option has another value.
        """
    def paths(self) -> list[str]:
        """The files, in the order of their texts; none of a stream."""
    def sample(self, text_bytes: int, file_bytes: int, start: int = 0) -> tuple[list[str], int, int]:
        """Texts of the first blocks of records; the bytes of all texts in these blocks; and how many bytes of the
        files, as they lie on the disk, the blocks took.

        Args:
            text_bytes: bytes of text that are enough.
            file_bytes: bytes of files that are enough.
            start: of a plain file of lines, the byte from which on lines are taken.
        """
    def skipped(self) -> tuple[int, list[str]]:
        """The number of records left out so far, and the faults of the first ten."""
    def __iter__(self) -> TextIterator: ...

@final
class TextBlock:
    """Texts in the order of their source. An index makes one `str`, and iteration makes all of them."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> str: ...
    def __iter__(self) -> Iterator[str]: ...
    def chosen(self, chosen: npt.NDArray[np.bool_]) -> TextBlock:
        """The texts for which `chosen` is true, without a copy of their bytes."""

    def utf8(self) -> bytes:
        """The texts end to end in UTF-8."""

@final
class TextIterator:
    """The texts of a source, one after the other."""

    def __iter__(self) -> TextIterator: ...
    def __next__(self) -> str: ...
    def read_bytes(self) -> int:
        """Bytes of the files, as they lie on the disk, that were read so far."""

    def take(self, characters: int) -> tuple[TextBlock, int]:
        """The next texts, until these have `characters` or more, and the number of their characters.

        There are fewer at the end of the source, and before an error, which the next call raises.
        """

@final
class WordCounts:
    """The distinct words of a corpus, each with its count and the place of its first appearance, on disk.

    `lexmill.count_words` makes them; words are ordered by their bytes. Counts that are not saved are deleted with
    the object.
    """
    @staticmethod
    def load(path: _Path) -> WordCounts:
        """Opens word counts that were saved.

        Args:
            path: the file.

        Raises:
            FileError: the file cannot be read.
            FormatError: the file does not hold word counts, or is damaged.
        """
    def save(self, path: _Path) -> None:
        """Writes the counts to a file, whole or not at all.

        Args:
            path: the file.

        Raises:
            FileError: the file cannot be written.
        """
    @staticmethod
    def _merge(
        counts: Sequence[WordCounts | _Path],
        *,
        max_memory: int | None = None,
        folder: _Path | None = None,
        on_progress: OnProgress | None = None,
    ) -> WordCounts: ...
    @staticmethod
    def _mix(
        domains: Sequence[tuple[WordCounts, int]],
        *,
        max_memory: int | None = None,
        folder: _Path | None = None,
        on_progress: OnProgress | None = None,
    ) -> WordCounts: ...
    def _counted_bytes(self, on_progress: OnProgress | None = None) -> int: ...
    def trim(self, min_count: int, *, folder: _Path | None = None) -> WordCounts:
        """Counts without the words that were seen fewer than `min_count` times.

        Args:
            min_count: the least count of a word that is kept.
            folder: the folder for the result until it is saved; by default the system's folder for temporary files.

        Raises:
            FileError: the result cannot be written.
        """
    @property
    def total(self) -> int:
        """The sum of all counts."""
    @property
    def phrases(self) -> int:
        """Distinct phrases, from which superwords are learnt; 0 if none were counted."""
    @property
    def texts(self) -> int:
        """How many texts were counted."""
    @property
    def bytes_read(self) -> int:
        """Bytes of sources that were read, as they lie on the disk."""
    def training_memory(self, trainer: Trainer | None = None, num_threads: int | None = None) -> int:
        """About how many bytes training from the counts adds at most to the memory of the process. Reads all words.

        Args:
            trainer: the trainer; by default a `BpeTrainer` with default options.
            num_threads: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.

        Raises:
            FormatError: the counts are damaged.
        """
    @property
    def dropped_words(self) -> int:
        """Distinct words that `trim` left out."""
    @property
    def dropped_total(self) -> int:
        """The sum of the counts of the words that `trim` left out."""
    @property
    def stages(self) -> str:
        """The stages that decide the words of a text, as JSON: normalizer, pre-tokenizer and added tokens; and the pre-
        tokenizer of phrases, if these were counted.
        """
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> CountedWords: ...

@final
class CountedWords:
    """The words of counts in the order of their bytes: tuples of a word as the model sees it, its count, and the number
    of the source and the place there where it was first seen.
    """
    def __iter__(self) -> CountedWords: ...
    def __next__(self) -> tuple[str, int, int, int]: ...

@final
class Session:
    """The ids of a text that grows at its end: an appended text costs time in proportion to its own length, not to the
    length of the whole text.

    The ids are at any time the ids that `encode_ids(text, add_special_tokens=False)` gives for all text together.
    Special tokens that stand in the text are found, also across two appended texts. Truncation and padding do not
    apply.

    Args:
        tokenizer: encodes. A change of its normalizer, pre-tokenizer, model or added tokens ends the session.
    """
    def __new__(cls, tokenizer: Tokenizer) -> Session: ...
    def __len__(self) -> int: ...
    def __copy__(self) -> Session: ...
    def __deepcopy__(self, _memo: object) -> Session: ...
    def __getnewargs__(self) -> tuple[Tokenizer]: ...
    def __getstate__(self) -> tuple[list[int], int, str, bool]: ...
    def __setstate__(self, state: tuple[list[int], int, str, bool]) -> None: ...
    @property
    def ids(self) -> list[int]:
        """The ids of all text, a new list each time."""
    @property
    def settled(self) -> int:
        """The number of ids at the beginning that no further text can change."""
    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer."""
    def append(self, text: str) -> tuple[int, list[int]]:
        """Appends a text.

        Args:
            text: the text, of any length.

        Returns:
            The index of the first id that has changed, and all ids from there on: `ids[start:] = new`.

        Raises:
            OptionError: the tokenizer has changed since the session began, or its model chooses at random.
            LexmillError: another thread appends to the session.
        """

# At run time iteration goes by `__getitem__`, which type checkers do not follow.
class _Rows(Protocol):
    def __iter__(self) -> Iterator[npt.NDArray[np.uint16] | npt.NDArray[np.uint32]]: ...

@final
class TokenArrays(_Rows):
    """Tokens of many texts, end to end: an array for each column, and the places where rows begin.

    Row `i` is `ids[row_splits[i]:row_splits[i + 1]]`, and `arrays[i]` gives it as a view. The other columns are
    divided in the same way; columns that were not asked for are `None`. Arrow reads the object as a column of lists
    (`pyarrow.array(arrays)`), or with further columns as a table (`pyarrow.record_batch(arrays)`).

    Args:
        ids: all ids, one-dimensional, `uint16` or `uint32`.
        row_splits: where each row begins, and the end of the last row: `int64`.
        **columns: further columns by the names of the attributes.
    """
    def __new__(
        cls, ids: npt.NDArray[np.uint16] | npt.NDArray[np.uint32], row_splits: npt.NDArray[np.int64], **columns: Any
    ) -> TokenArrays: ...
    @property
    def ids(self) -> npt.NDArray[np.uint16] | npt.NDArray[np.uint32]:
        """All ids: one-dimensional, `uint16` if every id of the tokenizer fits, else `uint32`."""
    @property
    def row_splits(self) -> npt.NDArray[np.int64]:
        """Where each row begins, from 0, and the end of the last row: `int64`."""
    @property
    def offsets(self) -> npt.NDArray[np.uint32] | None:
        """Start and end of each token in characters of its text: `uint32`, two a token; `(0, 0)` for special tokens and
        padding.
        """
    @property
    def word_ids(self) -> npt.NDArray[np.int32] | None:
        """Number of the pre-token of each token: `int32`; -1 for special tokens and padding."""
    @property
    def type_ids(self) -> npt.NDArray[np.uint32] | None:
        """Type id of each token: `uint32`."""
    @property
    def attention_mask(self) -> npt.NDArray[np.uint8] | None:
        """0 for padding, 1 for all other tokens: `uint8`."""
    @property
    def special_tokens_mask(self) -> npt.NDArray[np.uint8] | None:
        """1 for special tokens and padding, 0 for all other tokens: `uint8`."""
    @property
    def sample_mapping(self) -> npt.NDArray[np.int64] | None:
        """Number of the text that each row comes from: `int64`, one a row."""
    def matrices(self) -> dict[str, npt.NDArray[Any]]:
        """The columns by name, each as a matrix with one row for each text, without a copy; `offsets` has three
        dimensions.

        Raises:
            OptionError: rows have different lengths.
        """
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, at: int, /) -> npt.NDArray[np.uint16] | npt.NDArray[np.uint32]: ...
    @overload
    def __getitem__(self, at: slice, /) -> list[npt.NDArray[np.uint16] | npt.NDArray[np.uint32]]: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...
    def __getnewargs_ex__(self) -> tuple[tuple[Any, Any], dict[str, Any]]: ...

@final
class Tokenizer:
    """Cuts text into tokens and puts tokens together again.

    A text passes `normalizer`, `pre_tokenizer`, `model` and `post_processor`; ids become text by `decoder`. Each of
    these can be set, and all but `model` may be None. A stage that is taken from a tokenizer stays part of it:
    `tokenizer.model.dropout = 0.1` takes effect.

    Args:
        model: a model of `lexmill.models`, empty if it is to be trained.
    """
    def __new__(cls, model: Model) -> Tokenizer: ...
    @staticmethod
    def from_str(json: str) -> Tokenizer:
        """Reads a `tokenizer.json` from text.

        Args:
            json: the contents of the file.

        Raises:
            FormatError: it is malformed or has a component of an unknown type; the message has its place.
        """
    @staticmethod
    def from_file(path: _Path) -> Tokenizer:
        """Reads a `tokenizer.json`.

        Args:
            path: the file.

        Raises:
            FileError: a file cannot be read.
            InvalidUtf8Error: the file is not UTF-8.
            FormatError: the file is malformed or has a component of an unknown type; the message gives the place.
                For another kind of file, such as a web page or a pointer of Git LFS, the message names that kind.
        """
    @staticmethod
    def from_pretrained(identifier: str, revision: str = "main", token: str | None = None) -> Tokenizer:
        """Reads the `tokenizer.json` of a repository of the Hugging Face Hub, through the package `huggingface_hub` and
        its cache, or of a local folder.

        Args:
            identifier: the repository, such as `gpt2`, or a local folder.
            revision: a branch, a tag or a commit of the repository.
            token: the access token for a private repository.

        Raises:
            LexmillError: `huggingface_hub` is not installed.
        """
    @staticmethod
    def from_hf(tokenizer: Any) -> Tokenizer:
        """A `tokenizers.Tokenizer` as one of lexmill's.

        Args:
            tokenizer: a tokenizer of Hugging Face's package.

        Raises:
            LexmillError: the tokenizer holds stages written in Python.
        """
    def to_hf(self) -> Any:
        """This tokenizer as a `tokenizers.Tokenizer`.

        Raises:
            LexmillError: that package is not installed, or lexmill stands in its place.
        """
    @staticmethod
    def from_buffer(buffer: bytes) -> Tokenizer:
        """Reads a `tokenizer.json` from bytes.

        Args:
            buffer: the contents of the file.

        Raises:
            InvalidUtf8Error: the bytes are not UTF-8.
            FormatError: as for `from_str`.
        """
    @staticmethod
    def from_spm(path: _Path) -> Tokenizer:
        """Reads a `.model` or `.spm.fb` file of SentencePiece's; special tokens in a text go to the model as plain
        text, as in SentencePiece.

        Args:
            path: the file.

        Raises:
            FileError: a file cannot be read.
            FormatError: the file is malformed or has a value that lexmill does not know.
        """
    def save_spm(self, path: _Path) -> None:
        """Writes a `.model` file for SentencePiece, or a `.spm.fb` file for its lite runtime, whole or not at all.

        Args:
            path: the file; a name that ends with `.fb` tells the second kind.

        Raises:
            OptionError: the file cannot hold the tokenizer; the message names the part.
            FileError: the file cannot be written.
        """
    @staticmethod
    def from_tiktoken(path: _Path, pattern: str, special_tokens: dict[str, int] | None = None) -> Tokenizer:
        """Reads a `.tiktoken` file. The file has only tokens and ranks, so the pattern and the special tokens are
        arguments.

        A token's rank is its id. A pre-token that is a token is taken whole, as it stands (`ignore_merges`); in
        other pre-tokens, the neighbours that spell the token of the lowest rank are merged first.

        Args:
            path: the file.
            pattern: the regular expression whose matches are the pre-tokens.
            special_tokens: ids by text.

        Raises:
            FormatError: a line is malformed, a token or a rank is there twice, a byte has no token, or a special
                token's text or id is taken.
            RegexError: `pattern` does not compile.
            IdRangeError: an id is out of range.
            FileError: the file cannot be read.
        """
    def save_tiktoken(self, path: _Path) -> None:
        """Writes a `.tiktoken` file of a byte-level BPE model, whole or not at all; added tokens and all stages but the
        model are left out.

        Args:
            path: the file.

        Raises:
            OptionError: the file would be read as another model: the model is not BPE, has dropout, a prefix or a
                suffix, or kinds of pieces; a token is not spelled in the byte-level alphabet, or a byte has no
                token; merges are not in the order of ids, or the ranks imply further merges; or, without
                `ignore_merges`, the text of a token is encoded to other tokens.
            FileError: the file cannot be written.
        """
    def to_str(self, pretty: bool = False, *, version: str = "1.0", lossy: bool = False) -> str:
        """The tokenizer as JSON text; the same tokenizer gives the same text. As in a file, `encode_special_tokens` is
        not in it.

        Args:
            pretty: breaks lines and indents.
            version: `1.0`, or `2.0` for Hugging Face `tokenizers` 1.0.
            lossy: leaves out trimmed offsets and dropout, which version 2.0 cannot hold. Ids stay the same, but for
                the random choices of dropout.

        Raises:
            OptionError: the version is unknown or cannot hold a stage, which the message names.
        """
    def save(self, path: _Path, pretty: bool | None = None, *, version: str = "1.0", lossy: bool = False) -> None:
        """Writes a `tokenizer.json`, whole or not at all.

        The format has no place for `encode_special_tokens`, and version 1.0 has none for `role_to_token`: whoever
        reads the file sets them again. Pickles and copies keep them. If one is set, a `LostStateWarning` names it.

        Args:
            path: the file.
            pretty: breaks lines and indents; None does so in version 1.0 alone, as Hugging Face does.
            version: `1.0`, or `2.0` for Hugging Face `tokenizers` 1.0.
            lossy: leaves out trimmed offsets and dropout, which version 2.0 cannot hold. Ids stay the same, but for
                the random choices of dropout.

        Raises:
            OptionError: the version is unknown or cannot hold a stage, which the message names.
            FileError: the file cannot be written.
        """
    def __getstate__(self) -> bytes | tuple[bytes, bool, int, list[str]]: ...
    def __setstate__(self, state: bytes | tuple[bytes, bool, int, list[str]]) -> None: ...
    def __getnewargs__(self) -> tuple[Model]: ...
    @property
    def model(self) -> Model:
        """The model, which turns pre-tokens into tokens."""
    @model.setter
    def model(self, value: Model) -> None: ...
    @property
    def normalizer(self) -> Normalizer | None:
        """The normalizer, which changes a text before it is cut; None leaves the text as it is."""
    @normalizer.setter
    def normalizer(self, value: Normalizer | None) -> None: ...
    @property
    def pre_tokenizer(self) -> PreTokenizer | None:
        """The pre-tokenizer, which cuts a text into pre-tokens; None leaves the text whole."""
    @pre_tokenizer.setter
    def pre_tokenizer(self, value: PreTokenizer | None) -> None: ...
    @property
    def post_processor(self) -> PostProcessor | None:
        """The post-processor, which puts special tokens around encodings; None adds no tokens."""
    @post_processor.setter
    def post_processor(self, value: PostProcessor | None) -> None: ...
    @property
    def decoder(self) -> Decoder | None:
        """The decoder, which turns tokens back into text; None joins the tokens with spaces."""
    @decoder.setter
    def decoder(self, value: Decoder | None) -> None: ...
    @property
    def encode_special_tokens(self) -> bool:
        """True if the model encodes special tokens in a text as plain text."""
    @encode_special_tokens.setter
    def encode_special_tokens(self, value: bool) -> None: ...
    @property
    def role_to_token(self) -> dict[str, str] | None:
        """Tokens by their role, such as `bos_token`, as files of version 2.0 may name them; None if there are none.
        Roles change no encoding, and the tokens need not be in the vocabulary.
        """
    @role_to_token.setter
    def role_to_token(self, value: dict[str, str] | None) -> None: ...
    @property
    def cache_limit(self) -> int:
        """Bytes that the cache of each thread may take; 0 turns caching off."""
    @cache_limit.setter
    def cache_limit(self, value: int) -> None: ...
    def _lost_in_version_2(self) -> list[str]: ...
    def _encode_ranges(
        self,
        texts: Iterable[str],
        places: npt.NDArray[np.uint32],
        splits: npt.NDArray[np.int64],
        unknown: int | None = None,
        num_threads: int | None = None,
    ) -> tuple[TokenArrays, npt.NDArray[np.int64], npt.NDArray[np.int64]]: ...
    def _undecoded(
        self,
        texts: Iterable[str],
        ids: npt.NDArray[np.uint16] | npt.NDArray[np.uint32],
        row_splits: npt.NDArray[np.int64],
    ) -> list[int]: ...
    def _staged(self) -> Tokenizer: ...
    def _with_all_tables(self) -> Tokenizer: ...
    def cache_info(self) -> dict[str, int]:
        """`bytes`, the memory of all caches and of buffers for the next call, and `limit_per_thread`, the limit of each
        thread's cache.
        """
    def encoding_plan(self) -> dict[str, bool | str | None]:
        """How the tokenizer encodes, as it is now.

        Returns:
            A dict. `chunked` is True if text goes through the cache chunk by chunk, which is fast, and False if it
                goes stage by stage; `chunks` is the finder of chunks, or `None`; `on_a_miss`, the stages of a chunk
                that is not in the cache; `offsets`, the way to find offsets and word ids, or `None` if it is the
                same as for ids; and `because`, the reason against a faster way, or `None`. Chunks of text that is
                not normalized yet need a table. This call makes the table, or encoding does after a megabyte of text
                (with `ignore_merges`, 64 bytes more for each token).
        """
    def clear_cache(self) -> None:
        """Empties all caches."""
    def add_tokens(self, tokens: Sequence[str | AddedToken]) -> int:
        """Adds tokens that are cut out of the text; returns how many were new or changed.

        Args:
            tokens: `str` or `AddedToken`.

        Warns:
            ByteTokenWarning: a `ByteLevel` decoder reads a token as other bytes, since it has the id of the model's
                token for them.
        """
    def add_special_tokens(self, tokens: Sequence[str | AddedToken]) -> int:
        """Adds tokens that decoding may skip; returns how many were new or changed. Sets `special` of each given
        `AddedToken` to True.

        Args:
            tokens: `str` or `AddedToken`.

        Warns:
            ByteTokenWarning: a `ByteLevel` decoder reads a token as other bytes, since it has the id of the model's
                token for them.
        """
    def get_added_tokens_decoder(self) -> dict[int, AddedToken]:
        """Added tokens by id."""
    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """Ids by token.

        Args:
            with_added_tokens: includes the tokens that were added to the model's tokens.
        """
    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """Number of tokens.

        Args:
            with_added_tokens: includes the tokens that were added to the model's tokens.
        """
    def token_to_id(self, token: str) -> int | None:
        """The id of a token.

        None if there is no such token.
        """
    def id_to_token(self, id: int) -> str | None:
        """The token with an id.

        None if there is no such id.
        """
    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """How many special tokens a text or a pair gets."""
    def post_process(
        self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True
    ) -> Encoding:
        """Truncates, post-processes and pads an encoding or a pair.

        Args:
            encoding: the first sequence, as the model left it.
            pair: the second sequence, if there is one.
            add_special_tokens: adds the special tokens of the post-processor.
        """
    def enable_truncation(
        self,
        max_length: int,
        *,
        stride: int = 0,
        strategy: Literal["longest_first", "only_first", "only_second"] = "longest_first",
        direction: _Side = "right",
        **kwargs: object,
    ) -> None:
        """Cuts encodings to `max_length` tokens from now on, special tokens included. If the special tokens alone are
        more, nothing is cut, as in Hugging Face, and a `TruncationWarning` says so.

        Args:
            max_length: tokens to keep.
            stride: tokens that each overflowing encoding repeats from the one before.
            strategy: which side of a pair is cut: `longest_first`, `only_first` or `only_second`.
            direction: the end that is cut off, `left` or `right`.
            **kwargs: other keywords, which are noted on standard error and ignored.
        """
    def no_truncation(self) -> None:
        """Stops truncating."""
    @property
    def truncation(self) -> dict[str, Any] | None:
        """The truncation options, if any."""
    def enable_padding(
        self,
        *,
        direction: _Side = "right",
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",
        length: int | None = None,
        pad_to_multiple_of: int | None = None,
        **kwargs: object,
    ) -> None:
        """Fills encodings up from now on: to `length`, or as the longest of each batch.

        Args:
            direction: the side of the padding, `left` or `right`.
            pad_id: the id of padding.
            pad_type_id: the type id of padding.
            pad_token: the text of padding.
            length: tokens after padding; None for as many as the longest of the batch has.
            pad_to_multiple_of: rounds the number of tokens up.
            **kwargs: other keywords, which are noted on standard error and ignored.
        """
    def no_padding(self) -> None:
        """Stops padding."""
    @property
    def padding(self) -> dict[str, Any] | None:
        """The padding options, if any."""
    @overload
    def train(  # type: ignore[overload-overlap]
        self,
        files: Mapping[str, _Path | Source | Iterable[_Path | Source]],
        trainer: Trainer | None = None,
        *,
        weights: Mapping[str, Weight] | None = None,
        shares: Mapping[str, Weight] | None = None,
        max_memory: int | str | None = None,
        folder: _Path | None = None,
        errors: _Utf8Errors = "strict",
        on_progress: OnProgress | None = None,
        num_threads: int | None = None,
    ) -> dict[str, DomainTokens]:
        """Trains the model on files, line by line, or on the texts of sources.

        The trained model takes the place of the old one, once all is read; an error leaves the old model as it was.

        Args:
            files: paths of text files in UTF-8, whose lines are texts, plain or compressed; paths whose names say
                that the files hold records, such as `.jsonl` or `.parquet`, with texts in the field or column
                `text`; folders and patterns; and sources of `lexmill.sources`. Or a dictionary of such files by the
                names of domains.
            trainer: the trainer; by default one for the kind of model, with default options.
            weights: how often each domain is counted, as `lexmill.merge_counts` takes it.
            shares: the share of each domain in the mixture, as `lexmill.merge_counts` takes it.
            max_memory: bytes that counting, and then training, may add to the memory of the process, such as
                `"8GB"`. Counting writes words that do not fit to `folder`. Training that would take more does not
                start: the error tells how much it needs, and how far to trim the counts if that is enough. The limit
                does not change the result.
            folder: the folder for words that do not fit in memory; by default the system's folder for temporary
                files.
            errors: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD; sources have an option of
                their own.
            on_progress: called with the stage, the work done, the total, the seconds left and the bytes of memory
                taken, see `lexmill.OnProgress`; an exception of the call ends the training.
            num_threads: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.

        Returns:
            None; for domains, the tokens of each domain by name, see `lexmill.DomainTokens`.

        Raises:
            FileError: a file cannot be read, a folder or pattern has no files, or the folder cannot be written to.
            FormatError: a file that should be text is of another format, or a record holds no text.
            InvalidUtf8Error: bytes are not UTF-8, with `errors="strict"`.
            EmptyCorpusError: there are no words in the files, or in the files of a domain.
            OptionError: an option of the trainer is out of range, or `max_memory` is less than is needed, or weights
                are wrong.
        """
    @overload
    def train(
        self,
        files: Iterable[_Path | Source],
        trainer: Trainer | None = None,
        *,
        weights: None = None,
        shares: None = None,
        max_memory: int | str | None = None,
        folder: _Path | None = None,
        errors: _Utf8Errors = "strict",
        on_progress: OnProgress | None = None,
        num_threads: int | None = None,
    ) -> None: ...
    @overload
    def train_from_counts(
        self,
        counts: Mapping[str, WordCounts | _Path],
        trainer: Trainer | None = None,
        *,
        weights: Mapping[str, Weight] | None = None,
        shares: Mapping[str, Weight] | None = None,
        max_memory: int | str | None = None,
        on_progress: OnProgress | None = None,
        num_threads: int | None = None,
    ) -> dict[str, DomainTokens]:
        """Trains the model on word counts, with the same result as from the texts.

        The trained model takes the place of the old one; an error leaves the old model as it was.

        Args:
            counts: counts of the words that this tokenizer's normalizer, pre-tokenizer and added tokens make of
                texts; or a dictionary of such counts, or of their files, by the names of domains.
            trainer: the trainer; by default one for the kind of model, with default options.
            weights: how often each domain is counted, as `lexmill.merge_counts` takes it.
            shares: the share of each domain in the mixture, as `lexmill.merge_counts` takes it.
            max_memory: bytes that training may add to the memory of the process, such as `"8GB"`; if it would take
                more by `counts.training_memory(trainer)`, it does not start.
            on_progress: called with the stage, the work done, the total, the seconds left and the bytes of memory
                taken, see `lexmill.OnProgress`; an exception of the call ends the training.
            num_threads: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.

        Returns:
            None; for domains, the tokens of each domain by name, see `lexmill.DomainTokens`.

        Raises:
            OptionError: the counts were made by other stages, or training would take more than `max_memory`, or an
                option of the trainer is out of range, or weights are wrong.
            EmptyCorpusError: there are no words.
            FormatError: the counts are damaged.
        """
    @overload
    def train_from_counts(
        self,
        counts: WordCounts,
        trainer: Trainer | None = None,
        *,
        weights: None = None,
        shares: None = None,
        max_memory: int | str | None = None,
        on_progress: OnProgress | None = None,
        num_threads: int | None = None,
    ) -> None: ...
    def _train_mixture(
        self,
        counts: WordCounts,
        domains: Sequence[WordCounts],
        trainer: Trainer | None,
        *,
        max_memory: int | None = None,
        on_progress: OnProgress | None = None,
        num_threads: int | None = None,
    ) -> list[tuple[int, int, int, int]]: ...
    def continue_training(
        self,
        files: Iterable[_Path | Source],
        trainer: Trainer | None = None,
        *,
        vocab_size: int | None = None,
        replace: int | Literal["unused"] | None = None,
        max_words: int | None = None,
        max_memory: int | str | None = None,
        folder: _Path | None = None,
        errors: _Utf8Errors = "strict",
        on_progress: OnProgress | None = None,
        num_threads: int | None = None,
    ) -> dict[int, str]:
        """Trains the model further: tokens keep their ids, and new tokens follow after the largest id or replace unused
        tokens.

        The model first cuts the words of the files, so new tokens are made of its own. A `BPE` keeps its merges, a
        `Unigram` the scores of its pieces, and text that contains no new token is encoded as before. Prefix, suffix
        and unknown token are the model's. Added tokens after the model's vocabulary become tokens of the model. An
        error leaves the model as it was.

        Args:
            files: as `train` takes them.
            trainer: the trainer, with its options; by default one for the kind of model. Its special tokens get the
                first new ids, unless they are tokens already.
            vocab_size: tokens in all, added tokens included; by default the trainer's. The present number changes
                nothing, unless tokens are replaced.
            replace: `"unused"` to give new tokens first the ids of tokens that the files do not use; a number limits
                how many tokens are replaced. Never replaced are characters, bytes, added tokens, and tokens from
                which used tokens are merged. By default no token is replaced.
            max_words: the most words of a new token, for a `BPE` with superwords.
            max_memory: bytes that counting, and then training, may add to the memory of the process, as `train`
                takes it.
            folder: the folder for words that do not fit in memory; by default the system's folder for temporary
                files.
            errors: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD; sources have an option of
                their own.
            on_progress: called with the stage, the work done, the total, the seconds left and the bytes of memory
                taken, see `lexmill.OnProgress`; an exception of the call ends the training.
            num_threads: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.

        Returns:
            The replaced tokens by id, in ascending order: rows of an embedding whose meaning changes.

        Raises:
            FileError: a file cannot be read, a folder or pattern has no files, or the folder cannot be written to.
            FormatError: a file that should be text is of another format, or a record holds no text.
            InvalidUtf8Error: bytes are not UTF-8, with `errors="strict"`.
            EmptyCorpusError: there are no words in the files.
            OptionError: there is no `vocab_size`, or it is too small for the present tokens, new special tokens and
                new characters; or an option of the trainer is out of range, or `max_memory` is less than is needed;
                or the model cannot be continued.
        """
    def continue_training_from_iterator(
        self,
        iterator: Iterable[str] | Iterable[Iterable[str] | _Column] | _Column,
        trainer: Trainer | None = None,
        length: int | None = None,
        *,
        vocab_size: int | None = None,
        replace: int | Literal["unused"] | None = None,
        max_words: int | None = None,
        max_memory: int | str | None = None,
        folder: _Path | None = None,
        on_progress: OnProgress | None = None,
        num_threads: int | None = None,
    ) -> dict[int, str]:
        """Trains the model further, as `continue_training` does, on texts from an iterator.

        Args:
            iterator: the texts, as `train_from_iterator` takes them.
            trainer: the trainer, with its options; by default one for the kind of model.
            length: how many texts there are, for progress alone.
            vocab_size: tokens in all, added tokens included; by default the trainer's.
            replace: `"unused"` or a number, as `continue_training` takes it.
            max_words: the most words of a new token.
            max_memory: bytes that counting, and then training, may add to the memory of the process, as `train`
                takes it.
            folder: the folder for words that do not fit in memory; by default the system's folder for temporary
                files.
            on_progress: called with the stage, the work done, the total, the seconds left and the bytes of memory
                taken, see `lexmill.OnProgress`; an exception of the call ends the training.
            num_threads: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.

        Returns:
            The replaced tokens by id, in ascending order.

        Raises:
            FileError: the folder cannot be written to.
            EmptyCorpusError: there are no words in the texts.
            OptionError: as for `continue_training`.
        """
    def continue_training_from_counts(
        self,
        counts: WordCounts,
        trainer: Trainer | None = None,
        *,
        vocab_size: int | None = None,
        replace: int | Literal["unused"] | None = None,
        max_words: int | None = None,
        max_memory: int | str | None = None,
        on_progress: OnProgress | None = None,
        num_threads: int | None = None,
    ) -> dict[int, str]:
        """Trains the model further, as `continue_training` does, on word counts.

        Args:
            counts: counts of the words that this tokenizer's normalizer, pre-tokenizer and added tokens make of
                texts.
            trainer: the trainer, with its options; by default one for the kind of model.
            vocab_size: tokens in all, added tokens included; by default the trainer's.
            replace: `"unused"` or a number, as `continue_training` takes it.
            max_words: the most words of a new token.
            max_memory: bytes that training may add to the memory of the process, such as `"8GB"`; if it would take
                more by `counts.training_memory(trainer)`, it does not start.
            on_progress: called with the stage, the work done, the total, the seconds left and the bytes of memory
                taken, see `lexmill.OnProgress`; an exception of the call ends the training.
            num_threads: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.

        Returns:
            The replaced tokens by id, in ascending order.

        Raises:
            EmptyCorpusError: there are no words.
            FormatError: the counts are damaged.
            OptionError: the counts were made by other stages, or training would take more than `max_memory`; and as
                for `continue_training`.
        """
    def _count_words(
        self,
        files: Iterable[_Path | Source],
        *,
        iterator: Iterable[object] | None = None,
        superwords: SuperwordOptions | None = None,
        max_memory: int | None = None,
        folder: _Path | None = None,
        checkpoint: tuple[_Path, int | None, bool] | None = None,
        first_source: int = 0,
        errors: _Utf8Errors = "strict",
        on_progress: OnProgress | None = None,
        num_threads: int | None = None,
    ) -> WordCounts: ...
    def train_from_iterator(
        self,
        iterator: Iterable[str] | Iterable[Iterable[str] | _Column] | _Column,
        trainer: Trainer | None = None,
        length: int | None = None,
        *,
        max_memory: int | str | None = None,
        folder: _Path | None = None,
        on_progress: OnProgress | None = None,
        num_threads: int | None = None,
    ) -> None:
        """Trains the model on texts from an iterator of `str`, of lists of `str` or of Arrow columns, or on one such
        column.

        The trained model takes the place of the old one, once all is read; an error leaves the old model as it was.

        Args:
            iterator: the texts.
            trainer: the trainer; by default one for the kind of model, with default options.
            length: how many texts there are, for progress alone.
            max_memory: bytes that counting, and then training, may add to the memory of the process, such as
                `"8GB"`; as `train` takes it.
            folder: the folder for words that do not fit in memory; by default the system's folder for temporary
                files.
            on_progress: called with the stage, the work done, the total, the seconds left and the bytes of memory
                taken, see `lexmill.OnProgress`; an exception of the call ends the training.
            num_threads: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.

        Raises:
            FileError: the folder cannot be written to.
            EmptyCorpusError: there are no words in the texts.
            OptionError: an option of the trainer is out of range, or `max_memory` is less than is needed.
        """
    @overload
    def encode(
        self,
        sequence: str,
        pair: str | None = None,
        is_pretokenized: Literal[False] = False,
        add_special_tokens: bool = True,
    ) -> Encoding:
        """Encodes one text or a pair.

        Args:
            sequence: the text, or a list, an array or another sequence of words.
            pair: the second text of a pair.
            is_pretokenized: each text is a list of words, which the pre-tokenizer cuts further.
            add_special_tokens: adds the special tokens of the post-processor.
        """
    @overload
    def encode(
        self,
        sequence: _Words,
        pair: _Words | None = None,
        *,
        is_pretokenized: Literal[True],
        add_special_tokens: bool = True,
    ) -> Encoding: ...
    @overload
    def encode(
        self,
        sequence: str | _Words,
        pair: str | _Words | None = None,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Encoding: ...
    def encode_nbest(self, sequence: str, n: int, *, add_special_tokens: bool = True) -> list[tuple[Encoding, float]]:
        """The `n` best tokenizations of a text by a Unigram model, each with its score, best first.

        The score is a natural logarithm, the sum of the pre-tokens' scores. Tokenizations with equal scores are
        sorted by their scores without the last pre-token, then without the last two, and so on. Time and memory are
        in proportion to `n` and the length of the text.

        Args:
            sequence: the text.
            n: tokenizations, 1024 at most; fewer are returned if there are fewer.
            add_special_tokens: adds the special tokens of the post-processor.

        Raises:
            OptionRangeError: `n` is negative.
            OptionError: `n` is more than 1024, or the model is not Unigram.
        """
    def encode_ids(self, text: str, *, add_special_tokens: bool = True, num_threads: int | None = None) -> list[int]:
        """Encodes one text to a list of ids.

        Args:
            text: the text.
            add_special_tokens: adds the special tokens of the post-processor.
            num_threads: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
        """
    def async_encode(
        self,
        sequence: str | _Words,
        pair: str | _Words | None = None,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Future[Encoding]:
        """As `encode`, for `await`."""
    def async_encode_batch(
        self,
        input: Sequence[_Input] | npt.NDArray[np.str_ | np.object_] | _Column,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Future[list[Encoding]]:
        """As `encode_batch`, for `await`."""
    def async_encode_batch_fast(
        self,
        input: Sequence[_Input] | npt.NDArray[np.str_ | np.object_] | _Column,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Future[list[Encoding]]:
        """As `encode_batch_fast`, for `await`."""
    def async_decode_batch(self, sequences: Sequence[_Ids], skip_special_tokens: bool = True) -> Future[list[str]]:
        """As `decode_batch`, for `await`."""
    def encode_batch(
        self,
        input: Sequence[_Input] | npt.NDArray[np.str_ | np.object_] | _Column,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
        *,
        num_threads: int | None = None,
    ) -> list[Encoding]:
        """Encodes texts or pairs.

        Args:
            input: texts, or pairs of two, in a list, an array, a column of pandas, polars or Arrow, or another
                sequence.
            is_pretokenized: each text is a list of words, which the pre-tokenizer cuts further.
            add_special_tokens: adds the special tokens of the post-processor.
            num_threads: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
        """
    def encode_batch_fast(
        self,
        input: Sequence[_Input] | npt.NDArray[np.str_ | np.object_] | _Column,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
        *,
        num_threads: int | None = None,
    ) -> list[Encoding]:
        """As `encode_batch`: offsets cost nothing here until they are read.

        Args:
            input: texts, or pairs of two, in a list, an array, a column of pandas, polars or Arrow, or another
                sequence.
            is_pretokenized: each text is a list of words, which the pre-tokenizer cuts further.
            add_special_tokens: adds the special tokens of the post-processor.
            num_threads: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
        """
    def encode_batch_arrays(
        self,
        texts: _Texts,
        *,
        pairs: _Texts | None = None,
        errors: _Utf8Errors = "strict",
        add_special_tokens: bool = True,
        max_length: int | None = None,
        truncation: bool | _Truncation | None = None,
        stride: int | None = None,
        truncation_side: _Side | None = None,
        padding: bool | _Padding | None = None,
        padding_side: _Side | None = None,
        pad_id: int | None = None,
        pad_to_multiple_of: int | None = None,
        return_offsets: bool = False,
        return_word_ids: bool = False,
        return_type_ids: bool = False,
        return_attention_mask: bool = False,
        return_special_tokens_mask: bool = False,
        return_overflowing: bool = False,
        num_threads: int | None = None,
    ) -> TokenArrays:
        """Encodes texts, or pairs of texts, to arrays: ids, and the columns that are asked for.

        Truncation and padding are as the tokenizer is set to, unless arguments say otherwise for this call.

        Args:
            texts: `str` or `bytes` in a list, another iterable or a numpy array, or an Arrow column.
            pairs: the second texts of pairs, as many as `texts`, of any of those kinds.
            errors: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD; sources have an option of
                their own.
            add_special_tokens: adds the special tokens of the post-processor.
            max_length: tokens that remain of a row, special tokens included; None means as set. Given alone, it
                truncates.
            truncation: True or a strategy (`longest_first`, `only_first`, `only_second`), False for none, None for
                as set.
            stride: tokens that neighbouring windows share; None means as set.
            truncation_side: the side that is cut off, `left` or `right`; None means as set.
            padding: True or `longest` to pad to the longest row, `max_length` to pad to that, False for none, None
                for as set.
            padding_side: the side that padding goes to, `left` or `right`; None means as set.
            pad_id: the id to pad with; None means as set, or 0.
            pad_to_multiple_of: rounds the padded length up; None means as set.
            return_offsets: start and end of each token, in characters of its text.
            return_word_ids: the number of each token's pre-token, -1 for special tokens and padding.
            return_type_ids: the type id of each token.
            return_attention_mask: 0 for padding, 1 for all other tokens.
            return_special_tokens_mask: 1 for special tokens and padding, 0 for all other tokens.
            return_overflowing: also a row for each window that truncation cuts off, and `sample_mapping`, the number
                of each row's text.
            num_threads: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.

        Raises:
            InvalidUtf8Error: bytes are not UTF-8, with `errors="strict"`.
            OptionError: arguments that do not fit together, or another number of pairs than of texts.
        """
    def encode_files_arrays(
        self,
        paths: Iterable[_Path | Source],
        separator: str | None = None,
        *,
        errors: _Utf8Errors = "strict",
        add_special_tokens: bool = True,
        max_length: int | None = None,
        truncation: bool | _Truncation | None = None,
        truncation_side: _Side | None = None,
        padding: bool | _Padding | None = None,
        padding_side: _Side | None = None,
        pad_id: int | None = None,
        pad_to_multiple_of: int | None = None,
        num_threads: int | None = None,
    ) -> TokenArrays:
        """Encodes files to one array of ids: a row a file, or a row for each document between separators.

        Truncation and padding are as the tokenizer is set to, unless arguments say otherwise for this call.

        Args:
            paths: paths of text files in UTF-8, plain or compressed; paths whose names say that the files hold
                records, with texts in the field or column `text`, each of which is a document; folders and patterns;
                and sources of `lexmill.sources`.
            separator: the text between the documents of a text file, which is left out; None makes each text file
                one document.
            errors: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD; sources have an option of
                their own.
            add_special_tokens: adds the special tokens of the post-processor.
            max_length: tokens that remain of a row, special tokens included; None means as set. Given alone, it
                truncates.
            truncation: True or a strategy (`longest_first`, `only_first`, `only_second`), False for none, None for
                as set.
            truncation_side: the side that is cut off, `left` or `right`; None means as set.
            padding: True or `longest` to pad to the longest row, `max_length` to pad to that, False for none, None
                for as set.
            padding_side: the side that padding goes to, `left` or `right`; None means as set.
            pad_id: the id to pad with; None means as set, or 0.
            pad_to_multiple_of: rounds the padded length up; None means as set.
            num_threads: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.

        Raises:
            FileError: a file cannot be read.
            InvalidUtf8Error: bytes are not UTF-8, with `errors="strict"`.
            OptionError: arguments that do not fit together.
        """
    def encode_batch_ids(
        self,
        texts: _Texts,
        *,
        errors: _Utf8Errors = "strict",
        add_special_tokens: bool = True,
        num_threads: int | None = None,
    ) -> list[list[int]]:
        """Encodes texts to lists of ids.

        Args:
            texts: `str` or `bytes` in a list, another iterable or a numpy array, or an Arrow column.
            errors: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD.
            add_special_tokens: adds the special tokens of the post-processor.
            num_threads: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.

        Raises:
            InvalidUtf8Error: bytes are not UTF-8, with `errors="strict"`.
        """
    def count_tokens(
        self,
        texts: _Texts,
        *,
        errors: _Utf8Errors = "strict",
        add_special_tokens: bool = True,
        num_threads: int | None = None,
    ) -> npt.NDArray[np.int64]:
        """Number of tokens of each text, as `encode` gives them: a `LengthLimitWarning` tells if texts were truncated
        or padded.

        Args:
            texts: `str` or `bytes` in a list, another iterable or a numpy array, or an Arrow column.
            errors: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD.
            add_special_tokens: adds the special tokens of the post-processor.
            num_threads: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.

        Raises:
            InvalidUtf8Error: bytes are not UTF-8, with `errors="strict"`.
        """
    def count_tokens_files(
        self,
        paths: Iterable[_Path | Source],
        separator: str | None = None,
        *,
        errors: _Utf8Errors = "strict",
        add_special_tokens: bool = True,
        num_threads: int | None = None,
    ) -> npt.NDArray[np.int64]:
        """Number of tokens of files: of each file, or of each document between separators. A `LengthLimitWarning` tells
        if texts were truncated or padded.

        Args:
            paths: paths of text files in UTF-8, plain or compressed; paths whose names say that the files hold
                records, with texts in the field or column `text`, each of which is a document; folders and patterns;
                and sources of `lexmill.sources`.
            separator: the text between the documents of a text file, which is left out; None makes each text file
                one document.
            errors: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD.
            add_special_tokens: adds the special tokens of the post-processor.
            num_threads: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.

        Raises:
            FileError: a file cannot be read.
            InvalidUtf8Error: bytes are not UTF-8, with `errors="strict"`.
        """
    def split_text(
        self,
        text: str,
        size: int,
        *,
        overlap: int = 0,
        at: _SpanEnd = "token",
        add_special_tokens: bool = True,
    ) -> list[tuple[int, int]]:
        """Cuts a text into spans of at most `size` tokens each, as `encode` counts the tokens of each span by itself.

        Every character is in a span; without an overlap, the spans follow one another. A text is encoded about
        twice. Truncation and padding do not apply.

        Args:
            text: the text.
            size: the most tokens of a span.
            overlap: the most tokens of the text that neighbouring spans share; less than `size`.
            at: where spans end: after a `token`; after a `sentence` by the rules of Unicode (UAX 29), or after a
                token if the sentence does not fit; or after a `paragraph`, which ends with blank lines, or after a
                sentence if the paragraph does not fit.
            add_special_tokens: counts the special tokens of the post-processor in each span.

        Returns:
            The start and the end of each span, in characters.

        Raises:
            OptionError: `overlap` is not less than `size`; `size` is less than the special tokens, or than the
                tokens of one character; or the model chooses at random.
            OptionRangeError: a number is negative.
        """
    def split_text_batch(
        self,
        texts: _Texts,
        size: int,
        *,
        overlap: int = 0,
        at: _SpanEnd = "token",
        errors: _Utf8Errors = "strict",
        add_special_tokens: bool = True,
        num_threads: int | None = None,
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
        """Cuts texts into spans as `split_text` does.

        Args:
            texts: `str` or `bytes` in a list, another iterable or a numpy array, or an Arrow column.
            size: the most tokens of a span.
            overlap: the most tokens of the text that neighbouring spans share; less than `size`.
            at: `token`, `sentence` or `paragraph`, as in `split_text`.
            errors: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD.
            add_special_tokens: counts the special tokens of the post-processor in each span.
            num_threads: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.

        Returns:
            The spans of all texts, an array of shape (n, 2), and the row splits: the spans of text `i` are
                `spans[row_splits[i]:row_splits[i + 1]]`.

        Raises:
            InvalidUtf8Error: bytes are not UTF-8, with `errors="strict"`.
            OptionError: as `split_text`.
            OptionRangeError: a number is negative.
        """
    def truncate_text(self, text: str, size: int, *, add_special_tokens: bool = True) -> str:
        """A beginning of the text; encoded alone, it has at most `size` tokens.

        It ends after a token of the text: after the last token that fits, or an earlier one if the beginning alone
        has more tokens than in the text. Truncation and padding do not apply.

        Args:
            text: the text.
            size: the most tokens.
            add_special_tokens: counts the special tokens of the post-processor.

        Raises:
            OptionError: `size` is less than the special tokens, or the model chooses at random.
            OptionRangeError: `size` is negative.
        """
    def truncate_text_batch(
        self,
        texts: _Texts,
        size: int,
        *,
        errors: _Utf8Errors = "strict",
        add_special_tokens: bool = True,
        num_threads: int | None = None,
    ) -> list[str]:
        """The beginnings of texts, as `truncate_text` gives them.

        Args:
            texts: `str` or `bytes` in a list, another iterable or a numpy array, or an Arrow column.
            size: the most tokens.
            errors: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD.
            add_special_tokens: counts the special tokens of the post-processor.
            num_threads: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.

        Raises:
            InvalidUtf8Error: bytes are not UTF-8, with `errors="strict"`.
            OptionError: as `truncate_text`.
            OptionRangeError: `size` is negative.
        """
    def session(self) -> Session:
        """Begins the ids of a text that grows at its end. `Session` has the details."""
    def decode(
        self, ids: _Ids, skip_special_tokens: bool = True, *, strict: bool = False, errors: str = "replace"
    ) -> str:
        """The text of ids; with `strict` an id without a token is an error, otherwise it is passed over.

        Args:
            ids: the ids, in a list, an array, a column of pandas, polars or Arrow, or another sequence.
            skip_special_tokens: leaves special tokens out.
            strict: raises for an id without a token.
            errors: treats bytes that are not UTF-8: `replace` as the decoder does, by U+FFFD; `strict`, `ignore` or
                another of Python's error handlers as `bytes.decode` does.

        Raises:
            InputTypeError: the ids are not sequences of integers.
            IdRangeError: an id is negative, or does not fit 32 bits.
            VocabError: an id has no token, with `strict`.
            InvalidUtf8Error: the bytes are not UTF-8, with `errors="strict"`.
            OptionError: Python has no error handler of this name.
        """
    def decode_bytes(self, ids: _Ids, skip_special_tokens: bool = True, *, strict: bool = False) -> bytes:
        """The bytes of the text of ids, before they are read as UTF-8: a character that is not complete keeps its
        bytes.

        Args:
            ids: the ids, in a list, an array, a column of pandas, polars or Arrow, or another sequence.
            skip_special_tokens: leaves special tokens out.
            strict: raises for an id without a token.

        Raises:
            InputTypeError: the ids are not sequences of integers.
            IdRangeError: an id is negative, or does not fit 32 bits.
            VocabError: an id has no token, with `strict`.
        """
    def token_bytes(self, id: int) -> bytes:
        """The bytes that a token adds inside a text, not at its beginning or end.

        Args:
            id: the id of the token.

        Raises:
            IdRangeError: the id is negative, or does not fit 32 bits.
            VocabError: the id has no token.
            OptionError: the decoder looks at several tokens together, so a token has no bytes of its own.
        """
    def vocab_bytes(self) -> list[bytes | None]:
        """The bytes of all tokens, by id, as `token_bytes` gives them; None for an id without a token.

        Raises:
            OptionError: the decoder looks at several tokens together, so a token has no bytes of its own, or an id
                is beyond 16,777,215.
        """
    def decode_batch(
        self,
        sequences: Iterable[_Ids],
        skip_special_tokens: bool = True,
        *,
        strict: bool = False,
        errors: str = "replace",
    ) -> list[str]:
        """The texts of lists of ids.

        Args:
            sequences: the ids of each text, in lists, the rows of an array, or other sequences.
            skip_special_tokens: leaves special tokens out.
            strict: raises for an id without a token.
            errors: treats bytes that are not UTF-8, as in `decode`.

        Raises:
            InputTypeError: the ids are not sequences of integers.
            IdRangeError: an id is negative, or does not fit 32 bits.
            VocabError: an id has no token, with `strict`.
            InvalidUtf8Error: the bytes are not UTF-8, with `errors="strict"`.
            OptionError: Python has no error handler of this name.
        """
