//! Layout of the cells that words consist of, and merging in place.
//!
//! Cells have 16 bits while all ids and the lengths of all words fit into 14, and 32 bits otherwise. The two top bits are the kind
//! of a cell, the others are its payload. All code sees the 32-bit form ([`Cell::wide`]).
//!
//! A word is a header cell, which holds its count, and the cells of its tokens. An initial symbol has one cell, and a
//! merged token has all cells of its symbols: of `n` cells the first holds its id, the second and the last hold `n`, the
//! others nothing. So both neighbours of a token are found in constant time. A token never moves, and cells inside a token
//! never look like an id, so a pair's position is enough to check that the pair is still there.

/// Bit of a cell that starts a word.
pub(super) const HEADER: u32 = 1 << 31;
/// In a header: the payload is an index into the large weights, not a weight.
pub(super) const LARGE: u32 = 1 << 30;
/// Bit of a cell inside a token; the payload is the token's length, or 0 in the middle.
pub(super) const INSIDE: u32 = 1 << 30;
/// The payload of a cell.
pub(super) const PAYLOAD: u32 = (1 << 30) - 1;

/// A cell as it lies in memory.
pub(super) trait Cell: Copy + Default + Send + Sync + std::fmt::Debug + 'static {
    /// The largest payload.
    const MOST: u32;

    /// The cell with its kind in the two top bits of 32.
    fn wide(self) -> u32;

    /// The cell of a 32-bit form, whose payload is at most [`Self::MOST`].
    fn of(wide: u32) -> Self;
}

impl Cell for u32 {
    const MOST: u32 = PAYLOAD;

    #[inline]
    fn wide(self) -> u32 {
        self
    }

    #[inline]
    fn of(wide: u32) -> Self {
        wide
    }
}

impl Cell for u16 {
    const MOST: u32 = (1 << 14) - 1;

    #[inline]
    fn wide(self) -> u32 {
        let cell = u32::from(self);
        (cell & 0xC000) << 16 | cell & Self::MOST
    }

    #[inline]
    fn of(wide: u32) -> Self {
        debug_assert!(wide & PAYLOAD <= Self::MOST, "the payload has 14 bits");
        (wide >> 16 & 0xC000 | wide & Self::MOST) as Self
    }
}

/// The neighbours of an applied merge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Applied {
    /// The token before it, with its position among the cells.
    pub(super) left: Option<(u32, usize)>,
    /// The token after it.
    pub(super) right: Option<u32>,
}

/// True if the cell starts a word.
#[inline]
pub(super) fn is_header(cell: u32) -> bool {
    cell & HEADER != 0
}

/// True if the cell is inside a token, after the token's first cell.
#[inline]
pub(super) fn is_inside(cell: u32) -> bool {
    cell & (HEADER | INSIDE) == INSIDE
}

/// The cell at `position`; the end of `cells` counts as the header of a next word.
#[inline]
fn cell<C: Cell>(cells: &[C], position: usize) -> u32 {
    cells.get(position).map_or(HEADER, |cell| cell.wide())
}

/// The end of the token at `position`.
#[inline]
fn end<C: Cell>(cells: &[C], position: usize) -> usize {
    let second = cell(cells, position + 1);
    position + if is_inside(second) { (second & PAYLOAD) as usize } else { 1 }
}

/// The position of `right`, if `left` is the token at `position` and `right` the one after it.
#[inline]
pub(super) fn right_of_pair<C: Cell>(cells: &[C], position: usize, left: u32, right: u32) -> Option<usize> {
    if cells[position].wide() != left {
        return None;
    }
    let middle = end(cells, position);
    (cell(cells, middle) == right).then_some(middle)
}

/// Merges the pair at `position` if it is still there. `cells` are whole words.
#[inline]
pub(super) fn merge_at<C: Cell>(
    cells: &mut [C],
    position: usize,
    left: u32,
    right: u32,
    joined: u32,
) -> Option<Applied> {
    let middle = right_of_pair(cells, position, left, right)?;
    let end = end(cells, middle);
    let before = cells[position - 1].wide();
    let left = if is_header(before) {
        None
    } else {
        let length = if is_inside(before) { (before & PAYLOAD) as usize } else { 1 };
        Some((cells[position - length].wide(), position - length))
    };
    let after = cell(cells, end);
    let right = (!is_header(after)).then_some(after);
    let inside = INSIDE | (end - position) as u32;
    cells[position] = C::of(joined);
    cells[middle] = C::of(INSIDE);
    cells[position + 1] = C::of(inside);
    cells[end - 1] = C::of(inside);
    Some(Applied { left, right })
}
