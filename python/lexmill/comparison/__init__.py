"""Measures tokenizer libraries side by side: one library a process, and nothing counts before it is proven equal.

`lexmill bench` and benches/compare share it. Its modules import neither lexmill nor each other by absolute names, so
that the process that measures another library can load this package without lexmill: see `__main__`.
"""
