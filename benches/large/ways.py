"""The ways that `compare.py` runs: programs that get the source, the folder, the layout and the tokenizer."""

from __future__ import annotations

__all__ = ["CHECK", "QUICK", "WAYS", "program_of", "required"]

_BEGIN = """
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
_REQUIRED = {"gigatoken": "gigatoken", "datatrove": "datatrove", "megatron": "tokenizers", "pyarrow": "tokenizers"}

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

# What is run on the whole corpus; the others would take hours and get its beginning.
QUICK = ("lexmill", "gigatoken")


def program_of(way: str) -> str:
    """The text of the program."""
    return _BEGIN + WAYS[way]


def required(way: str) -> str | None:
    """The package that a way needs."""
    return _REQUIRED.get(way)
