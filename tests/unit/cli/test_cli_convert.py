from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="the command line is an extra")

from command_line import TEXT, Run
from lexmill import AddedToken, Tokenizer, models
from lexmill.cli.convert import Kind, _lost
from lexmill.normalizers import NFC
from lexmill.pre_tokenizers import Whitespace
from lexmill.processors import ByteLevel, TemplateProcessing

END = ("--special-token", "<end>")


def ids(path: str) -> list[int]:
    return Tokenizer.from_file(path).encode(f"{TEXT} <end>").ids


@pytest.fixture
def bert(lexmill: Run) -> str:
    """A WordPiece tokenizer with BERT's stages."""
    special = [word for token in ("[UNK]", "[CLS]", "[SEP]") for word in ("--special-token", token)]
    options = ("--model", "wordpiece", "--normalizer", "bert", "--vocab-size", "60", "-o", "bert.json")
    assert lexmill("train", "text.txt", *options, *special).code == 0
    tokenizer = Tokenizer.from_file("bert.json")
    ends = [("[CLS]", 1), ("[SEP]", 2)]
    tokenizer.post_processor = TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", ends)
    tokenizer.save("bert.json")
    return "bert.json"


@pytest.fixture
def unigram(lexmill: Run) -> str:
    """A Unigram tokenizer with visible spaces."""
    assert lexmill("train", "text.txt", "--model", "unigram", "--vocab-size", "60", "-o", "unigram.json").code == 0
    return "unigram.json"


class TestRoundTrip:
    def test_by_vocab_json_and_merges(self, lexmill: Run, saved: str) -> None:
        assert lexmill("convert", saved, "x-vocab.json", *END).code == 0
        assert Path("x-merges.txt").read_text().startswith("#version")
        assert lexmill("convert", "x-merges.txt", "back.json", *END).code == 0
        assert ids("back.json") == ids(saved)

    def test_by_tiktoken(self, lexmill: Run) -> None:
        assert lexmill("train", "text.txt", "--vocab-size", "300", "-o", "plain.json").code == 0
        assert lexmill("convert", "plain.json", "gpt2.tiktoken").code == 0
        assert lexmill("convert", "gpt2.tiktoken", "back.json").code == 0
        assert ids("back.json") == ids("plain.json")
        assert lexmill("convert", "back.json", "again.tiktoken").code == 0
        assert Path("again.tiktoken").read_bytes() == Path("gpt2.tiktoken").read_bytes()

    def test_ids_of_special_tokens_must_be_those_of_the_vocabulary(self, lexmill: Run, saved: str) -> None:
        assert lexmill("convert", saved, "vocab.json", "--special-token", "<end>=0").code == 0
        assert lexmill("convert", "vocab.json", "back.json", "--special-token", "<end>=0").code == 0
        for token, found in [("<end>=7", 0), ("<new>=301", 300)]:
            result = lexmill("convert", "vocab.json", "other.json", "--special-token", token)
            assert result.code == 1
            assert f"vocab.json: --special-token {token}, but `{token[:5]}` has id {found}" in result.stderr
        assert not Path("other.json").exists()

    def test_by_tiktoken_with_the_id_of_a_special_token(self, lexmill: Run, saved: str) -> None:
        end = ("--special-token", "<end>=0")
        assert lexmill("convert", saved, "r50k.tiktoken", *end).code == 0
        assert lexmill("convert", "r50k.tiktoken", "back.json", *end).code == 0
        assert ids("back.json") == ids(saved)

    def test_by_vocab_txt(self, lexmill: Run, bert: str) -> None:
        assert lexmill("convert", bert, "vocab.txt").code == 0
        assert lexmill("convert", "vocab.txt", "back.json").code == 0
        assert ids("back.json") == ids(bert)

    def test_by_sentencepiece(self, lexmill: Run, unigram: str) -> None:
        assert lexmill("convert", unigram, "u.model").code == 0
        assert lexmill("convert", "u.model", "back.json").code == 0
        assert ids("back.json") == ids(unigram)
        assert lexmill("convert", "back.json", "u.spm.fb").code == 0
        assert lexmill("convert", "u.spm.fb", "again.json").code == 0
        assert ids("again.json") == ids(unigram)

    def test_through_stdout(self, lexmill: Run, unigram: str) -> None:
        model = lexmill("convert", unigram, "-", "--to", "sentencepiece").stdout
        Path("u").write_bytes(model)
        assert lexmill("convert", "u", "back.json", "--from", "sentencepiece").code == 0
        assert ids("back.json") == ids(unigram)


def test_of_two_files_neither_is_replaced_if_one_cannot_be(
    lexmill: Run, saved: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("vocab.json").write_text("old")
    Path("merges.txt").write_text("old")
    real, calls = os.fsync, iter((True, False))

    def fsync(descriptor: int) -> None:
        if not next(calls, False):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    result = lexmill("convert", saved, "vocab.json", *END)
    assert result.code == 1
    assert Path("vocab.json").read_text() == Path("merges.txt").read_text() == "old"


class TestVocabTxt:
    def test_needs_its_unknown_token(self, lexmill: Run) -> None:
        Path("vocab.txt").write_text("a\n[X]\n")
        result = lexmill("convert", "vocab.txt", "t.json")
        assert result.code == 1
        assert "vocab.txt has no token `[UNK]` for unknown text; name the token" in result.stderr
        assert not Path("t.json").exists()
        assert lexmill("convert", "vocab.txt", "t.json", "--unk-token", "[X]").code == 0
        assert Tokenizer.from_file("t.json").encode("b a").ids == [1, 0]

    def test_with_lines_that_are_the_same_is_refused(self, lexmill: Run) -> None:
        Path("vocab.txt").write_text("a\nb\na\n[UNK]\na\n")
        result = lexmill("convert", "vocab.txt", "t.json")
        assert result.code == 1
        assert "tokenizer-json cannot hold lines 1, 3 of vocab.txt, the same as later ones; --lossy" in result.stderr
        assert not Path("t.json").exists()
        assert lexmill("convert", "vocab.txt", "t.json", "--lossy").code == 0
        assert Tokenizer.from_file("t.json").get_vocab() == {"b": 1, "[UNK]": 3, "a": 4}


class TestLosses:
    def test_of_an_unk_id_of_0_are_seen(self) -> None:
        pieces = [("<unk>", -1.0), ("a", -1.0)]
        one, other = (Tokenizer(models.Unigram(pieces, unk_id)) for unk_id in (0, None))
        assert list(_lost(one, other, Kind.TOKENIZER_JSON)) == ["the model's unk_id 0 (read back as none)"]
        assert list(_lost(one, one, Kind.TOKENIZER_JSON)) == []

    @pytest.mark.parametrize(
        ("content", "text", "is_lost"), [("abc", "abc", True), ("ca", "cab", True), ("cd", "abcd", False)]
    )
    def test_of_normalized_are_seen_where_tokens_meet(self, content: str, text: str, is_lost: bool) -> None:
        vocab = {token: id_ for id_, token in enumerate(["?", "a", "b", "c", "d", "ab", content])}
        one, other = (Tokenizer(models.WordLevel(vocab, "?")) for _ in range(2))
        for tokenizer, normalized in ((one, True), (other, False)):
            tokenizer.add_tokens([AddedToken("ab", normalized=False), AddedToken(content, normalized=normalized)])
        assert (one.encode(text).ids != other.encode(text).ids) == is_lost
        lost = [f"the added token `{content}` with id 6"] if is_lost else []
        assert list(_lost(one, other, Kind.TOKENIZER_JSON)) == lost

    def test_are_named_and_nothing_is_written(self, lexmill: Run, bert: str, saved: str, unigram: str) -> None:
        tokenizer = Tokenizer.from_file(bert)
        tokenizer.normalizer = NFC()
        tokenizer.save("nfc.json")
        tokenizer = Tokenizer.from_file(unigram)
        tokenizer.enable_truncation(7)
        tokenizer.save("truncated.json")
        before = sorted(Path.cwd().iterdir())
        for arguments, message in [
            (
                (saved, "vocab.json"),
                "vocab-json cannot hold the added token `<end>` with id 0; --lossy leaves that out",
            ),
            ((saved, "gpt2.tiktoken"), "tiktoken cannot hold the added token `<end>` with id 0"),
            (
                ("nfc.json", "vocab.txt"),
                'vocab-txt cannot hold the normalizer {"type": "NFC"} (read back as {',
            ),
            ((bert, "vocab.txt", "--unk-token", "[X]"), 'vocab-txt cannot hold the model\'s unk_token "[UNK]"'),
            (("truncated.json", "u.model"), "sentencepiece cannot hold the truncation"),
        ]:
            result = lexmill("convert", *arguments)
            assert (result.code, result.stdout) == (1, b"")
            assert message in result.stderr
            assert sorted(Path.cwd().iterdir()) == before

    def test_are_left_out_if_told(self, lexmill: Run, saved: str) -> None:
        outcome = lexmill("convert", saved, "vocab.json", "--lossy", "--json").outcome
        assert outcome == {
            "command": "convert",
            "ok": True,
            "outputs": ["vocab.json", "merges.txt"],
            "from": "tokenizer-json",
            "to": "vocab-json",
            "vocab_size": 300,
            "lost": ["the added token `<end>` with id 0"],
        }

    @pytest.mark.parametrize(
        ("model", "output", "message"),
        [
            (models.WordPiece({"[UNK]": 0, "a": 7}, unk_token="[UNK]"), "vocab.txt", 'cannot hold token "a" with id 7'),
            (models.WordPiece({"[UNK]": 0, "a\nb": 1}), "vocab.txt", 'cannot hold token "a\\nb" with id 1'),
            (
                models.BPE({" ": 0, "a": 1, " a": 2}, [(" ", "a")]),
                "vocab.json",
                'merges.txt cannot hold the merge of " " and "a"',
            ),
            (
                models.BPE({"#version": 0, "a": 1, "#versiona": 2}, [("#version", "a")]),
                "vocab.json",
                "cannot hold the merge of",
            ),
            (models.WordPiece(), "vocab.json", "vocab-json holds BPE, this model is WordPiece"),
            (models.Unigram(), "vocab.txt", "vocab-txt holds WordPiece, this model is Unigram"),
            (models.WordLevel({"<unk>": 0}), "a.model", "only if from_spm has read them"),
        ],
        ids=str,
    )
    def test_of_the_model_are_errors_even_so(
        self, lexmill: Run, model: models.Model, output: str, message: str
    ) -> None:
        tokenizer = Tokenizer(model)
        tokenizer.pre_tokenizer = Whitespace()
        tokenizer.save("in.json")
        before = sorted(Path.cwd().iterdir())
        result = lexmill("convert", "in.json", output, "--lossy", "--pre-tokenizer", "whitespace")
        if output.endswith(".model"):
            result = lexmill("convert", "in.json", output, "--lossy")
        assert result.code == 1
        assert message in result.stderr
        assert sorted(Path.cwd().iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("absent.json", "x.model"), 1, "absent.json: no such file"),
        (("tokenizer.json", "x"), 2, "x does not tell its kind by its name; give --to as one of tokenizer-json, "),
        (("x", "y.json"), 2, "x does not tell its kind by its name; give --from"),
        (("text.txt", "text.txt"), 2, "text.txt is an input and the output"),
        (("-", "x.json", "--from", "vocab-txt"), 2, "IN must be a file"),
        (("text.txt", "-"), 2, "- is stdout, which needs --to"),
        (("text.txt", "-", "--to", "vocab-json"), 2, "vocab-json is two files"),
        (("vocab.json", "x.json"), 1, "vocab.json: no such file"),
        (("a.json", "b.json", "--normalizer", "bert"), 2, "--normalizer is for vocab-txt, vocab-json, tiktoken, not"),
        (("text.txt", "x.json", "--from", "tiktoken"), 2, "text.txt needs a pattern: give --pre-tokenizer"),
        (("gpt2.tiktoken", "x.json"), 1, 'gpt2.tiktoken line 1: "the" is not base64'),
        (("text.txt", "x.json", "--from", "sentencepiece"), 1, "text.txt: model at byte"),
        (("merge.json", "x.model"), 1, "token `c` of merge 0 in merge.json is not in the vocabulary"),
        (("bad.json", "x.model"), 1, "bad.json is not valid UTF-8 at byte 1"),
    ],
    ids=str,
)
def test_wrong_calls_are_one_line(lexmill: Run, arguments: tuple[str, ...], code: int, message: str) -> None:
    Path("gpt2.tiktoken").write_text("the cat")
    Path("bad.json").write_bytes(b"{\xff")
    Path("merge.json").write_text('{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [["a", "c"]]}}')
    before = sorted(Path.cwd().iterdir())
    result = lexmill("convert", *arguments)
    assert result.code == code
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
    assert sorted(Path.cwd().iterdir()) == before


class TestVersion2:
    def test_there_and_back(self, lexmill: Run, saved: str, bert: str, unigram: str) -> None:
        for source in (saved, bert, unigram):
            assert lexmill("convert", source, "two.json", "--version", "2.0").code == 0
            assert Path("two.json").read_text(encoding="utf-8") == Tokenizer.from_file(source).to_str(version="2.0")
            assert lexmill("convert", "two.json", "one.json").code == 0
            assert ids("one.json") == ids("two.json") == ids(source)

    def test_of_a_part_that_it_cannot_hold(self, lexmill: Run, saved: str) -> None:
        tokenizer = Tokenizer.from_file(saved)
        tokenizer.post_processor = ByteLevel(trim_offsets=True)
        tokenizer.save("trims.json")
        result = lexmill("convert", "trims.json", "two.json", "--version", "2.0")
        assert result.code == 1
        message = "tokenizer-json cannot hold `trim_offsets` of the post-processor `ByteLevel`; --lossy leaves that out"
        assert message in result.stderr
        assert not Path("two.json").exists()
        outcome = lexmill("convert", "trims.json", "two.json", "--version", "2.0", "--lossy", "--json").outcome
        assert outcome["lost"] == ["`trim_offsets` of the post-processor `ByteLevel`"]
        tokenizer.pre_tokenizer.add_prefix_space = True
        tokenizer.save("prefix.json")
        result = lexmill("convert", "prefix.json", "three.json", "--version", "2.0", "--lossy")
        assert result.code == 1
        assert "cannot hold `add_prefix_space` of the pre-tokenizer `ByteLevel`" in result.stderr

    def test_roles_are_lost_in_version_1(self, lexmill: Run, saved: str) -> None:
        tokenizer = Tokenizer.from_file(saved)
        tokenizer.role_to_token = {"eos_token": "<end>"}
        tokenizer.save("roles.json", version="2.0")
        result = lexmill("convert", "roles.json", "one.json")
        assert result.code == 1
        assert (
            'tokenizer-json cannot hold role_to_token {"eos_token": "<end>"}; --lossy leaves that out' in result.stderr
        )
        assert lexmill("convert", "roles.json", "one.json", "--lossy").code == 0
        assert lexmill("convert", "roles.json", "two.json", "--version", "2.0").code == 0
        assert Path("two.json").read_bytes() == Path("roles.json").read_bytes()

    def test_of_another_kind_of_file(self, lexmill: Run, saved: str) -> None:
        result = lexmill("convert", saved, "ranks.tiktoken", "--version", "2.0")
        assert result.code == 2
        assert "--version is for tokenizer-json, not for tiktoken" in result.stderr
