"""What is drawn for each parameter and property of the peer's, by its name or, where names mean several things, by its
place.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any, TypeVar

from differential.pools import (
    ADDED,
    ADDEDS,
    BEHAVIOR,
    BYTES,
    CORPUS,
    DECODER,
    DIRECTION,
    ENCODING,
    FLAG,
    IDS,
    INPUT,
    MODEL,
    NORMALIZER,
    PADDING,
    PATTERN,
    POSITION,
    PRE_TOKENIZER,
    PROCESSOR,
    PROCESSOR_TOKEN,
    SEQUENCE,
    SMALL,
    SPECIALS,
    TOKEN,
    TRAINER,
    TRUNCATION,
    UNK,
    VOCABS,
    WORD,
    Draw,
    lists,
    made,
    of,
    text,
    tokenizer,
)
from differential.values import FOLDER, Call, Name, Script, make, method
from implementation_calls import LETTERS, MERGES, OPTIONS, PIECES
from tokenizer_strategies import PAIR_TEMPLATES, REGEXES, SINGLE_TEMPLATES

T = TypeVar("T")


def each(pattern: str, *names: Iterable[str], value: T) -> dict[str, T]:
    """The same value for each path that the pattern makes of a name from every list."""
    return {pattern.format(*chosen): value for chosen in itertools.product(*names)}


ITERATOR = of(
    CORPUS,
    CORPUS,
    [CORPUS, CORPUS[:2]],
    Script("generator"),
    Script("generator of lists"),
    Script("array of texts"),
)
FILES = of([f"{FOLDER}/text.txt"], [f"{FOLDER}/text.txt", f"{FOLDER}/more.txt"], [], [f"{FOLDER}/absent.txt"])
STATES = of(
    lambda rng: method(
        of(NORMALIZER, PRE_TOKENIZER, PROCESSOR, DECODER, MODEL, TRAINER, ENCODING, tokenizer, ADDED)(rng),
        "__getstate__",
    ),
    b"",
    b"{}",
    b"null",
    b'{"type": "NFC"}',
    b"\xff",
    '{"type":"Fuse"}',
    {},
)
ALPHABET = of([], ["a", "b"], ["é", "abc", ""], ["z"])
JSON = of(lambda rng: method(tokenizer(rng), "to_str"), "{}", "", "null", '{"version": "1.0"}')
ANNOTATIONS = lists(made("tools.visualizer.Annotation", of(0, 1, 2), of(2, 3, 5), of("x", "y", "<z>")), 2)
PLAIN = made("tools.visualizer.EncodingVisualizer", tokenizer, default_to_notebook=of(False))
NORMALIZED = made("NormalizedString", text)
RANGE = of(
    0,
    1,
    -1,
    9,
    (0, 2),
    (1, 9),
    (2, 1),
    (-2, None),
    *map(
        Script,
        [
            "slice",
            "slice from",
            "slice negative",
            "slice step",
            "slice back",
        ],
    ),
)

CHARACTERS = [[make("tools.visualizer.CharState", place) for place in range(length)] for length in (1, 2)]
# An encoding of one text, as a post-processor gets them.
PART = of(lambda rng: method(Call(Script("assembled"), (MODEL(rng), {}, {}, [])), "encode", text(rng)))

BY_NAME: dict[str, Draw] = {
    # Tokens, texts, ids.
    "content": TOKEN,
    "s": text,
    "sequence": text,
    "text": text,
    "value": text,
    "token": WORD,
    "delimiter": of("a", " ", "é"),
    "sep_token": TOKEN,
    "cls_token": TOKEN,
    "unk_token": UNK,
    "mask_token": TOKEN,
    "pad_token": TOKEN,
    "word_delimiter_token": of("|", " ", "a"),
    "prefix": of("##", "", "a"),
    "suffix": of("</w>", "", "a"),
    "prepend": of("▁", "", "x", "é"),
    "replacement": of("▁", "_", " "),
    "continuing_subword_prefix": of("##", "", "@"),
    "end_of_word_suffix": of("</w>", "", "@"),
    "wordpieces_prefix": of("##", ""),
    "id": POSITION,
    "ids": IDS,
    "sequences": lists(IDS, 3),
    "tokens": ADDEDS,
    "special_tokens": ADDEDS,
    "input": lists(INPUT),
    "inputs": lists(INPUT),
    "pair": of(None, None, text),
    "offsets": of((0, 1), (1, 3), (2, 1)),
    "label": of("x", "y"),
    "css_styles": of("", "b {}"),
    # Patterns and choices.
    "pattern": PATTERN,
    "behavior": BEHAVIOR,
    "direction": DIRECTION,
    "prepend_scheme": of("always", "never", "first"),
    "strategy": TRUNCATION["strategy"],
    "progress_format": of("indicatif", "json", "silent"),
    "offset_referential": of("original", "normalized", Name("OffsetReferential.ORIGINAL")),
    "offset_type": of("byte", "char", Name("OffsetType.CHAR")),
    "unicode_normalizer": of(None, "nfc", "nfkd"),
    "variant": of("base", "window"),
    # Numbers.
    "length": of(0, 1, 3, 6),
    "index": of(0, 0, 1),
    "range": RANGE,
    "capacity": of(0, 1, 100),
    "cache_capacity": of(0, 1, 100),
    "dropout": of(None, 0.0, 1.0),
    "alpha": of(None, 0.0),
    "nbest_size": of(None, 0, 1, 2),
    "max_length": TRUNCATION["max_length"],
    "stride": TRUNCATION["stride"],
    "pad_to_multiple_of": PADDING["pad_to_multiple_of"],
    "vocab_size": of(0, 5, 30, 60, 300),
    "max_input_chars_per_word": of(0, 1, 3, 100),
    "unk_id": of(None, 0, 1),
    "limit_alphabet": of(100, 1000),
    "max_token_length": of(None, 0, 1, 2, 8),
    "shrinking_factor": of(0.5, 0.75),
    "max_piece_length": of(1, 2, 16),
    "n_sub_iterations": of(1, 2),
    "num_merges": of(0, 3, 10),
    "global_merges": of(0, 2),
    "window_size": of(1, 100),
    "ratio": of(None, [1.0]),
    "v": of(None, 0, 1, 2.0, "x"),
    "max": of(0, 1, 3, 100),
    "freq": SMALL,
    "limit": SMALL,
    **dict.fromkeys(["left", "right", "start", "stop", "min_frequency", "pad_id", "pad_type_id", "sequence_id"], SMALL),
    **dict.fromkeys(["type_id", "sequence_index", "anno_ix", "token_ix", "char_ix"], of(0, 0, 1, 2)),
    **dict.fromkeys(["char_pos", "word_index", "token_index", "end"], POSITION),
    "word_idx": of(None, 0, 3),
    # Switches.
    **dict.fromkeys(
        [
            "add_prefix_space",
            "add_special_tokens",
            "byte_fallback",
            "clean_text",
            "cleanup",
            "fuse_unk",
            "growing_offsets",
            "handle_chinese_chars",
            "ignore_merges",
            "individual_digits",
            "invert",
            "is_pair",
            "is_pretokenized",
            "lowercase",
            "lstrip",
            "normalized",
            "pretty",
            "rstrip",
            "show_progress",
            "single_word",
            "skip_special_tokens",
            "special",
            "split",
            "split_on_whitespace_only",
            "trim_offsets",
            "use_regex",
            "with_added_tokens",
            "bert_normalizer",
            "total_symbols",
        ],
        FLAG,
    ),
    "strip_accents": of(None, True, False),
    "default_to_notebook": of(False),
    # Objects.
    "model": MODEL,
    "normalizer": NORMALIZER,
    "normalizers": lists(NORMALIZER, 3),
    "pretok": PRE_TOKENIZER,
    "pre_tokenizers": lists(PRE_TOKENIZER, 3),
    "processor": PROCESSOR,
    "processors_py": lists(PROCESSOR, 1),
    "decoder": DECODER,
    "decoders_py": lists(DECODER, 3),
    "trainer": of(None, TRAINER, TRAINER),
    "encoding": ENCODING,
    "encodings": lists(ENCODING, 3),
    "tokenizer": tokenizer,
    "obj": of(Script("Upper"), Script("Odd")),
    "other": of(ADDED, ADDED, TOKEN),
    "state": STATES,
    "_memo": of({}),
    "parameters": of(None, {}, {"a": 1}),
    "annotations": ANNOTATIONS,
    "annotation_converter": of(None),
    "sep": PROCESSOR_TOKEN,
    "children": lists(of("a", "<b>x</b>"), 2),
    "consecutive_chars_list": of(*CHARACTERS),
    # Vocabularies, files, corpora.
    "vocab": VOCABS,
    "merges": of(MERGES, MERGES, [], f"{FOLDER}/merges.txt", [("a", "é")]),
    "files": FILES,
    "iterator": ITERATOR,
    "initial_alphabet": ALPHABET,
    "vocab_filename": of(f"{FOLDER}/vocab.json"),
    "merges_filename": of(f"{FOLDER}/merges.txt"),
    "path": of(f"{FOLDER}/saved.json", f"{FOLDER}/absent/saved.json"),
    "folder": of(FOLDER, f"{FOLDER}/absent"),
    "directory": of(FOLDER),
    "name": of(None, "a"),
    "json": JSON,
    "buffer": of(b"{}", b"", b"\xff"),
    "precompiled_charsmap": of(b"", b"\0\0\0\0", b"x"),
    "filename": of(f"{FOLDER}/absent.model"),
    "train_iterators": of([CORPUS]),
    "dev_iterators": of(None, [CORPUS]),
    # Nothing here may ask the network.
    "identifier": of(None, 5),
    "revision": of("main"),
}


# Wrong values that only one call takes for wrong.
WRONG: dict[str, list[Any]] = {
    "Regex.s": ["(", "a{", "\\", "[", "(?<a"],
    "processors.TemplateProcessing.single": ["$C", "[X] $A", [1], "", "$A:x", "$-1", ["$A", ""]],
    "processors.TemplateProcessing.pair": ["$A", "", "$A [X] $B", 5, "$B"],
    "processors.TemplateProcessing.special_tokens": [
        [("[CLS]", 1, 2)],
        [{"id": "a"}],
        [("[CLS]", "1")],
        [],
        "ab",
        [{}],
    ],
    **each("{}.Metaspace.replacement", ["decoders", "pre_tokenizers"], value=["", "ab"]),
    "models.BPE.merges": [[("a",)], [("a", "b", "c")], [("a", "zz")], ["ab"], [("a", 1)], f"{FOLDER}/absent.txt"],
    "models.BPE.vocab": [{"a": -1}, {"a": 2**32}, {"a": "x"}, {1: 1}, f"{FOLDER}/absent.json"],
    "models.WordLevel.vocab": [{"a": -1}, {"a": 2**32}, {"a": "x"}, {1: 1}, f"{FOLDER}/absent.json"],
    "models.WordPiece.vocab": [{"a": -1}, {"a": 2**32}, {"a": "x"}, {1: 1}, f"{FOLDER}/absent.txt"],
    "models.Unigram.vocab": [[("a",)], [("a", "x")], [("a", 1.0, 2)], {"a": 1.0}],
    "models.Unigram.unk_id": [9, -1],
    **each(
        "{}.Sequence.{}.index",
        ["normalizers", "pre_tokenizers", "processors"],
        ["__getitem__", "__setitem__"],
        value=[-1, 5],
    ),
    "decoders.Strip.content": ["", "ab"],
    "pre_tokenizers.CharDelimiterSplit.delimiter": ["", "ab"],
    **each("Tokenizer.{}.tokens", ["add_tokens", "add_special_tokens"], value=[["a", 1], "ab", ("a",), {"a"}]),
    "Tokenizer.enable_truncation.stride": [9, 100],
    "Tokenizer.enable_truncation.strategy": ["x", "LongestFirst", None],
    "Tokenizer.enable_truncation.direction": ["Left", "", None],
    "Tokenizer.enable_padding.direction": ["up", None],
    **each(
        "Tokenizer.{}.{}",
        ["encode", "async_encode"],
        ["sequence", "pair"],
        value=[("a", "b"), ["a", 1], [["a"]], [], (), b"a"],
    ),
    **each(
        "Tokenizer.{}.input",
        ["encode_batch", "encode_batch_fast", "async_encode_batch"],
        value=[["a", 1], "ab", [("a",)], [("a", "b", "c")], [None], [[[]]], ("a", "b")],
    ),
    "Tokenizer.decode.ids": [[-1], [2**32], ["a"], [1.0], [None], (1, 2), [[1]]],
    "Tokenizer.train_from_iterator.iterator": [[5], [None], [["a", 5]], [b"a"], Script("broken"), Script("surrogate")],
}

BPE_IMPLEMENTATIONS = [
    "byte_level_bpe.ByteLevelBPETokenizer",
    "char_level_bpe.CharBPETokenizer",
    "sentencepiece_bpe.SentencePieceBPETokenizer",
]
WHOLE_TOKENIZERS = ["Tokenizer", "implementations.base_tokenizer.BaseTokenizer"]

BY_PLACE: dict[str, Draw] = {
    "Regex.s": of(*REGEXES),
    "AddedToken.content": TOKEN,
    "Encoding.pad.length": of(0, 2, 5, 9),
    "NormalizedString.map.func": of(
        *map(Script, ["upper", "identity", "number of", "none", "raising", "no arguments"])
    ),
    "NormalizedString.filter.func": of(*map(Script, ["is a letter", "is a", "none", "raising", "identity"])),
    "NormalizedString.for_each.func": of(*map(Script, ["none", "raising", "identity", "no arguments"])),
    "PreTokenizedString.normalize.func": of(
        *map(Script, ["lowercase", "prepend x", "none", "raising", "no arguments"])
    ),
    "PreTokenizedString.split.func": of(
        *map(Script, ["split blanks", "split words", "twice", "not a split", "none", "raising"])
    ),
    "PreTokenizedString.tokenize.func": of(*map(Script, ["one token", "two tokens", "no tokens", "none", "raising"])),
    "Tokenizer.from_file.path": of(f"{FOLDER}/tokenizer.json", f"{FOLDER}/absent.json", f"{FOLDER}/vocab.json", FOLDER),
    "Tokenizer.from_buffer.buffer": of(
        lambda rng: method(method(tokenizer(rng), "to_str"), "encode"), b"{}", b"", b"\xff", Script("bytearray")
    ),
    "decoders.Decoder.decode.tokens": lists(of(WORD, WORD, "<0xC3>", "<0xA9>", "Ġ", "##b", "|", "<pad>", "'s"), 6),
    "decoders.Decoder.custom.decoder": of(Script("Joined"), Script("Odd")),
    "pre_tokenizers.PreTokenizer.custom.pretok": of(Script("Halves"), Script("Odd")),
    "pre_tokenizers.PreTokenizer.pre_tokenize.pretok": made("PreTokenizedString", text),
    "normalizers.Normalizer.normalize.normalized": NORMALIZED,
    "normalizers.unicode_normalizer_from_str.normalizer": of("nfc", "nfkd", "NFC", ""),
    "normalizers.Sequence.__setitem__.value": NORMALIZER,
    "pre_tokenizers.Sequence.__setitem__.value": PRE_TOKENIZER,
    "processors.Sequence.__setitem__.value": PROCESSOR,
    "processors.PostProcessor.process.encoding": PART,
    "processors.PostProcessor.process.pair": of(None, PART),
    "Tokenizer.post_process.encoding": PART,
    "Tokenizer.post_process.pair": of(None, PART),
    "implementations.base_tokenizer.BaseTokenizer.post_process.pair": of(None, PART),
    "implementations.base_tokenizer.BaseTokenizer.post_process.encoding": PART,
    "decoders.DecodeStream.step.tokenizer": of(make("Tokenizer", make("models.BPE", {**LETTERS, **BYTES}, MERGES))),
    "processors.BertProcessing.cls_token": PROCESSOR_TOKEN,
    "processors.RobertaProcessing.cls_token": PROCESSOR_TOKEN,
    "processors.TemplateProcessing.single": of(*SINGLE_TEMPLATES, ["[CLS]", "$A"]),
    "processors.TemplateProcessing.pair": of(*PAIR_TEMPLATES[1:], ["$A", "$B:1"]),
    "processors.TemplateProcessing.special_tokens": of(SPECIALS),
    **each("implementations.{}.vocab", BPE_IMPLEMENTATIONS, value=of(LETTERS, None)),
    **each("implementations.{}.merges", BPE_IMPLEMENTATIONS, value=of(MERGES, None)),
    "models.BPE.vocab": of(LETTERS, LETTERS, {"a": 5, "b": 9, "ab": 1}),
    "models.BPE.merges": of(MERGES, MERGES, []),
    # Fewer than there are letters make the peer run for ever.
    **each(
        "implementations.sentencepiece_unigram.SentencePieceUnigramTokenizer.{}.vocab_size",
        ["train", "train_from_iterator"],
        value=of(30, 300),
    ),
    "models.Unigram.vocab": of(PIECES, PIECES, [], [("a", 0.0), ("a", -1.0)]),
    "decoders.Strip.content": of(" ", "a", "日"),
    "models.Model.save.prefix": of(None, "p", ""),
    "models.WordPiece.from_file.vocab": of(f"{FOLDER}/vocab.txt"),
    "models.WordPiece.read_file.vocab": of(f"{FOLDER}/vocab.txt", f"{FOLDER}/absent.txt"),
    **each(
        "models.{}.{}.vocab",
        ["WordLevel", "BPE"],
        ["from_file", "read_file"],
        value=of(f"{FOLDER}/vocab.json", f"{FOLDER}/absent"),
    ),
    **each(
        "models.BPE.{}.merges", ["from_file", "read_file"], value=of(f"{FOLDER}/merges.txt", f"{FOLDER}/vocab.json")
    ),
    **each("{}.{}.sequence", WHOLE_TOKENIZERS, ["encode", "async_encode"], value=SEQUENCE),
    **each("{}.{}.pair", WHOLE_TOKENIZERS, ["encode", "async_encode"], value=of(None, None, SEQUENCE)),
    "tools.visualizer.EncodingVisualizer.consecutive_chars_to_html.text": of("ab c", "<b>"),
    "tools.visualizer.Annotation.start": of(0, 1, 2),
    "tools.visualizer.EncodingVisualizer.calculate_label_colors.annotations": ANNOTATIONS,
    "implementations.base_tokenizer.BaseTokenizer.save_model.prefix": of(None, "p"),
    "implementations.sentencepiece_unigram.SentencePieceUnigramTokenizer.vocab": of(PIECES, PIECES, None),
}


def implementation(name: str, **tokens: Any) -> Draw:
    """A ready-made tokenizer with its vocabulary or without, and with options."""
    return lambda rng: make(
        f"implementations.{name}",
        **(tokens if rng.random() < 0.8 else {}),
        **_without_chance(rng.choice([{}, *OPTIONS[name]])),
    )


def _without_chance(options: dict[str, Any]) -> dict[str, Any]:
    return {
        name: 1.0 if name == "dropout" and value == 0.5 else value for name, value in options.items() if name != "vocab"
    }


# Objects that a constructor does not make, or makes better than from drawn arguments alone.
SUBJECTS: dict[str, Draw] = {
    "Encoding": ENCODING,
    "PreTokenizedString": made("PreTokenizedString", text),
    "Tokenizer": tokenizer,
    "models.Model": MODEL,
    "normalizers.Normalizer": of(NORMALIZER, lambda _: make("normalizers.Normalizer.custom", Script("Upper"))),
    "pre_tokenizers.PreTokenizer": of(
        PRE_TOKENIZER, lambda _: make("pre_tokenizers.PreTokenizer.custom", Script("Halves"))
    ),
    "processors.PostProcessor": PROCESSOR,
    "decoders.Decoder": of(DECODER, lambda _: make("decoders.Decoder.custom", Script("Joined"))),
    "trainers.Trainer": TRAINER,
    "tools.visualizer.EncodingVisualizer": PLAIN,
    "implementations.base_tokenizer.BaseTokenizer": made("implementations.BaseTokenizer", tokenizer),
    "implementations.bert_wordpiece.BertWordPieceTokenizer": implementation(
        "BertWordPieceTokenizer",
        vocab={
            token: place for place, token in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##b", "b"])
        },
    ),
    "implementations.byte_level_bpe.ByteLevelBPETokenizer": implementation(
        "ByteLevelBPETokenizer", vocab=LETTERS, merges=MERGES
    ),
    "implementations.char_level_bpe.CharBPETokenizer": implementation("CharBPETokenizer", vocab=LETTERS, merges=MERGES),
    "implementations.sentencepiece_bpe.SentencePieceBPETokenizer": implementation(
        "SentencePieceBPETokenizer", vocab=LETTERS, merges=MERGES
    ),
    "implementations.sentencepiece_unigram.SentencePieceUnigramTokenizer": implementation(
        "SentencePieceUnigramTokenizer", vocab=PIECES
    ),
}


TOGETHER = {"models.BPE": ("vocab", "merges")}
"""Parameters of which none is given without the others, as that is one mistake already."""


def draw_for(path: str, name: str) -> Draw:
    """What is drawn for a parameter of the call at a path, or for a property, whose path is without its name."""
    if f"{path}.{name}" in BY_PLACE:
        return BY_PLACE[f"{path}.{name}"]
    return BY_NAME[name]


PROPERTIES: dict[str, Draw] = {
    "post_processor": of(None, PROCESSOR),
    "normalizer": of(None, NORMALIZER),
    "pre_tokenizer": of(None, PRE_TOKENIZER),
    "decoder": of(None, DECODER),
    "encode_special_tokens": FLAG,
    "cls": PROCESSOR_TOKEN,
    "padding": of(None),
    "truncation": of(None),
}


def draw_property(path: str, name: str) -> Draw:
    """What a property is set to; those that nobody sets are given anything."""
    return PROPERTIES.get(name) or BY_PLACE.get(path) or BY_NAME.get(name) or of(None, 1, "a", True)
