"""Tokenizing files to disk beside the other ways to do it: seconds and peak memory of whole processes.

    python benches/large/compare.py --tokenizer gpt2/tokenizer.json --corpus english.txt --megabytes 100

Each way runs in a fresh process, all ways in turn, several times over; medians count. Peak memory is the greatest sum
of the proportional set sizes of the process and its children. Each way writes two bytes an id; all must agree on the
number of ids and on their sum.

| way | how |
|---|---|
| `lexmill` | `tokenize_files` |
| `gigatoken` | `encode_files` to arrays in memory, which numpy or pyarrow write |
| `datatrove` | its reader and `DocumentTokenizer`, one task, since there is one file |
| `megatron` | as Megatron-LM's `preprocess_data.py` over `tokenizers`: two processes encode record by record |
| `pyarrow` | record batches read by pyarrow, `encode_batch` of `tokenizers` for each |
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BEGIN = """
import json, os, sys
import numpy as np
source, output, layout, tokenizer_file = sys.argv[1:]
kind = "parquet" if source.endswith(".parquet") else "jsonl"

def records():
    if kind == "parquet":
        import pyarrow.parquet as pq
        for batch in pq.ParquetFile(source).iter_batches(1000, columns=["text"]):
            yield from batch["text"].to_pylist()
        return
    import io, zstandard
    file = open(source, "rb")
    if source.endswith(".zst"):
        file = io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(file))
    with file:
        for line in file:
            yield json.loads(line)["text"]

class Megatron:
    def __enter__(self):
        os.makedirs(output)
        self.file, self.lengths = open(output + "/part.bin", "wb"), []
        return self
    def write(self, ids):
        self.file.write(np.asarray(ids, np.uint16).tobytes())
        self.lengths.append(len(ids))
    def __exit__(self, *_):
        self.file.close()
        lengths = np.asarray(self.lengths, np.int32)
        offsets = np.concatenate([[0], 2 * np.cumsum(lengths[:-1], dtype=np.int64)]).astype(np.int64)
        with open(output + "/part.idx", "wb") as index:
            for part in (b"MMIDIDX\\x00\\x00", np.uint64(1), np.uint8(8), np.uint64(len(lengths)),
                         np.uint64(len(lengths) + 1), lengths, offsets, np.arange(len(lengths) + 1)):
                index.write(part if isinstance(part, bytes) else part.tobytes())

class Arrow:
    def __enter__(self):
        import pyarrow as pa
        os.makedirs(output)
        self.pa, self.rows = pa, []
        self.schema = pa.schema([("input_ids", pa.list_(pa.uint16()))])
        self.stream = pa.ipc.new_stream(output + "/part.arrow", self.schema)
        return self
    def write(self, ids):
        self.rows.append(ids)
        if len(self.rows) == 1000:
            self.flush()
    def flush(self):
        column = self.pa.array(self.rows, self.pa.list_(self.pa.uint16()))
        self.stream.write_batch(self.pa.record_batch([column], schema=self.schema))
        self.rows = []
    def __exit__(self, *_):
        self.flush()
        self.stream.close()

writer = {"megatron": Megatron, "arrow": Arrow}[layout]
"""

WAYS = {
    "lexmill": """
from lexmill import Tokenizer
from lexmill.token_files import tokenize_files
tokenize_files(Tokenizer.from_file(tokenizer_file), source, output, format=layout)
""",
    "gigatoken": """
import gigatoken
import awkward as ak
files = gigatoken.ParquetFileSource([source]) if kind == "parquet" else gigatoken.JsonlFileSource([source])
rows = gigatoken.Tokenizer(tokenizer_file).encode_files(files)
if layout == "arrow":
    import pyarrow as pa
    os.makedirs(output)
    table = ak.to_arrow_table(ak.values_astype(rows, np.uint16), extensionarray=False)
    with pa.ipc.new_stream(output + "/part.arrow", table.schema) as stream:
        stream.write_table(table)
else:
    with writer() as written:
        written.lengths = ak.to_numpy(ak.num(rows))
        written.file.write(ak.to_numpy(ak.flatten(rows)).astype(np.uint16).tobytes())
""",
    "datatrove": """
import os.path
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.readers import JsonlReader, ParquetReader
from datatrove.pipeline.tokens import DocumentTokenizer
folder = os.path.dirname(source)
reader = (ParquetReader if kind == "parquet" else JsonlReader)(folder, glob_pattern=os.path.basename(source))
if __name__ == "__main__":
    pipeline = [reader, DocumentTokenizer(output, tokenizer_file, eos_token=None, shuffle_documents=False)]
    LocalPipelineExecutor(pipeline, tasks=1, workers=1, logging_dir=output + ".log").run()
""",
    "megatron": """
import multiprocessing
os.environ["TOKENIZERS_PARALLELISM"] = "false"
def begin():
    global tokenizer
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(tokenizer_file)
def encode(text):
    return tokenizer.encode(text).ids
with writer() as written, multiprocessing.Pool(2, begin) as pool:
    for ids in pool.imap(encode, records(), 32):
        written.write(ids)
""",
    "pyarrow": """
from itertools import islice
from tokenizers import Tokenizer
tokenizer, texts = Tokenizer.from_file(tokenizer_file), records()
with writer() as written:
    while batch := list(islice(texts, 1000)):
        for encoding in tokenizer.encode_batch_fast(batch):
            written.write(encoding.ids)
""",
}
REQUIRED = {"gigatoken": "gigatoken", "datatrove": "datatrove", "megatron": "tokenizers", "pyarrow": "tokenizers"}

CHECK = """
import glob, sys
import numpy as np
folder = sys.argv[1]
count = total = 0
for path in sorted(glob.glob(folder + "/**/*", recursive=True)):
    if path.endswith((".bin", ".ds")):
        ids = np.memmap(path, np.uint16, "r")
        count, total = count + len(ids), total + int(ids.sum(dtype=np.uint64))
    elif path.endswith(".arrow"):
        import pyarrow as pa
        for batch in pa.ipc.open_stream(path):
            ids = batch.column(0).flatten().to_numpy()
            count, total = count + len(ids), total + int(ids.sum(dtype=np.uint64))
print(count, total)
"""


def corpora(text: Path, size: int, folder: Path) -> list[Path]:
    """Documents of about 4 KB of `text`, over and over: JSON lines, bare and in zstd, and Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    import zstandard

    paths = [folder / name for name in ("corpus.jsonl", "corpus.jsonl.zst", "corpus.parquet")]
    data = text.read_bytes()
    texts: list[str] = []
    at = done = 0
    while done < size:
        end = data.find(b"\n", at + 4000) + 1 or len(data)
        texts.append(data[at:end].decode())
        done += end - at
        at = 0 if end >= len(data) else end
    lines = "".join(json.dumps({"text": one}, ensure_ascii=False) + "\n" for one in texts).encode()
    paths[0].write_bytes(lines)
    paths[1].write_bytes(zstandard.compress(lines))
    pq.write_table(pa.table({"text": texts}), paths[2], row_group_size=5000, compression="zstd")
    return paths


def resident(process: int) -> int:
    """The proportional set sizes of a process and its children, in bytes."""
    total = 0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            group = os.getpgid(int(entry.name))
            if group == process:
                rollup = (entry / "smaps_rollup").read_text()
                total += next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")) * 1024
        except (OSError, StopIteration):
            continue
    return total


def run(way: str, arguments: list[str], folder: Path) -> tuple[float, int, float]:
    """Seconds, peak memory and processor seconds of one run."""
    script = folder / f"way_{way}.py"
    script.write_text(BEGIN + WAYS[way])
    before = os.times()
    started, peak = time.perf_counter(), 0
    log = folder / "log"
    with (
        log.open("wb") as said,
        subprocess.Popen(
            [sys.executable, str(script), *arguments], stdout=said, stderr=said, start_new_session=True
        ) as process,
    ):
        while process.poll() is None:
            peak = max(peak, resident(process.pid))
            time.sleep(0.02)
    seconds, after = time.perf_counter() - started, os.times()
    if process.returncode:
        raise RuntimeError(f"{way}: {log.read_text()[-2000:]}")
    busy = after.children_user + after.children_system - before.children_user - before.children_system
    return seconds, peak, busy


def main() -> None:
    """Prints a table: a line for each source, layout and way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--layouts", nargs="+", default=["megatron", "arrow"])
    arguments = parser.parse_args()
    ways = [way for way in WAYS if way not in REQUIRED or importlib.util.find_spec(REQUIRED[way])]
    print(
        f"# {arguments.corpus.name} to {arguments.megabytes} MB, {arguments.tokenizer.parent.name}; skipped:", end=" "
    )
    print(", ".join(way for way in WAYS if way not in ways) or "none")
    print("| source | layout | way | s | MB/s | cores | peak MB | times lexmill's s | times its memory |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for source in corpora(arguments.corpus, arguments.megabytes * 10**6, folder):
            for layout in arguments.layouts:
                compare(source, layout, ways, arguments, folder)


def compare(source: Path, layout: str, ways: list[str], arguments: argparse.Namespace, folder: Path) -> None:
    """Runs all ways in turn and prints their lines."""
    # datatrove has a layout of its own and no other.
    taken = [way for way in ways if way != "datatrove" or layout == "megatron"]
    runs: dict[str, list[tuple[float, int, float]]] = {way: [] for way in taken}
    sums: dict[str, str] = {}
    for _ in range(arguments.rounds):
        for way in taken:
            output = folder / "output"
            runs[way].append(run(way, [str(source), str(output), layout, str(arguments.tokenizer)], folder))
            if way not in sums:
                sums[way] = subprocess.check_output([sys.executable, "-c", CHECK, str(output)], text=True)
            shutil.rmtree(output)
            shutil.rmtree(f"{output}.log", ignore_errors=True)
    if len(set(sums.values())) > 1:
        print(f"ids differ: {sums}")
    median = {way: tuple(statistics.median(values) for values in zip(*runs[way], strict=True)) for way in taken}
    seconds, peak, _ = median["lexmill"]
    for way, (took, held, busy) in median.items():
        kind = source.name.partition(".")[2]
        print(
            f"| {kind} | {layout} | {way} | {took:.2f} | {arguments.megabytes / took:.0f} "
            f"| {busy / took:.2f} | {held / 1e6:.0f} | {took / seconds:.1f} | {held / peak:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
