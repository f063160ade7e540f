"""Trains, saves, loads and encodes with an installed lexmill, and calls its command.

It imports nothing of the repository, so it shows whether a wheel is complete by itself.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import tempfile
from importlib.metadata import files, version
from pathlib import Path

import lexmill
from lexmill import Tokenizer, decoders, models, pre_tokenizers, trainers

Ends = tuple[pre_tokenizers.PreTokenizer, decoders.Decoder]
TEXT = "the cat sat on the mat, and the café 🐈 was full"


def check_library(folder: Path) -> None:
    """Every model trains, comes back from its file with the same ids, and decodes to the text."""
    byte_level: Ends = (pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel())
    visible: Ends = (pre_tokenizers.Metaspace(), decoders.Metaspace())
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    bpe = trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet, show_progress=False)
    wordpiece = trainers.WordPieceTrainer(vocab_size=400, initial_alphabet=alphabet, show_progress=False)
    unigram = trainers.UnigramTrainer(vocab_size=60, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False)
    cases: list[tuple[models.Model, trainers.Trainer, Ends]] = [
        (models.BPE(), bpe, byte_level),
        (models.WordPiece(), wordpiece, byte_level),
        (models.WordLevel(), trainers.WordLevelTrainer(show_progress=False), byte_level),
        (models.Unigram(), unigram, visible),
    ]
    for model, trainer, (pre_tokenizer, decoder) in cases:
        tokenizer = Tokenizer(model)
        tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizer, decoder
        tokenizer.train_from_iterator([TEXT] * 10, trainer)
        path = folder / f"{type(model).__name__}.json"
        tokenizer.save(path)
        again = Tokenizer.from_file(path)
        ids = again.encode(TEXT).ids
        assert ids == tokenizer.encode(TEXT).ids == again.encode_batch_arrays([TEXT]).ids.tolist(), type(model)
        if isinstance(model, models.BPE | models.Unigram):
            assert again.decode(ids) == TEXT, type(model)


def check_command(folder: Path) -> None:
    """The command of the extra `cli` is there, and counts tokens."""
    command = Path(sysconfig.get_path("scripts")) / ("lexmill.exe" if sys.platform == "win32" else "lexmill")
    text = folder / "text.txt"
    text.write_text(TEXT, encoding="utf-8")
    for arguments in (["--help"], ["--version"], ["count", str(folder / "BPE.json"), str(text)]):
        done = subprocess.run([command, *arguments], capture_output=True, text=True, encoding="utf-8", check=True)
        assert done.stdout, arguments


def check_bill_of_materials() -> None:
    """The wheel lists the crates that are compiled into it (CycloneDX), for those who look for advisories."""
    found = [path for path in files("lexmill") or [] if path.match("*.dist-info/sboms/lexmill.cyclonedx.json")]
    assert len(found) == 1, found
    bill = json.loads(found[0].read_text(encoding="utf-8"))
    assert bill["bomFormat"] == "CycloneDX"
    crates = {crate["name"]: crate["version"] for crate in bill["components"]}
    missing = {"arrow-array", "memchr", "parquet", "pyo3", "zstd"} - crates.keys()
    assert not missing, missing
    assert all(crates.values())


def main() -> None:
    """Checks the installed files, the library, and the command."""
    home = Path(lexmill.__file__).parent
    assert home.is_relative_to(sysconfig.get_path("platlib")), f"{home} is not the installed package"
    names = {path.as_posix() for path in files("lexmill") or []}
    assert {"lexmill/py.typed", "lexmill/_core.pyi", "lexmill/tools/visualizer-styles.css"} <= names
    assert lexmill.__version__ == version("lexmill")
    check_bill_of_materials()
    with tempfile.TemporaryDirectory() as folder:
        check_library(Path(folder))
        check_command(Path(folder))
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    assert not (gil and sysconfig.get_config_var("Py_GIL_DISABLED")), "importing lexmill switched the GIL on"
    print(f"lexmill {lexmill.__version__} works on {sys.version.split()[0]}{'' if gil else ' without the GIL'}")


if __name__ == "__main__":
    main()
