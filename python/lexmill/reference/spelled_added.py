"""Added tokens as a byte-level decoder gets them.

An added token is found in text as it stands, so it is to decode to itself. But a token such as `č`, all of whose
characters belong to the byte-level alphabet, is read there as bytes: `č` is a carriage return. So the decoder gets the
characters of the token's own bytes. Left alone are tokens that the model makes of pre-tokens too, for there the id
stands for bytes, and normalized ones after a normalizer that has spelled them already.
"""

from __future__ import annotations

from lexmill.reference import byte_level
from lexmill.reference.added_tokens import AddedTokens
from lexmill.reference.bpe import Bpe
from lexmill.reference.decoders import Decoder
from lexmill.reference.decoders import Sequence as Decoders
from lexmill.reference.decoders.byte_level import ByteLevel
from lexmill.reference.formats.models import Model, Vocab
from lexmill.reference.normalizers import Normalizer
from lexmill.reference.normalizers import Sequence as Normalizers
from lexmill.reference.normalizers.byte_level import ByteLevel as Spelling


def spelled(
    token_id: int,
    text: str,
    added: AddedTokens,
    model: Model,
    vocab: Vocab,
    normalizer: Normalizer | None,
    decoder: Decoder | None,
) -> str:
    """The text that the decoder gets for an id, whose token is found as `text`."""
    token = added.tokens.get(token_id)
    if token is None or not _reads_bytes(decoder) or (token.normalized and _spells(normalizer)):
        return text
    is_ambiguous = all(char in byte_level.CHAR_TO_BYTE for char in text)
    is_bytes = (text, token_id) in vocab and _makes(model, token_id, text)
    return byte_level.to_chars(text) if is_ambiguous and not is_bytes else text


def _makes(model: Model, token_id: int, text: str) -> bool:
    if not isinstance(model, Bpe) or model.ignore_merges or model.prefix or model.suffix:
        return True
    return len(text) == 1 or token_id in model.made


def _reads_bytes(decoder: Decoder | None) -> bool:
    if isinstance(decoder, Decoders):
        return any(map(_reads_bytes, decoder.stages))
    return isinstance(decoder, ByteLevel)


def _spells(normalizer: Normalizer | None) -> bool:
    if isinstance(normalizer, Normalizers):
        return any(map(_spells, normalizer.stages))
    return isinstance(normalizer, Spelling)
