"""LEXMILL_INSTALL=1 and the file that `lexmill install-hook` writes, each case in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import lexmill
from lexmill.cli import hook, main

FILE = "lexmill-install.pth"
WHOSE = "import tokenizers; print(tokenizers.Tokenizer.__module__)"
# A stand-in for the other package, which need not be installed here.
OTHER = "class Tokenizer: pass\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of packages with the hook, and with another `tokenizers`."""
    made = tmp_path / "packages"
    made.mkdir()
    (made / "tokenizers.py").write_text(OTHER)
    hook.install_hook(made)
    return made


def start(code: str, folder: Path, value: str | None, *, path: str | None = None) -> subprocess.CompletedProcess[str]:
    """Runs code in a Python that has read the `.pth` files of a folder, as it does when it starts."""
    paths = {"PYTHONPATH": os.pathsep.join(filter(None, [path, os.environ.get("PYTHONPATH")]))}
    environment = {**os.environ, **paths, **({} if value is None else {"LEXMILL_INSTALL": value})}
    if value is None:
        environment.pop("LEXMILL_INSTALL", None)
    whole = f"import site, sys\nsite.addsitedir({str(folder)!r})\nsys.path.insert(0, {str(folder)!r})\n{code}"
    return subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, check=False, env=environment)


def printed(code: str, folder: Path, value: str | None) -> str:
    done = start(code, folder, value)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


@pytest.mark.parametrize(("value", "module"), [(None, "tokenizers"), ("", "tokenizers"), ("0", "tokenizers")])
def test_without_the_variable_nothing_changes(folder: Path, value: str | None, module: str) -> None:
    assert printed(WHOSE, folder, value) == module
    code = "print([name for name in sys.modules if 'lexmill' in name], type(sys.meta_path[0]).__module__)"
    assert "lexmill" not in printed(code, folder, value)


def test_with_the_variable_imports_give_lexmill(folder: Path) -> None:
    code = f"""
assert "lexmill" not in sys.modules
import importlib.util
from tokenizers.models import BPE
from tokenizers import Tokenizer, decoders
import tokenizers.implementations.base_tokenizer
assert Tokenizer(BPE()).model.__class__ is BPE
assert importlib.util.find_spec("tokenizers") is tokenizers.__spec__
{WHOSE}
"""
    assert printed(code, folder, "1") == "lexmill"


def test_who_asks_before_importing_finds_lexmill(folder: Path) -> None:
    code = """
import importlib.metadata, importlib.util
spec = importlib.util.find_spec("tokenizers")
version = importlib.metadata.version("tokenizers")
import tokenizers
print(spec is tokenizers.__spec__, version == importlib.metadata.version("tokenizers"), tokenizers.Tokenizer.__module__)
"""
    assert printed(code, folder, "1") == "True True lexmill"
    first = "import importlib.metadata; print(bool(importlib.metadata.version('tokenizers')))"
    assert printed(first, folder, "1") == "True"


def test_child_processes_have_it_too(folder: Path) -> None:
    code = f"""
import multiprocessing, subprocess
start = "import site, sys; site.addsitedir({str(folder)!r}); sys.path.insert(0, {str(folder)!r}); "
print(subprocess.run([sys.executable, "-c", start + {WHOSE!r}], capture_output=True, text=True).stdout.strip())
"""
    assert printed(code, folder, "1") == "lexmill"


def test_two_files_and_install_are_one(folder: Path) -> None:
    code = f"""
site.addsitedir({str(folder)!r})
assert [type(finder).__name__ for finder in sys.meta_path].count("LexmillInstallFinder") == 1
import lexmill
lexmill.install()
{WHOSE}
"""
    assert printed(code, folder, "1") == "lexmill"


def test_uninstall_gives_the_other_package_back(folder: Path) -> None:
    assert printed(f"import tokenizers, lexmill\nlexmill.uninstall()\n{WHOSE}", folder, "1") == "tokenizers"


def test_lexmill_that_cannot_be_imported_is_one_line(folder: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    (broken / "lexmill").mkdir(parents=True)
    (broken / "lexmill" / "__init__.py").write_text("raise ImportError('no\\ncore')\n")
    quiet = start("print('started')", folder, "1", path=str(broken))
    assert (quiet.stdout, quiet.stderr) == ("started\n", "")
    done = start(WHOSE, folder, "1", path=str(broken))
    message = "LEXMILL_INSTALL is set, but lexmill cannot take the place of tokenizers: ImportError: no core\n"
    assert (done.stdout, done.stderr) == ("tokenizers\n", message)
    assert start(WHOSE, folder, None, path=str(broken)).stderr == ""


def test_to_hf_refuses_what_the_hook_gives(folder: Path) -> None:
    code = """
import lexmill
try:
    lexmill.Tokenizer(lexmill.models.BPE()).to_hf()
except lexmill.LexmillError as error:
    print(error)
"""
    assert printed(code, folder, "1").startswith("lexmill stands in the place of tokenizers")


def test_the_command_writes_and_removes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / FILE
    where = f"--folder={tmp_path}"
    assert main(["install-hook", where]) == 0
    assert capsys.readouterr().out == f"wrote {path}: with LEXMILL_INSTALL=1 set, `import tokenizers` gives lexmill\n"
    assert path.read_text(encoding="ascii") == hook.hook_line()
    assert hook.hook_line().count("\n") == 1
    assert main(["install-hook", where, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["file"] == str(path)
    assert [found.name for found in tmp_path.iterdir()] == [FILE]
    assert main(["install-hook", "--remove", where]) == 0
    assert capsys.readouterr().out == f"removed {path}\n"
    assert list(tmp_path.iterdir()) == []
    assert main(["install-hook", "--remove", where]) == 0
    assert capsys.readouterr().out == f"no {FILE} in {tmp_path}: nothing to remove\n"


def test_what_cannot_be_done_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = tmp_path / "nowhere"
    assert main(["install-hook", f"--folder={nowhere}"]) == 1
    assert capsys.readouterr().err == f"error: {nowhere}: no such directory\n"
    assert main(["install-hook", "--folder", ""]) == 2
    assert capsys.readouterr().err == "error: --folder is empty\n"
    assert main(["install-hook", "--frobnicate"]) == 2
    assert capsys.readouterr().err == "error: unrecognized arguments: --frobnicate\n"
    hook.install_hook(tmp_path)
    monkeypatch.setattr(os, "access", lambda *_: False)
    for options in ([], ["--remove"]):
        assert main(["install-hook", f"--folder={tmp_path}", *options]) == 1
        expected = f"error: {tmp_path}: not writable: run this as its owner, or in a virtual environment\n"
        assert capsys.readouterr().err == expected
    assert [found.name for found in tmp_path.iterdir()] == [FILE]


def test_an_environment_of_its_own(tmp_path: Path) -> None:
    made = tmp_path / "environment"
    venv.create(made, with_pip=False, symlinks=os.name != "nt")
    python = made / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    # What this environment has not, it takes from where lexmill and numpy are.
    import numpy

    packages = [str(Path(str(module.__file__)).parents[1]) for module in (lexmill, numpy)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(packages)}

    def run(*arguments: str, value: str = "0") -> str:
        command = [str(python), *arguments]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env={**environment, "LEXMILL_INSTALL": value}
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.strip()

    written = run("-m", "lexmill", "install-hook")
    (found,) = made.rglob(FILE)
    assert str(found) in written
    assert run("-c", WHOSE, value="1") == "lexmill"
    assert "LexmillInstallFinder" not in run("-c", "import sys; print(sys.meta_path)")
    run("-m", "lexmill", "install-hook", "--remove")
    assert "LexmillInstallFinder" not in run("-c", "import sys; print(sys.meta_path)", value="1")
