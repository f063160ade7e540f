"""Ways to build the tokenizers of `implementations`, each as a call with a library and a folder of files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

Call = Callable[[ModuleType, Path], Any]
CLASSES = [
    "BaseTokenizer",
    "BertWordPieceTokenizer",
    "ByteLevelBPETokenizer",
    "CharBPETokenizer",
    "SentencePieceBPETokenizer",
    "SentencePieceUnigramTokenizer",
]
BPES = [name for name in CLASSES if "BPE" in name]

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDPIECES = {token: at for at, token in enumerate([*SPECIAL, "a", "b", "##a", "##b", "ab"])}
LETTERS = {token: at for at, token in enumerate(["a", "b", "c", "ab", "<unk>", "a</w>", "b</w>", "▁", "Ġ", "é"])}
MERGES = [("a", "b")]
PIECES = [("<unk>", 0.0), ("a", -1.0), ("b", -2.0), ("▁", -3.0)]
TOKENS = {
    "BertWordPieceTokenizer": {"vocab": WORDPIECES},
    "ByteLevelBPETokenizer": {"vocab": LETTERS, "merges": MERGES},
    "CharBPETokenizer": {"vocab": LETTERS, "merges": MERGES},
    "SentencePieceBPETokenizer": {"vocab": LETTERS, "merges": MERGES},
    "SentencePieceUnigramTokenizer": {"vocab": PIECES},
}

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "BertWordPieceTokenizer": [
        *({name: value} for name in ["unk_token", "pad_token", "mask_token"] for value in ["a", "zz", None]),
        *({name: value} for name in ["sep_token", "cls_token"] for value in ["a", "zz", None]),
        *({name: value} for name in ["clean_text", "handle_chinese_chars", "lowercase"] for value in [False, None]),
        *({"strip_accents": value} for value in [True, False, "x"]),
        *({"wordpieces_prefix": value} for value in ["@@", "", None]),
        *({"vocab": value} for value in [{}, {"a": 0}, {"a": 0, "[SEP]": 1}, 5, "/nonexistent"]),
    ],
    "ByteLevelBPETokenizer": [
        *({name: value} for name in ["add_prefix_space", "lowercase", "trim_offsets"] for value in [True]),
        *({"dropout": value} for value in [0.5, 2.0]),
        *({"unicode_normalizer": value} for value in ["nfc", "nfd", "nfkc", "nfkd", "", "NFC", "x"]),
        {"unicode_normalizer": "nfc", "lowercase": True},
        {"continuing_subword_prefix": ""},
        {"end_of_word_suffix": "b"},
    ],
    "CharBPETokenizer": [
        *({"unk_token": value} for value in ["a", "zz", None]),
        *({"suffix": value} for value in ["@", "", None]),
        *({"dropout": value} for value in [0.5, 2.0]),
        *({"unicode_normalizer": value} for value in ["nfd", "", "x"]),
        *({"bert_normalizer": bert, "lowercase": lower} for bert in [True, False] for lower in [True, False]),
        {"unicode_normalizer": "nfkd", "lowercase": True},
        {"unicode_normalizer": "nfkd", "bert_normalizer": False},
        {"split_on_whitespace_only": True},
    ],
    "SentencePieceBPETokenizer": [
        *({"unk_token": value} for value in ["a", "zz", None]),
        *({"replacement": value} for value in ["_", "ab", ""]),
        {"add_prefix_space": False},
        *({"dropout": value} for value in [0.5, 2.0]),
        {"fuse_unk": True},
    ],
    "SentencePieceUnigramTokenizer": [
        *({"replacement": value} for value in ["_", "ab"]),
        {"add_prefix_space": False},
        {"vocab": []},
        {"vocab": "x"},
    ],
}
TEXTS = ["", "ab", "a b\tabc  ab", "AB Éa [CLS] <unk>", "你a é", " a "]


def build(library: ModuleType, name: str, **options: Any) -> Any:
    return getattr(library.implementations, name)(**{**TOKENS[name], **options})


def made(name: str, options: dict[str, Any]) -> Call:
    return lambda library, _: getattr(library.implementations, name)(**options)


CONSTRUCTIONS: dict[str, Call] = {f"{name}()": made(name, {}) for name in TOKENS} | {
    f"{name} {options!r}{' with tokens' * bool(tokens)}": made(name, {**tokens, **options})
    for name, several in OPTIONS.items()
    for tokens in [TOKENS[name], {}]
    for options in [{}, *several, {"zzz": 1}]
}
for _name in BPES:
    CONSTRUCTIONS |= {
        f"{_name} {options!r}": made(_name, {**TOKENS[_name], **options})
        for options in [{"vocab": None}, {"merges": None}, {"vocab": {}, "merges": []}, {"merges": "/nonexistent"}]
    }

FILES: dict[str, Call] = {
    "bert from_file": lambda library, folder: library.BertWordPieceTokenizer.from_file(f"{folder}/vocab.txt"),
    "bert from_file options": lambda library, folder: library.BertWordPieceTokenizer.from_file(
        f"{folder}/vocab.txt", lowercase=False, unk_token="a", wordpieces_prefix="@"
    ),
    "bert from_file zzz": lambda library, folder: library.BertWordPieceTokenizer.from_file(
        f"{folder}/vocab.txt", zzz=1
    ),
    "bert from_file absent": lambda library, folder: library.BertWordPieceTokenizer.from_file(f"{folder}/absent"),
    "bert path": lambda library, folder: library.BertWordPieceTokenizer(f"{folder}/vocab.txt"),
}
for _name in BPES:
    FILES |= {
        f"{_name} {label}": lambda library, folder, name=_name, names=names, options=options: getattr(
            library, name
        ).from_file(*(f"{folder}/{file}" for file in names), **options)
        for label, names, options in [
            ("from_file", ["vocab.json", "merges.txt"], {}),
            ("from_file options", ["vocab.json", "merges.txt"], {"dropout": 0.0}),
            ("from_file zzz", ["vocab.json", "merges.txt"], {"zzz": 1}),
            ("from_file absent", ["vocab.json", "absent.txt"], {}),
            ("from_file one", ["vocab.json"], {}),
        ]
    } | {
        f"{_name} paths": lambda library, folder, name=_name: getattr(library, name)(
            f"{folder}/vocab.json", f"{folder}/merges.txt"
        ),
        f"{_name} path and list": lambda library, folder, name=_name: getattr(library, name)(
            f"{folder}/vocab.json", MERGES
        ),
        f"{_name} dict and path": lambda library, folder, name=_name: getattr(library, name)(
            LETTERS, f"{folder}/merges.txt"
        ),
    }
