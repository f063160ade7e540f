"""Files on the disk: names of inputs, whole outputs, and token files as arrays.

| module | holds |
|---|---|
| `file_names` | from paths, folders and patterns to files, and from the name of a file to its format |
| `whole_file` | outputs that appear whole or not at all |
| `open_tokens` | token files as documents and windows |
| `token_readers` | the layouts of token files, mapped or decoded |
"""
