"""`lexmill.v1` in the place of `tokenizers`, each case in a process of its own, since imports stay."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lexmill.cli import hook

WHOSE = "import tokenizers; print(tokenizers.Tokenizer.__module__, tokenizers.__version__)"
V1, V0 = "lexmill.v1 1.0.0-rc.3", "lexmill 0.23.3"


def run(code: str, *arguments: str, **variables: str) -> str:
    command = [sys.executable, *(arguments or ["-c", code])]
    environment = {**os.environ, **variables}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def test_imports_give_the_interface_of_1_0() -> None:
    run("""
import lexmill
lexmill.install(version="1")
lexmill.install("1")
import importlib.metadata, importlib.util, pickle, sys
import tokenizers, tokenizers.tokenizers
from lexmill import v1
from tokenizers import Encoding, Padding, Tokenizer, Truncation
assert (Encoding, Padding, Tokenizer, Truncation) == (v1.Encoding, v1.Padding, v1.Tokenizer, v1.Truncation)
assert tokenizers.tokenizers.Tokenizer is Tokenizer and tokenizers.CompiledTokenizer is v1.CompiledTokenizer
assert importlib.util.find_spec("tokenizers") is tokenizers.__spec__ is not None
assert not hasattr(tokenizers, "models") and importlib.util.find_spec("tokenizers.models") is None
assert importlib.metadata.version("tokenizers")
assert set(tokenizers.__all__) == {*v1.__all__, "__version__"}
# Pickles of tokenizers 1.0 name the class so.
assert pickle.loads(b"ctokenizers\\nPadding\\n(Vleft\\nI5\\ntR.") == Padding("left", 5)
lexmill.uninstall()
assert not [name for name in sys.modules if name.partition(".")[0] == "tokenizers"]
lexmill.install()
import tokenizers
assert tokenizers.Tokenizer is lexmill.Tokenizer and tokenizers.__version__ == "0.23.3"
""")


def test_importing_the_interface_alone_installs_nothing() -> None:
    run("""
import sys, lexmill, lexmill.v1, lexmill._compat.install
assert lexmill._compat.install.installed_version() is None and "tokenizers" not in sys.modules
""")


@pytest.mark.parametrize(("first", "second"), [("1", "0.23"), ("0.23", "1")])
def test_two_interfaces_do_not_meet(first: str, second: str) -> None:
    printed = run(f"""
import lexmill
lexmill.install({first!r})
try:
    lexmill.install({second!r})
except lexmill.LexmillError as error:
    print(error)
try:
    lexmill.Tokenizer(lexmill.models.BPE()).to_hf()
except lexmill.LexmillError as error:
    print(error)
""")
    before, after = printed.splitlines()
    assert before == f"lexmill stands in the place of tokenizers {first} already: call lexmill.uninstall() first"
    assert after.startswith("lexmill stands in the place of tokenizers")


def test_an_unknown_version_is_refused() -> None:
    code = "import lexmill\ntry: lexmill.install('2')\nexcept ValueError as error: print(error)"
    assert run(code) == "version is '2' but must be '0.23' or '1'"


def test_a_script_runs_with_the_interface(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"import os, sys\n{WHOSE}\nprint(sys.argv[1:], os.environ['LEXMILL_INSTALL'])\n")
    module = ["-m", "lexmill", "run"]
    assert (
        run("", *module, "--version", "1", str(script), "--version", "x", LEXMILL_INSTALL="1")
        == f"{V1}\n['--version', 'x'] v1"
    )
    assert run("", *module, "--version", "0.23", str(script)).startswith(V0)
    for wrong, message in [
        (["2", str(script)], "error: --version is '2' but must be '0.23' or '1'"),
        ([], "error: --version is '' but must be '0.23' or '1'"),
        (["1"], "error: no script named"),
    ]:
        command = [sys.executable, *module, "--version", *wrong]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr.strip()) == (2, message)


def test_the_hook_takes_the_interface(tmp_path: Path) -> None:
    hook.install_hook(tmp_path)
    begin = f"import site\nsite.addsitedir({str(tmp_path)!r})\n"
    assert run(begin + WHOSE, LEXMILL_INSTALL="v1") == V1
    assert run(begin + WHOSE, LEXMILL_INSTALL="1") == V0
    # The call of the program goes before the variable.
    own = f"{begin}import lexmill, importlib.metadata\nlexmill.install('1')\nimportlib.metadata.version('tokenizers')\n"
    assert run(own + WHOSE, LEXMILL_INSTALL="1") == V1
