//! Token words: words whose characters stand for tokens of a base.

use crate::Error;

/// Code points of surrogates, which are no characters.
const SURROGATES: u32 = 0x800;

/// The character that stands for the token `id` in a token word; `None` for ids beyond the 1,112,064 characters.
pub fn char_of(id: u32) -> Option<char> {
    char::from_u32(if id < 0xd800 { id } else { id.checked_add(SURROGATES)? })
}

/// The token that a character of a token word stands for.
pub(in crate::trainers) fn id_of(character: char) -> u32 {
    let code = character as u32;
    if code < 0xd800 { code } else { code - SURROGATES }
}

/// The error of an id beyond the characters.
pub fn too_large(id: u32) -> Error {
    Error::Unsupported(format!("superwords need ids below 1112064, but there is {id}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_distinct_characters() {
        let characters: Vec<char> = (0..=u32::from(char::MAX)).map_while(char_of).collect();
        assert_eq!(characters.len(), 1_112_064);
        assert!(characters.is_sorted_by(|one, next| one < next));
        assert_eq!(char_of(1_112_064), None);
        assert_eq!(char_of(u32::MAX), None);
    }
}
