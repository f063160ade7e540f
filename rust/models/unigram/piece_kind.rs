//! The scores of pieces with a kind, as in SentencePiece.

use crate::models::piece_kind::PieceKind;

/// A user-defined piece scores this much for every byte but its first, so that it beats any other pieces that cover the
/// same text.
const USER_DEFINED: f64 = 0.1;

/// The scores that the search adds; found by experiments with SentencePiece 0.2.3.
pub(super) fn effective_scores<T: AsRef<str>>(pieces: &[(T, f64)], kinds: &[PieceKind]) -> Vec<f64> {
    let score = |((piece, score), &kind): (&(T, f64), &PieceKind)| match kind {
        PieceKind::UserDefined => user_defined_score(piece.as_ref().len()),
        _ => *score,
    };
    pieces.iter().zip(kinds).map(score).collect()
}

#[expect(clippy::cast_precision_loss, reason = "pieces are far shorter than 2^53 bytes")]
fn user_defined_score(len: usize) -> f64 {
    f64::from((len.saturating_sub(1) as f64 * USER_DEFINED) as f32)
}
