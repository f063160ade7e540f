"""A saved file is the old one or the new one, whatever happens while it is written."""

from __future__ import annotations

import copy
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lexmill import Tokenizer, models
from lexmill.errors import LostStateWarning
from small import letters

# Says when it begins, and saves a large file again and again.
SAVES = """
import sys
from lexmill import Tokenizer, models
tokenizer = Tokenizer(models.WordLevel({f"token{number}": number for number in range(200_000)}, "token0"))
print("ready", flush=True)
while True:
    tokenizer.save(sys.argv[1])
"""


def temporaries(folder: Path) -> list[Path]:
    return sorted(folder.glob(".lexmill-*.tmp"))


def stop_in_the_middle(child: subprocess.Popen[str], folder: Path) -> Path:
    """Stops the child while its temporary file is there; returns that."""
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    while True:
        assert child.poll() is None
        if temporaries(folder):
            os.kill(child.pid, signal.SIGSTOP)
            os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WNOWAIT)
            # Before its first bytes it may not be locked yet.
            if found := [file for file in temporaries(folder) if file.stat().st_size]:
                return found[0]
            os.kill(child.pid, signal.SIGCONT)


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="processes cannot be stopped here")
def test_a_killed_writer_leaves_the_old_file_and_litter_that_the_next_one_removes(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    letters("ab").save(path)
    with subprocess.Popen([sys.executable, "-c", SAVES, str(path)], stdout=subprocess.PIPE, encoding="utf-8") as child:
        try:
            temporary = stop_in_the_middle(child, tmp_path)
            letters("abc").save(path)
            # The child is not dead, and may go on.
            assert temporaries(tmp_path) == [temporary]
        finally:
            child.kill()
    assert temporaries(tmp_path) == [temporary]
    assert Tokenizer.from_file(path).get_vocab_size() == 3
    letters("abcd").save(tmp_path / "other.json")
    assert {file.name for file in tmp_path.iterdir()} == {"tokenizer.json", "other.json"}


@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace")
def test_the_folder_is_synced_after_the_file_has_its_name(tmp_path: Path) -> None:
    log = tmp_path / "log"
    folder = tmp_path / "folder"
    folder.mkdir()
    program = "import sys; from lexmill import Tokenizer, models; Tokenizer(models.BPE()).save(sys.argv[1])"
    traced = ["strace", "-f", "-y", "-e", "trace=/^(fsync|fdatasync|rename.*)$", "-o", str(log), sys.executable]
    done = subprocess.run([*traced, "-c", program, str(folder / "file")], capture_output=True, text=True, check=False)
    if "ptrace" in done.stderr:
        pytest.skip("processes may not be traced here")
    assert done.returncode == 0, done.stderr
    calls = [line for line in log.read_text().splitlines() if str(folder) in line]
    names = [re.sub(r"^\d+ +", "", line) for line in calls]
    temporary = re.escape(str(folder)) + r"/\.lexmill-\d+-[0-9a-f]{16}\.tmp"
    expected = [rf"f(data)?sync\(\d+<{temporary}>\)", r"rename", rf"fsync\(\d+<{re.escape(str(folder))}>\) += 0"]
    assert len(names) == len(expected), names
    assert all(re.match(pattern, name) for pattern, name in zip(expected, names, strict=True)), names


def test_merges_of_tokens_that_share_an_id_are_written_as_they_were_given(tmp_path: Path) -> None:
    vocab = {"a": 0, "ab": 1, "b": 3, "[UNK]": 3}
    model = {"type": "BPE", "vocab": vocab, "merges": [["a", "b"]]}
    tokenizer = Tokenizer.from_str(json.dumps({"model": model}))
    file = json.loads(tokenizer.to_str())["model"]
    assert (file["vocab"], file["merges"]) == (vocab, [["a", "b"]])
    again = Tokenizer.from_str(tokenizer.to_str())
    assert (again.encode("ab").ids, again.encode("b").tokens) == ([1], ["[UNK]"])
    paths = tokenizer.model.save(tmp_path)
    assert Path(paths[1]).read_text() == "#version: 0.2\na b\n"
    assert models.BPE.read_file(*paths) == (vocab, [("a", "b")])


def test_a_token_that_comes_again_leaves_its_first_id_to_others() -> None:
    model = '{"type": "WordLevel", "unk_token": "a", "vocab": {"a": 1, "b": 1, "b": 0}}'
    tokenizer = Tokenizer.from_str(f'{{"model": {model}}}')
    assert tokenizer.get_vocab() == {"a": 1, "b": 0}
    assert [tokenizer.id_to_token(token_id) for token_id in (0, 1)] == ["b", "a"]


def test_added_tokens_of_a_vocabulary_with_holes_are_read_with_their_ids() -> None:
    tokenizer = Tokenizer(models.WordLevel({"a": 0, "abc": 3}, "a"))
    tokenizer.add_tokens(["q", "r", "abc"])
    assert [tokenizer.token_to_id(token) for token in ("q", "r", "abc")] == [2, 4, 3]
    again = Tokenizer.from_str(tokenizer.to_str())
    assert [again.token_to_id(token) for token in ("q", "r", "abc")] == [2, 4, 3]
    assert again.encode("rabcq").ids == tokenizer.encode("rabcq").ids == [4, 3, 2]
    assert [token["content"] for token in json.loads(again.to_str())["added_tokens"]] == ["q", "abc", "r"]


def test_a_file_without_encode_special_tokens_is_told(tmp_path: Path) -> None:
    tokenizer = letters("<s>")
    tokenizer.save(tmp_path / "a.json")
    tokenizer.encode_special_tokens = True
    with pytest.warns(LostStateWarning, match="does not hold encode_special_tokens=True; set it again"):
        tokenizer.save(tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_copies_keep_what_files_do_not_hold(copied: Callable[[Tokenizer], Tokenizer]) -> None:
    tokenizer = letters("<s>")
    tokenizer.add_special_tokens(["<s>", "x"])
    # Once special, always left out by `decode`.
    tokenizer.add_tokens(["x"])
    tokenizer.encode_special_tokens, tokenizer.cache_limit = True, 1 << 20
    again = copied(tokenizer)
    assert (again.encode_special_tokens, again.cache_limit) == (True, 1 << 20)
    assert again.cache_info()["limit_per_thread"] == 1 << 20
    assert again.encode("<s>").ids == tokenizer.encode("<s>").ids == [0, 1, 2]
    assert again.decode([0, tokenizer.token_to_id("x")]) == tokenizer.decode([0, tokenizer.token_to_id("x")]) == "<"
    # Files, and pickles of a tokenizer that has nothing beside its file, are JSON.
    assert json.loads(letters().__getstate__()) == json.loads(letters().to_str())


def test_scores_do_not_move_when_a_file_is_read_and_saved() -> None:
    model = '{"type": "Unigram", "unk_id": 0, "vocab": [["a", -4.5198189935506844e-07], ["b", -2.345]]}'
    saved = Tokenizer.from_str(f'{{"model": {model}}}').to_str()
    for _ in range(3):
        assert Tokenizer.from_str(saved).to_str() == saved
