//! Characters and merges share the places of the vocabulary (`auto_character_coverage`).
//!
//! Merges are learnt as if characters took no places. Then the first merges are kept, with the characters in them, and of the
//! other characters the ones that save most bytes, so that the tokens that the corpus takes are fewest. Text with other characters
//! is spelled as bytes. Source: SentencePiece 0.2.3; `docs/algorithms/bpe-training.md` has the exact definition.

use std::cmp::Reverse;
use std::ops::Range;

use super::TrainedBpe;

/// A character as a candidate for a place.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    id: u32,
    /// Tokens saved in the corpus: its count times its bytes but one.
    gain: u128,
}

/// The places that are shared.
#[derive(Debug)]
pub(super) struct Places {
    /// The ids of the characters; smaller ids are special tokens and byte pieces, larger ones are tokens of merges.
    pub(super) characters: Range<usize>,
    /// Places for characters and merges.
    pub(super) budget: usize,
}

/// The characters chosen after some merges.
struct Choice<'a> {
    trained: &'a TrainedBpe,
    places: &'a Places,
    /// Characters by descending gain.
    ranked: &'a [Candidate],
    /// By token: where its character is in `ranked`.
    ranks: Vec<Option<usize>>,
    /// By token: the merges so far need it, or have made it.
    is_used: Vec<bool>,
    /// Places that the merges so far take, with their characters.
    taken: usize,
    /// The gain of the merges so far and of their characters.
    gain: u128,
    /// Of `ranked`, other characters before this place are chosen.
    end: usize,
    /// The number of other characters chosen, and their gain.
    others: usize,
    gain_of_others: u128,
}

impl<'a> Choice<'a> {
    fn new(trained: &'a TrainedBpe, places: &'a Places, ranked: &'a [Candidate]) -> Self {
        let mut ranks = vec![None; trained.vocab.len()];
        for (rank, candidate) in ranked.iter().enumerate() {
            ranks[candidate.id as usize] = Some(rank);
        }
        let mut choice = Self {
            trained,
            places,
            ranked,
            ranks,
            is_used: vec![false; trained.vocab.len()],
            taken: 0,
            gain: 0,
            end: ranked.len(),
            others: ranked.len(),
            gain_of_others: ranked.iter().map(|candidate| candidate.gain).sum(),
        };
        choice.fit();
        choice
    }

    /// True if the merges so far and their characters fit into the places.
    fn is_possible(&self) -> bool {
        self.taken <= self.places.budget
    }

    /// Gives up the other characters of least gain that do not fit.
    fn fit(&mut self) {
        let free = self.places.budget.saturating_sub(self.taken);
        while self.others > free {
            self.end -= 1;
            let Candidate { id, gain } = self.ranked[self.end];
            if !self.is_used[id as usize] {
                self.others -= 1;
                self.gain_of_others -= gain;
            }
        }
    }

    /// Notes that the merges need a token; characters and new tokens of merges take a place.
    fn need(&mut self, id: u32) {
        if (id as usize) < self.places.characters.start || self.is_used[id as usize] {
            return;
        }
        self.is_used[id as usize] = true;
        self.taken += 1;
        if let Some(rank) = self.ranks[id as usize] {
            let gain = self.ranked[rank].gain;
            self.gain += gain;
            if rank < self.end {
                self.others -= 1;
                self.gain_of_others -= gain;
            }
        }
    }

    /// Adds the next merge, which makes `joined`.
    fn add(&mut self, merge: usize, joined: u32) {
        let (left, right) = self.trained.merges[merge];
        for id in [left, right, joined] {
            self.need(id);
        }
        self.gain += u128::from(self.trained.counts[merge]);
        self.fit();
    }

    /// By token: true if it is kept.
    fn kept(mut self) -> Vec<bool> {
        self.is_used[..self.places.characters.start].fill(true);
        for candidate in &self.ranked[..self.end] {
            self.is_used[candidate.id as usize] = true;
        }
        self.is_used
    }
}

/// Keeps the merges and characters with the greatest gain; of equal gains the most merges.
///
/// `counts` says how often each character occurs, by id.
pub(super) fn prune(trained: &TrainedBpe, places: &Places, counts: &[u64]) -> TrainedBpe {
    let character = |id: usize| {
        let gain = u128::from(counts[id]) * (trained.vocab[id].len() as u128 - 1);
        Candidate { id: id as u32, gain }
    };
    let mut ranked: Vec<Candidate> =
        places.characters.clone().map(character).filter(|candidate| candidate.gain > 0).collect();
    ranked.sort_by_key(|&Candidate { id, gain }| (Reverse(gain), Reverse(counts[id as usize]), id));
    let joined = joined(trained);
    let mut choice = Choice::new(trained, places, &ranked);
    let mut best = (choice.gain + choice.gain_of_others, 0);
    for (merge, &id) in joined.iter().enumerate() {
        choice.add(merge, id);
        if !choice.is_possible() {
            break;
        }
        best = best.max((choice.gain + choice.gain_of_others, merge + 1));
    }
    let mut choice = Choice::new(trained, places, &ranked);
    for (merge, &id) in joined[..best.1].iter().enumerate() {
        choice.add(merge, id);
    }
    renumbered(trained, best.1, &choice.kept())
}

/// By merge: the id of the token that it makes.
fn joined(trained: &TrainedBpe) -> Vec<u32> {
    let ids: std::collections::HashMap<&str, u32> =
        trained.vocab.iter().map(String::as_str).zip(0..).collect();
    let text = |id: u32| trained.vocab[id as usize].as_str();
    let id = |&(left, right): &(u32, u32)| {
        // The trainer has made a token of every merge.
        ids.get([text(left), text(right)].concat().as_str()).copied().unwrap_or(left)
    };
    trained.merges.iter().map(id).collect()
}

/// The first merges and the tokens that are kept, with ids without gaps.
fn renumbered(trained: &TrainedBpe, merges: usize, is_kept: &[bool]) -> TrainedBpe {
    let mut new_ids = Vec::with_capacity(is_kept.len());
    let mut vocab = Vec::new();
    for (text, &is_kept) in trained.vocab.iter().zip(is_kept) {
        new_ids.push(vocab.len() as u32);
        if is_kept {
            vocab.push(text.clone());
        }
    }
    let new = |&(left, right): &(u32, u32)| (new_ids[left as usize], new_ids[right as usize]);
    let counts = trained.counts[..merges].to_vec();
    TrainedBpe { vocab, merges: trained.merges[..merges].iter().map(new).collect(), counts }
}
