//! Any bytes as a `tokenizer.json`.

use lexmill::formats::tokenizer_json;

use super::laws;

pub(crate) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(components) = tokenizer_json::read(text) else { return };
    let own = components.model.vocab().iter().take(20).map(|(token, _)| token).collect::<Vec<_>>().concat();
    let texts = [&laws::TEXTS[..], &[&own]].concat();
    laws::hold(&components, true, &texts);
}
