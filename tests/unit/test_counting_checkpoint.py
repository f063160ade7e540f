"""Counting that is stopped and resumed has the outcome of counting in one go."""

from __future__ import annotations

import gzip
import json
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import lexmill
from lexmill import count_words
from lexmill.errors import FileError, OptionError, OutputError
from lexmill.pre_tokenizers import ByteLevel, Whitespace
from lexmill.sources import Csv, Documents, JsonLines, Lines, Parquet, Source

ROWS = 30_000


def texts(seed: int) -> list[str]:
    choose = random.Random(seed)
    words = [f"w{number}" for number in range(5_000)] + ["été", "語", "e\u0301"]
    return [" ".join(choose.choices(words, k=12)) for _ in range(ROWS)]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[str | Source]:
    """Files of about 2 MB, whose blocks are read ahead, passed over and decompressed in different ways."""
    folder = tmp_path_factory.mktemp("corpus")
    lines, records, table = folder / "a.txt", folder / "b.jsonl.gz", folder / "c.csv"
    lines.write_text("".join(f"{text}\n" for text in texts(1)), encoding="utf-8")
    with gzip.open(records, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps({"text": text}) + "\n" for text in texts(2))
    table.write_text("id,text\n" + "".join(f"1,{text}\n" for text in texts(3)), encoding="utf-8")
    documents, empty = folder / "d.txt", folder / "e.txt"
    documents.write_text("<end>".join(texts(4)), encoding="utf-8")
    empty.write_bytes(b"")
    found: list[str | Source] = [
        str(lines),
        JsonLines(records),
        Csv(table),
        str(empty),
        Documents(documents, separator="<end>"),
    ]
    return found


def count(files: list[str | Source], **options: object) -> lexmill.WordCounts:
    return count_words(files, pre_tokenizer=ByteLevel(add_prefix_space=False), **options)  # type: ignore[arg-type]


def saved(counts: lexmill.WordCounts, folder: Path) -> bytes:
    path = folder / "saved.counts"
    counts.save(path)
    return path.read_bytes()


class Stop(Exception):
    """Ends a run in the middle."""


def run_until(number: int, files: list[str | Source], checkpoint: Path, **options: object) -> lexmill.WordCounts | None:
    """Counts with a checkpoint, and stops at a call of `on_progress`; none if it stopped."""
    calls = iter(range(10**9))

    def progress(*_: object) -> None:
        if next(calls) == number:
            raise Stop

    try:
        return count(files, checkpoint=checkpoint, resume=True, on_progress=progress, **options)
    except Stop:
        return None


@pytest.mark.parametrize("part_bytes", [1, 600_000, "3MB", "4GB"])
@pytest.mark.parametrize("first_source", [0, 7])
def test_parts_make_the_counts_of_one_go(
    part_bytes: int | str, first_source: int, sources: list[str | Source], tmp_path: Path
) -> None:
    whole = count(sources, first_source=first_source)
    checkpoint = tmp_path / "checkpoint"
    parts = count(sources, first_source=first_source, checkpoint=checkpoint, checkpoint_bytes=part_bytes)
    assert saved(parts, tmp_path) == saved(whole, tmp_path)
    again = count(sources, first_source=first_source, checkpoint=checkpoint, resume=True)
    assert saved(again, tmp_path) == saved(whole, tmp_path)


@pytest.mark.parametrize("seed", range(6))
def test_a_run_that_is_stopped_again_and_again_has_the_same_outcome(
    seed: int, sources: list[str | Source], tmp_path: Path
) -> None:
    choose = random.Random(seed)
    whole = saved(count(sources), tmp_path)
    checkpoint, done = tmp_path / "checkpoint", None
    for attempt in range(60):
        options = {"checkpoint_bytes": choose.choice([200_000, 700_000]), "num_threads": choose.choice([1, 2])}
        done = run_until(choose.randrange(8) + attempt // 4, sources, checkpoint, **options)
        if done is not None:
            break
    assert done is not None
    assert saved(done, tmp_path) == whole
    assert {path.name.partition("-")[0] for path in checkpoint.iterdir()} == {"manifest.json", "parts.jsonl", "part"}


def test_columns_are_resumed_too(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": texts(5)}), path, row_group_size=5_000)
    files: list[str | Source] = [Parquet(path)]
    whole, checkpoint = count(files), tmp_path / "checkpoint"
    for number in (3, 5, 9, 10**8):
        done = run_until(number, files, checkpoint, checkpoint_bytes=300_000)
    assert done is not None
    assert list(done) == list(whole)
    assert (done.texts, done.total) == (whole.texts, whole.total)


@pytest.mark.filterwarnings("ignore::lexmill.errors.RepeatedInputWarning")
def test_a_process_that_is_killed_leaves_what_another_goes_on_with(sources: list[str | Source], tmp_path: Path) -> None:
    files = [str(source) for source in sources if isinstance(source, str)] * 6
    whole, checkpoint = saved(count(list(files)), tmp_path), tmp_path / "checkpoint"
    program = (
        "import sys; from lexmill import count_words; from lexmill.pre_tokenizers import ByteLevel;"
        "count_words(sys.argv[2:], pre_tokenizer=ByteLevel(add_prefix_space=False), checkpoint=sys.argv[1],"
        "resume=True, checkpoint_bytes=300_000, num_threads=1)"
    )
    kills = 0
    for _ in range(8):
        saved_before = len(list(checkpoint.glob("*.counts")))
        with subprocess.Popen([sys.executable, "-c", program, str(checkpoint), *files]) as process:
            while process.poll() is None and len(list(checkpoint.glob("*.counts"))) <= saved_before:
                pass
            process.kill()
        kills += process.returncode == -signal.SIGKILL
    assert kills > 1
    done = count(list(files), checkpoint=checkpoint, resume=True)
    assert saved(done, tmp_path) == whole


def test_damaged_and_missing_parts_are_counted_again(sources: list[str | Source], tmp_path: Path) -> None:
    whole, checkpoint = saved(count(sources), tmp_path), tmp_path / "checkpoint"
    count(sources, checkpoint=checkpoint, checkpoint_bytes=600_000)
    parts = sorted(checkpoint.glob("part-*.counts"))
    assert len(parts) > 6
    parts[5].unlink()
    assert saved(count(sources, checkpoint=checkpoint, resume=True), tmp_path) == whole
    parts[2].write_bytes(parts[2].read_bytes()[:-9])
    assert saved(count(sources, checkpoint=checkpoint, resume=True), tmp_path) == whole
    lines = (checkpoint / "parts.jsonl").read_text()
    (checkpoint / "parts.jsonl").write_text(lines[:-7])
    assert saved(count(sources, checkpoint=checkpoint, resume=True), tmp_path) == whole


@pytest.mark.parametrize("part_bytes", [1, 700_000])
def test_the_counts_say_the_same_after_any_part(part_bytes: int, sources: list[str | Source], tmp_path: Path) -> None:
    whole, checkpoint = saved(count(sources), tmp_path), tmp_path / "checkpoint"
    count(sources, checkpoint=checkpoint, checkpoint_bytes=part_bytes)
    lines = (checkpoint / "parts.jsonl").read_text().splitlines(keepends=True)
    # A part may end with a compressed file, which is passed over as a whole then.
    ends = {json.loads(line)["end"]["file"] for line in lines}
    for kept in range(0, len(lines), 1 if part_bytes > 1 else 7):
        # The files of the parts belong to this list: other runs may divide the corpus in other places.
        cut = tmp_path / str(kept)
        shutil.copytree(checkpoint, cut)
        (cut / "parts.jsonl").write_text("".join(lines[:kept]))
        again = count(sources, checkpoint=cut, checkpoint_bytes=part_bytes, resume=True)
        assert saved(again, tmp_path) == whole, kept
    assert len(ends) > 1


def test_other_work_is_refused(tmp_path: Path) -> None:
    one, other, checkpoint = tmp_path / "one.txt", tmp_path / "other.txt", tmp_path / "checkpoint"
    one.write_text("a b c\n")
    other.write_text("d e f\n")
    count([str(one)], checkpoint=checkpoint)
    with pytest.raises(OutputError, match=r"it holds a checkpoint; pass resume=True"):
        count([str(one)], checkpoint=checkpoint)
    with pytest.raises(OutputError, match=r"cannot resume: an input was .*one\.txt"):
        count([str(other)], checkpoint=checkpoint, resume=True)
    with pytest.raises(OutputError, match="cannot resume: there were 1 inputs but are 2"):
        count([str(one), str(other)], checkpoint=checkpoint, resume=True)
    with pytest.raises(OutputError, match="cannot resume: the pre-tokenizer was"):
        count_words([one], pre_tokenizer=Whitespace(), checkpoint=checkpoint, resume=True)
    with pytest.raises(OutputError, match="cannot resume: first_source was 0 but is 3"):
        count([str(one)], first_source=3, checkpoint=checkpoint, resume=True)
    assert count([Lines(one, errors="replace")], checkpoint=checkpoint, resume=True).texts == 1
    one.write_text("a b c d\n")
    with pytest.raises(OutputError, match=r"cannot resume: the input .*one\.txt had 6 bytes but has 8"):
        count([str(one)], checkpoint=checkpoint, resume=True)


def test_a_checkpoint_has_a_folder_of_its_own_and_files_that_can_be_read_again(tmp_path: Path) -> None:
    text = tmp_path / "one.txt"
    text.write_text("a b c\n")
    with pytest.raises(OutputError, match=r"it holds one\.txt, which is no part of a checkpoint"):
        count([str(text)], checkpoint=tmp_path)
    (tmp_path / "manifest").mkdir()
    (tmp_path / "manifest" / "manifest.json").write_text("{}")
    with pytest.raises(OutputError, match="it is not a manifest of word counts"):
        count([str(text)], checkpoint=tmp_path / "manifest", resume=True)
    with pytest.raises(OptionError, match="an iterator can be read only once"):
        count_words(iterator=["a"], checkpoint=tmp_path / "checkpoint")
    with pytest.raises(OutputError, match="- can be read only once"):
        count([Lines("-")], checkpoint=tmp_path / "checkpoint")
    with pytest.raises(OptionError, match="checkpoint_bytes is '4 apples' but must be a number of bytes"):
        count([str(text)], checkpoint=tmp_path / "checkpoint", checkpoint_bytes="4 apples")
    for nothing in (0, "0GB", None):
        with pytest.raises(OptionError, match=f"checkpoint_bytes is {nothing!r} but must be at least 1"):
            count([str(text)], checkpoint=tmp_path / "checkpoint", checkpoint_bytes=nothing)
    missing = str(tmp_path / "missing.txt")
    with pytest.raises(FileError, match=r"missing\.txt.*No such file"):
        count([missing], checkpoint=tmp_path / "other")
    assert not (tmp_path / "other").exists()
