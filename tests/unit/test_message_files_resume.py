"""Runs over conversations with any number of processes, and runs that are cut short: the same bytes."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

pytest.importorskip("jinja2")

import lexmill.messages.files
from command_line import COMMAND
from lexmill import Tokenizer, tokenize_files
from lexmill.errors import FormatError, InputTypeError, LexmillError, OptionError, OutputError
from lexmill.messages import ChatTemplate, tokenize_message_files, tokenize_messages
from lexmill.messages._blocks import Block, read_blocks
from lexmill.sources import JsonLines
from message_runs import Rows, as_lines, byte_level, conversations, rows_in, rows_of, write_chats
from token_runs import contents

CHATS = conversations(1200)
RUNS: dict[str, dict[str, Any]] = {
    "megatron": {"format": "megatron", "loss": "labels", "validation": 0.2},
    "joined": {"format": "megatron", "join": True},
    "arrow": {"format": "arrow", "loss": "ranges", "validation": 0.2},
    "parquet": {"format": "parquet"},
    "packed": {"format": "npy", "pack": 32, "packing": "best-fit", "pad_token": 3},
    "nanogpt": {"format": "raw", "preset": "nanogpt"},
    "datatrove": {"format": "raw", "preset": "datatrove"},
    "shuffled": {"format": "raw", "preset": "dolma", "shuffle": True},
}


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return byte_level()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three files of conversations, some lines of which are broken."""
    folder = tmp_path_factory.mktemp("chats")
    for number in range(3):
        records: list[object] = [{"messages": chat} for chat in CHATS[number * 400 : (number + 1) * 400]]
        records[5:5] = [{}]
        records[17:17] = [{"messages": [{"role": "judge", "content": "x"}]}]
        (folder / f"{number}.jsonl").write_bytes(as_lines(records))
    return folder


def run(tokenizer: Tokenizer, folder: Path, out: Path, **options: Any) -> Rows:
    return rows_in(
        tokenize_message_files(
            tokenizer, str(folder / "*.jsonl"), out, "chatml", part_bytes=20_000, on_error="skip", **options
        )
    )


def user_is_learned(number: int, message: Mapping[str, Any]) -> bool:
    return message["role"] == "user" and number < 2


@pytest.mark.filterwarnings("ignore:.*records were left out")
@pytest.mark.parametrize("options", RUNS.values(), ids=RUNS)
def test_processes_and_threads_do_not_show(tmp_path: Path, tokenizer: Tokenizer, folder: Path, options: Any) -> None:
    found = []
    for workers, threads in ((1, 1), (1, 2), (3, 1)):
        out = tmp_path / f"{workers}-{threads}"
        rows = run(tokenizer, folder, out, num_workers=workers, num_threads=threads, **options)
        found.append((rows, contents(out)))
    assert found[0] == found[1] == found[2]


class CutShortError(Exception):
    pass


def cut_after(blocks: int) -> Callable[..., Iterator[Block]]:
    """A reader of small blocks that fails after some."""

    def reading(*given: Any, **options: Any) -> Iterator[Block]:
        nonlocal blocks
        for block in read_blocks(*given, lines=16, **options):
            if not blocks:
                raise CutShortError
            blocks -= 1
            yield block

    return reading


@pytest.mark.filterwarnings("ignore:.*records were left out")
@pytest.mark.parametrize("options", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_was_cut_short_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tokenizer: Tokenizer, folder: Path, options: Any, workers: int
) -> None:
    run(tokenizer, folder, tmp_path / "whole", **options)
    every: dict[str, Any] = {**options, "resume": True, "num_workers": workers}
    parts = 0
    for blocks in (2, 30, 45):
        monkeypatch.setattr(lexmill.messages.files, "read_blocks", cut_after(blocks))
        with pytest.raises(CutShortError):
            run(tokenizer, folder, tmp_path / "cut", **every)
        kept = len(
            [name for name in contents(tmp_path / "cut") if "part-" in name or "data-" in name or "run-" in name]
        )
        assert kept >= parts
        parts = kept
    assert parts
    monkeypatch.undo()

    def end(stage: str, *_: object) -> None:
        if stage in ("join", "shuffle"):
            raise CutShortError

    if options.get("join") or options.get("shuffle") or "nanogpt" in options.values():
        with pytest.raises(CutShortError):
            run(tokenizer, folder, tmp_path / "cut", **every, on_progress=end)
    run(tokenizer, folder, tmp_path / "cut", **every)
    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


def test_a_file_that_changes_meanwhile_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tokenizer: Tokenizer
) -> None:
    path = write_chats(tmp_path / "in.jsonl", CHATS[:40])

    def reading(*given: Any, **options: Any) -> Iterator[Block]:
        yield from read_blocks(*given, **options)
        with path.open("ab") as file:
            file.write(b"\n")

    monkeypatch.setattr(lexmill.messages.files, "read_blocks", reading)
    with pytest.raises(FormatError, match="was modified while it was read"):
        tokenize_message_files(tokenizer, path, tmp_path / "o", "chatml")


def test_a_function_of_a_module_reaches_other_processes(tmp_path: Path, tokenizer: Tokenizer, folder: Path) -> None:
    path = write_chats(tmp_path / "in.jsonl", CHATS[:300])
    files = tokenize_message_files(tokenizer, path, tmp_path / "o", "chatml", mask=user_is_learned, num_workers=2)
    assert rows_in(files) == rows_of(tokenize_messages(tokenizer, CHATS[:300], "chatml", mask=user_is_learned))


def test_parts_that_are_finished_stay(tmp_path: Path, tokenizer: Tokenizer) -> None:
    """A broken record ends the run, and parts before it stay. Its file may be mended if no part has its records."""
    first, second = tmp_path / "0.jsonl", tmp_path / "1.jsonl"
    write_chats(first, CHATS[:300])
    second.write_bytes(as_lines([{"messages": CHATS[0]}, {}]))
    options: dict[str, Any] = {"format": "npy", "part_bytes": 5_000}
    with pytest.raises(LexmillError, match=r"1\.jsonl, line 2"):
        tokenize_message_files(tokenizer, [first, second], tmp_path / "o", "chatml", **options)
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "o").glob("part-*")}
    assert kept
    write_chats(second, CHATS[300:400])
    files = tokenize_message_files(tokenizer, [first, second], tmp_path / "o", "chatml", resume=True, **options)
    assert rows_in(files) == rows_of(tokenize_messages(tokenizer, CHATS[:400], "chatml"))
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"mask": "user"}, r'mask was \["assistant"\] but is \["user"\]'),
        ({"mask": user_is_learned}, r"mask was .* but is .*user_is_learned"),
        ({"loss": "labels"}, 'loss was "mask" but is "labels"'),
        ({"template": "llama-3"}, "template was"),
        ({"template": ChatTemplate("{{ messages[0].content }}", {"bos_token": "x"})}, "template was"),
        ({"variables": {"deep": True}}, r'variables was {} but is {"deep":"true"}'),
    ],
)
def test_another_rendering_is_refused(tmp_path: Path, tokenizer: Tokenizer, changed: Any, message: str) -> None:
    path = write_chats(tmp_path / "in.jsonl", CHATS[:20])
    tokenize_message_files(tokenizer, path, tmp_path / "o", "chatml")
    with pytest.raises(OutputError, match=f"cannot resume: {message}"):
        tokenize_message_files(tokenizer, path, tmp_path / "o", **{"template": "chatml", **changed}, resume=True)
    source = JsonLines(path, field="messages")
    with pytest.raises(OutputError, match="cannot resume: "):
        tokenize_files(tokenizer, source, tmp_path / "o", add_special_tokens=False, resume=True)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=4,
)


@settings(max_examples=60)
@given(value=VALUES, other=VALUES)
@example(value=9.391670189485866e265, other=9.391670189485864e265)
@example(value=10**30, other=10**30 + 1)
@example(value={"a": 1, "b": 2}, other={"b": 2, "a": 1})
@example(value=0.5, other="0.5")
def test_a_run_goes_on_with_the_same_variables_alone(tokenizer: Tokenizer, value: object, other: object) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = write_chats(Path(name) / "in.jsonl", CHATS[:2])
        arguments: Any = (tokenizer, path, Path(name) / "o", "chatml")
        tokenize_message_files(*arguments, variables={"x": value})
        tokenize_message_files(*arguments, variables={"x": value}, resume=True)
        # 1, 1.0 and true are equal in Python, and templates write them differently.
        if repr(other) != repr(value):
            with pytest.raises(OutputError, match="cannot resume: variables was"):
                tokenize_message_files(*arguments, variables={"x": other}, resume=True)


def processes_of(group: int) -> list[int]:
    """The processes of a group that run, or are not waited for."""
    found = subprocess.run(["ps", "-eo", "pid=,pgid=,stat="], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in found.splitlines()]
    return [int(pid) for pid, other, state in rows if int(other) == group and not state.startswith("Z")]


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_command_leaves_no_process_and_goes_on(
    tmp_path: Path, tokenizer: Tokenizer, sent: signal.Signals
) -> None:
    tokenizer.save(tmp_path / "tokenizer.json")
    path = write_chats(tmp_path / "in.jsonl", CHATS * 20)
    layout = ["--format", "arrow", "--part-bytes", "50000", "--messages", "--template", "chatml", "--workers", "2"]
    command = [*COMMAND, "tokenize", tmp_path / "tokenizer.json", path, "-o", tmp_path / "o", *layout]
    begun = subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not (tmp_path / "o" / "data-00001.arrow").exists():
        assert begun.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    # Ctrl-C reaches the whole group; `kill -9` here one process.
    (os.kill if sent == signal.SIGKILL else os.killpg)(begun.pid, sent)
    errors = begun.communicate()[1].decode()
    assert begun.returncode == (-signal.SIGKILL if sent == signal.SIGKILL else 130)
    assert ("interrupted; to go on: lexmill tokenize" in errors) == (sent == signal.SIGINT)
    assert "Traceback" not in errors
    while processes_of(begun.pid):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert not (tmp_path / "o" / "state.json").exists()
    subprocess.run([*command, "--resume"], check=True)
    files = tokenize_message_files(tokenizer, path, tmp_path / "whole", "chatml", format="arrow", part_bytes=50_000)
    assert len(files) == len(CHATS) * 20
    assert contents(tmp_path / "o") == contents(tmp_path / "whole")


@pytest.mark.parametrize("value", [{1: "a"}, [{"b": {None: 0}}], {1: 2, "a": 3}, {True: 0}], ids=str)
@pytest.mark.parametrize("is_default", [True, False])
def test_keys_that_json_changes_are_refused(
    tokenizer: Tokenizer, tmp_path: Path, value: object, is_default: bool
) -> None:
    """JSON has the same text for the keys 1 and "1", and templates write them differently."""
    path = write_chats(tmp_path / "in.jsonl", CHATS[:2])
    variables = {"x": value}
    template = ChatTemplate("{{ x }}", variables if is_default else {})
    with pytest.raises(OptionError, match="a dictionary in x has keys that are no texts"):
        tokenize_message_files(tokenizer, path, tmp_path / "o", template, variables=None if is_default else variables)
    assert not (tmp_path / "o").exists()


def test_the_order_of_keys_in_a_default_variable_is_kept(tokenizer: Tokenizer, tmp_path: Path) -> None:
    path = write_chats(tmp_path / "in.jsonl", CHATS[:2])
    text = "{% for message in messages %}{{ x }}{{ message.content }}{% endfor %}"
    first, other = {"x": {"a": 1, "b": 2}, "y": 1}, {"x": {"b": 2, "a": 1}, "y": 1}
    arguments: Any = (tokenizer, path, tmp_path / "o")
    tokenize_message_files(*arguments, ChatTemplate(text, first))
    tokenize_message_files(*arguments, ChatTemplate(text, dict(reversed(first.items()))), resume=True)
    with pytest.raises(OutputError, match="cannot resume: template was"):
        tokenize_message_files(*arguments, ChatTemplate(text, other), resume=True)


@pytest.mark.parametrize(
    ("variables", "error", "message"),
    [
        ({"x": 10**5000}, OptionError, "but JSON cannot hold these"),
        ({"x": {(1, 2): 3}}, InputTypeError, "a template is given a tuple as a key of a dictionary"),
        ([1, 2], InputTypeError, "variables is a list but must be a mapping"),
    ],
    ids=["huge", "tuple", "list"],
)
def test_variables_that_no_manifest_holds_are_refused(
    tokenizer: Tokenizer, tmp_path: Path, variables: Any, error: type[Exception], message: str
) -> None:
    path = write_chats(tmp_path / "in.jsonl", CHATS[:2])
    for template, chosen in (("chatml", variables), (ChatTemplate("{{ x }}", variables), None)):
        with pytest.raises(error, match=message):
            tokenize_message_files(tokenizer, path, tmp_path / "o", template, variables=chosen)
