//! Base64 (RFC 4648, section 4), as files carry bytes in text.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The text of `bytes`, padded.
pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | usize::from(group.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            let is_data = at <= group.len();
            text.push(if is_data { char::from(ALPHABET[bits >> (18 - 6 * at) & 63]) } else { '=' });
        }
    }
    text
}

/// The bytes of `text`; `None` if it is not padded base64 of whole bytes.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let data = text.strip_suffix("==").or_else(|| text.strip_suffix('=')).unwrap_or(text).as_bytes();
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let mut bytes = Vec::with_capacity(data.len() * 3 / 4);
    for group in data.chunks(4) {
        let mut bits = 0;
        for &c in group {
            bits = bits << 6 | ALPHABET.iter().position(|&known| known == c)? as u32;
        }
        // Bits beyond the last whole byte must be zero, so that every text has one spelling.
        let spare = 6 * group.len() as u32 % 8;
        if group.len() == 1 || bits & ((1 << spare) - 1) != 0 {
            return None;
        }
        let whole = (bits >> spare).to_be_bytes();
        bytes.extend_from_slice(&whole[4 - group.len() * 6 / 8..]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn decoding_inverts_encoding(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            prop_assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }

        #[test]
        fn a_text_that_is_read_is_written_again(text in "[A-Da-d0-3+/=]{0,12}") {
            if let Some(bytes) = decode(&text) {
                prop_assert_eq!(encode(&bytes), text);
            }
        }
    }

    #[test]
    fn the_examples_of_the_standard() {
        let encoded = ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|text| encode(text.as_bytes()));
        assert_eq!(encoded, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]);
        assert_eq!(
            [decode("Zg="), decode("Zh=="), decode("Z==="), decode("Zg==Zg=="), decode("é===")],
            [const { None }; 5]
        );
    }
}
