"""Reads the parts of a `tokenizer.json`, a file a family.

The readers take well-formed objects and raise `FormatError` for a `type` that they do not know. Only the core refuses
malformed files and names the JSON path.
"""
