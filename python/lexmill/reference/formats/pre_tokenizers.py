"""Reads the `pre_tokenizer` of a `tokenizer.json`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lexmill.reference.formats.fields import Json, flags, pattern, read
from lexmill.reference.pre_tokenizers import PreTokenizer, Sequence
from lexmill.reference.pre_tokenizers.bert import BertPreTokenizer
from lexmill.reference.pre_tokenizers.byte_level import ByteLevel
from lexmill.reference.pre_tokenizers.char_delimiter_split import CharDelimiterSplit
from lexmill.reference.pre_tokenizers.digits import Digits
from lexmill.reference.pre_tokenizers.fixed_length import FixedLength
from lexmill.reference.pre_tokenizers.metaspace import Metaspace
from lexmill.reference.pre_tokenizers.punctuation import Punctuation
from lexmill.reference.pre_tokenizers.split import Split
from lexmill.reference.pre_tokenizers.unicode_scripts import UnicodeScripts
from lexmill.reference.pre_tokenizers.whitespace import Whitespace, WhitespaceSplit

BYTE_LEVEL = ("add_prefix_space", "trim_offsets", "use_regex")
METASPACE = ("replacement", "prepend_scheme", "split")


def pre_tokenizer(spec: Json) -> PreTokenizer:
    """Reads one pre-tokenizer."""
    return read("pre-tokenizer", spec, READERS)


READERS: Mapping[str, Callable[[Json], PreTokenizer]] = {
    "ByteLevel": lambda spec: ByteLevel(**flags(spec, *BYTE_LEVEL)),
    "Metaspace": lambda spec: Metaspace(**flags(spec, *METASPACE)),
    "Split": lambda spec: Split(pattern(spec["pattern"]), **flags(spec, "behavior", "invert")),
    "Whitespace": lambda _: Whitespace(),
    "WhitespaceSplit": lambda _: WhitespaceSplit(),
    "BertPreTokenizer": lambda _: BertPreTokenizer(),
    "Digits": lambda spec: Digits(**flags(spec, "individual_digits")),
    "Punctuation": lambda spec: Punctuation(**flags(spec, "behavior")),
    "CharDelimiterSplit": lambda spec: CharDelimiterSplit(spec["delimiter"]),
    "UnicodeScripts": lambda _: UnicodeScripts(),
    "FixedLength": lambda spec: FixedLength(**flags(spec, "length")),
    "Sequence": lambda spec: Sequence([pre_tokenizer(stage) for stage in spec["pretokenizers"]]),
}
