"""The examples that need lexmill alone, each in a process of its own, and published values that they reproduce."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cases import load
from example_runs import FOLDER, joined, rows, run, section

EXAMPLES = sorted(path.name for path in FOLDER.glob("*.py") if "def main()" in path.read_text(encoding="utf-8"))
TEXTBOOK = load("textbook.json")


@pytest.fixture(scope="module")
def textbook(tmp_path_factory: pytest.TempPathFactory) -> str:
    corpus = tmp_path_factory.mktemp("corpus") / "sentences.txt"
    corpus.write_text("\n".join(TEXTBOOK["corpus"]), encoding="utf-8")
    sizes = {
        "bpe": TEXTBOOK["bpe"]["vocab_size"],
        "wordpiece": TEXTBOOK["wordpiece"]["vocab_size"],
        "unigram": TEXTBOOK["unigram"]["vocab_size"],
        "seeds": TEXTBOOK["unigram"]["seed_size"],
    }
    options = [f"--{name}={size}" for name, size in sizes.items()]
    texts = [text for part in ("bpe", "wordpiece") for text in TEXTBOOK[part]["encode"]]
    options += [f"--encode={text}" for text in [*texts, *TEXTBOOK["unigram"]["final_encode"]]]
    return run("three_algorithms.py", str(corpus), *options)


def test_bpe_is_the_textbook_s(textbook: str) -> None:
    golden, found = TEXTBOOK["bpe"], section(textbook, "BPE")
    merges = re.findall(r"^ +\d+ +(\S+) \+ (\S+) +\| (\d+) times$", found, re.MULTILINE)
    assert [[left, right] for left, right, _ in merges] == golden["merges"]
    assert int(merges[0][2]) == golden["first_pair_counts"]["Ġ t"]
    assert rows(found, "vocabulary") == [joined(golden["vocab"], " ")]
    assert set(map(joined, golden["encode"].values())) <= set(rows(found, "encoded"))


def test_wordpiece_is_the_textbook_s(textbook: str) -> None:
    golden, found = TEXTBOOK["wordpiece"], section(textbook, "WordPiece")
    merges = re.findall(r"^ +\d+ +(\S+) \+ (\S+) +\| (\d+) / \((\d+) \* (\d+)\)", found, re.MULTILINE)
    scored = [[left, right, int(pair) / (int(one) * int(other))] for left, right, pair, one, other in merges]
    assert scored == golden["merges"]
    assert rows(found, "vocabulary") == [joined(golden["vocab"], " ")]
    assert set(map(joined, golden["encode"].values())) <= set(rows(found, "encoded"))


def test_unigram_is_the_textbook_s(textbook: str) -> None:
    golden, found = TEXTBOOK["unigram"], section(textbook, "Unigram")
    assert rows(found, "loss") == [f"{golden['initial_loss']:.6f}"]
    assert [line.split() for line in rows(found, "  removed")] == golden["removed_by_round"]
    assert rows(found, "vocabulary") == [joined((piece for piece, _ in golden["final_pieces"]), " ")]
    assert set(map(joined, golden["final_encode"].values())) <= set(rows(found, "encoded"))


def test_three_algorithms_on_their_own_sentences() -> None:
    printed = run("three_algorithms.py")
    assert rows(section(printed, "BPE"), "  1") == ["l + l            | 8 times"]
    assert rows(section(printed, "WordPiece"), "  1") == ["b + ##y          | 1 / (1 * 2) = 0.5000"]
    assert rows(section(printed, "Unigram"), "encoded") == ["▁The | ▁miller | ▁is | ▁s | e | lling | ▁grain."]
    assert printed.endswith("equal at every step.\n")


def test_normalization_and_pre_tokenization() -> None:
    printed = run("normalization_and_pre_tokenization.py")
    rewritten, cut = section(printed, "Normalizers"), section(printed, "Pre-tokenizers")
    assert rows(rewritten, "BERT, uncased") == ["creme brulee  №5: \ufb01ne, naive cafes! | 35 characters"]
    assert rows(rewritten, "NFKC") == ["Crème brûlée  No5: fine, naïve CAFÉS! | 37 characters"]
    assert rows(section(printed, "Both"), "cafes") == ["29 to 34 | 'CAFÉS'"]
    assert rows(cut, "GPT-2") == ["It | 's | Ġ7 | Ġ | Ġo | ' | clock | , | Ġisn | 't | Ġit | ? | (nothing lost)"]
    assert rows(cut, "T5, XLNet") == ["▁It's | ▁7 | ▁ | ▁o'clock, | ▁isn't | ▁it? | (nothing lost)"]
    assert rows(cut, "WhitespaceSplit") == ["It's | 7 | o'clock, | isn't | it? | (5 characters lost)"]


def test_corpus_to_training() -> None:
    printed = run("corpus_to_training.py", "--files=15", "--size=600")
    assert rows(printed, "files") == ["manifest.json | tokens.bin | tokens.idx"]
    assert rows(printed, "documents") == ["15"]
    assert rows(printed, "every text") == ["comes back byte for byte"]


def ratios(judged: str, name: str) -> list[float]:
    """Bytes per token of English, German, code and Russian."""
    (found,) = rows(judged, name)
    return [float(value) for value in found.split(" | ")]


def test_languages_and_code(tmp_path: Path) -> None:
    printed = run("languages_and_code.py", f"--pictures={tmp_path}")
    judged = section(printed, "Judge again")
    plain, mixed, extended, pruned = (ratios(judged, name) for name in ("plain", "mixed", "extended", "pruned"))
    # The weights help German, the extension Russian alone, and nothing is lost to pruning but length.
    assert mixed[1] > plain[1]
    assert extended[:3] == mixed[:3]
    assert extended[3] > 2 * mixed[3]
    assert all(one <= other for one, other in zip(pruned, extended, strict=True))
    assert ratios(judged, "superwords")[1] > extended[1]
    before, after, left = map(int, rows(printed, "rows")[0].split(" | "))
    assert left < after > before == 4000
    pytest.importorskip("matplotlib", reason="pictures are left out without it")
    drawn = [tmp_path / name for name in rows(judged, "pictures")[0].split(" | ")]
    assert len(drawn) == 3
    assert all("</svg>" in path.read_text(encoding="utf-8") for path in drawn)


def test_ner_and_qa() -> None:
    printed = run("ner_and_qa.py")
    names = ["Ada Lovelace (PER, 0 to 12)", "Ockham Park (LOC, 16 to 27)", "Charles Babbage (PER, 32 to 47)"]
    entities = joined([*names, "Analytical Engine (MISC, 60 to 77)"])
    assert [rows(printed, f"{how} of words") for how in ("first", "surest", "sum")] == [[entities]] * 3
    assert rows(printed, "each token") != [entities]
    answer = "in a vault under the northern staircase"
    assert rows(printed, "answer") == [answer]
    assert "none" in joined(rows(printed, "window 0"))
    mapping = rows(printed, "mapping")[0].split()
    assert mapping == sorted(mapping)
    assert set(mapping) == {"0", "1"}


@pytest.mark.parametrize("name", ["block_by_block.py", "train_from_old.py"])
def test_transformers_that_is_missing_is_named(name: str) -> None:
    code = f"""
import runpy, sys
sys.modules["transformers"] = None
sys.path.insert(0, {str(FOLDER)!r})
sys.argv = [{name!r}]
runpy.run_path({str(FOLDER / name)!r}, run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    expected = "this example needs transformers, which is not installed: pip install transformers\n"
    assert (done.returncode, done.stderr) == (1, expected)


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_example_is_short_and_listed(name: str) -> None:
    assert len((FOLDER / name).read_text(encoding="utf-8").splitlines()) < 150
    assert f"| [{name}]({name}) |" in (FOLDER / "README.md").read_text(encoding="utf-8")
