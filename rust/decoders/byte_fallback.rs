//! From `<0xNN>` tokens back to the bytes that they stand for.

use super::Pieces;

/// Decodes every run of byte tokens as UTF-8; a run that is not valid UTF-8 becomes one U+FFFD per token.
pub(super) fn decode(tokens: &Pieces) -> Pieces {
    let mut decoded = tokens.empty();
    let mut bytes = Vec::new();
    for token in tokens.iter() {
        if let Some(byte) = byte(token) {
            bytes.push(byte);
        } else {
            flush(&mut bytes, &mut decoded);
            decoded.push_with(|out| out.push_str(token));
        }
    }
    flush(&mut bytes, &mut decoded);
    decoded
}

/// The byte of a token `<0xNN>`. A sign is allowed instead of the first digit, as in Hugging Face.
pub(super) fn byte(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    if digits.len() == 2 { u8::from_str_radix(digits, 16).ok() } else { None }
}

fn flush(bytes: &mut Vec<u8>, decoded: &mut Pieces) {
    match std::str::from_utf8(bytes) {
        Ok("") => {}
        Ok(text) => decoded.push_with(|out| out.push_str(text)),
        Err(_) => {
            for _ in 0..bytes.len() {
                decoded.push_with(|out| out.push(char::REPLACEMENT_CHARACTER));
            }
        }
    }
    bytes.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(tokens: &[&str]) -> Vec<String> {
        decode(&tokens.iter().copied().collect()).iter().map(str::to_owned).collect()
    }

    #[test]
    fn a_run_of_bytes_is_one_text() {
        assert_eq!(pieces(&["a", "<0xE2>", "<0x96>", "<0x81>", "<0x62>", "c"]), ["a", "▁b", "c"]);
    }

    #[test]
    fn one_wrong_byte_spoils_the_whole_run() {
        assert_eq!(pieces(&["<0x61>", "<0xFF>", "b", "<0x61>"]), ["\u{FFFD}", "\u{FFFD}", "b", "a"]);
    }

    #[test]
    fn what_only_looks_like_a_byte_stays() {
        let tokens = ["<0x1>", "<0x123>", "<0xG0>", "<0xé>", "<0X41>", "0x41>", ""];
        assert_eq!(pieces(&tokens), tokens);
        assert_eq!(pieces(&["<0x+A>", "<0x4a>"]), ["\nJ"]);
    }
}
