"""What `lexmill.ray` and `lexmill.spark` share: which files a task reads, what it writes, and what becomes of that.

| module | holds |
|---|---|
| `groups` | the files of sources, numbered, in groups that one task reads |
| `shared_folder` | files and folders that appear whole under their names, whatever happens to a task |
| `jobs` | one task, from its group to its outcome; all tasks, from a plan to their outcomes |
| `counting` | groups to runs of word counts, and their sum |
| `tokenizing` | groups to folders of token files, and the manifest over them |
| `frames` | columns of texts instead of files |
"""
