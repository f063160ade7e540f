"""What type checkers must conclude about the public API; checked by mypy, never run."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

from lexmill import (
    AddedToken,
    BertWordPieceTokenizer,
    ByteLevelBPETokenizer,
    DomainTokens,
    EncodeInput,
    Encoding,
    Offsets,
    Regex,
    SentencePieceUnigramTokenizer,
    Token,
    TokenArrays,
    Tokenizer,
    decoders,
    errors,
    normalizers,
    pre_tokenizers,
    v1,
)
from lexmill.decoders import ByteLevel as ByteLevelDecoder
from lexmill.decoders import Decoder
from lexmill.models import BPE, Model, WordLevel, WordPiece
from lexmill.normalizers import NFC, BertNormalizer, Normalizer
from lexmill.normalizers import Sequence as NormalizerSequence
from lexmill.pre_tokenizers import ByteLevel, Digits, PreTokenizer, Punctuation, Split
from lexmill.pre_tokenizers import Sequence as PreTokenizerSequence
from lexmill.processors import BertProcessing, PostProcessor, RobertaProcessing, TemplateProcessing
from lexmill.tools import Annotation, EncodingVisualizer
from lexmill.trainers import BpeTrainer, ParityBpeTrainer, SuperwordOptions, Trainer, WordLevelTrainer, WordPieceTrainer

Ids = npt.NDArray[np.uint16] | npt.NDArray[np.uint32]


def build() -> Tokenizer:
    tokenizer = Tokenizer(BPE())
    tokenizer.normalizer = NormalizerSequence([NFC()])
    tokenizer.pre_tokenizer = PreTokenizerSequence(
        [Split(Regex(r"\s+"), "isolated"), Digits(individual_digits=True), Punctuation("removed"), ByteLevel(False)]
    )
    tokenizer.post_processor = TemplateProcessing("[CLS] $A", "$A [SEP] $B:1", [("[CLS]", 0), (1, "[SEP]")])
    tokenizer.post_processor = RobertaProcessing(("</s>", 1), ("<s>", 0), trim_offsets=False)
    tokenizer.decoder = ByteLevelDecoder()
    tokenizer.model = BPE({"a": 0}, [("a", "b")], unk_token="a", seed=7)
    tokenizer.model = BPE.from_file(Path("vocab.json"), "merges.txt", dropout=0.1)
    tokenizer.decoder = None
    return tokenizer


def progress(stage: str, done: int, total: int, eta: float | None, rss: int | None) -> None:
    print(stage, done, total)


def train(tokenizer: Tokenizer) -> None:
    trainer = BpeTrainer(vocab_size=300, special_tokens=["<s>", AddedToken("</s>", special=True)])
    assert_type(trainer.tie_break, Literal["smallest-ids", "first-seen"])
    trainer.tie_break = "first-seen"
    trainer.superwords = SuperwordOptions(200, algorithm="superbpe", max_words=3)
    assert_type(trainer.superwords.algorithm, Literal["boundless", "superbpe"])
    assert_type(trainer.special_tokens, list[AddedToken])
    tokenizer.train(["a.txt", Path("b.txt")], trainer, errors="replace", on_progress=progress, num_threads=2)
    domains = tokenizer.train({"en": "a.txt", "hi": [Path("b.txt")]}, trainer, weights={"en": 2, "hi": 0.5})
    assert_type(domains, dict[str, DomainTokens])
    trainer.forbid = [r"\d\d", Regex("  ")]
    assert_type(trainer.forbid, list[str])
    tokenizer.train_from_iterator(iter(["a", "b"]), length=2)
    tokenizer.train_from_iterator((line.split() for line in ("a b", "c")), trainer)
    assert_type(tokenizer.model.get_trainer(), Trainer)
    balanced = ParityBpeTrainer(300, "window", ratio=[1, 2.5], alpha=3)
    assert_type(balanced.variant, Literal["base", "window"])
    balanced.train_from_iterator(tokenizer, [["a"], iter(["b"])], dev_iterators=[["a"], [["b"]]], num_threads=2)


def parts(tokenizer: Tokenizer) -> None:
    assert_type(tokenizer.model, Model)
    assert_type(tokenizer.normalizer, Normalizer | None)
    assert_type(tokenizer.pre_tokenizer, PreTokenizer | None)
    assert_type(tokenizer.post_processor, PostProcessor | None)
    assert_type(tokenizer.decoder, Decoder | None)
    assert_type(tokenizer.model.tokenize("word"), list[Token])
    assert_type(BPE.read_file("vocab.json", "merges.txt"), tuple[dict[str, int], list[tuple[str, str]]])
    assert_type(ByteLevel.alphabet(), list[str])
    assert_type(ByteLevel().pre_tokenize_str("a b"), list[tuple[str, tuple[int, int]]])
    assert_type(tokenizer.get_vocab(), dict[str, int])
    assert_type(tokenizer.token_to_id("a"), int | None)
    assert_type(tokenizer.id_to_token(0), str | None)
    assert_type(tokenizer.add_tokens(["a", "b"]), int)
    assert_type(tokenizer.get_added_tokens_decoder(), dict[int, AddedToken])
    assert_type(tokenizer.truncation, dict[str, Any] | None)
    assert_type(tokenizer.cache_info(), dict[str, int])


def encode(tokenizer: Tokenizer) -> None:
    encoding = tokenizer.encode("a text", "its pair")
    assert_type(encoding, Encoding)
    assert_type(tokenizer.encode(["a", "text"], is_pretokenized=True), Encoding)
    assert_type(tokenizer.encode_batch(["a", ("b", "c")]), list[Encoding])
    assert_type(tokenizer.encode_batch_fast([["a", "b"], ["c"]], is_pretokenized=True), list[Encoding])
    assert_type(encoding.ids, list[int])
    assert_type(encoding.tokens, list[str])
    assert_type(encoding.offsets, list[tuple[int, int]])
    assert_type(encoding.word_ids, list[int | None])
    assert_type(encoding.overflowing, list[Encoding])
    assert_type(Encoding.merge([encoding, encoding]), Encoding)
    assert_type(tokenizer.post_process(encoding), Encoding)
    assert_type(len(encoding), int)


def visible_spaces(tokenizer: Tokenizer) -> None:
    replace = normalizers.Replace(Regex(r"\s+"), "▁")
    tokenizer.normalizer = NormalizerSequence([normalizers.Prepend(), replace, normalizers.Strip(right=False)])
    metaspace = pre_tokenizers.Metaspace("▁", "first", split=False)
    tokenizer.pre_tokenizer = metaspace
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    tokenizer.decoder = decoders.Sequence(steps)
    assert_type(replace.content, str)
    assert_type(metaspace.prepend_scheme, Literal["first", "never", "always"])
    assert_type(decoders.Strip().start, int)


class Column:
    """What offers itself by Arrow's stream interface, as a polars Series does."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return None


def arrays(tokenizer: Tokenizer) -> None:
    found = tokenizer.encode_files_arrays([Path("a.txt"), "b.txt"], "\n", errors="replace")
    assert_type(found, TokenArrays)
    assert_type(found.ids, Ids)
    assert_type(found.row_splits, npt.NDArray[np.int64])
    assert_type(found[0], Ids)
    assert_type(found[1:], list[Ids])
    for row in found:
        assert_type(row, Ids)
        assert_type(tokenizer.decode(row, strict=True), str)
    assert_type(tokenizer.encode_nbest("a", 2), list[tuple[Encoding, float]])
    assert_type(tokenizer.encode_ids("a", add_special_tokens=False), list[int])
    assert_type(tokenizer.encode_batch_ids(("a", "b")), list[list[int]])
    assert_type(tokenizer.encode_batch_ids([b"a", b"b"], errors="replace"), list[list[int]])
    assert_type(tokenizer.encode_batch_arrays(np.array(["a", "b"])), TokenArrays)
    assert_type(tokenizer.encode_batch_arrays(np.array([b"a"])), TokenArrays)
    assert_type(tokenizer.count_tokens(["a"]), npt.NDArray[np.int64])
    assert_type(tokenizer.count_tokens_files(["a.txt", Path("b.txt")], "|", errors="replace"), npt.NDArray[np.int64])
    assert_type(tokenizer.count_tokens(Column()), npt.NDArray[np.int64])
    assert_type(tokenizer.encode_batch(Column()), list[Encoding])
    tokenizer.train_from_iterator(Column())
    tokenizer.train_from_iterator([Column(), Column()])
    assert_type(tokenizer.decode_batch([[1, 2], range(3)]), list[str])
    assert_type(tokenizer.decode([1], errors="ignore"), str)
    assert_type(tokenizer.decode_bytes([1]), bytes)
    assert_type(tokenizer.token_bytes(1), bytes)
    assert_type(tokenizer.vocab_bytes(), list[bytes | None])
    assert_type(tokenizer.split_text("a", 2, at="sentence"), list[tuple[int, int]])
    assert_type(tokenizer.truncate_text_batch(["a"], 2), list[str])
    assert_type(tokenizer.session().append("a"), tuple[int, list[int]])
    assert_type(TokenArrays(np.zeros(1, np.uint16), np.array([0, 1])), TokenArrays)


def implementations(tokenizer: BertWordPieceTokenizer, inputs: list[EncodeInput]) -> None:
    assert_type(BertWordPieceTokenizer({"a": 0}, unk_token=AddedToken("a")), BertWordPieceTokenizer)
    assert_type(ByteLevelBPETokenizer.from_file("vocab.json", "merges.txt", lowercase=True), ByteLevelBPETokenizer)
    assert_type(SentencePieceUnigramTokenizer.from_spm(Path("a.model")), SentencePieceUnigramTokenizer)
    tokenizer.train("a.txt", special_tokens=["[UNK]", AddedToken("[CLS]")])
    tokenizer.train_from_iterator(iter([["a", "b"]]), vocab_size=300, length=1)
    assert_type(tokenizer.encode(("a", "b"), is_pretokenized=True), Encoding)
    assert_type(tokenizer.encode_batch(inputs), list[Encoding])
    span: Offsets = tokenizer.encode("a").offsets[0]
    assert_type(span, tuple[int, int])
    assert_type(tokenizer.normalizer, Normalizer | None)
    assert_type(normalizers.unicode_normalizer_from_str("nfc"), Normalizer)
    visualizer = EncodingVisualizer(tokenizer, annotation_converter=lambda pair: Annotation(pair[0], pair[1], "label"))
    assert_type(visualizer("a", [Annotation(0, 1, "label")], default_to_notebook=False), str | None)


def refused(tokenizer: Tokenizer) -> None:
    # Each line must be an error, or the ignore itself is one (warn_unused_ignores).
    tokenizer.encode(b"bytes")  # type: ignore[call-overload]
    tokenizer.encode_batch_ids([1, 2])  # type: ignore[arg-type]
    tokenizer.encode(["a", "text"], is_pretokenized="yes")  # type: ignore[call-overload]
    tokenizer.train("file.txt", BPE())  # type: ignore[call-overload]
    tokenizer.train(["file.txt"], errors="ignore")  # type: ignore[call-overload]
    tokenizer.normalizer = ByteLevel()  # type: ignore[assignment]
    BPE({"a": 0})  # type: ignore[call-overload]
    BpeTrainer(vocab=300)  # type: ignore[call-arg]
    Split("a", "sometimes")  # type: ignore[arg-type]
    metaspace = pre_tokenizers.Metaspace(prepend_scheme="sometimes")  # type: ignore[arg-type]
    metaspace.prepend_scheme = "x"  # type: ignore[assignment]


def caught(tokenizer: Tokenizer) -> None:
    try:
        tokenizer.save("tokenizer.json", pretty=False)
    except errors.FileError as error:
        assert_type(error.filename, Any)


def wordpiece(path: Path) -> None:
    model = WordPiece.from_file(path, unk_token="?", max_input_chars_per_word=9)
    assert_type(model, WordPiece)
    assert_type(model.continuing_subword_prefix, str)
    assert_type(WordPiece.read_file("vocab.txt"), dict[str, int])
    assert_type(WordLevel.from_file(path, "<unk>").unk_token, str)
    assert_type(BertNormalizer(strip_accents=True).strip_accents, bool | None)
    assert_type(BertProcessing(("[SEP]", 1), ("[CLS]", 2)).sep, tuple[str, int])
    trainer = WordPieceTrainer(score="likelihood", tie_break=None, min_pair_frequency=2)
    assert_type(trainer.score, Literal["frequency", "likelihood", "likelihood-float64"])
    assert_type(WordLevelTrainer(min_frequency=3).vocab_size, int)
    WordPieceTrainer(score="count")  # type: ignore[arg-type]
    WordPiece({"a": "b"})  # type: ignore[dict-item]


def version_1(path: Path) -> None:
    tokenizer = v1.Tokenizer.from_file(path)
    tokenizer.padding = v1.Padding("left", length=8)
    assert_type(tokenizer.truncation, v1.Truncation | None)
    compiled = tokenizer.compile()
    assert_type(compiled, v1.CompiledTokenizer)
    encoding = compiled.encode(("a", "b"), padding=None, truncation=v1.Truncation(8, "only_first"))
    assert_type(encoding.ids, list[int])
    assert_type(encoding.ids_array, npt.NDArray[np.uint32])
    assert_type(encoding.offsets, list[tuple[int, int]])
    assert_type(compiled.encode_batch(["a", ("a", "b"), ["a", "b"]]), list[v1.Encoding])
    assert_type(compiled.encode_batch_arrays([b"a"], return_offsets=True), TokenArrays)
    assert_type(tokenizer.tokenize("a"), list[str])
    assert_type(tokenizer.decode(encoding), str)
    assert_type(tokenizer.decode_tokens(np.array([1]), skip_special_tokens=True), list[str])
    tokenizer.encode("a", True)  # type: ignore[call-arg]
    tokenizer.encode("a", padding=8)  # type: ignore[arg-type]
    tokenizer.padding = 8  # type: ignore[assignment]
    compiled.padding = None  # type: ignore[misc]
    v1.Padding("up")  # type: ignore[arg-type]
