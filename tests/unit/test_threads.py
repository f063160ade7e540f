from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from lexmill import Tokenizer, processors, trainers
from small import byte_level, letters

# Enough bytes that the work is shared out: several runs of 64 KiB each.
TEXTS = [f"the {number} times {number * number} is é日🙂 {'ab' * (number % 40)}\r\n" * 3 for number in range(4000)]


def tokenizer() -> Tokenizer:
    made = byte_level(("t", "h"), ("th", "e"), ("a", "b"), ("ab", "ab"), ("Ġ", "i"))
    made.add_tokens(["times"])
    return made


@pytest.mark.parametrize("threads", [2, 7])
class TestNumberOfThreads:
    def test_encodes_the_same(self, threads: int) -> None:
        one, many = (tokenizer().encode_batch(TEXTS, num_threads=number) for number in (1, threads))
        assert [e.ids for e in one] == [e.ids for e in many]
        assert [e.offsets for e in one[::50]] == [e.offsets for e in many[::50]]

    def test_gives_the_same_arrays_and_counts(self, threads: int) -> None:
        one, many = (tokenizer().encode_batch_arrays(TEXTS, num_threads=number) for number in (1, threads))
        assert one.ids.tobytes() == many.ids.tobytes()
        assert one.row_splits.tolist() == many.row_splits.tolist()
        assert tokenizer().count_tokens(TEXTS, num_threads=threads).tolist() == [len(row) for row in one]

    def test_seeded_dropout_gives_the_same(self, threads: int) -> None:
        def ids(number: int) -> list[list[int]]:
            made = tokenizer()
            made.model.dropout, made.model.seed = 0.3, 5
            return made.encode_batch_ids(TEXTS, num_threads=number)

        assert ids(1) == ids(threads)

    @pytest.mark.parametrize("tie_break", ["smallest-ids", "first-seen"])
    def test_trains_the_same_bytes(self, threads: int, tie_break: Any) -> None:
        def trained(number: int) -> str:
            made = byte_level()
            trainer = trainers.BpeTrainer(vocab_size=600, show_progress=False, tie_break=tie_break)
            made.train_from_iterator(TEXTS[:1500], trainer, num_threads=number)
            return made.to_str()

        assert trained(1) == trained(threads)


def test_one_tokenizer_serves_many_threads_while_it_is_changed() -> None:
    made = tokenizer()
    expected = [encoding.ids for encoding in made.encode_batch(TEXTS[:200])]

    def work(number: int) -> bool:
        if number % 4 == 0:
            made.add_tokens([f"<{number}>"])
        return [made.encode(text).ids for text in TEXTS[:200]] == expected

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(24)))


# Empty texts have no bytes, but a million of them take a tenth of a second.
@pytest.mark.parametrize("texts", [["".join(TEXTS) * 8], [""] * 1_000_000], ids=["a long text", "many empty texts"])
@pytest.mark.parametrize("call", ["encode_batch", "encode_batch_arrays", "encode_batch_ids", "count_tokens"])
def test_other_threads_run_while_texts_are_encoded(call: str, texts: list[str]) -> None:
    encode = getattr(tokenizer(), call)
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        before = ticks
        encode(texts, num_threads=1)
        during = ticks - before
    finally:
        done.set()
        thread.join()
    assert during > 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_encodes_and_trains() -> None:
    # In a process of its own, where no other thread of the test run is in the way.
    program = """
import os, sys, warnings
warnings.simplefilter("error")
sys.path.insert(0, "tests/support")
from small import byte_level
from lexmill import trainers
tokenizer = byte_level(("a", "b"))
texts = ["ab " * 3000] * 100
expected = tokenizer.encode_batch_ids(texts, num_threads=4)
child = os.fork()
same = tokenizer.encode_batch_ids(texts, num_threads=4) == expected
tokenizer.train_from_iterator(texts, trainers.BpeTrainer(show_progress=False), num_threads=4)
if child == 0:
    os._exit(0 if same else 3)
assert same and os.waitpid(child, 0)[1] == 0
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


FIRST_ARRAYS = """
import signal, sys, time
sys.path.insert(0, "tests/support")
from small import byte_level

class Alarm:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            signal.raise_signal(signal.SIGALRM)

tokenizer, texts = byte_level(), ["the café is 12, "] * 200_000
signal.signal(signal.SIGALRM, signal.default_int_handler)
try:
    {alarm}
    tokenizer.{call}(texts)
    while True:
        time.sleep(0.01)
except KeyboardInterrupt:
    print("interrupted")
"""


# An alarm at any other moment of numpy's import is in the hands of numpy, which makes an ImportError of some.
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers here")
@pytest.mark.parametrize(
    "alarm",
    [
        "sys.meta_path.insert(0, Alarm())",
        *(f"import numpy; signal.setitimer(signal.ITIMER_REAL, {seconds})" for seconds in (0.005, 0.02, 0.06)),
    ],
)
@pytest.mark.parametrize("call", ["count_tokens", "encode_batch_arrays"])
def test_a_signal_during_the_first_call_for_arrays_is_raised(call: str, alarm: str) -> None:
    program = FIRST_ARRAYS.format(call=call, alarm=alarm)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")


@pytest.mark.parametrize(
    ("name", "value"),
    [("LEXMILL_NUM_THREADS", "2"), ("TOKENIZERS_PARALLELISM", "false"), ("RAYON_NUM_THREADS", "3")],
)
def test_the_environment_changes_speed_and_nothing_else(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    expected = tokenizer().encode_batch_ids(TEXTS, num_threads=1)
    monkeypatch.setenv(name, value)
    assert tokenizer().encode_batch_ids(TEXTS) == expected


def test_the_first_error_wins_on_any_number_of_threads() -> None:
    made = letters("ab", unk_token="<u>")
    made.post_processor = processors.ByteLevel()
    for number in (1, 2, 7):
        with pytest.raises(KeyError, match="<u>"):
            made.encode_batch(["ab " * 30_000] * 9 + ["x"], num_threads=number)
