"""The stages around a model that commands can put together, by the names they have on the command line."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from lexmill import Regex, Tokenizer
from lexmill.decoders import ByteLevel as ByteLevelDecoder
from lexmill.decoders import Metaspace as MetaspaceDecoder
from lexmill.decoders import WordPiece as WordPieceDecoder
from lexmill.models import WordPiece
from lexmill.normalizers import BertNormalizer
from lexmill.pre_tokenizers import (
    BertPreTokenizer,
    ByteLevel,
    Metaspace,
    PreTokenizer,
    Split,
    Whitespace,
    WhitespaceSplit,
)
from lexmill.pre_tokenizers import (
    Sequence as PreTokenizerSequence,
)

__all__ = [
    "GPT2_PATTERN",
    "PATTERNS",
    "NormalizerName",
    "PreTokenizerName",
    "SuperwordsName",
    "normalizer_of",
    "pre_tokenizer_of",
    "put_stages",
]

# The pattern of `ByteLevel`.
GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
# The published patterns of two families of models, which cut text on the way to the byte level.
PATTERNS = {
    "cl100k": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",
    "o200k": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}


class SuperwordsName(str, Enum):
    """The algorithms by which BPE learns superwords."""

    BOUNDLESS = "boundless"
    SUPERBPE = "superbpe"


class PreTokenizerName(str, Enum):
    """Ways to cut text into words: at the byte level by a published pattern, or at white space and punctuation."""

    BYTE_LEVEL = "byte-level"
    CL100K = "cl100k"
    O200K = "o200k"
    WHITESPACE = "whitespace"
    WHITESPACE_SPLIT = "whitespace-split"
    BERT = "bert"
    METASPACE = "metaspace"

    @property
    def is_byte_level(self) -> bool:
        """True if every byte has a token, so that decoding gives back exactly the same bytes."""
        return self in (PreTokenizerName.BYTE_LEVEL, PreTokenizerName.CL100K, PreTokenizerName.O200K)


class NormalizerName(str, Enum):
    """How text is rewritten before it is cut."""

    NONE = "none"
    BERT = "bert"
    BERT_CASED = "bert-cased"


def put_stages(tokenizer: Tokenizer, normalizer: NormalizerName, cut: PreTokenizerName) -> None:
    """Puts the normalizer, the pre-tokenizer and the decoder that goes with it and the model around the model."""
    chosen = normalizer_of(normalizer)
    if chosen is not None:
        tokenizer.normalizer = chosen
    tokenizer.pre_tokenizer = pre_tokenizer_of(cut)
    if isinstance(tokenizer.model, WordPiece):
        tokenizer.decoder = WordPieceDecoder()
    elif cut.is_byte_level:
        tokenizer.decoder = ByteLevelDecoder()
    elif cut is PreTokenizerName.METASPACE:
        tokenizer.decoder = MetaspaceDecoder()


def normalizer_of(name: NormalizerName) -> BertNormalizer | None:
    """The normalizer of this name."""
    if name is NormalizerName.NONE:
        return None
    return BertNormalizer(lowercase=name is NormalizerName.BERT)


def pre_tokenizer_of(name: PreTokenizerName) -> PreTokenizer:
    """The pre-tokenizer of this name."""
    pattern = PATTERNS.get(name.value)
    if pattern is not None:
        to_bytes = ByteLevel(add_prefix_space=False, use_regex=False)
        return PreTokenizerSequence([Split(Regex(pattern), "isolated"), to_bytes])
    plain: dict[PreTokenizerName, Callable[[], PreTokenizer]] = {
        PreTokenizerName.BYTE_LEVEL: lambda: ByteLevel(add_prefix_space=False),
        PreTokenizerName.WHITESPACE: Whitespace,
        PreTokenizerName.WHITESPACE_SPLIT: WhitespaceSplit,
        PreTokenizerName.BERT: BertPreTokenizer,
        PreTokenizerName.METASPACE: Metaspace,
    }
    return plain[name]()
