//! Texts that the benches read.

use std::path::{Path, PathBuf};

/// As much of a corpus as is read.
const MOST_BYTES: usize = 16 << 20;

/// The folder of corpora and tokenizers: `LEXMILL_DATA`, by default `shared/data` beside the repository.
pub(crate) fn folder() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    std::env::var_os("LEXMILL_DATA").map_or_else(beside, PathBuf::from)
}

/// The corpora of [`folder`], or a synthetic text where there are none.
pub(crate) fn texts() -> Vec<(&'static str, String)> {
    let folder = folder().join("corpora");
    let mut texts = Vec::new();
    for name in ["english", "german", "multilingual", "messy"] {
        if let Ok(text) = std::fs::read_to_string(folder.join(name).with_extension("txt")) {
            texts.push((name, prefix(&text, MOST_BYTES).to_owned()));
        }
    }
    if texts.is_empty() {
        eprintln!("{} holds no corpora: using a synthetic text", folder.display());
        let line = "It's a text of 23 words -- short and long, \"quoted\", hyphen-ated; with naïve Größe, 東京 and ½.\r\n";
        texts.push(("synthetic", line.repeat(MOST_BYTES / line.len())));
    }
    texts
}

/// At most the first `most` bytes of `text`.
pub(crate) fn prefix(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}
