//! Words cut by the merges of a base.
//!
//! A merge joins the last symbol of its left token to the first symbol of its right token. If no merge has two symbols in these places,
//! nothing is ever joined across the border between them. So a word falls into fragments at such borders, and each fragment is merged
//! by itself. The phrases of superwords seldom come twice, but their fragments are the words of the first phase, which do: a cache has
//! the tokens of fragments.

use super::symbols::Symbols;
use super::token_words::{char_of, id_of, too_large};
use crate::Result;
use crate::cache::{CacheLimits, ChunkCache, ChunkKind, Lookup};
use crate::models;
use crate::models::bpe::{Bpe, Scratch};

/// The largest useful cache of one thread, in bytes.
pub const MOST_CACHE: usize = 32 << 20;

/// Bytes of the longest word whose fragments the cache can number.
const LONGEST: usize = 1 << 30;

/// Bits in the set of crossed borders.
const BITS: u32 = 20;

/// The pairs of symbols between which a merge of the base may join. A collision in the set hides a border and does no other harm.
pub(super) struct Borders {
    crossed: Vec<u64>,
}

impl Borders {
    /// None if the base has affixes, which give a character several symbols, or a merge whose token is not its two halves.
    pub(super) fn new(base: &Bpe, symbols: &Symbols<'_>) -> Option<Self> {
        if symbols.have_affixes() {
            return None;
        }
        let mut crossed = vec![0; (1 << BITS) / 64];
        let vocab = base.vocab();
        for (&(left, right), (_, made)) in base.merges().iter().zip(base.made_ids()) {
            let (left, right) = (vocab.token(left)?, vocab.token(right)?);
            if vocab.token(made)?.strip_prefix(left) != Some(right) {
                return None;
            }
            // A character without a symbol is in no word, and so are the tokens that hold it.
            let symbol = |character: Option<char>| character.and_then(|character| symbols.plain(character));
            if let (Some(left), Some(right)) =
                (symbol(left.chars().next_back()), symbol(right.chars().next()))
            {
                let (word, bit) = place(left, right);
                crossed[word] |= bit;
            }
        }
        Some(Self { crossed })
    }

    #[inline]
    fn are_crossed(&self, left: u32, right: u32) -> bool {
        let (word, bit) = place(left, right);
        self.crossed[word] & bit != 0
    }
}

#[inline]
fn place(left: u32, right: u32) -> (usize, u64) {
    let hash = (u64::from(left) << 32 | u64::from(right)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - BITS);
    (hash as usize / 64, 1 << (hash % 64))
}

/// Words as token words of a base, for a trainer without affixes.
pub struct TokenWords<'a> {
    base: &'a Bpe,
    symbols: Symbols<'static>,
    borders: Option<Borders>,
}

impl<'a> TokenWords<'a> {
    /// The characters that are tokens of the base are its symbols; words have no others.
    pub fn new(base: &'a Bpe) -> Self {
        let symbols = Symbols::of_tokens(base.vocab());
        let borders = Borders::new(base, &symbols);
        Self { base, symbols, borders }
    }

    /// A function that puts the token word of a text in the place of its second argument, for one thread, with a cache of `cache` bytes.
    pub fn writer(&self, cache: usize) -> impl FnMut(&str, &mut String) -> Result<()> + '_ {
        let mut segmenter = Segmenter::new(self.base, self.borders.as_ref(), cache);
        move |text, word| write(segmenter.of_word(&self.symbols, text)?, word)
    }
}

/// A function that applies the merges of `merges` to a token word, and puts the result in the place of its second argument, for one thread.
pub fn merged_writer(merges: &Bpe) -> impl FnMut(&str, &mut String) -> Result<()> + '_ {
    let mut merger = Merger { base: merges, scratch: Scratch::default(), tokens: models::Tokens::default() };
    move |word, merged| write(merger.merge(word.chars().map(id_of)).iter().copied(), merged)
}

/// Puts the token word of `ids` in the place of `word`.
fn write(ids: impl Iterator<Item = u32>, word: &mut String) -> Result<()> {
    word.clear();
    for id in ids {
        word.push(char_of(id).ok_or_else(|| too_large(id))?);
    }
    Ok(())
}

/// Applies the merges of a base to words.
pub(super) struct Segmenter<'a> {
    borders: Option<&'a Borders>,
    merger: Merger<'a>,
    cache: ChunkCache,
    lookups: Vec<Lookup>,
    tokens: Vec<u32>,
}

impl<'a> Segmenter<'a> {
    /// Without `borders`, each word is merged as a whole. `cache` is the size of the cache in bytes.
    pub(super) fn new(base: &'a Bpe, borders: Option<&'a Borders>, cache: usize) -> Self {
        let merger = Merger { base, scratch: Scratch::default(), tokens: models::Tokens::default() };
        let cache = ChunkCache::new(CacheLimits { bytes: cache, id_bound: base.vocab().id_bound() });
        Self { borders, merger, cache, lookups: Vec::new(), tokens: Vec::new() }
    }

    /// The tokens of a word. A word that the base takes whole has no pair, so it has no tokens here.
    ///
    /// # Errors
    /// The errors of the cache.
    pub(super) fn of_word(
        &mut self,
        symbols: &Symbols<'_>,
        word: &str,
    ) -> Result<impl Iterator<Item = u32> + '_> {
        let Self { borders, merger, cache, lookups, tokens } = self;
        tokens.clear();
        let is_whole = merger.base.options().ignore_merges && merger.base.vocab().id(word).is_some();
        match borders.filter(|_| word.len() <= LONGEST && !word.is_empty()) {
            _ if is_whole => {}
            None => tokens.extend_from_slice(merger.merge(symbols.of_word(word))),
            Some(borders) => {
                // All lookups are under way before the first is needed.
                let (bytes, mut start, mut last) = (word.as_bytes(), 0, None);
                lookups.clear();
                for (at, symbol) in symbols.of_places(word).filter_map(|(at, symbol)| Some((at, symbol?))) {
                    if last.is_some_and(|last| !borders.are_crossed(last, symbol)) {
                        lookups.push(cache.prefetch(bytes, start, at, 0, ChunkKind::Chunk));
                        start = at;
                    }
                    last = Some(symbol);
                }
                lookups.push(cache.prefetch(bytes, start, bytes.len(), 0, ChunkKind::Chunk));
                for &lookup in &*lookups {
                    let fragment = cache.resolve(lookup, bytes, |fragment, missed| {
                        missed.ids.extend_from_slice(merger.merge(symbols.of_word(&word[fragment])));
                        Ok(())
                    })?;
                    tokens.extend_from_slice(fragment.ids);
                }
            }
        }
        Ok(tokens.iter().copied())
    }
}

/// Merges symbols.
struct Merger<'a> {
    base: &'a Bpe,
    scratch: Scratch,
    tokens: models::Tokens,
}

impl Merger<'_> {
    fn merge(&mut self, symbols: impl Iterator<Item = u32>) -> &[u32] {
        self.base.merge_symbols(symbols, &mut self.scratch, &mut self.tokens);
        &self.tokens.ids
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::BpeTrainer;
    use super::super::symbols::Alphabet;
    use super::super::tokens::Tokens;
    use super::*;
    use crate::models::bpe::BpeOptions;
    use crate::testing::cases;
    use crate::vocab::Vocab;

    proptest! {
        #![proptest_config(cases(3000))]

        #[test]
        fn fragments_match_naive(
            splits in prop::collection::vec(("[abc ]{1,3}", "[abc ]{1,2}"), 0..8),
            words in prop::collection::vec("[abcde ]{0,12}|( ?[abce]{1,4}){0,30}", 1..9),
            ignore_merges in any::<bool>(),
        ) {
            let mut vocab = Vocab::from_tokens([" ", "a", "b", "c", "d"]);
            for token in splits.iter().flat_map(|(left, right)| [left.clone(), right.clone(), format!("{left}{right}")]) {
                if vocab.id(&token).is_none() {
                    vocab.insert(&token, vocab.len() as u32);
                }
            }
            let mut tokens = Tokens::default();
            vocab.sorted_by_id().iter().for_each(|(token, _)| {
                tokens.intern(token);
            });
            let merges: Vec<(&str, &str)> = splits.iter().map(|(left, right)| (left.as_str(), right.as_str())).collect();
            let base = Bpe::new(vocab, &merges, BpeOptions { ignore_merges, ..BpeOptions::default() }).expect("all tokens are there");
            // No token is the character `e`, so it has no symbol.
            let present = vec![' ', 'a', 'b', 'c', 'd', 'e'];
            let trainer = BpeTrainer::default();
            let mut symbols = Symbols::of(&trainer);
            symbols.add_alphabet(&Alphabet { present, kept: Vec::new() }, &[], &mut tokens).expect("no words");
            let borders = Borders::new(&base, &symbols).expect("no affixes");
            let new = |borders| Segmenter::new(&base, borders, MOST_CACHE);
            let (mut fast, mut naive) = (new(Some(&borders)), new(None));
            // Twice, so that fragments are remembered.
            for word in words.iter().chain(&words) {
                let fast: Vec<u32> = fast.of_word(&symbols, word).expect("merging does not fail").collect();
                let naive: Vec<u32> = naive.of_word(&symbols, word).expect("merging does not fail").collect();
                prop_assert_eq!(fast, naive, "{:?}", word);
            }
        }
    }
}
