//! A piece of text on its way through the stages, with its alignment to the original bytes.

use std::borrow::Cow;
use std::ops::Range;

/// Half-open byte range of the original text.
pub type ByteRange = (u32, u32);

/// Where each byte of a changed text came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alignment {
    /// The text is the original's, starting at this byte.
    Identity(u32),
    /// The original range of each byte of the text.
    Ranges(Vec<ByteRange>),
    /// Nobody will ask.
    Untracked,
}

/// Text after normalization, aligned to the original.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Normalized<'a> {
    text: Cow<'a, str>,
    alignment: Alignment,
}

impl<'a> Normalized<'a> {
    /// An unchanged piece of the original text, which starts at byte `start` there.
    pub fn new(text: &'a str, start: usize, tracked: bool) -> Self {
        let alignment = if tracked { Alignment::Identity(start as u32) } else { Alignment::Untracked };
        Self { text: Cow::Borrowed(text), alignment }
    }

    /// The text as the next stage sees it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether anybody will ask for offsets.
    pub fn is_tracked(&self) -> bool {
        self.alignment != Alignment::Untracked
    }

    /// The original bytes behind `range` of the text; a character cut by `range` counts whole.
    ///
    /// An empty range, and any range of an untracked text, gives an empty one.
    pub fn original(&self, range: Range<usize>) -> ByteRange {
        match &self.alignment {
            Alignment::Identity(base) => {
                let start = self.text.floor_char_boundary(range.start) as u32;
                let end = self.text.ceil_char_boundary(range.end) as u32;
                (base + start, base + end)
            }
            Alignment::Ranges(ranges) => {
                let start = ranges.get(range.start).map_or(0, |range| range.0);
                let end = range.end.checked_sub(1).and_then(|last| ranges.get(last));
                (start, end.map_or(start, |range| range.1))
            }
            Alignment::Untracked => (0, 0),
        }
    }

    /// Starts a rewrite of this text.
    pub fn rewrite(&self) -> Rewrite<'_> {
        let tracked = self.is_tracked();
        let capacity = self.text.len() + self.text.len() / 8;
        Rewrite {
            from: self,
            text: String::with_capacity(capacity),
            ranges: tracked.then(|| Vec::with_capacity(capacity)),
        }
    }

    /// The part of the text in `range`, which must lie on character boundaries.
    pub fn slice(&self, range: Range<usize>) -> Normalized<'_> {
        let alignment = match &self.alignment {
            Alignment::Identity(base) => Alignment::Identity(base + range.start as u32),
            Alignment::Ranges(ranges) => Alignment::Ranges(ranges[range.clone()].to_vec()),
            Alignment::Untracked => Alignment::Untracked,
        };
        Normalized { text: Cow::Borrowed(&self.text[range]), alignment }
    }
}

/// A new text under construction, each character of which names the old bytes it stands for.
#[derive(Debug)]
pub struct Rewrite<'a> {
    from: &'a Normalized<'a>,
    text: String,
    ranges: Option<Vec<ByteRange>>,
}

impl Rewrite<'_> {
    /// Appends `c`, which stands for bytes `source` of the old text.
    pub fn push(&mut self, c: char, source: Range<usize>) {
        self.text.push(c);
        if let Some(ranges) = &mut self.ranges {
            let range = self.from.original(source);
            ranges.extend((0..c.len_utf8()).map(|_| range));
        }
    }

    /// Appends several characters, all of which stand for bytes `source` of the old text.
    pub fn push_all(&mut self, chars: impl Iterator<Item = char>, source: Range<usize>) {
        let start = self.text.len();
        self.text.extend(chars);
        if let Some(ranges) = &mut self.ranges {
            let range = self.from.original(source);
            ranges.extend((start..self.text.len()).map(|_| range));
        }
    }

    /// Bytes written so far.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Whether nothing was written yet.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The new text.
    pub fn finish<'b>(self) -> Normalized<'b> {
        let alignment = self.ranges.map_or(Alignment::Untracked, Alignment::Ranges);
        Normalized { text: Cow::Owned(self.text), alignment }
    }
}

/// A text cut into pre-tokens.
#[derive(Clone, Debug)]
pub struct PreTokenized<'a> {
    /// The text that the spans cut.
    pub text: Normalized<'a>,
    /// Byte ranges of the pre-tokens in the text: ascending, not overlapping, never empty.
    pub spans: Vec<Range<usize>>,
}

impl<'a> PreTokenized<'a> {
    /// The whole text as one pre-token, or none if it is empty.
    pub fn new(text: Normalized<'a>) -> Self {
        let len = text.text().len();
        let spans = if len == 0 { Vec::new() } else { std::iter::once(0..len).collect() };
        Self { text, spans }
    }

    /// Replaces every span by the pieces that `cut` pushes for its text, relative to the span.
    pub fn cut(&mut self, mut cut: impl FnMut(&str, &mut Vec<Range<usize>>)) {
        let result: Result<(), std::convert::Infallible> = self.try_cut(|piece, pieces| {
            cut(piece, pieces);
            Ok(())
        });
        match result {
            Ok(()) => {}
            Err(never) => match never {},
        }
    }

    /// As [`Self::cut`], for a `cut` that can fail.
    ///
    /// # Errors
    /// Those of `cut`.
    pub fn try_cut<E>(
        &mut self,
        mut cut: impl FnMut(&str, &mut Vec<Range<usize>>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut spans = Vec::with_capacity(self.spans.len() * 2);
        let mut pieces = Vec::new();
        for span in &self.spans {
            pieces.clear();
            cut(&self.text.text()[span.clone()], &mut pieces)?;
            let kept = pieces.iter().filter(|piece| !piece.is_empty());
            spans.extend(kept.map(|piece| span.start + piece.start..span.start + piece.end));
        }
        self.spans = spans;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_character_counts_whole() {
        let text = Normalized::new("aé", 10, true);
        assert_eq!(text.original(0..1), (10, 11));
        assert_eq!(text.original(1..2), (11, 13));
        assert_eq!(text.original(2..3), (11, 13));
    }

    #[test]
    fn a_rewrite_keeps_the_original_ranges() {
        let text = Normalized::new("éx", 4, true);
        let mut rewrite = text.rewrite();
        rewrite.push_all("Ã©".chars(), 0..2);
        rewrite.push('y', 2..3);
        let changed = rewrite.finish();
        assert_eq!(changed.text(), "Ã©y");
        assert_eq!(changed.original(0..2), (4, 6));
        assert_eq!(changed.original(2..5), (4, 7));
        assert_eq!(changed.slice(4..5).original(0..1), (6, 7));
    }
}
