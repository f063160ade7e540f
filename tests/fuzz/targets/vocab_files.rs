//! Text as a `vocab.txt`, a `vocab.json`, or a `vocab.json` and a `merges.txt` with a zero byte between them.

use std::sync::Arc;

use lexmill::formats::vocab_files;
use lexmill::models::Model;
use lexmill::models::bpe::{Bpe, BpeOptions};
use lexmill::models::wordpiece::{WordPiece, WordPieceOptions};
use lexmill::tokenizer::Components;
use lexmill::vocab::Vocab;

use super::laws;

fn vocab_of(tokens: &vocab_files::Tokens) -> Vocab {
    let mut vocab = Vocab::new();
    for (token, id) in tokens {
        vocab.insert(token, *id);
    }
    vocab
}

fn check(model: Model) {
    let components = Components::of_model(Arc::new(model));
    laws::hold(&components, true, &laws::TEXTS);
}

pub(crate) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let lines = vocab_files::parse_lines(text);
    check(Model::WordPiece(WordPiece::new(Arc::new(vocab_of(&lines)), WordPieceOptions::default())));
    let (json, merges) = text.split_once('\0').unwrap_or((text, ""));
    let Ok(tokens) = vocab_files::parse_json(json, "vocab.json") else { return };
    let Ok(merges) = vocab_files::parse_merges(merges, "merges.txt") else { return };
    let merges: Vec<(&str, &str)> =
        merges.iter().map(|(left, right)| (left.as_str(), right.as_str())).collect();
    let Ok(bpe) = Bpe::new(vocab_of(&tokens), &merges, BpeOptions::default()) else { return };
    check(Model::Bpe(bpe));
}
