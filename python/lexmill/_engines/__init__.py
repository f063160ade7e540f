"""Jobs of `lexmill.ray` and `lexmill.spark`: the files that a task reads, the files that it writes, and their use.

| module | holds |
|---|---|
| `groups` | the files of sources, numbered, in groups that one task reads |
| `shared_folder` | files and folders that appear whole under their names, even if a task is killed |
| `jobs` | one task, from its group to its outcome; all tasks, from a plan to their outcomes |
| `counting` | groups to runs of word counts, and their sum |
| `tokenizing` | groups to folders of token files, and the manifest over them |
| `frames` | columns of texts instead of files |
"""
