"""`lexmill bench` against a library of the tests' own, so that no other needs to be installed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer", reason="the command line is an extra")

from command_line import COMMAND, Run
from fake_library import install_fake
from lexmill import Tokenizer
from lexmill.comparison import processes
from lexmill.comparison.processes import Finished

# Each process reads, measures and compares; one round shows most of what there is to see.
QUICK = ("--rounds", "1", "--threads", "1")
DOCUMENTS = ["the cat sat on the mat\n", "the cat ate the rat\n", "a cat is on the mat, and so is the rat\n"]
# What is never the same twice.
TIMES = ("date", "load_before", "fastest", "passes_warm")

Fake = Callable[[str], None]


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Installs the library with some code at its end."""

    def install(code: str = "") -> None:
        monkeypatch.syspath_prepend(str(install_fake(tmp_path / "libraries", code)))

    return install


@pytest.fixture(autouse=True)
def corpus() -> None:
    Path("corpus.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in DOCUMENTS))


def rows_of(outcome: dict[str, Any], job: int = 0) -> dict[str, Any]:
    return {row["library"]: row for row in outcome["jobs"][job]["libraries"]}


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: item for name, item in value.items() if name not in TIMES and name[:8] not in ("seconds_",)}
        return {name: without_times(item) for name, item in kept.items() if not name.startswith("mb_")}
    return [without_times(item) for item in value] if isinstance(value, list) else value


def test_everything_but_times_is_the_same_each_time(lexmill: Run, saved: str, fake: Fake) -> None:
    fake("")
    command = ("bench", saved, "corpus.jsonl", "--against", "tokie", "--rounds", "3", "--json")
    first, second = (lexmill(*command, "--job", "list,one", "-o", name) for name in ("one.json", "two.json"))
    assert first.code == second.code == 0
    assert without_times(first.outcome) == without_times(second.outcome)
    # The file holds what is printed.
    assert json.loads(Path("one.json").read_text()) == first.outcome
    outcome: dict[str, Any] = first.outcome
    assert list(outcome) == [
        *("command", "ok", "lexmill", "date", "machine", "pythons", "tokenizer", "corpus"),
        *("threads", "rounds", "timeout", "load_before", "jobs"),
    ]
    assert [job["job"] for job in outcome["jobs"]] == ["list", "one"]
    size = sum(map(len, DOCUMENTS))
    assert (outcome["corpus"]["texts"], outcome["corpus"]["bytes"]) == (3, size)
    for number, job in enumerate(outcome["jobs"]):
        assert job["orders"] == [["lexmill", "tokie"], ["tokie", "lexmill"], ["lexmill", "tokie"]]
        assert job["reference"]["library"] == "lexmill"
        assert job["fastest"] in ("lexmill", "tokie")
        for row in rows_of(outcome, number).values():
            assert (row["status"], row["rounds"], len(row["samples"])) == ("ok", 3, 3)
            assert row["seconds_cold_min"] <= row["seconds_cold"] <= row["seconds_cold_max"]
            assert {sample["digest"] for sample in row["samples"]} == {job["reference"]["digest"]}
    assert rows_of(outcome)["tokie"]["version"] == "9.9"
    # One call a text has no use for threads.
    assert outcome["jobs"][1]["threads"] == 1


def test_other_ids_have_no_figure_but_a_place(lexmill: Run, saved: str, fake: Fake) -> None:
    fake("def change(text, ids):\n    return ids[:3] + [7] + ids[4:] if 'ate' in text else ids\n")
    command = ("bench", saved, "corpus.jsonl", "--against", "tokie", "--job", "list", *QUICK)
    row = rows_of(lexmill(*command, "--json").outcome)["tokie"]
    encoding = Tokenizer.from_file(saved).encode(DOCUMENTS[1], add_special_tokens=False)
    start = encoding.offsets[3][0]
    assert row["status"] == "differs"
    assert "seconds_cold" not in row
    assert row["difference"] == {
        **{"document": 1, "token": 3, "id": 7, "expected_id": encoding.ids[3]},
        **{"before": DOCUMENTS[1][:start], "after": DOCUMENTS[1][start:]},
    }
    shown = lexmill(*command, "--markdown")
    assert shown.code == 0
    assert f"document 1, token 3 has id 7, id {encoding.ids[3]} by lexmill" in shown.stdout.decode()


@pytest.mark.parametrize(
    ("job", "code", "difference"),
    [
        ("list", "ids[:-1]", {"document": 0, "id": None}),
        ("list", "ids + [7]", {"document": 0, "id": 7, "expected_id": None}),
        ("count", "ids + [7]", {"document": 0}),
    ],
)
def test_other_lengths_are_differences(
    lexmill: Run, saved: str, fake: Fake, job: str, code: str, difference: dict[str, object]
) -> None:
    fake(f"def change(text, ids):\n    return {code}\n")
    result = lexmill("bench", saved, "corpus.jsonl", "--against", "tokie", "--job", job, *QUICK, "--json")
    found = rows_of(result.outcome)["tokie"]["difference"]
    assert {**found, **difference} == found


@pytest.mark.parametrize(
    ("code", "status", "reason"),
    [
        ("raise ImportError('no such library')\n", "not-installed", "not installed: no such library"),
        ("def change(text, ids):\n    raise ValueError('the cat is too fat')\n", "failed", "ValueError: the cat"),
        ("def change(text, ids):\n    import os\n    os.kill(os.getpid(), 9)\n", "failed", "was ended by SIGKILL"),
        ("def change(text, ids):\n    raise SystemExit(0)\n", "failed", "ended without a result"),
        (
            "def fail(path):\n    raise TokieError('no such model')\nTokenizer.from_json = fail\n",
            *("unsupported", "no such model"),
        ),
    ],
)
def test_a_library_that_fails_is_a_row(
    lexmill: Run, saved: str, fake: Fake, code: str, status: str, reason: str
) -> None:
    fake(code)
    # The second round does without it.
    result = lexmill("bench", saved, "corpus.jsonl", "--against", "tokie", "--job", "list", "--rounds", "2", "--json")
    assert result.code == 0
    rows = rows_of(result.outcome)
    assert rows["tokie"]["status"] == status
    assert rows["tokie"]["reason"].startswith(reason)
    assert (rows["tokie"]["rounds"], rows["lexmill"]["rounds"]) == (1, 2)


def test_a_library_without_the_call_is_a_row(lexmill: Run, saved: str, fake: Fake) -> None:
    fake("")
    result = lexmill("bench", saved, "corpus.jsonl", "--against", "tokie", "--job", "encodings", *QUICK)
    assert "has no call for this job" in result.stdout.decode()


def venv_with(folder: Path, version: str, code: str = "") -> Path:
    """The interpreter of an environment with a tokenizers of its own; all else is this process's."""
    venv.create(folder, symlinks=os.name != "nt")
    packages = next(folder.rglob("site-packages"))
    install_fake(packages, code, "tokenizers", version)
    # Folders of such a file come after the one that it lies in.
    (packages / "rest.pth").write_text("\n".join(path for path in sys.path if Path(path).is_dir()))
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


def test_two_versions_of_one_module_run_side_by_side(
    lexmill: Run, saved: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(install_fake(tmp_path / "libraries", "", "tokenizers", "0.99")))
    python = venv_with(tmp_path / "own", "1.99")
    limited = Tokenizer.from_file(saved)
    limited.enable_truncation(3)
    limited.enable_padding()
    limited.save("limited.json")
    command = ("bench", "limited.json", "corpus.jsonl", "--against", "tokenizers,tokenizers-1", *QUICK)
    own = ("--python", f"tokenizers-1={python}")
    result = lexmill(*command, *own, "--job", "list,one,encodings", "-o", "out.json")
    assert (result.code, f", tokenizers-1: {python}" in result.stdout.decode()) == (0, True)
    outcome = json.loads(Path("out.json").read_text())
    assert outcome["pythons"] == {"tokenizers-1": str(python)}
    for job in (0, 1):
        found = {name: (row["version"], row["status"]) for name, row in rows_of(outcome, job).items()}
        assert outcome["jobs"][job]["reference"]["version"] == "0.99"
        assert (found["tokenizers"], found["tokenizers-1"]) == (("0.99", "ok"), ("1.99", "ok"))
    assert rows_of(outcome, 2)["tokenizers-1"]["reason"] == "has no call for this job"


@pytest.mark.parametrize(("version", "refused", "runs"), [("0.99", "-1", ""), ("1.99", "", "-1")])
def test_another_major_version_is_refused(
    lexmill: Run, saved: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, refused: str, runs: str
) -> None:
    monkeypatch.syspath_prepend(str(install_fake(tmp_path / "libraries", "", "tokenizers", version)))
    command = ("bench", saved, "corpus.jsonl", "--job", "list", *QUICK)
    rows = rows_of(lexmill(*command, "--against", "tokenizers,tokenizers-1", "--json").outcome)
    assert rows[f"tokenizers{runs}"]["status"] == "ok"
    row = rows[f"tokenizers{refused}"]
    other = "1.x" if refused else "0.x"
    assert (row["status"], row["reason"]) == (
        "other-version",
        f"not installed: tokenizers here is {version}, and this row is {other}; "
        f"lexmill bench --python tokenizers{refused}=PATH takes the interpreter of another environment",
    )
    # Of libraries that the user does not name, a line has the names alone.
    monkeypatch.setattr("lexmill.cli.bench.NAMES", ["lexmill", "tokenizers", "tokenizers_1"])
    assert f"\ninstalled in another version: tokenizers{refused}\n" in lexmill(*command).stdout.decode()
    # To give one an interpreter is to name it.
    own = f"tokenizers{refused}={venv_with(tmp_path / 'own', version)}"
    assert f"\ntokenizers{refused}: not installed: tokeni" in lexmill(*command, "--python", own).stdout.decode()


def test_threads_that_cannot_be_limited_are_refused(
    lexmill: Run, saved: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import os\nvars(os).pop('sched_setaffinity', None)\nos.cpu_count = lambda: 99\n"
    monkeypatch.syspath_prepend(str(install_fake(tmp_path / "libraries", code, "tokenizers", "1.99")))
    command = ("bench", saved, "corpus.jsonl", "--against", "tokenizers-1", "--job", "list", *QUICK, "--json")
    row = rows_of(lexmill(*command).outcome)["tokenizers-1"]
    assert (row["status"], row["reason"][:41]) == ("unsupported", "uses all processors and threads is 1: thi")


def test_version_of_another_environment_is_not_guessed(
    lexmill: Run, saved: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(install_fake(tmp_path / "libraries", "", "tokenizers", "0.99")))
    python = venv_with(tmp_path / "own", "0.98", "raise SystemExit(3)\n")
    command = ("bench", saved, "corpus.jsonl", "--against", "tokenizers", "--python", f"tokenizers={python}")
    row = rows_of(lexmill(*command, "--job", "list", *QUICK, "--json").outcome)["tokenizers"]
    assert (row["status"], row["version"]) == ("failed", None)


@pytest.mark.slow
def test_a_library_that_hangs_is_ended(lexmill: Run, saved: str, fake: Fake) -> None:
    fake("def change(text, ids):\n    import threading\n    threading.Event().wait()\n")
    command = ("bench", saved, "corpus.jsonl", "--against", "tokie", "--job", "list", *QUICK, "--timeout", "15")
    row = rows_of(lexmill(*command, "--json").outcome)["tokie"]
    assert (row["status"], row["reason"]) == ("timed-out", "took longer than 15 s")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_an_interrupt_ends_the_process_that_measures(saved: str, tmp_path: Path) -> None:
    os.mkfifo("pipe")
    code = (
        "def change(text, ids):\n"
        "    import os, threading\n"
        f"    open({str(tmp_path / 'pipe')!r}, 'w').write(str(os.getpid()))\n"
        "    threading.Event().wait()\n"
    )
    folder = str(install_fake(tmp_path / "libraries", code))
    paths = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))
    command = [*COMMAND, "bench", saved, "corpus.jsonl", "--against", "tokie", "--job", "list", "-o", "out.json"]
    environment = {**os.environ, "PYTHONPATH": paths, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        # The pipe is open as soon as the library is at work.
        child = int(Path("pipe").read_text())
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "error: interrupted"
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
    assert not Path("out.json").exists()
    assert not list(tmp_path.glob("lexmill-*"))


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ("--against", "tokei"),
            2,
            "--against names tokei; the libraries known are tokenizers, tokenizers-1, tiktoken",
        ),
        (("--python", "tokei=python"), 2, "--python is tokei=python but must be NAME=PATH, NAME one of lexmill, tok"),
        (("--against", "tokie", "--python", "tokenizers=x"), 2, "NAME=PATH, NAME one of lexmill, tokie"),
        (("--python", "tokenizers-1=./none"), 2, "--python is tokenizers-1=./none but ./none is no program"),
        (("--python", "tokenizers-1"), 2, "--python is tokenizers-1 but an empty path is no program"),
        (("--job", "list,liszt"), 2, "--job names liszt; the jobs known are list, one, encodings, count, file"),
        (("--job", ","), 2, "--job names nothing"),
        (("--chart", "chart.jpeg"), 2, "--chart is chart.jpeg but must end in .svg, .png, .html"),
        (("-o", "-"), 2, "--output and --chart must be files, not stdout (-)"),
        (("--field", "body"), 1, "corpus.jsonl"),
        (("-o", "missing/out.json"), 1, "no such directory"),
        (("-o", "corpus.jsonl"), 2, "corpus.jsonl is an input and the output"),
    ],
)
def test_errors_come_before_any_process(
    lexmill: Run, saved: str, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: int, message: str
) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)
    result = lexmill("bench", saved, "corpus.jsonl", *arguments)
    assert result.code == code
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_corpus_without_text_is_an_error(lexmill: Run, saved: str) -> None:
    Path("empty.jsonl").write_text('{"text": ""}\n')
    result = lexmill("bench", saved, "empty.jsonl", "--json")
    assert result.code == 1
    assert result.outcome["error"] == {"type": "EmptyCorpusError", "message": "empty.jsonl: there is no text"}


def test_a_file_that_is_no_tokenizer_is_an_error(lexmill: Run) -> None:
    Path("broken.json").write_text("{}")
    result = lexmill("bench", "broken.json", "corpus.jsonl", "--json")
    assert result.code == 1
    assert result.outcome["error"]["type"] == "FormatError"  # type: ignore[index]


def test_nothing_to_compare_with_is_an_error(lexmill: Run, saved: str, monkeypatch: pytest.MonkeyPatch) -> None:
    late = Finished("", "took longer than 9 s", timed_out=True)
    monkeypatch.setattr(processes, "run", lambda *_: late)
    result = lexmill("bench", saved, "corpus.jsonl", "--against", "tokenizers", "--job", "list", "--json")
    assert result.code == 1
    why = "tokenizers took longer than 9 s; lexmill took longer than 9 s"
    message = f"list: there is nothing to compare results with: {why}"
    assert result.outcome["error"] == {"type": "OptionError", "message": message}


def test_more_threads_than_processors_are_noted(lexmill: Run, saved: str, fake: Fake) -> None:
    fake("")
    result = lexmill(
        *("bench", saved, "corpus.jsonl", "--against", "tokie", "--job", "count", "--rounds", "1", "--threads", "9999")
    )
    assert result.stderr.startswith("note: threads is 9999 but this process may use ")
    assert "9999 threads" in result.stdout.decode()


def test_lines_become_documents_and_the_corpus_is_cut(lexmill: Run, saved: str, fake: Fake) -> None:
    fake("")
    Path("lines.txt").write_text("the cat sat\n" * 1000)
    command = ("bench", saved, "lines.txt", "--against", "tokie", "--job", "count", *QUICK, "--json")
    for options, texts, size in [
        (("--document-bytes", "100", "--megabytes", "0.005"), 46, 46 * 108),
        (("--document-bytes", "0", "--megabytes", "0.005"), 416, 416 * 12),
        # A first document that is longer is cut itself.
        (("--megabytes", "0.002"), 1, 2000),
    ]:
        outcome: dict[str, Any] = lexmill(*command, *options).outcome
        assert (outcome["corpus"]["texts"], outcome["corpus"]["bytes"]) == (texts, size)


def test_a_chart_is_a_page_of_its_own(lexmill: Run, saved: str, fake: Fake) -> None:
    pytest.importorskip("matplotlib", reason="charts are an extra")
    fake("")
    command = ("bench", saved, "corpus.jsonl", "--against", "tokie", "--job", "list", *QUICK)
    result = lexmill(*command, "--chart", "chart.html")
    assert (result.code, result.stderr) == (0, "")
    page = Path("chart.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "tokie" in page
    # Nothing comes from elsewhere.
    assert "src=" not in page
