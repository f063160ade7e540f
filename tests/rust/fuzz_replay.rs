//! The fuzz targets on their seeds and on what fuzzing has found.

#[path = "../fuzz/targets/mod.rs"]
mod targets;

use std::fs;
use std::path::Path;

/// Runs `target` on the files of its folders; there must be seeds.
fn replay(name: &str, target: fn(&[u8])) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz");
    for (folder, is_needed) in [("seeds", true), ("finds", false)] {
        let folder = root.join(folder).join(name);
        let files: Vec<_> = fs::read_dir(&folder).into_iter().flatten().flatten().collect();
        assert!(!(is_needed && files.is_empty()), "no file in {}", folder.display());
        for file in files {
            let data = fs::read(file.path()).expect("a file of the repository");
            let result = std::panic::catch_unwind(|| target(&data));
            assert!(result.is_ok(), "{} breaks a law", file.path().display());
        }
    }
}

macro_rules! replays {
    ($($target:ident),*) => {
        $(#[test]
        fn $target() {
            replay(stringify!($target), targets::$target::run);
        })*
    };
}

replays!(encode_decode, regex, sentencepiece_model, tiktoken_file, tokenizer_json, vocab_files);
