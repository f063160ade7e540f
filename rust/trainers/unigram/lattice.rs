//! All segmentations of all words: by beginning of a word, the pieces that end there.
//!
//! Words are sorted, so that those which begin alike stand together, and a beginning has its edges once, however many
//! words go on from it: a quarter of all places in English. A walk enters a beginning before those that go on from it
//! and leaves it after them. Edges come from the sorted suffixes, so no piece is ever looked up; when pieces go, their
//! edges go with them. 6 bytes an edge.

use std::ops::Range;

use super::corpus::Corpus;
use super::seeds::Chains;
use crate::structures::parallel::{METER_EVERY, Meter};

/// The id of a piece that is gone.
pub(super) const GONE: u32 = u32::MAX;

/// Words share their beginnings with others of their block: those that start in the same run of so many characters.
const BLOCK: usize = 8192;

/// Words that stand together, and the edges of their beginnings.
#[derive(Debug)]
pub(super) struct Block {
    /// By place in the corpus.
    pub(super) words: Range<usize>,
    /// By word: characters that it shares with the one before.
    shared: Vec<u32>,
    /// By beginning, in the order of the walk: number of edges.
    degrees: Vec<u16>,
    /// By edge, longer ones first: the piece, and its length.
    pub(super) ids: Vec<u32>,
    pub(super) lens: Vec<u16>,
}

/// What a walk does.
pub(super) trait Visitor {
    /// At the beginning of `depth` characters, where the pieces of `edges` end.
    fn enter(&mut self, depth: usize, edges: Range<usize>);

    /// At the end of a word; `path` has the edges of all its beginnings, from that of one character on.
    fn end_word(&mut self, word: usize, path: &[Range<usize>]);

    /// After all that go on from a beginning.
    fn leave(&mut self, depth: usize, edges: Range<usize>);
}

/// The words of each block.
pub(super) fn blocks(corpus: &Corpus) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let mut first = 0;
    while first < corpus.len() {
        let limit = (corpus.word(first).start / BLOCK + 1) * BLOCK;
        // The next block begins with the first word that starts at the limit or after it.
        let end = (corpus.ends.partition_point(|&end| end < limit) + 1).min(corpus.len());
        blocks.push(first..end);
        first = end;
    }
    blocks
}

impl Block {
    /// The edges of all characters, whose ids are their codes, and of the seeds, whose ids follow.
    pub(super) fn new(corpus: &Corpus, chains: &Chains, words: Range<usize>) -> Self {
        let mut block =
            Self { shared: Vec::new(), degrees: Vec::new(), ids: Vec::new(), lens: Vec::new(), words };
        let characters = corpus.alphabet.len() as u32;
        // Edges by the beginning where they end, counted from the first that is not shared.
        let mut ending: Vec<Vec<(u32, u16)>> = Vec::new();
        let mut before: &[u32] = &[];
        for index in block.words.clone() {
            let word = corpus.word(index);
            let codes = &corpus.codes[word.clone()];
            let shared = codes.iter().zip(before).take_while(|(code, before)| code == before).count();
            let own = codes.len() - shared;
            if ending.len() < own {
                ending.resize_with(own, Vec::new);
            }
            for (start, &code) in codes.iter().enumerate().skip((shared + 1).saturating_sub(chains.longest()))
            {
                for (seed, len) in chains.at(word.start + start) {
                    let end = start + usize::from(len);
                    if end <= shared {
                        break;
                    }
                    ending[end - shared - 1].push((characters + seed, len));
                }
                if start >= shared {
                    ending[start - shared].push((code, 1));
                }
            }
            block.shared.push(shared as u32);
            for edges in &mut ending[..own] {
                block.degrees.push(edges.len() as u16);
                block.ids.extend(edges.iter().map(|&(id, _)| id));
                block.lens.extend(edges.drain(..).map(|(_, len)| len));
            }
            before = codes;
        }
        block
    }

    /// Renames pieces and drops the edges of those that are [`GONE`].
    pub(super) fn rename(&mut self, new_ids: &[u32]) {
        let (mut kept, mut edge) = (0, 0);
        for degree in &mut self.degrees {
            let (end, first) = (edge + usize::from(*degree), kept);
            for edge in edge..end {
                let id = new_ids[self.ids[edge] as usize];
                // Written where nothing is needed any more, and written over unless it stays.
                (self.ids[kept], self.lens[kept]) = (id, self.lens[edge]);
                kept += usize::from(id != GONE);
            }
            *degree = (kept - first) as u16;
            edge = end;
        }
        self.ids.truncate(kept);
        self.lens.truncate(kept);
    }

    /// Visits all beginnings in descending order of the words, for as long as the result is wanted.
    pub(super) fn walk(&self, corpus: &Corpus, meter: &Meter, visitor: &mut impl Visitor) -> bool {
        let mut path = Vec::new();
        let mut degrees = self.degrees.iter();
        let (mut edge, mut done) = (0, 0);
        for (index, &shared) in self.words.clone().zip(&self.shared) {
            let length = corpus.word(index).len();
            leave(visitor, &mut path, shared as usize);
            for (depth, &degree) in (shared as usize + 1..=length).zip(degrees.by_ref()) {
                let edges = edge..edge + usize::from(degree);
                edge = edges.end;
                visitor.enter(depth, edges.clone());
                path.push(edges);
            }
            visitor.end_word(index, &path);
            done += length;
            if done >= METER_EVERY && !meter.add(std::mem::take(&mut done)) {
                return false;
            }
        }
        leave(visitor, &mut path, 0);
        meter.add(done)
    }
}

/// Leaves all beginnings that are longer than `depth`.
#[inline]
fn leave(visitor: &mut impl Visitor, path: &mut Vec<Range<usize>>, depth: usize) {
    while path.len() > depth {
        let longest = path.len();
        let Some(edges) = path.pop() else { return };
        visitor.leave(longest, edges);
    }
}
