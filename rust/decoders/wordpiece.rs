//! From WordPiece tokens to words.

use super::cleanup::{cleanup as cleaned, may_change};

/// Writes the text of the token at `index`. The cleanup sees one token at a time, so no rule matches across two tokens.
pub(super) fn decode(prefix: &str, cleanup: bool, index: usize, token: &str, out: &mut String) {
    let (space, rest) = match (index, token.strip_prefix(prefix)) {
        (0, _) => ("", token),
        (_, Some(rest)) => ("", rest),
        (_, None) => (" ", token),
    };
    let start = out.len();
    out.push_str(space);
    out.push_str(rest);
    if cleanup && may_change(&out[start..]) {
        let cleaned = cleaned(&out[start..]);
        out.truncate(start);
        out.push_str(&cleaned);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(cleanup: bool, tokens: &[&str]) -> String {
        let mut out = String::new();
        tokens.iter().enumerate().for_each(|(index, token)| decode("##", cleanup, index, token, &mut out));
        out
    }

    #[test]
    fn the_first_token_keeps_its_prefix() {
        assert_eq!(decoded(true, &["##a", "##b", "c", "####"]), "##ab c##");
    }

    #[test]
    fn each_token_is_cleaned_up_by_itself() {
        let tokens = ["do", "not", "it", "is", "n't", "a", "'s", "b", ".", " do not"];
        assert_eq!(decoded(true, &tokens), "do not it isn't a's b.  don't");
        assert_eq!(decoded(false, &tokens), "do not it is n't a 's b .  do not");
    }
}
