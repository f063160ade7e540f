//! The lattice of all words: for each distinct prefix of the words, the pieces that end there.
//!
//! Words are sorted, so words with a common prefix are neighbours, and the edges of a prefix are stored once for all of
//! them. In English the distinct prefixes are a quarter of all positions. A walk is a depth-first traversal: it enters a
//! prefix before the longer ones that begin with it, and leaves it after them.
//!
//! Edges come from the sorted suffixes, so no piece is ever looked up in text; when pieces are removed, so are their edges.
//! Memory: 6 bytes an edge.

use std::ops::Range;

use super::chains::Chains;
use super::corpus::Corpus;
use crate::structures::parallel::{METER_EVERY, Meter};

/// The id of a removed piece.
pub(super) const GONE: u32 = u32::MAX;

/// Size of a block: words share prefixes if they start in the same range of this many characters.
const BLOCK: usize = 8192;

/// Neighbouring words, and the edges of their prefixes.
#[derive(Debug)]
pub(super) struct Block {
    /// The words, as indices in the corpus.
    pub(super) words: Range<usize>,
    /// By word: number of characters shared with the word before.
    shared: Vec<u32>,
    /// By prefix, in the order of the walk: number of edges.
    degrees: Vec<u16>,
    /// By edge, the edges of a prefix in descending order of length: the piece, and its length.
    pub(super) ids: Vec<u32>,
    pub(super) lens: Vec<u16>,
}

/// The callbacks of a walk.
pub(super) trait Visitor {
    /// Called at the prefix of `depth` characters; `edges` are the pieces that end there.
    fn enter(&mut self, depth: usize, edges: Range<usize>);

    /// Called at the end of a word; `path` has the edges of all its prefixes, the shortest first.
    fn end_word(&mut self, word: usize, path: &[Range<usize>]);

    /// Called after all longer prefixes that begin with the prefix of `depth` characters.
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
    /// Builds the edges of all characters, whose ids are their codes, and of the seeds, whose ids follow.
    pub(super) fn new(corpus: &Corpus, chains: &Chains, words: Range<usize>) -> Self {
        let mut block =
            Self { shared: Vec::new(), degrees: Vec::new(), ids: Vec::new(), lens: Vec::new(), words };
        let characters = corpus.alphabet.len() as u32;
        // Edges by the prefix where they end, from the first prefix that the word before does not share.
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

    /// Renames pieces and drops the edges of pieces that are [`GONE`].
    pub(super) fn rename(&mut self, new_ids: &[u32]) {
        let (mut kept, mut edge) = (0, 0);
        for degree in &mut self.degrees {
            let (end, first) = (edge + usize::from(*degree), kept);
            for edge in edge..end {
                let id = new_ids[self.ids[edge] as usize];
                // Every edge is written, and the next edge overwrites a dropped one. The old edge at `kept` has been read already.
                (self.ids[kept], self.lens[kept]) = (id, self.lens[edge]);
                kept += usize::from(id != GONE);
            }
            *degree = (kept - first) as u16;
            edge = end;
        }
        self.ids.truncate(kept);
        self.lens.truncate(kept);
    }

    /// Visits all prefixes in descending order of the words, until the meter stops; returns false if the meter stops.
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

/// Leaves all prefixes that are longer than `depth`.
#[inline]
fn leave(visitor: &mut impl Visitor, path: &mut Vec<Range<usize>>, depth: usize) {
    while path.len() > depth {
        let longest = path.len();
        let Some(edges) = path.pop() else { return };
        visitor.leave(longest, edges);
    }
}
