"""Inputs by their names, word counts, whole outputs, and token files as arrays.

| module | holds |
|---|---|
| `file_names` | from paths, folders and patterns to files, and from the name of a file to its format |
| `source_names` | from names and objects to sources, the one rule of all calls |
| `documents` | files whose texts are documents, opened |
| `corpus_warnings` | warnings about corpora and options |
| `word_counts` | `lexmill.count_words` and `lexmill.merge_counts` |
| `progress` | reports of progress on standard error |
| `whole_file` | outputs that appear whole or not at all |
| `stores`, `remote`, `remote_names` | texts by URL: calls that are made again, blocks of files, folders and patterns |
| `store_folder`, `run_state`, `stored_run` | a folder of a store, the state of a run in it, and a run that ends there |
| `remote_stream` | a file of a store as a stream of Python |
| `fetched_files` | token files of a store, on this machine |
| `open_tokens`, `windows` | token files as documents and as windows of one length |
| `token_readers` | the layouts of token files, mapped or decoded |
"""
