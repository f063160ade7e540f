"""More files of word counts than a process may open."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from lexmill import count_words, merge_counts
from lexmill.errors import FileError, InputTypeError, LexmillError
from lexmill.pre_tokenizers import Whitespace, WhitespaceSplit

LIMITED = """
import resource, sys, warnings
from pathlib import Path
from lexmill import count_words, merge_counts
from lexmill.pre_tokenizers import Whitespace
warnings.simplefilter("ignore")
folder = Path(sys.argv[1])
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
files = sorted(folder.glob("*.counts"))
merge_counts(files, max_memory=sys.argv[2]).save(folder / "merged")
texts = sorted(folder.glob("*.txt"))
count_words(texts, pre_tokenizer=Whitespace(), checkpoint=folder / "parts", checkpoint_bytes=1).save(folder / "parted")
assert len(list((folder / "parts").glob("part-*"))) > 256
count_words(texts, pre_tokenizer=Whitespace(), checkpoint=folder / "parts", resume=True).save(folder / "resumed")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
@pytest.mark.parametrize("memory", ["64MB", "1MB"])
def test_counts_and_checkpoints_of_more_files_than_may_be_open(memory: str, tmp_path: Path) -> None:
    choose, number = random.Random(1), 5_000
    texts = [" ".join(f"w{choose.randrange(500)}" for _ in range(4)) + "\n" for _ in range(number)]
    # As many names of a few files: it does not matter that the same words come again.
    for at in range(300):
        (tmp_path / f"{at:03}.txt").write_text(texts[at])
        count_words(iterator=[texts[at]], pre_tokenizer=Whitespace(), first_source=at, num_threads=1).save(
            tmp_path / f"{at:04}.counts"
        )
    for at in range(300, number):
        (tmp_path / f"{at:04}.counts").hardlink_to(tmp_path / f"{at % 300:04}.counts")
    ran = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path), memory], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    whole = count_words(sorted(tmp_path.glob("*.txt")), pre_tokenizer=Whitespace())
    whole.save(tmp_path / "whole")
    assert (tmp_path / "parted").read_bytes() == (tmp_path / "whole").read_bytes()
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()
    # Merging by hand, a few at a time and in another order.
    files = sorted(tmp_path.glob("*.counts"), reverse=True)
    groups = [merge_counts(files[at : at + 200]) for at in range(0, number, 200)]
    merge_counts(groups).save(tmp_path / "by hand")
    assert (tmp_path / "merged").read_bytes() == (tmp_path / "by hand").read_bytes()


def test_open_counts_and_files_may_be_mixed_and_errors_name_the_file(tmp_path: Path) -> None:
    made = [count_words(iterator=[f"a b {number}"], pre_tokenizer=Whitespace()) for number in range(70)]
    for number, counts in enumerate(made):
        counts.save(tmp_path / f"{number}.counts")
    mixed = [counts if number % 2 else tmp_path / f"{number}.counts" for number, counts in enumerate(made)]
    assert merge_counts(mixed).total == 3 * 70
    other = tmp_path / "other.counts"
    count_words(iterator=["a b"], pre_tokenizer=WhitespaceSplit()).save(other)
    message = r"0\.counts and \S*other\.counts cannot be merged: the pre-tokenizer differs"
    with pytest.raises(LexmillError, match=message):
        merge_counts([*mixed, other])
    with pytest.raises(FileError, match=r"missing\.counts"):
        merge_counts([*mixed, tmp_path / "missing.counts"])
    with pytest.raises(InputTypeError, match=r"'int' object is not an instance of 'str' or 'os\.PathLike'"):
        merge_counts([*mixed, 3])  # type: ignore[list-item]
    with pytest.raises(LexmillError, match="there are no word counts to merge"):
        merge_counts([])
