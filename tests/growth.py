"""How processor time grows with the size of the input."""

from __future__ import annotations

import time
from collections.abc import Callable

_ROUNDS = 9


def assert_in_proportion(run: Callable[[int], object], size: int) -> None:
    """Twice the size takes at most 2.5 times the processor time.

    The least times of several rounds are compared: other processes of the machine only add to a time.

    Args:
        run: does the work for a size, again each time.
        size: the smaller size; the work should take some 20 ms or more.
    """
    once = twice = float("inf")
    for _ in range(_ROUNDS):
        once, twice = min(once, _seconds(run, size)), min(twice, _seconds(run, 2 * size))
        if twice <= 2.5 * once:
            return
    message = f"size {size:,} takes {once:.4f} s, and twice the size {twice:.4f} s: {twice / once:.2f} times"
    raise AssertionError(message)


def _seconds(run: Callable[[int], object], size: int) -> float:
    start = time.process_time()
    run(size)
    return time.process_time() - start
