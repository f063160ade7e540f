//! Spans of whole texts.

use std::hint::black_box;

use lexmill::scan::Splitter;

/// The number of spans, found by arrays of a size that stays in the first-level cache.
pub(crate) fn fill(splitter: Splitter, text: &str) -> usize {
    let (mut starts, mut ends) = ([0; 512], [0; 512]);
    let (mut count, mut pos) = (0, 0);
    loop {
        let found = if splitter.is_gapless() {
            splitter.fill_ends(text, pos, &mut ends)
        } else {
            splitter.fill_spans(text, pos, &mut starts, &mut ends)
        };
        let Some(last) = found.checked_sub(1) else { return count };
        black_box((&starts, &ends));
        pos = ends[last] as usize;
        count += found;
    }
}
