//! Rewriting a chunk cluster by cluster, with a memo of the rewrite of each grapheme cluster.
//!
//! Most clusters become the same text beside any neighbours. So a chunk of such clusters is rewritten from the memo and need not
//! go through any stage.

use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::ops::Range;

use super::offset_map::{CharSpan, OffsetMap};
use crate::normalizers::clusters::cluster_len;
use crate::structures::reused::{Bounds, Reused};

/// Single characters below this have an entry: all common ones.
const MEMO_CHARS: usize = 0x2_0000;

/// Bytes of rewritten clusters at most; a full memo is emptied.
const LIMIT: usize = 1 << 20;

/// The rewrite of a cluster: the flags below, then the length of the rewritten text in bytes and its start in
/// [`RewriteMemo::rewritten`].
type MemoEntry = u32;

/// The rewriter has been asked.
const IS_ASKED: MemoEntry = 1;
/// The cluster is context-free.
const IS_FREE: MemoEntry = 2;
/// The cluster becomes itself.
const STAYS: MemoEntry = 4;
const LEN_SHIFT: u32 = 3;
const LEN_BITS: u32 = 8;
const START_SHIFT: u32 = LEN_SHIFT + LEN_BITS;

/// Rewrites grapheme clusters that become the same beside any neighbours.
pub trait ContextFreeRewriter {
    /// The answer for a cluster: its rewrite beside any clusters that have an answer too, and the source of each character of the
    /// rewrite, a range of bytes of the cluster. None if the cluster is not known to be context-free.
    ///
    /// The rewrite is never empty. The first source begins the cluster; each next one equals the one before or lies after it. A
    /// single character that has an answer is a cluster before any other that has one.
    fn rewrite_in_isolation(&self, cluster: &str) -> Option<(String, Vec<Range<usize>>)>;
}

/// The rewrite of a cluster of several characters, and the range of its character spans.
#[derive(Clone, Copy, Debug)]
struct Cluster {
    entry: MemoEntry,
    char_spans: (u32, u32),
}

/// The memo of one thread, and the chunk rewritten last.
#[derive(Debug, Default)]
pub struct RewriteMemo {
    /// Entries of single characters; allocated with the first.
    chars: Vec<MemoEntry>,
    /// Entries of longer clusters.
    clusters: HashMap<Box<str>, Cluster, FixedState>,
    cluster_char_spans: Vec<CharSpan>,
    /// The rewrites of clusters, one after the other.
    rewritten: String,
    /// The chunk rewritten last.
    text: String,
    /// Bytes before that chunk that offsets count and no character stands for.
    skipped: usize,
    /// The prefix of that chunk; with the first character, if both have the same source.
    front: CharSpan,
    /// Character spans of that chunk; none if all text after the front is unchanged.
    char_spans: Vec<CharSpan>,
}

impl Reused for RewriteMemo {
    fn bytes(&self) -> usize {
        self.memo_bytes() + self.text.bytes() + self.char_spans.bytes()
    }

    fn trim(&mut self, bounds: Bounds) {
        // A cluster may be as long as a text.
        if self.is_full() || self.memo_bytes() > bounds.memo {
            *self = Self::default();
        }
        self.text.trim(bounds);
        self.char_spans.trim(bounds);
    }
}

impl RewriteMemo {
    fn memo_bytes(&self) -> usize {
        // The text of a cluster is in `rewritten` too.
        let texts = self.chars.bytes() + self.clusters.bytes() + 2 * self.rewritten.bytes();
        texts + self.cluster_char_spans.bytes()
    }

    fn is_full(&self) -> bool {
        self.rewritten.len() > LIMIT || self.cluster_char_spans.len() > LIMIT
    }

    /// Rewrites `text` after `prefix` into [`Self::text`]; false if a cluster of `text` is not context-free.
    ///
    /// The prefix stands for `prefix_len` bytes before `text`; if `prefix_len` is 0, the prefix has the source of the first character.
    pub fn rewrite(
        &mut self,
        (prefix, prefix_len): (&str, usize),
        text: &str,
        rules: &impl ContextFreeRewriter,
    ) -> bool {
        if self.is_full() {
            *self = Self::default();
        }
        self.text.clear();
        self.char_spans.clear();
        self.skipped = 0;
        self.text.push_str(prefix);
        self.front = CharSpan::new(prefix.len(), prefix_len);
        let unchanged = self.unchanged_len(text, rules);
        if unchanged == text.len() {
            self.text.push_str(text);
            if prefix_len == 0 {
                let first = text.chars().next().map_or(0, char::len_utf8);
                self.front = CharSpan::new(prefix.len() + first, first);
            }
            return true;
        }
        if prefix_len > 0 {
            self.char_spans.push(self.front);
        }
        self.char_spans.extend(text[..unchanged].chars().map(own_char_span));
        self.rewrite_rest(unchanged, text, rules) && {
            if prefix_len == 0
                && let Some(first) = self.char_spans.first_mut()
            {
                first.made += prefix.len() as u32;
            }
            true
        }
    }

    /// Bytes of `text` before the first character that changes, less the last one if the two may be one cluster.
    fn unchanged_len(&mut self, text: &str, rules: &impl ContextFreeRewriter) -> usize {
        let mut last = 0;
        for (at, c) in text.char_indices() {
            let entry = self.entry(c, rules);
            if entry & (IS_FREE | STAYS) != IS_FREE | STAYS {
                return if entry & IS_FREE != 0 { at } else { last };
            }
            last = at;
        }
        text.len()
    }

    /// [`Self::rewrite`] from byte `at` of `text` on, where the first change is.
    fn rewrite_rest(&mut self, mut at: usize, text: &str, rules: &impl ContextFreeRewriter) -> bool {
        let mut done = 0;
        let mut chars = text[at..].chars();
        let mut next = chars.next().map(|c| (c, self.entry(c, rules)));
        while let Some((c, mut entry)) = next {
            let mut end = at + c.len_utf8();
            next = chars.next().map(|c| (c, self.entry(c, rules)));
            if entry & IS_FREE == 0 || next.is_some_and(|(_, entry)| entry & IS_FREE == 0) {
                end = at + cluster_len(&text[at..]);
                let cluster = self.cluster(&text[at..end], rules);
                entry = cluster.entry;
                if entry & IS_FREE == 0 {
                    return false;
                }
                let (first, last) = cluster.char_spans;
                self.char_spans.extend_from_slice(&self.cluster_char_spans[first as usize..last as usize]);
                chars = text[end..].chars();
                next = chars.next().map(|c| (c, self.entry(c, rules)));
            } else if entry & STAYS != 0 {
                self.char_spans.push(own_char_span(c));
            } else {
                self.char_spans.push(CharSpan::new(rewritten_len(entry), c.len_utf8()));
            }
            if entry & STAYS == 0 {
                let start = (entry >> START_SHIFT) as usize;
                self.text.push_str(&text[done..at]);
                self.text.push_str(&self.rewritten[start..start + rewritten_len(entry)]);
                done = end;
            }
            at = end;
        }
        self.text.push_str(&text[done..]);
        true
    }

    /// Makes offsets count from `bytes` bytes further left.
    pub fn skip(&mut self, bytes: usize) {
        self.skipped = bytes;
    }

    /// The chunk rewritten last.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Maps ascending positions in [`Self::text`] to bytes of the chunk, as [`OffsetMap::around`].
    #[inline]
    pub(super) fn offsets(&self) -> impl FnMut(usize) -> (usize, usize) + '_ {
        let (made, own) = (self.front.made as usize, self.front.own as usize);
        let mut offsets = OffsetMap::new(self.char_spans.iter().copied());
        let mut around = move |at| {
            if !self.char_spans.is_empty() {
                offsets.around(at)
            } else if at < made {
                (0, if at == 0 { 0 } else { own })
            } else {
                let (floor, ceil) = (self.text.floor_char_boundary(at), self.text.ceil_char_boundary(at));
                (floor - made + own, ceil - made + own)
            }
        };
        move |at| {
            let (floor, ceil) = around(at);
            (floor + self.skipped, ceil + self.skipped)
        }
    }

    /// The entry of a single character.
    #[inline]
    fn entry(&mut self, c: char, rules: &impl ContextFreeRewriter) -> MemoEntry {
        match self.chars.get(c as usize) {
            Some(&entry) if entry != 0 => entry,
            _ => self.ask(c, rules),
        }
    }

    #[cold]
    #[inline(never)]
    fn ask(&mut self, c: char, rules: &impl ContextFreeRewriter) -> MemoEntry {
        if self.chars.is_empty() {
            self.chars = vec![0; MEMO_CHARS];
        }
        if c as usize >= MEMO_CHARS {
            return IS_ASKED;
        }
        let (entry, sources) = self.answer(c.encode_utf8(&mut [0; 4]), rules);
        // A single character has no character spans in the memo, so each result must stand for all of it.
        let is_whole = sources.iter().all(|source| *source == (0..c.len_utf8()));
        let entry = if is_whole { entry } else { IS_ASKED };
        self.chars[c as usize] = entry;
        entry
    }

    fn cluster(&mut self, cluster: &str, rules: &impl ContextFreeRewriter) -> Cluster {
        if let Some(&known) = self.clusters.get(cluster) {
            return known;
        }
        let (entry, sources) = self.answer(cluster, rules);
        let first = self.cluster_char_spans.len() as u32;
        if entry & IS_FREE != 0 {
            let start = (entry >> START_SHIFT) as usize;
            let made = if entry & STAYS != 0 {
                cluster
            } else {
                &self.rewritten[start..start + rewritten_len(entry)]
            };
            push_char_spans(made, &sources, cluster.len(), &mut self.cluster_char_spans);
        }
        // Counted against the limit like a rewritten text.
        self.rewritten.push_str(cluster);
        let answer = Cluster { entry, char_spans: (first, self.cluster_char_spans.len() as u32) };
        self.clusters.insert(cluster.into(), answer);
        answer
    }

    /// The entry of a cluster, and the sources of the characters it becomes.
    fn answer(&mut self, cluster: &str, rules: &impl ContextFreeRewriter) -> (MemoEntry, Vec<Range<usize>>) {
        let Some((rewritten, sources)) = rules.rewrite_in_isolation(cluster) else {
            return (IS_ASKED, Vec::new());
        };
        let own = cluster.char_indices().map(|(at, c)| at..at + c.len_utf8());
        if rewritten == cluster && sources.iter().cloned().eq(own) {
            return (IS_ASKED | IS_FREE | STAYS, sources);
        }
        if rewritten.len() >= 1 << LEN_BITS || self.rewritten.len() >= 1 << (32 - START_SHIFT) {
            return (IS_ASKED, Vec::new());
        }
        let entry = (self.rewritten.len() as u32) << START_SHIFT | (rewritten.len() as u32) << LEN_SHIFT;
        self.rewritten.push_str(&rewritten);
        (entry | IS_ASKED | IS_FREE, sources)
    }
}

fn own_char_span(c: char) -> CharSpan {
    CharSpan::new(c.len_utf8(), c.len_utf8())
}

/// Bytes that a cluster becomes.
fn rewritten_len(entry: MemoEntry) -> usize {
    (entry >> LEN_SHIFT) as usize % (1 << LEN_BITS)
}

/// Appends the character spans of a rewritten cluster of `len` bytes; characters with the same source share one.
fn push_char_spans(made: &str, sources: &[Range<usize>], len: usize, char_spans: &mut Vec<CharSpan>) {
    let mut last: Option<&Range<usize>> = None;
    for (c, source) in made.chars().zip(sources) {
        match (last, char_spans.last_mut()) {
            (Some(same), Some(width)) if same == source => width.made += c.len_utf8() as u32,
            (before, width) => {
                if let (Some(before), Some(width)) = (before, width) {
                    width.gap = (source.start - before.end) as u32;
                }
                char_spans.push(CharSpan::new(c.len_utf8(), source.len()));
            }
        }
        last = Some(source);
    }
    if let (Some(last), Some(width)) = (last, char_spans.last_mut()) {
        width.gap = (len - last.end) as u32;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Some characters stay, others become more or less, marks join the character before them, and one character is not known.
    struct Rules;

    impl ContextFreeRewriter for Rules {
        fn rewrite_in_isolation(&self, cluster: &str) -> Option<(String, Vec<Range<usize>>)> {
            let (made, sources) = match cluster {
                "ß" => ("ss", vec![0..2, 0..2]),
                "が" => ("か", vec![0..3; 1]),
                "한" => ("\u{1112}\u{1161}\u{11AB}", vec![0..3; 3]),
                "a\u{301}" => ("á", vec![0..3; 1]),
                "b\u{301}" => ("b", vec![0..1; 1]),
                "日\u{301}" => ("日\u{301}", vec![0..3, 3..5]),
                "a\u{301}\u{301}" => ("éaa", vec![0..1, 3..5, 3..5]),
                "b\u{301}\u{301}" => ("b\u{301}", vec![0..1, 1..3]),
                "日\u{301}\u{301}" => ("日", vec![0..7; 1]),
                "a" | "b" | "日" | "𝄞" => (cluster, vec![0..cluster.len(); 1]),
                _ => return None,
            };
            Some((made.to_owned(), sources))
        }
    }

    proptest! {
        #![proptest_config(crate::testing::cases(2000))]

        #[test]
        fn rewrite_matches_naive(
            texts in prop::collection::vec("([ab日]\u{301}{0,2}|[ab日ßが한𝄞]){0,8}(x|\u{301}|ß\u{301}|\u{10ffff})?", 1..6),
            prefix in prop::sample::select(&[("", 0), ("▁", 0), ("▁", 1)][..]),
        ) {
            let mut rewrite_memo = RewriteMemo::default();
            for text in &texts {
                let mut clusters = Vec::new();
                let mut at = 0;
                while at < text.len() {
                    let end = at + cluster_len(&text[at..]);
                    clusters.push(&text[at..end]);
                    at = end;
                }
                let made: Option<Vec<(String, Vec<Range<usize>>)>> =
                    clusters.iter().map(|cluster| Rules.rewrite_in_isolation(cluster)).collect();
                let is_known = rewrite_memo.rewrite(prefix, text, &Rules);
                let is_large = text.contains(['𝄞', '\u{10ffff}']);
                prop_assert!(is_known == made.is_some() || is_large);
                let Some(made) = made.filter(|_| is_known) else { continue };
                // The source of each byte of the rewritten text.
                let mut sources = vec![(0, prefix.1); prefix.0.len()];
                let (mut expected, mut at) = (prefix.0.to_owned(), prefix.1);
                for (cluster, (made, own)) in clusters.iter().zip(&made) {
                    expected += made;
                    let start = sources.len();
                    for (c, own) in made.chars().zip(own) {
                        sources.extend(vec![(at + own.start, at + own.end); c.len_utf8()]);
                    }
                    if prefix.1 == 0 && at == 0 {
                        let first = sources[start];
                        sources[..start].fill(first);
                    }
                    at += cluster.len();
                }
                prop_assert_eq!(rewrite_memo.text(), expected.as_str());
                let mut places = rewrite_memo.offsets();
                for (at, source) in sources.iter().enumerate() {
                    let before = if at > 0 { sources[at - 1] } else { (0, 0) };
                    let is_inside = at > 0 && before == *source;
                    let end = if is_inside { source.1 } else { before.1 };
                    prop_assert_eq!(places(at), (source.0, end));
                }
                prop_assert_eq!(places(expected.len()).1, sources.last().map_or(0, |source| source.1));
            }
        }
    }
}
