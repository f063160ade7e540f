//! How characters occur among the pieces, which decides if their tokens depend on the text beside them.

use super::Unigram;
use super::chars::Place;

/// How the characters of a short text occur among the pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceMembership {
    /// No piece holds any of them: with neighbouring unknown characters they are one unknown token.
    Unknown,
    /// A single character, which is this piece and occurs in no other.
    Piece(u32),
    /// Each character is a piece, and may occur in others: an unknown token neither begins nor ends here.
    Pieces,
    /// None of these.
    Other,
}

impl Unigram {
    /// How the characters of `text` occur among the pieces; [`PieceMembership::Other`] if the model samples.
    pub fn piece_membership(&self, text: &str) -> PieceMembership {
        let Some(unk_id) = self.options.unk_id.filter(|_| self.kinds.is_none() && self.is_deterministic())
        else {
            return PieceMembership::Other;
        };
        let place = |c| self.chars.place(c);
        if !text.is_empty() && text.chars().all(|c| place(c) == Place::Unknown) {
            return if self.options.byte_fallback {
                PieceMembership::Other
            } else {
                PieceMembership::Unknown
            };
        }
        // The piece with the unknown id is joined with unknown text beside it.
        let unknown = self.vocab.token(unk_id).unwrap_or_default();
        let own_piece = |c: char| {
            let (id, _) = self.piece_of_char(c)?;
            (id != unk_id && !unknown.starts_with(c) && !unknown.ends_with(c)).then_some(id)
        };
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) if place(c) == Place::Piece => {
                own_piece(c).map_or(PieceMembership::Other, PieceMembership::Piece)
            }
            (Some(_), _) if text.chars().all(|c| own_piece(c).is_some()) => PieceMembership::Pieces,
            _ => PieceMembership::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::UnigramOptions;
    use super::*;

    fn piece_membership(text: &str, options: UnigramOptions) -> PieceMembership {
        let pieces = [("<unk>", 0.0), ("a", -1.0), ("ab", -2.0), ("é", -3.0), ("u", -4.0), (">", -4.0)];
        Unigram::new(&pieces, options).expect("a valid model").piece_membership(text)
    }

    #[test]
    fn roles_tell_what_may_be_joined() {
        let options = UnigramOptions { unk_id: Some(0), ..UnigramOptions::default() };
        let roles = ["日", "日本", "é", "a", "aé", "éé", "b", "a日", "u", ">", ""]
            .map(|text| piece_membership(text, options.clone()));
        let expected = {
            use PieceMembership::{Other, Piece, Pieces, Unknown};
            [Unknown, Unknown, Piece(3), Pieces, Pieces, Pieces, Other, Other, Pieces, Other, Other]
        };
        assert_eq!(roles, expected);
        let fallback = UnigramOptions { byte_fallback: true, ..options.clone() };
        assert_eq!(
            ["日", "é"].map(|text| piece_membership(text, fallback.clone())),
            [PieceMembership::Other, PieceMembership::Piece(3)]
        );
        let sampling = UnigramOptions { alpha: Some(0.5), ..options.clone() };
        assert_eq!(piece_membership("é", sampling), PieceMembership::Other);
        // Any piece may be the unknown one.
        let known = UnigramOptions { unk_id: Some(3), ..options.clone() };
        assert_eq!(
            ["é", "a"].map(|text| piece_membership(text, known.clone())),
            [PieceMembership::Other, PieceMembership::Pieces]
        );
        assert_eq!(
            piece_membership("日", UnigramOptions { unk_id: None, ..options }),
            PieceMembership::Other
        );
    }
}
