//! Scores of pieces of kinds.

use crate::models::piece_kind::PieceKind;

/// What each byte but the first of a user-defined piece adds, so that such a piece counts more than whatever else covers
/// the same text.
const USER_DEFINED: f64 = 0.1;

/// The scores that pieces are chosen by, as SentencePiece 0.2.3 was found to have them.
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
