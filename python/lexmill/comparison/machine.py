"""Facts that figures depend on: the machine, its load, and the output of programs."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path


def output_of(*command: str, folder: Path | None = None) -> str:
    """The output of a program; empty if the program is not there."""
    try:
        return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False).stdout.strip()
    except OSError:
        return ""


def cpu_name() -> str:
    """The processor's name."""
    try:
        info = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        fields = dict(re.findall(r"^(model name|cpu family|model)\s*: (.*)$", info, re.MULTILINE))
        return f"{fields['model name']} (family {fields['cpu family']}, model {fields['model']})"
    except (OSError, KeyError):
        return output_of("sysctl", "-n", "machdep.cpu.brand_string") or platform.processor() or platform.machine()


def load_average() -> float | None:
    """Processes that want a processor, on average over the last minute; None where the system does not tell."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def describe() -> dict[str, str | int]:
    """The machine and the interpreter."""
    return {
        "cpu": cpu_name(),
        "processors": os.cpu_count() or 1,
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }
