"""The readable implementation: each file is one algorithm and states the total order of every choice it makes.

It is the specification that the compiled core is tested against, written for reading and not for speed: it
recounts where the core updates. It needs the standard library only, apart from regular expressions, grapheme clusters
and scripts, which need `regex`.

`tokenizer.py` runs the whole pipeline and is the place to begin; `normalizers`, `pre_tokenizers`, `processors` and
`decoders` hold a file for each stage, and `formats` reads them from a `tokenizer.json`. Characters have the properties
that the running Python and `regex` know. The core has the properties of Hugging Face's tables, some of Unicode 8 and 9,
so the two agree on characters that both know alike.
"""
