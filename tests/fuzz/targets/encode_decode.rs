//! Random whole tokenizers on random texts.

use lexmill::formats::tokenizer_json;

use super::bytes::Bytes;
use super::{compose, laws};

pub(crate) fn run(data: &[u8]) {
    let mut bytes = Bytes(data);
    let json = compose::tokenizer(&mut bytes).to_string();
    let Ok(components) = tokenizer_json::read(&json) else { return };
    let mut texts: Vec<String> = (0..=bytes.below(3)).map(|_| bytes.text(24)).collect();
    if bytes.one_in(8) {
        texts.push(texts[0].repeat(bytes.below(200)));
    }
    let ids: Vec<u32> = (0..bytes.below(20)).map(|_| bytes.size() as u32).collect();
    texts.push(bytes.rest());
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    if let Some(tokenizer) = laws::hold(&components, true, &texts) {
        laws::decodes(&tokenizer, &ids);
    }
}
