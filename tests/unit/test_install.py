"""lexmill in the place of `tokenizers`, each case in a process of its own, since imports stay."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import lexmill
from lexmill import Tokenizer, models
from lexmill.errors import LexmillError


def run(code: str, *arguments: str, module: bool = False) -> str:
    command = [sys.executable, *(["-m", "lexmill"] if module else ["-c", code]), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_imports_of_all_kinds_give_lexmill() -> None:
    code = """
import lexmill
lexmill.install()
lexmill.install()
import importlib.metadata, importlib.util
import tokenizers, tokenizers.models as m
from tokenizers import Tokenizer, decoders
from tokenizers.implementations import BertWordPieceTokenizer
from tokenizers.implementations.base_tokenizer import BaseTokenizer
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.tools import EncodingVisualizer
import tokenizers.tokenizers
assert Tokenizer is lexmill.Tokenizer and m.BPE is lexmill.models.BPE and decoders.Fuse is lexmill.decoders.Fuse
assert tokenizers.pre_tokenizers.Whitespace is Whitespace is lexmill.pre_tokenizers.Whitespace
assert importlib.util.find_spec("tokenizers") is tokenizers.__spec__ is not None
assert tokenizers.__version__ == "0.23.3" and importlib.metadata.version("tokenizers")
lexmill.uninstall()
lexmill.uninstall()
import sys
assert not [name for name in sys.modules if name.partition(".")[0] == "tokenizers"]
"""
    run(code)


def test_the_module_of_compiled_classes_needs_no_import() -> None:
    run("""
import lexmill
names = ["AddedToken", "Encoding", "NormalizedString", "PreTokenizedString", "Regex", "Token", "Tokenizer"]
assert all(getattr(lexmill.tokenizers, name) is getattr(lexmill, name) for name in names)
lexmill.install()
import tokenizers
assert tokenizers.tokenizers.NormalizedString is lexmill.NormalizedString
""")


def test_a_package_that_is_imported_already_is_refused() -> None:
    code = """
import sys, types
sys.modules["tokenizers"] = types.ModuleType("tokenizers")
import lexmill
try:
    lexmill.install()
except lexmill.LexmillError as error:
    assert "imported already" in str(error), error
else:
    raise SystemExit(1)
"""
    run(code)


@pytest.mark.parametrize("how", ["file", "module"])
def test_a_script_runs_with_lexmill(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "a_script.py"
    script.write_text(
        "import sys, tokenizers\nif __name__ == '__main__': print(tokenizers.Tokenizer.__module__, sys.argv[1:])\n"
    )
    monkeypatch.chdir(tmp_path)
    target = [str(script)] if how == "file" else ["-m", "a_script"]
    assert run("", "run", *target, "--flag", "x", module=True) == "lexmill ['--flag', 'x']\n"


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [(["nowhere.py"], "script nowhere.py"), (["-m", "nowhere.a"], "module nowhere.a"), (["-m"], "module named")],
)
def test_a_script_that_is_not_there_is_named(arguments: list[str], missing: str) -> None:
    command = [sys.executable, "-m", "lexmill", "run", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, f"error: no {missing}\n")


class Backed:
    """What a fast tokenizer of transformers is to `accelerate`."""

    def __init__(self, backend: object) -> None:
        self._tokenizer = backend


def test_a_backend_is_swapped_in_place() -> None:
    class Other:
        """Another library's tokenizer."""

        encode_special_tokens = True

        def to_str(self) -> str:
            return Tokenizer(models.WordLevel({"a": 0}, "a")).to_str()

    fast = Backed(Other())
    assert lexmill.accelerate(fast) is fast
    assert isinstance(fast._tokenizer, Tokenizer)
    assert fast._tokenizer.encode_special_tokens
    own = Tokenizer(models.BPE())
    assert Tokenizer.from_hf(own) is own
    with pytest.raises(TypeError, match=r"expected a fast tokenizer of transformers, got int"):
        lexmill.accelerate(5)
    with pytest.raises(TypeError, match=r"expected a tokenizers\.Tokenizer, got int"):
        Tokenizer.from_hf(5)


def test_what_cannot_be_written_cannot_be_taken_over() -> None:
    class Custom:
        """A tokenizer with a stage in Python."""

        encode_special_tokens = False

        def to_str(self) -> str:
            raise ValueError("Custom Normalizer cannot be serialized")

    with pytest.raises(LexmillError, match="cannot be written as a file: Custom Normalizer"):
        Tokenizer.from_hf(Custom())


def test_the_other_package_is_needed_to_go_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(LexmillError, match="pip install tokenizers"):
        Tokenizer(models.BPE()).to_hf()


def test_scores_are_taken_over_to_the_last_bit() -> None:
    # The quick reading of numbers in a file misses these by a bit.
    scores = [-15.275492379532281, -9.908701741838819, -1.8771917354846979]

    class Other:
        """Another library's tokenizer, which holds the scores themselves."""

        encode_special_tokens = False
        model = models.Unigram([("a", scores[0]), ("b", scores[1]), ("c", scores[2])], 0, alpha=0.5, nbest_size=4)

        def to_str(self) -> str:
            return Tokenizer(self.model).to_str()

    taken = Tokenizer.from_hf(Other())
    assert [score for _, score in json.loads(taken.to_str())["model"]["vocab"]] == scores
    assert isinstance(taken.model, models.Unigram)
    assert (taken.model.alpha, taken.model.nbest_size) == (0.5, 4)
