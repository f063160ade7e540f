"""A corpus of any size with as many distinct words as real multilingual text has, the same for the same seed.

Lines of real text come from the corpora at hand in slices of some KiB, drawn with equal chances for each corpus. After
each slice comes a line of made-up words, one for 100 bytes: numbers drawn by Zipf's law (exponent 1, up to
2^27), each spelled by three syllables of four scripts. Distinct words grow about as n^0.65 of the words read; 10 GB
have more than 10 million.
"""

from __future__ import annotations

import argparse
import math
import random
from pathlib import Path

__all__ = ["generate"]

CORPORA = ("english.txt", "german.txt", "multilingual.txt", "messy.txt")
HIGHEST = 1 << 27


def _syllables(draw: random.Random) -> list[list[str]]:
    """Three lists of syllables, for the first, the second and the third place of a word."""
    letters = [
        "abcdefghiklmnoprstuvwyzäöüéñ",
        "абвгдежзиклмнопрстуфхцчшыя",
        "αβγδεζηθικλμνξοπρστυφχψω",
        "अआइउएकखगचजटतदनपबमयरलवसह",
    ]
    vowels = ["aeiou", "аеиоу", "αειου", "ािीुे"]

    def syllable(script: int) -> str:
        return draw.choice(letters[script]) + draw.choice(vowels[script]) + draw.choice(letters[script])

    return [[syllable(number % 4) for number in range(512)] for _ in range(3)]


def generate(path: Path, size: int, seed: int, data: Path) -> None:
    """Writes at least `size` bytes of lines to `path`.

    Args:
        path: the file, which is replaced.
        size: bytes.
        seed: what decides all draws.
        data: the folder of the corpora; those that are missing are left out.
    """
    draw = random.Random(seed)
    texts = [(data / name).read_bytes() for name in CORPORA if (data / name).exists()]
    if not texts:
        texts = [(" ".join(str(number) for number in range(200_000)) + "\n").encode()]
    first, second, third = _syllables(draw)
    scale = math.log(HIGHEST)
    written = 0
    with path.open("wb") as file:
        while written < size:
            text = draw.choice(texts)
            start = draw.randrange(max(1, len(text) - (1 << 16)))
            begin = text.find(b"\n", start) + 1
            end = text.find(b"\n", begin + draw.randrange(1 << 12, 1 << 16)) + 1 or len(text)
            part = text[begin:end]
            made = []
            for _ in range(len(part) // 100):
                number = int(math.exp(draw.random() * scale))
                # Neighbours in rank get other scripts and syllables.
                number = number * 0x9E3779B1 % HIGHEST
                made.append(first[number & 511] + second[number >> 9 & 511] + third[number >> 18])
            part += " ".join(made).encode() + b"\n"
            file.write(part)
            written += len(part)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/corpora"))
    arguments = parser.parse_args()
    generate(arguments.path, arguments.megabytes * 10**6, arguments.seed, arguments.data)
