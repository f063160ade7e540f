"""lexmill in the place of Hugging Face `tokenizers`.

| module | holds |
|---|---|
| `names` | the name of the other package, and the versions whose interfaces lexmill has |
| `install` | `lexmill.install` and `lexmill.uninstall` |
| `distribution` | the metadata of the other package while it is not installed |
| `peer` | tokenizers of the other package to ours and back; `lexmill.accelerate` |
| `hub` | files from the Hugging Face Hub |
| `startup` | the source that `lexmill install-hook` puts into site-packages |
"""
