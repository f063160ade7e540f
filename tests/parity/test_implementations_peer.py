"""`lexmill.implementations` and names at top level: each call under both libraries, and what came of it compared."""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
import pickle
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import lexmill
from implementation_calls import BPES, CLASSES, CONSTRUCTIONS, FILES, LETTERS, TEXTS, TOKENS, WORDPIECES, Call, build
from lexmill.errors import LexmillError
from peers import DATA

peer = pytest.importorskip("tokenizers")
pytestmark = pytest.mark.external


def spoken(result: Any) -> Any:
    """A result in words that both libraries share."""
    kind = type(result)
    if hasattr(result, "_tokenizer"):
        encodings = [
            [spoken(result.encode(text)), result.normalizer is None or result.normalize(text)] for text in TEXTS
        ]
        return [kind.__name__, repr(result), json.loads(result.to_str()), result.get_vocab(), encodings]
    if kind.__name__ == "Encoding":
        return [result.ids, result.tokens, result.offsets, result.type_ids, result.special_tokens_mask]
    if kind.__module__.split(".")[0] in ("tokenizers", "lexmill"):
        return str(result) if kind.__name__ == "AddedToken" else kind.__name__
    if isinstance(result, dict):
        return {key: spoken(value) for key, value in result.items()}
    return [spoken(item) for item in result] if isinstance(result, list | tuple) else result


def outcome(library: ModuleType, call: Call, folder: Path) -> Any:
    try:
        return spoken(call(library, folder))
    except Exception as error:
        return error


def assert_same(call: Call, folder: Path) -> None:
    expected, found = (outcome(library, call, folder) for library in (peer, lexmill))
    if isinstance(expected, Exception):
        allowed = LexmillError if type(expected) is Exception else type(expected)
        assert isinstance(found, allowed), repr((found, expected))
    else:
        assert found == expected


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("vocabularies")
    (path / "vocab.txt").write_text("\n".join(WORDPIECES) + "\n", encoding="utf-8")
    (path / "vocab.json").write_text(json.dumps(LETTERS), encoding="utf-8")
    (path / "merges.txt").write_text("a b\n", encoding="utf-8")
    (path / "text.txt").write_text("\n".join(CORPUS), encoding="utf-8")
    return path


def parametrized(calls: dict[str, Call]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("call", calls.values(), ids=[ascii(name) for name in calls])


# Dropout is drawn at random.
def without_dropout(calls: dict[str, Call]) -> dict[str, Call]:
    return {name: call for name, call in calls.items() if "'dropout': 0.5" not in name}


@parametrized(without_dropout(CONSTRUCTIONS))
def test_constructors_make_the_same(call: Call, folder: Path) -> None:
    assert_same(call, folder)


@pytest.mark.parametrize("name", BPES)
@pytest.mark.parametrize("tokens", [True, False])
def test_dropout_reaches_the_same_models(name: str, tokens: bool, folder: Path) -> None:
    options = {**(TOKENS[name] if tokens else {}), "dropout": 0.5}

    def call(library: ModuleType, _: Path) -> Any:
        tokenizer = getattr(library, name)(**options)
        return repr(tokenizer), json.loads(tokenizer.to_str())

    assert_same(call, folder)


@pytest.mark.parametrize("token", ["[MASK]", "a", "zz"])
@pytest.mark.parametrize(
    ("name", "option"),
    [
        *(("BertWordPieceTokenizer", f"{part}_token") for part in ["unk", "sep", "cls", "pad", "mask"]),
        ("CharBPETokenizer", "unk_token"),
        ("SentencePieceBPETokenizer", "unk_token"),
    ],
)
def test_added_tokens_count_by_content(name: str, option: str, token: str, folder: Path) -> None:
    assert_same(lambda library, _: build(library, name, **{option: library.AddedToken(token, lstrip=True)}), folder)


@parametrized(FILES)
def test_files_are_read_the_same(call: Call, folder: Path) -> None:
    assert_same(call, folder)


def bert(library: ModuleType) -> Any:
    return build(library, "BertWordPieceTokenizer")


def changed(name: str, *arguments: Any, then: str, **options: Any) -> Call:
    """A call of a method, and a property after it."""

    def call(library: ModuleType, _: Path) -> Any:
        tokenizer = bert(library)
        result = getattr(tokenizer, name)(*arguments, **options)
        after = getattr(tokenizer, then)
        return result, after() if callable(after) else after, repr(tokenizer)

    return call


METHODS: dict[str, Call] = {
    **{
        f"{name}{arguments!r} {options!r}": lambda library, _, name=name, arguments=arguments, options=options: getattr(
            bert(library), name
        )(*arguments, **options)
        for name, arguments, options in [
            ("encode", ("ab ba",), {}),
            ("encode", ("ab", "ba"), {}),
            ("encode", ("ab", "ba", False, False), {}),
            ("encode", (["ab", "ba"],), {"is_pretokenized": True}),
            ("encode", (("ab", "ba"), ["b"]), {"is_pretokenized": True, "add_special_tokens": False}),
            ("encode", (None,), {}),
            ("encode", (5,), {}),
            ("encode", ("ab",), {"zzz": 1}),
            ("encode_batch", (["ab", ("ab", "ba"), ["a", "b"]],), {}),
            ("encode_batch", (["ab"], False, False), {}),
            ("encode_batch", ([["ab", "b"], [["a"], ["b"]], (("a",), ["b"])],), {"is_pretokenized": True}),
            ("encode_batch", (), {"inputs": ["ab"], "add_special_tokens": False}),
            ("encode_batch", (None,), {}),
            ("encode_batch", ("ab",), {}),
            ("decode", ([2, 9, 5, 7, 3],), {}),
            ("decode", ([2, 9, 5, 7, 3], False), {}),
            ("decode", ([],), {}),
            ("decode", (None,), {}),
            ("decode", ([-1],), {}),
            ("decode_batch", ([[9, 3], [5]],), {}),
            ("decode_batch", ([[9, 3], [5]],), {"skip_special_tokens": False}),
            ("decode_batch", (None,), {}),
            ("normalize", ("ÉA\tb",), {}),
            ("normalize", (None,), {}),
            ("num_special_tokens_to_add", (True,), {}),
            ("num_special_tokens_to_add", (False,), {}),
            ("get_vocab", (), {}),
            ("get_vocab", (False,), {}),
            ("get_vocab", (None,), {}),
            ("get_vocab_size", (), {"with_added_tokens": False}),
            ("get_added_tokens_decoder", (), {}),
            ("token_to_id", ("ab",), {}),
            ("token_to_id", ("zz",), {}),
            ("token_to_id", (None,), {}),
            ("id_to_token", (9,), {}),
            ("id_to_token", (99,), {}),
            ("id_to_token", (-1,), {}),
            ("to_str", (), {}),
            ("to_str", (True,), {}),
            ("save_model", ("/nonexistent",), {}),
            ("save", ("/nonexistent/tokenizer.json",), {}),
            ("__repr__", (), {}),
        ]
    },
    **{
        f"enable_padding {arguments!r} {options!r}": changed("enable_padding", *arguments, then="padding", **options)
        for arguments, options in [
            ((), {}),
            (("left", 8, 1, 2, "x", 16), {}),
            ((), {"length": 3, "pad_id": 9}),
            ((), {"direction": "up"}),
            ((None,), {}),
            ((), {"pad_id": -1}),
            ((), {"zzz": 1}),
        ]
    },
    **{
        f"enable_truncation {arguments!r} {options!r}": changed(
            "enable_truncation", *arguments, then="truncation", **options
        )
        for arguments, options in [
            ((5,), {}),
            ((5, 1, "only_first"), {}),
            ((), {}),
            ((5,), {"stride": 9}),
            ((5,), {"strategy": "x"}),
            ((5, None), {}),
            ((5,), {"direction": "left"}),
        ]
    },
    "no_padding": changed("no_padding", then="padding"),
    "no_truncation": changed("no_truncation", then="truncation"),
    "add_tokens": changed("add_tokens", ["new", "ab"], then="get_added_tokens_decoder"),
    "add_special_tokens": changed("add_special_tokens", special_tokens=["<s>", "ab"], then="get_vocab"),
    "add_tokens str": changed("add_tokens", "new", then="get_vocab"),
    "post_process": lambda library, _: bert(library).post_process(bert(library).encode("ab", add_special_tokens=False)),
    "post_process pair": lambda library, _: bert(library).post_process(
        *(bert(library).encode(text, add_special_tokens=False) for text in ["ab", "b"]), add_special_tokens=True
    ),
    "save_model": lambda library, folder: [Path(path).name for path in bert(library).save_model(str(folder), "saved")],
    "save": lambda library, folder: (
        bert(library).save(f"{folder}/saved.json", False),
        json.loads((folder / "saved.json").read_text(encoding="utf-8")),
    ),
    "pickle": lambda library, _: pickle.loads(pickle.dumps(bert(library))),
    "deepcopy": lambda library, _: copy.deepcopy(bert(library)),
    "from_file of a subclass": lambda library, folder: (
        type(type("Own", (library.BertWordPieceTokenizer,), {}).from_file(f"{folder}/vocab.txt")).__name__
    ),
    **{f"{name}": lambda library, _, name=name: getattr(bert(library), name) for name in ["model", "decoder"]},
    **{
        f"{name} = None": changed("__setattr__", name, None, then=name)
        for name in ["model", "normalizer", "pre_tokenizer", "post_processor", "decoder", "padding", "truncation"]
    },
    **{f"{name} = 5": changed("__setattr__", name, 5, then=name) for name in ["model", "normalizer", "decoder"]},
    "del model": changed("__delattr__", "model", then="model"),
    # Tokens alone: Hugging Face then has two tokens with the id 0.
    "set model": lambda library, _: sorted(
        changed(
            "__setattr__", "model", library.models.WordLevel({"a": 0, "[UNK]": 1}, unk_token="[UNK]"), then="get_vocab"
        )(library, _)[1]
    ),
    "BaseTokenizer": lambda library, _: repr(library.implementations.BaseTokenizer(bert(library)._tokenizer)),
    "BaseTokenizer options": lambda library, _: repr(
        library.implementations.BaseTokenizer(bert(library)._tokenizer, {"a": 1, "b": None})
    ),
    "BaseTokenizer()": lambda library, _: library.implementations.BaseTokenizer(),
}


@parametrized(METHODS)
def test_methods_do_the_same(call: Call, folder: Path) -> None:
    assert_same(call, folder)


def test_async_calls_do_the_same() -> None:
    async def results(library: ModuleType) -> Any:
        tokenizer = bert(library)
        encoded = await tokenizer.async_encode_batch(["ab", ("a", "b")])
        fast = await tokenizer.async_encode_batch_fast([["ab"]], is_pretokenized=True, add_special_tokens=False)
        decoded = await tokenizer.async_decode_batch([[2, 9]], skip_special_tokens=False)
        for call in [tokenizer.async_encode_batch, tokenizer.async_decode_batch]:
            with pytest.raises(ValueError, match="None"):
                await call(None)
        return [encoding.ids for encoding in encoded], [encoding.ids for encoding in fast], decoded

    assert asyncio.run(results(lexmill)) == asyncio.run(results(peer))


@pytest.mark.parametrize("name", CLASSES)
def test_signatures_are_the_same(name: str) -> None:
    def members(library: ModuleType) -> dict[str, Any]:
        cls = getattr(library.implementations, name)
        public = [key for key in dir(cls) if key[0] != "_" or key == "__init__"]
        return {key: described(inspect.getattr_static(cls, key)) for key in public}

    def described(member: Any) -> Any:
        if isinstance(member, property):
            return "property", member.fset is not None
        function = member.__func__ if isinstance(member, staticmethod) else member
        arguments = [(item.name, item.kind, item.default) for item in inspect.signature(function).parameters.values()]
        return isinstance(member, staticmethod), inspect.iscoroutinefunction(function), arguments

    assert members(lexmill) == members(peer)


# Training.

CORPUS = ["the cat sat on the mat", "the dog sat on the log!", "a cat, a dog; the mat"] * 4
QUIET = {"show_progress": False}


def trained(library: ModuleType, name: str, *, texts: Any = CORPUS, **options: Any) -> Any:
    tokenizer = getattr(library, name)()
    tokenizer.train_from_iterator(texts, **QUIET, **options)
    return tokenizer


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("ByteLevelBPETokenizer", {"vocab_size": 270}),
        ("ByteLevelBPETokenizer", {"vocab_size": 270, "min_frequency": 9, "special_tokens": ["<s>", "the"]}),
        ("ByteLevelBPETokenizer", {"vocab_size": 300, "length": 12}),
        ("SentencePieceBPETokenizer", {"vocab_size": 40}),
        ("SentencePieceBPETokenizer", {"vocab_size": 40, "min_frequency": 9, "special_tokens": ["<unk>", "the"]}),
        # The characters kept are more frequent than the others; the peer settles ties at random.
        ("SentencePieceBPETokenizer", {"limit_alphabet": 6}),
        ("SentencePieceBPETokenizer", {"initial_alphabet": ["z", "ä"]}),
        ("CharBPETokenizer", {"suffix": "", "vocab_size": 40}),
        ("CharBPETokenizer", {"suffix": "", "special_tokens": ["z", "<unk>"]}),
        ("CharBPETokenizer", {"suffix": "", "limit_alphabet": 6, "initial_alphabet": ["y"]}),
    ],
)
def test_training_gives_the_same_tokenizer(name: str, options: dict[str, Any], folder: Path) -> None:
    assert_same(lambda library, _: trained(library, name, **options), folder)
    assert_same(lambda library, _: trained(library, name, texts=[CORPUS[:3]] * 4, **options), folder)


@pytest.mark.parametrize("name", ["BertWordPieceTokenizer", "CharBPETokenizer"])
def test_training_with_random_ties_gives_whole_words(name: str) -> None:
    own, other = trained(lexmill, name), trained(peer, name)
    assert repr(own) == re.sub(r"vocabulary_size=\d+", f"vocabulary_size={own.get_vocab_size()}", repr(other))
    assert own.get_added_tokens_decoder().keys() == other.get_added_tokens_decoder().keys()
    assert [own.encode(text).tokens for text in CORPUS] == [other.encode(text).tokens for text in CORPUS]


@pytest.mark.parametrize("options", [{}, {"special_tokens": ["<s>", "<unk>"], "unk_token": "<unk>"}])
def test_unigram_training_is_set_up_the_same(options: dict[str, Any]) -> None:
    def parts(library: ModuleType) -> Any:
        tokenizer = trained(library, "SentencePieceUnigramTokenizer", **options)
        stages = json.loads(tokenizer.to_str())
        model = stages.pop("model")
        special = len(options.get("special_tokens", []))
        characters = {token for token in tokenizer.get_vocab() if len(token) == 1}
        return stages, model["unk_id"], [piece for piece, _ in model["vocab"][:special]], characters

    assert parts(lexmill) == parts(peer)


@pytest.mark.parametrize("name", ["ByteLevelBPETokenizer", "SentencePieceBPETokenizer"])
@pytest.mark.parametrize("in_list", [True, False])
def test_files_train_the_same(name: str, in_list: bool, folder: Path) -> None:
    def call(library: ModuleType, folder: Path) -> Any:
        tokenizer = getattr(library, name)()
        path = str(folder / "text.txt")
        assert tokenizer.train([path] if in_list else path, vocab_size=270, **QUIET) is None
        return tokenizer

    assert_same(call, folder)


@pytest.mark.parametrize("name", list(TOKENS))
@pytest.mark.parametrize(
    "options", [{"vocab_size": "x"}, {"special_tokens": "abc"}, {"special_tokens": [5]}, {"zzz": 1}, {"vocab_size": -1}]
)
def test_wrong_options_of_training_raise_the_same(name: str, options: dict[str, Any], folder: Path) -> None:
    assert_same(lambda library, _: trained(library, name, **options), folder)
    assert_same(lambda library, _: getattr(library, name)().train("/nonexistent", **QUIET, **options), folder)


@pytest.mark.parametrize("model", ["t5-small/spiece.model", "spm-test-ja/tokenizer.model"])
def test_from_spm_says_the_same(model: str) -> None:
    path = DATA / "tokenizers" / model
    if not path.is_file():
        pytest.skip(f"no {model}")
    tokenizer = lexmill.SentencePieceUnigramTokenizer.from_spm(str(path))
    plain = lexmill.Tokenizer.from_spm(path)
    assert repr(tokenizer) == f"Tokenizer(vocabulary_size={plain.get_vocab_size()}, model=SentencePieceUnigram)"
    assert tokenizer.encode(" Hello  world ").ids == plain.encode(" Hello  world ").ids


# Names at top level.


@pytest.mark.parametrize("name", ["OffsetReferential", "OffsetType", "SplitDelimiterBehavior"])
def test_enumerations_are_the_same(name: str) -> None:
    own, other = getattr(lexmill, name), getattr(peer, name)
    assert [(item.name, item.value, repr(item)) for item in own] == [
        (item.name, item.value, repr(item)) for item in other
    ]


@parametrized(
    {
        name: lambda library, _, name=name: library.normalizers.unicode_normalizer_from_str(name)
        for name in ["nfc", "nfd", "nfkc", "nfkd", "NFC", "", None]
    }
)
def test_unicode_normalizers_are_the_same(call: Call, folder: Path) -> None:
    assert_same(call, folder)
    own, other = lexmill.normalizers.NORMALIZERS, peer.normalizers.NORMALIZERS
    assert {name: cls.__name__ for name, cls in own.items()} == {name: cls.__name__ for name, cls in other.items()}
