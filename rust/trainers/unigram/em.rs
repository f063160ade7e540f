//! Expectation maximization and pruning (Kudo 2018, section 3.2).
//!
//! Threads take blocks of words from a shared queue and add to sums of their own. The sums are integers, so the result does
//! not depend on which thread took which block.

use std::cmp::Ordering;
use std::sync::{Mutex, PoisonError};

use super::chains::{Chains, by_place};
use super::corpus::Corpus;
use super::lattice::{Block, GONE, blocks};
use super::nearest;
use super::passes::{Alternatives, Expectation, Usage, scaled};
use super::seeds::{Seed, Suffixes};
use crate::Result;
use crate::structures::parallel::OnProgress;
use crate::structures::parallel::{Meter, run_parts};
use crate::structures::parallel::{both, sort_in_runs};

/// Start and length of a piece's first occurrence; `None` for a character that no word holds.
type Place = Option<(usize, u16)>;

/// The part that a piece has in the training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// A piece of the model that is continued: keeps its score, and stays.
    Known,
    /// A new character or an initial token: stays.
    Fixed,
    /// Any other new piece.
    Candidate,
}

/// Pieces of the model that is continued, with the scores that estimation takes for theirs.
#[derive(Debug, Default)]
pub(super) struct Base {
    /// By code; `None` for new characters. May be shorter than the alphabet.
    pub(super) characters: Vec<Option<f64>>,
    /// The scores of the first seeds.
    pub(super) seeds: Vec<f64>,
    /// How many of the first seeds are initial tokens; 0 if `seeds` has any.
    pub(super) required: usize,
}

/// The pieces with their scores, and the lattice of all words.
pub(super) struct Pieces<'a> {
    pub(super) corpus: &'a Corpus,
    lattice: Vec<Block>,
    /// By id. Characters come first; their ids are their codes.
    places: Vec<Place>,
    /// The ids of all other pieces, sorted by their places.
    by_place: Vec<u32>,
    pub(super) scores: Vec<f64>,
    /// By id.
    roles: Vec<Role>,
    /// New ids by old ids, which have not been applied to the lattice yet.
    renamed: Option<Vec<u32>>,
    /// Expected counts are integers in fixed point: multiples of one divided by this power of two. It is chosen so that the
    /// counts of all characters together stay below 2^62; sums of integers are the same in any order.
    pub(super) precision: f64,
    threads: usize,
}

impl<'a> Pieces<'a> {
    /// Characters and seeds, scored by their counts and lengths, apart from pieces of `base`.
    pub(super) fn new(
        corpus: &'a Corpus,
        suffixes: &Suffixes,
        seeds: &[Seed],
        base: &Base,
        threads: usize,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Self> {
        let each = threads.div_ceil(2);
        let (chains, (places, by_place)) =
            both(threads, || Chains::new(suffixes, seeds, each), || places(corpus, suffixes, seeds, each));
        let lattice = lattice(corpus, &chains, threads, on_progress)?;
        let characters = corpus.char_counts.iter().map(|&count| (u128::from(count.max(1)), Role::Fixed));
        let of_base = base.characters.iter().copied().chain(std::iter::repeat(None));
        let role_of_seed = |place: usize| if place < base.required { Role::Fixed } else { Role::Candidate };
        let seeds = seeds
            .iter()
            .enumerate()
            .map(|(place, seed)| (u128::from(seed.count.max(1)) * u128::from(seed.len), role_of_seed(place)));
        let of_base = of_base.take(corpus.alphabet.len()).chain(base.seeds.iter().copied().map(Some));
        let of_base = of_base.chain(std::iter::repeat(None));
        let weights: Vec<(u128, Role, Option<f64>)> = characters
            .chain(seeds)
            .zip(of_base)
            .map(|((weight, role), known)| (weight, role, known))
            .collect();
        let new = weights.iter().filter(|(.., known)| known.is_none());
        let total = nearest(new.map(|&(weight, ..)| weight).sum());
        let score = |&(weight, _, known): &(u128, Role, Option<f64>)| {
            known.unwrap_or_else(|| (nearest(weight) / total).ln())
        };
        let scores = weights.iter().map(score).collect();
        let role = |&(_, role, known): &(u128, Role, Option<f64>)| known.map_or(role, |_| Role::Known);
        let roles = weights.iter().map(role).collect();
        let of_word = |index| u128::from(corpus.counts[index]) * corpus.word(index).len() as u128;
        let bits = u128::BITS - (0..corpus.len()).map(of_word).sum::<u128>().leading_zeros();
        let precision = scaled(1.0, 40.min(62 - bits as i32));
        Ok(Self { corpus, lattice, places, by_place, scores, roles, renamed: None, precision, threads })
    }

    /// Number of new pieces.
    pub(super) fn len(&self) -> usize {
        self.roles.iter().filter(|&&role| role != Role::Known).count()
    }

    /// Number of new characters and initial tokens.
    pub(super) fn fixed_pieces(&self) -> usize {
        self.roles.iter().filter(|&&role| role == Role::Fixed).count()
    }

    /// One round of expectation maximization.
    pub(super) fn improve(&mut self, on_progress: &mut OnProgress<'_>) -> Result<()> {
        let expected = self.expect(on_progress)?;
        // A piece with an expected count below one half is removed; a character or an initial token counts at least one half.
        let least = ((0.5 * self.precision) as u64).max(1);
        let mut new_ids = vec![GONE; expected.len()];
        let mut kept = Vec::with_capacity(expected.len());
        for (id, (&count, &role)) in expected.iter().zip(&self.roles).enumerate() {
            if count >= least || role != Role::Candidate {
                new_ids[id] = kept.len() as u32;
                kept.push(match role {
                    Role::Known => (count, Some(self.scores[id])),
                    Role::Fixed | Role::Candidate => (count.max(least), None),
                });
            }
        }
        let times = |count: u128| nearest(count) / self.precision;
        let log_total = digamma(times(kept.iter().map(|&(count, _)| u128::from(count)).sum()));
        let score = |(count, known): (u64, Option<f64>)| {
            known.unwrap_or_else(|| digamma(times(u128::from(count))) - log_total)
        };
        self.scores = kept.into_iter().map(score).collect();
        self.rename(new_ids);
        Ok(())
    }

    /// The expected count of each piece over all segmentations, times `precision`.
    pub(super) fn expect(&mut self, on_progress: &mut OnProgress<'_>) -> Result<Vec<u64>> {
        let likelihoods: Vec<f64> = self.scores.iter().map(|score| score.exp()).collect();
        let (corpus, precision) = (self.corpus, self.precision);
        let parts =
            self.over_blocks("estimate", on_progress, likelihoods.len(), |block, expected, meter| {
                let mut expectation =
                    Expectation::new(block, &corpus.counts, &likelihoods, precision, expected);
                block.walk(corpus, meter, &mut expectation)
            })?;
        Ok(added(parts))
    }

    /// Keeps the new pieces that always stay and the others whose removal would lower the likelihood most: at most `n` of both, but always
    /// the former. Keeps all pieces that are not new.
    ///
    /// A piece is always removed if it is not its own best segmentation, or if no word's best segmentation uses it.
    pub(super) fn prune(&mut self, n: usize, on_progress: &mut OnProgress<'_>) -> Result<()> {
        let scores = std::mem::take(&mut self.scores);
        let corpus = self.corpus;
        let parts = self.over_blocks("prune", on_progress, scores.len(), |block, used, meter| {
            block.walk(corpus, meter, &mut Usage::new(block, &corpus.counts, &scores, used))
        })?;
        self.scores = scores;
        let mut losses = self.losses(&added(parts), on_progress)?;
        losses.retain(|&(_, id)| self.roles[id] == Role::Candidate);
        sort_in_runs(&mut losses, self.threads, |left, right| {
            right.0.total_cmp(&left.0).then(left.1.cmp(&right.1))
        });
        losses.truncate(n.saturating_sub(self.fixed_pieces()));
        let mut is_kept: Vec<bool> = self.roles.iter().map(|&role| role != Role::Candidate).collect();
        for &(_, id) in &losses {
            is_kept[id] = true;
        }
        self.keep(&is_kept);
        Ok(())
    }

    /// Removes the pieces that are not kept.
    pub(super) fn keep(&mut self, is_kept: &[bool]) {
        let mut new_ids = vec![GONE; is_kept.len()];
        let kept: Vec<usize> = (0..is_kept.len()).filter(|&id| is_kept[id]).collect();
        for (new, &id) in (0u32..).zip(&kept) {
            new_ids[id] = new;
        }
        self.scores = kept.iter().map(|&id| self.scores[id]).collect();
        self.rename(new_ids);
    }

    /// For each piece that is its own best segmentation: by how much the log likelihood falls without it, and its id.
    fn losses(&mut self, used: &[u64], on_progress: &mut OnProgress<'_>) -> Result<Vec<(f64, usize)>> {
        let total: u128 = used.iter().map(|&count| u128::from(count)).sum();
        let is_used = |id: u32| used[id as usize] > 0;
        let loss = |id: u32, others: &[u32]| (loss_without(id, others, used, total), id as usize);
        self.with_alternatives(is_used, loss, on_progress)
    }

    /// The results of `each` for the pieces of several characters that are wanted and are their own best segmentation; `each` gets the
    /// id and the pieces of the best other segmentation, from right to left.
    pub(super) fn with_alternatives<T: Clone + Send>(
        &self,
        is_wanted: impl Fn(u32) -> bool,
        each: impl Fn(u32, &[u32]) -> T + Sync,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Vec<T>> {
        let placed = |&id: &u32| self.places[id as usize].map(|(start, len)| (id, start, len));
        let wanted = self.by_place.iter().filter(|&&id| is_wanted(id));
        let places: Vec<(u32, usize, u16)> = wanted.filter_map(placed).collect();
        let (corpus, scores, blocks) = (self.corpus, &self.scores, Mutex::new(self.lattice.iter()));
        let parts = vec![(); self.threads.max(1)];
        let parts = run_parts("prune", corpus.codes.len() as u64, parts, on_progress, |(), meter| {
            let mut results = Vec::new();
            while let Some(block) = next(&blocks) {
                let start = corpus.word(block.words.start).start;
                let end = corpus.word(block.words.end - 1).end;
                let places = &places[places.partition_point(|place| place.1 < start)..];
                let places = &places[..places.partition_point(|place| place.1 < end)];
                let each = |id: u32, others: &[u32]| results.push(each(id, others));
                let mut alternatives = Alternatives::new(block, corpus, scores, places, each);
                if !block.walk(corpus, meter, &mut alternatives) {
                    break;
                }
            }
            results
        })?;
        Ok(parts.concat())
    }

    /// Renames pieces by old id; the lattice is renamed on the next pass.
    fn rename(&mut self, new_ids: Vec<u32>) {
        fn keep<T>(items: &mut Vec<T>, new_ids: &[u32]) {
            let mut new_ids = new_ids.iter();
            items.retain(|_| new_ids.next().is_some_and(|&id| id != GONE));
        }
        keep(&mut self.places, &new_ids);
        keep(&mut self.roles, &new_ids);
        self.by_place.retain_mut(|id| {
            *id = new_ids[*id as usize];
            *id != GONE
        });
        self.renamed = Some(new_ids);
    }

    /// The characters, the initial tokens and the best other pieces, `n` in all, by descending score, equal scores by code points.
    pub(super) fn finish(self, n: usize) -> Vec<(String, f64)> {
        let fixed = self.fixed_pieces();
        best(self.texts(), fixed, n)
    }

    /// The new pieces with their scores, by id: characters first.
    pub(super) fn texts(&self) -> Vec<(String, f64)> {
        let text = |id: usize| match (self.corpus.alphabet.get(id), self.places[id]) {
            (Some(c), _) => c.to_string(),
            (None, Some((start, len))) => {
                self.corpus.text(&self.corpus.codes[start..start + usize::from(len)])
            }
            (None, None) => String::new(),
        };
        let new = (0..self.scores.len()).filter(|&id| self.roles[id] != Role::Known);
        new.map(|id| (text(id), self.scores[id])).collect()
    }

    /// Runs `work` on all blocks, until it returns false; each thread has its own sums, one for each piece.
    fn over_blocks(
        &mut self,
        stage: &'static str,
        on_progress: &mut OnProgress<'_>,
        pieces: usize,
        work: impl Fn(&Block, &mut [u64], &Meter) -> bool + Sync,
    ) -> Result<Vec<Vec<u64>>> {
        let renamed = self.renamed.take();
        let blocks = Mutex::new(self.lattice.iter_mut());
        let parts = vec![(); self.threads.max(1)];
        run_parts(stage, self.corpus.codes.len() as u64, parts, on_progress, |(), meter| {
            let mut sums = vec![0; pieces];
            while let Some(block) = next(&blocks) {
                if let Some(new_ids) = &renamed {
                    block.rename(new_ids);
                }
                if !work(block, &mut sums, meter) {
                    break;
                }
            }
            sums
        })
    }
}

/// The order of the results: higher scores first, equal scores by code points.
pub(super) fn by_score(left: &(String, f64), right: &(String, f64)) -> Ordering {
    right.1.total_cmp(&left.1).then_with(|| left.0.cmp(&right.0))
}

/// The first `fixed` pieces and the best others, `n` in all, by descending score, equal scores by code points.
pub(super) fn best(mut pieces: Vec<(String, f64)>, fixed: usize, n: usize) -> Vec<(String, f64)> {
    pieces[fixed..].sort_unstable_by(by_score);
    pieces.truncate(n.max(fixed));
    pieces.sort_unstable_by(by_score);
    pieces
}

/// The places of characters and seeds by id, and the ids of the seeds by place.
fn places(corpus: &Corpus, suffixes: &Suffixes, seeds: &[Seed], threads: usize) -> (Vec<Place>, Vec<u32>) {
    let mut places: Vec<Place> = vec![None; corpus.alphabet.len()];
    for (at, &code) in corpus.codes.iter().enumerate().rev() {
        places[code as usize] = Some((at, 1));
    }
    let of_seeds = seeds.iter().map(|seed| (suffixes.position(seed.first), seed.len));
    let numbered = of_seeds.clone().zip(places.len() as u32..).map(|((start, len), id)| (start, len, id));
    let by_place = by_place(numbered, threads).map(|(.., id)| id).collect();
    places.extend(of_seeds.map(Some));
    (places, by_place)
}

/// Builds the blocks, with the edges of all characters and seeds.
fn lattice(
    corpus: &Corpus,
    chains: &Chains,
    threads: usize,
    on_progress: &mut OnProgress<'_>,
) -> Result<Vec<Block>> {
    let blocks = Mutex::new(blocks(corpus).into_iter());
    let parts = vec![(); threads.max(1)];
    let built = run_parts("find places", corpus.codes.len() as u64, parts, on_progress, |(), meter| {
        let mut built = Vec::new();
        while let Some(words) = next(&blocks) {
            let characters = words.clone().map(|index| corpus.word(index).len()).sum();
            built.push(Block::new(corpus, chains, words));
            if !meter.add(characters) {
                break;
            }
        }
        built
    })?;
    let mut lattice: Vec<Block> = built.into_iter().flatten().collect();
    lattice.sort_unstable_by_key(|block| block.words.start);
    Ok(lattice)
}

/// Takes the next item from a queue that threads share.
fn next<T>(items: &Mutex<impl Iterator<Item = T>>) -> Option<T> {
    items.lock().unwrap_or_else(PoisonError::into_inner).next()
}

/// By how much the log likelihood falls if `others`, given from right to left, replace a piece.
fn loss_without(id: u32, others: &[u32], used: &[u64], total: u128) -> f64 {
    let count = u128::from(used[id as usize]);
    let log_total = nearest(total + count * (others.len() as u128).saturating_sub(1)).ln();
    let mut score = 0.0;
    for &other in others.iter().rev() {
        score += nearest(u128::from(used[other as usize]) + count).ln() - log_total;
    }
    let (count, total) = (nearest(count), nearest(total));
    count / total * (count.ln() - total.ln() - score)
}

/// Sums of several vectors, item by item.
fn added<T: Copy + std::ops::AddAssign>(parts: Vec<Vec<T>>) -> Vec<T> {
    let mut parts = parts.into_iter();
    let mut sums = parts.next().unwrap_or_default();
    for part in parts {
        sums.iter_mut().zip(part).for_each(|(sum, more)| *sum += more);
    }
    sums
}

/// Digamma, the derivative of log(gamma(x)), for positive x, to 10 digits (Bernardo 1976).
fn digamma(mut x: f64) -> f64 {
    let mut result = 0.0;
    while x < 7.0 {
        result -= 1.0 / x;
        x += 1.0;
    }
    x -= 0.5;
    let inverse_square = 1.0 / (x * x);
    let fourth = inverse_square * inverse_square;
    result += x.ln() + inverse_square / 24.0 - 7.0 / 960.0 * fourth;
    result + 31.0 / 8064.0 * fourth * inverse_square - 127.0 / 30720.0 * fourth * fourth
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digamma_has_its_known_values() {
        // At 1 it is the negative of Euler's constant, and from x to x + 1 it grows by 1 / x.
        assert!((digamma(1.0) + 0.577_215_664_901_532_9).abs() < 1e-10);
        assert!((digamma(8.5) - digamma(7.5) - 1.0 / 7.5).abs() < 1e-10);
    }
}
