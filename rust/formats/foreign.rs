//! Files that were given in the place of a tokenizer's: their kind, and the way on.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::structures::binary_formats::binary_format;
use crate::{Error, Result};

/// The kind of a file that begins as no file of a tokenizer does, and the way on; none if it may be one.
fn foreign(bytes: &[u8]) -> Option<Cow<'static, str>> {
    if bytes.starts_with(b"version https://git-lfs.github.com/spec/") {
        return Some(
            "this is a pointer of Git LFS and not the file it stands for; `git lfs pull` fetches that".into(),
        );
    }
    if let Some(kind) = binary_format(bytes) {
        return Some(format!("this {kind}; pass the file of the tokenizer itself").into());
    }
    // JSON and lines of text begin with ASCII, of which UTF-16 makes every other byte zero.
    if let [first, second, third, fourth, ..] = *bytes
        && [[first, third], [second, fourth]].iter().filter(|pair| **pair == [0, 0]).count() == 1
        && ![first, second, third, fourth].iter().any(|byte| (1..9).contains(byte))
    {
        return Some("this is text in UTF-16; save it as UTF-8".into());
    }
    let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes).trim_ascii_start();
    let begins =
        |start: &str| text.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start.as_bytes()));
    if ["<!doctype", "<html", "<?xml"].iter().any(|start| begins(start)) {
        return Some(
            "this is a web page, such as a site gives for a login or an error; download the file itself"
                .into(),
        );
    }
    None
}

/// U+FEFF in UTF-8, which some editors put before a text.
pub(super) const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Refuses a file of another kind, if its first bytes tell the kind.
///
/// # Errors
/// [`Error::Format`].
pub(super) fn refuse_foreign(bytes: &[u8], name: &str) -> Result<()> {
    foreign(bytes)
        .map_or(Ok(()), |kind| Err(Error::Format { path: name.to_owned(), message: kind.into_owned() }))
}

/// The error of JSON that serde cannot read, with a hint where the text shows its kind.
pub(super) fn json_error(error: &serde_json::Error, text: &str) -> String {
    let start = text.trim_start();
    let hint = if start.is_empty() {
        "; there is nothing in it"
    } else if error.is_eof() {
        "; it ends in the middle, as after a download that was cut off"
    } else if start.starts_with(['{', '[']) || text.contains('\n') || text.len() > 4096 {
        ""
    } else {
        "; from_str takes the contents of a file, from_file its path"
    };
    format!("{error}{hint}")
}

/// The kind of an object that is no `tokenizer.json`, as the end of a sentence; empty if nothing tells.
pub(super) fn hint_of_object(object: &Map<String, Value>) -> &'static str {
    let has = |key: &str| object.contains_key(key);
    if !object.is_empty() && object.values().all(Value::is_u64) {
        "; this is a vocabulary, such as vocab.json: read it with models.BPE.from_file or models.WordLevel.from_file"
    } else if has("tokenizer_class") || has("added_tokens_decoder") {
        "; this is a tokenizer_config.json, beside which a tokenizer.json should lie"
    } else if has("architectures") || has("model_type") {
        "; this is the config.json of a model, beside which a tokenizer.json should lie"
    } else if has("bos_token") || has("unk_token") || has("cls_token") {
        "; this is a special_tokens_map.json, beside which a tokenizer.json should lie"
    } else if has("vocab") && has("config") {
        "; this is a tekken.json"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_a_tokenizer_is_not_foreign() {
        for text in [
            "",
            "{}",
            "[PAD]\n",
            "#version: 0.2\n",
            "AA== 0\n",
            "\u{feff}{}",
            "!\n\"\n",
            "<s>\n",
            "<unk>\n",
            "<h\n",
        ] {
            assert_eq!(foreign(text.as_bytes()), None, "{text}");
        }
        // SentencePiece: the first piece is `<unk>` with its score and kind.
        assert_eq!(foreign(b"\n\x0e\n\x05<unk>\x15\0\0\0\0\x18\x02"), None);
    }
}
