"""The whole pipeline: from text to tokens and back, one plain step after the other.

Encoding a text:
1. Added tokens with `normalized` off are cut out of the original text.
2. The normalizer changes each text between them, by itself.
3. Added tokens with `normalized` on are cut out of the normalized texts.
4. The pre-tokenizer cuts the texts between all added tokens into pre-tokens.
5. The model makes tokens of each pre-token.
6. Truncation cuts long encodings, the post-processor adds special tokens, padding fills up.

Pre-tokens and added tokens together are numbered from left to right: these are the word ids. A number is taken even if
the model makes no token of the pre-token. The model places each token in bytes of the pre-token; its offsets are the
characters of the original text that these bytes stand for (`lexmill.reference.normalized`).

Decoding looks up the token of each id, leaves out special ones if that is wished, and hands the rest to the decoder;
without a decoder a space goes between tokens. Ids without a token are passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields
from typing import TypeVar

from lexmill.reference.added_tokens import AddedToken, AddedTokens, Matcher
from lexmill.reference.decoders import Decoder
from lexmill.reference.decoders.sentencepiece import SentencePiece
from lexmill.reference.encoding import Encoding, Row, merge
from lexmill.reference.formats.decoders import decoder
from lexmill.reference.formats.fields import Json, flags
from lexmill.reference.formats.models import Model, Vocab, model
from lexmill.reference.formats.normalizers import normalizer
from lexmill.reference.formats.pre_tokenizers import pre_tokenizer
from lexmill.reference.formats.processors import post_processor
from lexmill.reference.formats.version_2 import to_version_1
from lexmill.reference.limits import Padding, Truncation
from lexmill.reference.normalized import Normalized
from lexmill.reference.normalizers import Normalizer
from lexmill.reference.normalizers.metaspace import without_metaspace
from lexmill.reference.pre_tokenizers import PreTokenizer
from lexmill.reference.processors import PostProcessor
from lexmill.reference.spelled_added import spelled

T = TypeVar("T")


@dataclass
class Tokenizer:
    """The stages; all but the model may be absent.

    Attributes:
        model: makes tokens of pre-tokens.
        vocab: the model's tokens with their ids, in the order of the file.
        encode_special_tokens: special tokens in a text are left to the model.
    """

    model: Model
    vocab: Vocab
    normalizer: Normalizer | None = None
    pre_tokenizer: PreTokenizer | None = None
    post_processor: PostProcessor | None = None
    decoder: Decoder | None = None
    added: AddedTokens = field(default_factory=AddedTokens)
    truncation: Truncation | None = None
    padding: Padding | None = None
    encode_special_tokens: bool = False

    @classmethod
    def from_dict(cls, spec: Json) -> Tokenizer:
        """Reads a `tokenizer.json` of either version as `json.loads` gives it.

        Ids of added tokens in the file are not believed: `AddedTokens` numbers them.
        """
        if spec.get("version") == "2.0":
            spec = to_version_1(spec)
        tokenizer = cls(*model(spec["model"]))
        tokenizer.normalizer = _optional(normalizer, spec.get("normalizer"))
        tokenizer.pre_tokenizer = _optional(pre_tokenizer, spec.get("pre_tokenizer"))
        tokenizer.post_processor = _optional(post_processor, spec.get("post_processor"))
        tokenizer.decoder = _optional(decoder, spec.get("decoder"))
        tokenizer.truncation = _optional(Truncation.from_dict, spec.get("truncation"))
        tokenizer.padding = _optional(Padding.from_dict, spec.get("padding"))
        names = [member.name for member in fields(AddedToken)]
        tokens = [AddedToken(**flags(token, *names)) for token in spec.get("added_tokens") or []]
        tokenizer.added.add(tokens, tokenizer.vocab)
        return tokenizer

    def encode(self, text: str, pair: str | None = None, add_special_tokens: bool = True) -> Encoding:
        """Encodes a text or a pair.

        Raises:
            VocabError: a character is unknown and the model has no unknown token.
        """
        return self.encode_batch([(text, pair)], add_special_tokens)[0]

    def encode_batch(self, inputs: Iterable[tuple[str, str | None]], add_special_tokens: bool = True) -> list[Encoding]:
        """Encodes texts or pairs; they are padded together."""
        encodings = [self._encode(text, pair, add_special_tokens) for text, pair in inputs]
        return encodings if self.padding is None else self.padding.apply(encodings)

    def decode(self, ids: Iterable[int], skip_special_tokens: bool = True) -> str:
        """Returns the text of ids."""
        return self.join(self.decoder_tokens(ids, skip_special_tokens))

    def decoder_tokens(self, ids: Iterable[int], skip_special_tokens: bool = True) -> list[str]:
        """The tokens of ids, as the decoder gets them."""
        found = [(token_id, token) for token_id in ids if (token := self.id_to_token(token_id)) is not None]
        if skip_special_tokens and isinstance(self.decoder, SentencePiece):
            # The unknown token has a text, and a token that is left out still ends the bytes before it.
            kept = self.added.special - {self.decoder.unk_token}
            return ["" if token in kept else token for _, token in found]
        hidden = self.added.special if skip_special_tokens else set()
        stages = self.added, self.model, self.vocab, self.normalizer, self.decoder
        return [spelled(token_id, token, *stages) for token_id, token in found if token not in hidden]

    def join(self, tokens: list[str]) -> str:
        """The text of tokens."""
        return " ".join(tokens) if self.decoder is None else "".join(self.decoder.decode(tokens))

    def id_to_token(self, token_id: int) -> str | None:
        """The text of an id: an added token's, in the form in which it is looked for, or else the model's."""
        if token_id in self.added.tokens:
            token = self.added.tokens[token_id]
            return self._looked_for(token.content) if token.normalized else token.content
        return {known: token for token, known in self.vocab}.get(token_id)

    def normalize(self, text: str) -> str:
        """The text alone after the normalizer."""
        return self._normalized(Normalized.whole(text)).text

    def _encode(self, text: str, pair: str | None, add_special_tokens: bool) -> Encoding:
        encodings = [self._tokens(text)] if pair is None else [self._tokens(text), self._tokens(pair).with_type(1)]
        if self.truncation is not None:
            special = 0
            if add_special_tokens and self.post_processor is not None:
                special = self.post_processor.added_tokens(is_pair=pair is not None)
            encodings = self.truncation.apply(encodings, special)
        if self.post_processor is not None:
            encodings = [encoding.with_type(place) for place, encoding in enumerate(encodings)]
            encodings = self.post_processor.process(encodings, add_special_tokens=add_special_tokens)
        return merge(encodings)

    def _tokens(self, text: str) -> Encoding:
        rows: list[Row] = []
        for word, (piece, token_id) in enumerate(self.pre_tokens(text)):
            if token_id is not None:
                rows.append(Row(token_id, piece.text, piece.source(0, len(piece.text)), word))
                continue
            for token in self.model.tokenize(piece.text):
                rows.append(Row(token.id, token.value, piece.source_of_bytes(*token.offsets), word))
        return Encoding(tuple(rows))

    def pre_tokens(self, text: str) -> Iterator[tuple[Normalized, int | None]]:
        """Yields the pre-tokens of a text in order, and the added tokens with their ids."""
        original = self._matcher(normalized=False)
        for segment, token_id in self._split(Normalized.whole(text), original):
            if token_id is not None:
                yield segment, token_id
                continue
            for part, inner_id in self._split(self._normalized(segment), self._matcher(normalized=True)):
                if inner_id is not None or self.pre_tokenizer is None:
                    yield part, inner_id
                else:
                    yield from ((piece, None) for piece in self.pre_tokenizer.pre_tokenize(part))

    def _split(self, text: Normalized, matcher: Matcher) -> list[tuple[Normalized, int | None]]:
        return [(text.slice(start, end), token_id) for (start, end), token_id in matcher.split(text.text)]

    def _normalized(self, text: Normalized) -> Normalized:
        return text if self.normalizer is None else self.normalizer.normalize(text)

    def _looked_for(self, content: str) -> str:
        """The form of an added token in normalized text; a last `MetaspaceNormalizer` would put a space before it."""
        if self.normalizer is None:
            return content
        return without_metaspace(self.normalizer).normalize(Normalized.whole(content)).text

    def _matcher(self, *, normalized: bool) -> Matcher:
        normalize = self._looked_for if normalized else str
        return self.added.matcher(normalize, normalized=normalized, encode_special_tokens=self.encode_special_tokens)


def _optional(read: Callable[[Json], T], spec: Json | None) -> T | None:
    return None if spec is None else read(spec)
