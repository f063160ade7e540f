//! Text as a `.tiktoken` file. The first byte says whether all single bytes come before it.

use lexmill::formats::tiktoken;
use lexmill::tokenizer::Tokenizer;

use super::laws;

const PATTERN: &str = r"\p{L}+|\p{N}|[^\p{L}\p{N}]+";

/// The tokens of all single bytes, base64 and rank.
const BYTES: &str = include_str!("bytes.tiktoken");

pub(crate) fn run(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let Ok(rest) = std::str::from_utf8(rest) else { return };
    let text = if first % 2 == 1 { format!("{BYTES}{rest}") } else { rest.to_owned() };
    let special = [("<|end|>".to_owned(), 100_000)];
    let Ok(components) = tiktoken::read(&text, "ranks", PATTERN, &special) else { return };
    let tokenizer = laws::hold(&components, true, &laws::TEXTS);
    let Ok(saved) = tiktoken::write(&components) else { return };
    let again = tiktoken::read(&saved, "ranks", PATTERN, &special).expect("what is written is read");
    assert_eq!(tiktoken::write(&again).expect("what was written is written again"), saved);
    if let (Some(first), Ok(second)) = (tokenizer, Tokenizer::new(&again)) {
        laws::same_encodings(&first, &second, &laws::TEXTS);
    }
}
