"""Shares of the plain speed: from times, in a file of records, and which of them fell."""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Iterable, Mapping
from pathlib import Path

# A row falls if it is more than this part under its record.
TOLERANCE = 0.2

# Vector instructions that shares depend on, the widest first. Each has a record of its own.
INSTRUCTIONS = ("avx512vbmi", "avx2")

# Of a row: by corpus and pass ("english first"), the share of the speed of the plain tokenizer.
Shares = dict[str, float]


def share(times: Iterable[tuple[float, float]]) -> float:
    """The median share of the plain speed, from pairs of seconds: the plain tokenizer's, and the row's after it."""
    return round(statistics.median(plain / own for plain, own in times), 3)


def falls(measured: Mapping[str, Shares], records: Mapping[str, Shares]) -> list[str]:
    """The lines about rows that are too far under their records."""
    told = []
    for name, shares in measured.items():
        for passes, value in shares.items():
            record = records.get(name, {}).get(passes)
            if record is not None and value < record * (1 - TOLERANCE):
                told.append(f"{name}, {passes}: {value:.2f} of the plain speed, and {record:.2f} is recorded")
    return told


def better(first: Shares, second: Shares) -> Shares:
    """The larger of two measurements, each: other processes only take speed away."""
    return {passes: max(value, second[passes]) for passes, value in first.items()}


def record_path(folder: Path, cpuinfo: Path = Path("/proc/cpuinfo")) -> Path | None:
    """The file in `folder` for processors such as this one; None without AVX2, and on other systems than Linux."""
    text = cpuinfo.read_text(encoding="utf-8") if cpuinfo.is_file() else ""
    flags = re.search(r"^flags\s*:(.*)$", text, re.MULTILINE)
    kind = next((kind for kind in INSTRUCTIONS if flags and kind in flags[1].split()), None)
    return folder / f"shares-{kind}.json" if kind else None


def read(path: Path) -> dict[str, Shares]:
    """The recorded shares; none if there is no file."""
    return json.loads(path.read_text(encoding="utf-8"))["shares"] if path.is_file() else {}


def write(path: Path, size: int, shares: Mapping[str, Shares]) -> None:
    """Writes the shares with the bytes of each corpus, a row a line."""
    rows = ",\n".join(f"    {json.dumps(name)}: {json.dumps(values)}" for name, values in shares.items())
    path.write_text(f'{{\n  "bytes": {size},\n  "shares": {{\n{rows}\n  }}\n}}\n', encoding="utf-8")
