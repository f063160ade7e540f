//! The text that a stage keeps between tokens.

/// The count of a stage after the first token ([`Kept::count`]), the same for all stages.
pub(super) const INSIDE: usize = 2;

/// The state of one stage between tokens; the default is the state before the first token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// A number whose meaning is the stage's own, such as how many characters are stripped.
    pub count: usize,
    /// Text or bytes that are not settled, or the token before.
    pub bytes: Vec<u8>,
}

/// Moves the text that `bytes` spell to `out`, but for a character at their end that is not complete. `marks` is the number of U+FFFD for
/// a sequence of so many bytes that is not UTF-8.
pub(super) fn push_complete(bytes: &mut Vec<u8>, out: &mut String, marks: impl Fn(usize) -> usize) {
    let mut done = 0;
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        done += chunk.valid().len();
        let invalid = chunk.invalid();
        let is_unfinished = std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
        if !is_unfinished || done + invalid.len() < bytes.len() {
            push_unknown(if invalid.is_empty() { 0 } else { marks(invalid.len()) }, out);
            done += invalid.len();
        }
    }
    bytes.drain(..done);
}

/// Appends U+FFFD `count` times.
pub(super) fn push_unknown(count: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(char::REPLACEMENT_CHARACTER, count));
}
