//! The 32-bit cells that words consist of, and merging in place.
//!
//! A word is a header cell with its count, then its tokens. A token of `n` cells keeps its id in the first; the second
//! and the last hold `n`, the rest nothing, so both neighbours of a token are found at once. A token never moves and
//! cells inside a token never look like an id, so the position of a pair tells by itself whether the pair is still there.

/// A cell that starts a word.
pub(super) const HEADER: u32 = 1 << 31;
/// In a header: the rest is an index into the large weights, not a weight.
pub(super) const LARGE: u32 = 1 << 30;
/// A cell inside a token; the rest is the token's length or, further inside, 0.
pub(super) const INSIDE: u32 = 1 << 30;
/// The payload of a cell.
pub(super) const PAYLOAD: u32 = (1 << 30) - 1;

/// One applied merge and what surrounds it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Applied {
    /// The token before, with its position among the cells.
    pub(super) left: Option<(u32, usize)>,
    /// The token after.
    pub(super) right: Option<u32>,
}

/// Whether the cell starts a word.
#[inline]
pub(super) fn is_header(cell: u32) -> bool {
    cell & HEADER != 0
}

/// Whether the cell is a further one of a token.
#[inline]
pub(super) fn is_inside(cell: u32) -> bool {
    cell & (HEADER | INSIDE) == INSIDE
}

/// The cell at `position`; after the last one the next word would start.
#[inline]
fn cell(cells: &[u32], position: usize) -> u32 {
    cells.get(position).copied().unwrap_or(HEADER)
}

/// Where the token at `position` ends.
#[inline]
fn end(cells: &[u32], position: usize) -> usize {
    let second = cell(cells, position + 1);
    position + if is_inside(second) { (second & PAYLOAD) as usize } else { 1 }
}

/// Where `right` starts, if `position` holds the token `left` and `right` follows it.
#[inline]
pub(super) fn right_of_pair(cells: &[u32], position: usize, left: u32, right: u32) -> Option<usize> {
    if cells[position] != left {
        return None;
    }
    let middle = end(cells, position);
    (cell(cells, middle) == right).then_some(middle)
}

/// Joins the pair at `position` of some whole words, if it is still there.
#[inline]
pub(super) fn merge_at(
    cells: &mut [u32],
    position: usize,
    left: u32,
    right: u32,
    joined: u32,
) -> Option<Applied> {
    let middle = right_of_pair(cells, position, left, right)?;
    let end = end(cells, middle);
    let before = cells[position - 1];
    let left = if is_header(before) {
        None
    } else {
        let length = if is_inside(before) { (before & PAYLOAD) as usize } else { 1 };
        Some((cells[position - length], position - length))
    };
    let after = cell(cells, end);
    let right = (!is_header(after)).then_some(after);
    let inside = INSIDE | (end - position) as u32;
    cells[position] = joined;
    cells[middle] = INSIDE;
    cells[position + 1] = inside;
    cells[end - 1] = inside;
    Some(Applied { left, right })
}
