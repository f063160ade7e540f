//! Replacement: tokens that no word of a continued training uses give their ids to new tokens.
//!
//! 1. The words are encoded, and the tokens found are *used*. Used tokens and their parts stay, and so do characters and the tokens that the
//!    stages name. All others are unused, in an order in which each token goes before its parts.
//! 2. Training is the training without replacement, with room for as many more tokens. No word has an unused token, so no new merge needs one.
//! 3. The first new tokens take the ids of unused ones. Merges of a token that has gone go with it.
//!
//! `docs/algorithms/continued-training.md` has the rules and the proof that the words keep their tokens.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::continued::PresentTokens;
use super::word_counts::WordSource;
use crate::Result;
use crate::models::bpe::Bpe;
use crate::models::piece_kind::PieceKind;
use crate::models::unigram::Unigram;
use crate::models::wordlevel::WordLevel;
use crate::models::wordpiece::WordPiece;
use crate::models::{Model, Scratch, Tokens};
use crate::structures::parallel::{METER_EVERY, OnProgress, run_parts};
use crate::vocab::Vocab;

const STAGE: &str = "find used tokens";

/// The highest rank of a token that no merge makes.
const NOT_MADE: u32 = u32::MAX;

/// The tokens that the model gives to the words; `model` must not sample. Words that it cannot encode have none.
pub(super) fn used_tokens(
    model: &Model,
    words: &dyn WordSource,
    threads: usize,
    on_progress: &mut OnProgress<'_>,
) -> Result<HashSet<u32>> {
    let found =
        run_parts(STAGE, words.byte_len() as u64, words.parts(threads), on_progress, |part, meter| {
            let (mut used, mut bytes) = (HashSet::new(), 0);
            let (mut scratch, mut tokens) = (Scratch::default(), Tokens::default());
            words.read(part, &mut |word, _| {
                tokens.clear();
                if model.encode_word(word, &mut scratch, &mut tokens).is_ok() {
                    used.extend(tokens.ids.iter().copied());
                }
                bytes += word.len();
                Ok(bytes < METER_EVERY || meter.add(std::mem::take(&mut bytes)))
            })?;
            Ok(used)
        })?;
    found.into_iter().try_fold(HashSet::new(), |mut all, part: Result<HashSet<u32>>| {
        all.extend(part?);
        Ok(all)
    })
}

/// The unused tokens in the order in which they go; `named` are ids that other stages name.
///
/// * BPE: by the highest rank of the merges that make the token, from the last one down, tokens that no merge makes first; of equals the
///   longer token, then the larger id.
/// * Unigram: by score, from the lowest up; of equals the larger id.
/// * `WordPiece` and word level: from the largest id down.
pub(super) fn unused_tokens(
    model: &Model,
    present: &PresentTokens,
    named: &HashSet<u32>,
    used: HashSet<u32>,
) -> Vec<u32> {
    let vocab = model.vocab();
    let mut kept = used;
    kept.extend(named);
    kept.extend(always_kept(model));
    kept.extend(vocab.iter().filter(|(token, _)| present.is_added(token)).map(|(_, id)| id));
    let merges = match model {
        Model::Bpe(bpe) => Merges::of(bpe),
        Model::Unigram(_) | Model::WordPiece(_) | Model::WordLevel(_) => Merges::default(),
    };
    let mut stack: Vec<u32> = vocab.iter().map(|(_, id)| id).filter(|id| kept.contains(id)).collect();
    while let Some(id) = stack.pop() {
        stack.extend(merges.parts(id).filter(|&part| kept.insert(part)));
    }
    let mut unused: Vec<u32> = vocab.iter().map(|(_, id)| id).filter(|id| !kept.contains(id)).collect();
    match model {
        Model::Bpe(_) => unused.sort_by_key(|&id| Reverse((merges.rank(id), merges.length(id), id))),
        Model::Unigram(unigram) => {
            let scores: Vec<f64> = unigram.pieces().map(|(_, score)| score).collect();
            let score = |id: u32| scores[id as usize];
            unused.sort_by(|&one, &other| score(one).total_cmp(&score(other)).then(other.cmp(&one)));
        }
        Model::WordPiece(_) | Model::WordLevel(_) => unused.sort_by_key(|&id| Reverse(id)),
    }
    unused
}

/// Tokens that stay even if they are unused: characters, bytes, the unknown token, special pieces and the least likely piece, and
/// tokens that share an id or have two.
fn always_kept(model: &Model) -> Vec<u32> {
    let vocab = model.vocab();
    let [prefix, suffix] = match model {
        Model::Bpe(bpe) => bpe.options().affixes(),
        Model::WordPiece(wordpiece) => [wordpiece.options().continuing_subword_prefix.as_str(), ""],
        Model::Unigram(_) | Model::WordLevel(_) => [""; 2],
    };
    let (unknown, has_bytes) = match model {
        Model::Bpe(bpe) => {
            let unknown = bpe.options().unk_token.as_deref();
            (unknown.and_then(|token| vocab.id(token)), bpe.options().byte_fallback)
        }
        Model::Unigram(unigram) => (unigram.options().unk_id, unigram.options().byte_fallback),
        Model::WordPiece(wordpiece) => (vocab.id(&wordpiece.options().unk_token), false),
        Model::WordLevel(words) => (vocab.id(words.unk_token()), false),
    };
    let mut kept: Vec<u32> = unknown.into_iter().collect();
    if has_bytes {
        kept.extend(super::byte_pieces().iter().filter_map(|piece| vocab.id(piece)));
    }
    for (token, id) in vocab.iter() {
        let is_character =
            !matches!(model, Model::WordLevel(_)) && bare(token, prefix, suffix).chars().nth(1).is_none();
        if is_character || vocab.token(id) != Some(token) {
            kept.push(id);
        }
        if vocab.id(token) != Some(id) {
            kept.extend([id].into_iter().chain(vocab.id(token)));
        }
    }
    if let Model::Unigram(unigram) = model {
        let kind = |id: u32| unigram.kinds().map_or(PieceKind::Normal, |kinds| kinds[id as usize]);
        let scored = (0..).zip(unigram.pieces()).map(|(id, (_, score))| (id, score));
        let (normal, special): (Vec<_>, Vec<_>) = scored.partition(|&(id, _)| kind(id) == PieceKind::Normal);
        kept.extend(special.into_iter().map(|(id, _)| id));
        // The score of unknown characters derives from the lowest one.
        kept.extend(normal.into_iter().min_by(|one, other| one.1.total_cmp(&other.1)).map(|(id, _)| id));
    }
    kept
}

fn bare<'a>(token: &'a str, prefix: &str, suffix: &str) -> &'a str {
    let token = token.strip_prefix(prefix).unwrap_or(token);
    token.strip_suffix(suffix).unwrap_or(token)
}

/// The merges that tokens need, by the token that they make.
#[derive(Default)]
struct Merges {
    /// Token, left part and right part, by token.
    sorted: Vec<[u32; 3]>,
    ranks: HashMap<u32, u32>,
    /// Characters of each token, affixes apart.
    lengths: HashMap<u32, usize>,
}

impl Merges {
    /// The last merge of each token; all merges if the text around a token may change the merges inside it.
    fn of(bpe: &Bpe) -> Self {
        let [prefix, suffix] = bpe.options().affixes();
        let vocab = bpe.vocab();
        let lengths: HashMap<u32, usize> =
            vocab.iter().map(|(token, id)| (id, bare(token, prefix, suffix).chars().count())).collect();
        // With affixes, a token may have other parts at the end of a word than inside.
        let last = bpe.last_merges().filter(|_| prefix.is_empty() && suffix.is_empty());
        let mut ranked: Vec<([u32; 3], u32)> = if let Some(last) = last {
            let made = (0..).zip(last).filter_map(|(id, last)| Some((id, last?)));
            made.map(|(id, last)| ([id, last.left, last.right], last.rank)).collect()
        } else {
            let merges = bpe.merges().iter().zip(bpe.made_ids());
            (0..).zip(merges).map(|(rank, (&(left, right), (_, id)))| ([id, left, right], rank)).collect()
        };
        ranked.sort_by_key(|&([id, ..], rank)| (lengths.get(&id).copied(), id, rank));
        let mut ranks: HashMap<u32, u32> = HashMap::new();
        // Parts are shorter than their token, unless one of them is nothing but a prefix.
        for &([id, left, right], rank) in &ranked {
            let of_part = |part: u32| {
                let is_character = lengths.get(&part).is_none_or(|&length| length < 2);
                let rank = ranks.get(&part).copied();
                if part == id || is_character { 0 } else { rank.unwrap_or(NOT_MADE) }
            };
            let highest = rank.max(of_part(left)).max(of_part(right));
            let known = ranks.entry(id).or_insert(highest);
            *known = highest.max(*known);
        }
        let mut sorted: Vec<[u32; 3]> = ranked.into_iter().map(|(merge, _)| merge).collect();
        sorted.sort_unstable();
        Self { sorted, ranks, lengths }
    }

    fn parts(&self, id: u32) -> impl Iterator<Item = u32> + '_ {
        let start = self.sorted.partition_point(|&[made, ..]| made < id);
        let own = self.sorted[start..].iter().take_while(move |&&[made, ..]| made == id);
        own.flat_map(|&[_, left, right]| [left, right])
    }

    /// The highest rank of the merges that make a token.
    fn rank(&self, id: u32) -> u32 {
        self.ranks.get(&id).copied().unwrap_or(NOT_MADE)
    }

    fn length(&self, id: u32) -> usize {
        self.lengths.get(&id).copied().unwrap_or_default()
    }
}

/// The ids of a continued model, once new tokens have taken the ids of old ones.
pub(super) struct Renumbering {
    /// The ids that change their token, ascending.
    gone: Vec<u32>,
    first_new: u32,
}

impl Renumbering {
    /// New tokens, whose ids begin at `first_new`, take the ids of `unused` tokens as far as there are enough of both.
    pub(super) fn new(continued: &Model, first_new: u32, unused: &[u32]) -> Self {
        let new = continued.vocab().iter().filter(|&(_, id)| id >= first_new).count();
        let mut gone = unused[..new.min(unused.len())].to_vec();
        gone.sort_unstable();
        Self { gone, first_new }
    }

    /// The ids that change their token, with the tokens that `model` has there.
    pub(super) fn replaced(&self, model: &Model) -> Vec<(u32, String)> {
        let token = |id: u32| model.vocab().token(id).unwrap_or_default().to_owned();
        self.gone.iter().map(|&id| (id, token(id))).collect()
    }

    /// The id that a token gets; `None` if it has gone.
    fn id(&self, id: u32) -> Option<u32> {
        if id < self.first_new {
            return self.gone.binary_search(&id).is_err().then_some(id);
        }
        let place = (id - self.first_new) as usize;
        Some(self.gone.get(place).copied().unwrap_or(id - self.gone.len() as u32))
    }

    /// The model with these ids.
    pub(super) fn applied(&self, continued: &Model) -> Result<Model> {
        if self.gone.is_empty() {
            return Ok(continued.clone());
        }
        Ok(match continued {
            Model::Bpe(bpe) => Model::Bpe(self.bpe(bpe)?),
            Model::Unigram(unigram) => Model::Unigram(self.unigram(unigram)?),
            Model::WordPiece(wordpiece) => {
                Model::WordPiece(WordPiece::new(self.vocab(wordpiece.vocab()), wordpiece.options().clone()))
            }
            Model::WordLevel(words) => {
                let renumbered = WordLevel::new(self.vocab(words.vocab()), words.unk_token().to_owned());
                Model::WordLevel(renumbered.with_spaced_words(words.spaced_words().cloned()))
            }
        })
    }

    fn vocab(&self, vocab: &Vocab) -> Arc<Vocab> {
        let mut renumbered = Vocab::new();
        for (token, id) in vocab.iter() {
            if let Some(id) = self.id(id) {
                renumbered.list(token, id);
            }
        }
        Arc::new(renumbered)
    }

    fn bpe(&self, bpe: &Bpe) -> Result<Bpe> {
        let merges = bpe.merges().iter().zip(bpe.made_ids());
        let renumbered = merges.filter_map(|(&(left, right), (_, made))| {
            Some(((self.id(left)?, self.id(right)?), self.id(made)?))
        });
        Bpe::from_pairs(self.vocab(bpe.vocab()), &renumbered.collect::<Vec<_>>(), bpe.options().clone())
    }

    fn unigram(&self, unigram: &Unigram) -> Result<Unigram> {
        let mut pieces: Vec<(u32, &str, f64)> = (0..)
            .zip(unigram.pieces())
            .filter_map(|(id, (piece, score))| Some((self.id(id)?, piece, score)))
            .collect();
        pieces.sort_by_key(|&(id, ..)| id);
        let kinds = unigram.kinds().map(|kinds| {
            let moved = (0..).zip(kinds).filter_map(|(id, &kind)| Some((self.id(id)?, kind)));
            let mut kinds: Vec<(u32, PieceKind)> = moved.collect();
            kinds.sort_by_key(|&(id, _)| id);
            kinds.into_iter().map(|(_, kind)| kind).collect()
        });
        let pieces: Vec<(&str, f64)> = pieces.into_iter().map(|(_, piece, score)| (piece, score)).collect();
        Unigram::with_kinds(&pieces, kinds, unigram.options().clone())
    }
}
