"""How processor time grows with the size of the input."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

_ROUNDS = 9


def assert_in_proportion(run: Callable[[int], object], size: int, *, times: int = 2) -> None:
    """Twice the size takes at most 2.5 times the processor time, and four times the size 2.5 times of that.

    The least times of several rounds are compared: other processes of the machine only add to a time. More
    `times` allow for the memory that a larger size takes from the system.

    Args:
        run: does the work for a size, again each time.
        size: the smaller size; the larger one should take some 20 ms or more.
        times: the larger size by the smaller.
    """
    small = large = float("inf")
    for _ in range(_ROUNDS):
        small, large = min(small, _seconds(run, size)), min(large, _seconds(run, times * size))
        if large <= 2.5 ** math.log2(times) * small:
            return
    message = f"size {size:,} takes {small:.4f} s, and {times} times the size {large:.4f} s: {large / small:.2f} times"
    raise AssertionError(message)


def _seconds(run: Callable[[int], object], size: int) -> float:
    start = time.process_time()
    run(size)
    return time.process_time() - start
