//! The two kinds of scanners.

/// A splitter without gaps: finds the end of a span.
pub trait Scan {
    /// The end, greater than `pos`, of the span that starts at `pos`.
    ///
    /// # Panics
    /// If `pos` is not less than the length of `text`. The result is unspecified if `pos` is not a character boundary.
    fn advance(text: &str, pos: usize) -> usize;
}

/// A splitter that drops the text between spans: finds the next span.
pub trait ScanWithGaps {
    /// The first span at or after `pos`, if there is one; it is not empty.
    ///
    /// # Panics
    /// If `pos` is greater than the length of `text`. The result is unspecified if `pos` is not a character boundary.
    fn next_span(text: &str, pos: usize) -> Option<(usize, usize)>;
}
