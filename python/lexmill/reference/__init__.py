"""The readable implementation: each file is one algorithm and states the total order of every choice it makes.

It is the specification that the compiled core is tested against, written for reading and not for speed: it
recounts where the core updates. It needs the standard library only, apart from the GPT-2 splitter, which needs `regex`.
"""
