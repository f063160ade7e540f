//! The seams of a pre-tokenizer, derived from its stages.
//!
//! A stage *keeps* a place between two characters if its spans of the two texts beside the place are its spans of the whole text, but for a
//! border at the place. It *cuts* the place if there is a border in the whole text too. A place that a stage cuts, and that all earlier
//! stages keep, is a seam: up to that stage the spans are the same, and later stages do not see across the border.
//!
//! An earlier stage may have cut right before the two characters. So every answer must hold after a character and at the start of a text.
//!
//! Where ids alone are wanted, the model makes more seams. A place before a space that all stages keep is a seam too, if the model encodes the
//! text before the place and the text after it as if they were two pre-tokens.
//!
//! For text that a normalizer has not changed yet, stages are asked about images: the rewrites of single characters by the normalizer
//! (`normalizers::compiled::images`).
//!
//! Stages that look at single characters keep every place. The automaton of a pattern tells which places the pattern keeps, after any text
//! ([`Places`]). A stage after a mapping of bytes to characters is asked about the last
//! mapped byte of one character and the first of the next.
//!
//! | file | holds |
//! |---|---|
//! | `groups` | all characters, in groups that no stage tells apart |
//! | `stage` | a stage of the pre-tokenizer |
//! | `search` | the answers of one stage |
//! | `answers` | the answers of all stages together, for each two groups |
//! | `kinds` | groups that share a kind, and rules |
//! | `tokens` | added tokens, kept whole |
//! | `words` | words that no stage cuts |
//! | `weights` | rough frequencies of characters and neighbours |

mod answers;
mod groups;
mod kinds;
mod search;
mod stage;
#[cfg(test)]
pub(super) mod tests;
mod tokens;
mod weights;
mod words;

use super::{Behavior, ByteLevel, PreTokenizer};
use crate::metaspace::{Metaspace, PrependScheme};
use crate::normalizers::Images;
use crate::scan::Splitter;
use crate::scan::classes::{NUMERIC, PUNCTUATION, SPACE, WORD};
use crate::scan::seams::{Open, Seams};
use crate::structures::regex::Pattern;
#[cfg(doc)]
use crate::structures::regex::Places;
use answers::Answers;
use groups::Characters;
use search::Search;
use stage::Stage;
use tokens::Tokens;
use words::words;

/// The stages of a pre-tokenizer, up to the first that may change spans wherever a text is cut.
#[derive(Default)]
struct Flattened {
    stages: Vec<Stage>,
    is_mapped: bool,
    /// There are stages after these.
    are_more: bool,
}

impl PreTokenizer {
    /// The seams of the pre-tokenizer; none if there are none, or if a stage is a caller's own or looks at the place in the text.
    pub(crate) fn seams(&self) -> Option<Seams> {
        self.seams_of(None, &Tokens::default(), None, false)
    }

    /// The seams where ids alone are wanted. `are_apart` is true for a byte if the model encodes a space after it, and the text from there on,
    /// apart from the text before; none if the model encodes nothing apart.
    pub(crate) fn seams_for_ids(&self, are_apart: Option<&[bool; 256]>) -> Option<Seams> {
        self.seams_of(None, &Tokens::default(), are_apart, false)
    }

    /// As [`Self::seams_for_ids`], where pre-tokens have several words: the seams know the places between words of one pre-token.
    pub(crate) fn seams_of_words(&self, are_apart: &[bool; 256]) -> Option<Seams> {
        self.seams_of(None, &Tokens::default(), Some(are_apart), true)
    }

    /// The same for text that the normalizer, which has these images, has not changed yet. `tokens` are looked for in the normalized text.
    pub(crate) fn seams_before<'t>(
        &self,
        images: Images<'_>,
        tokens: impl Iterator<Item = &'t str>,
        are_apart: Option<&[bool; 256]>,
    ) -> Option<Seams> {
        self.seams_of(Some(images), &Tokens::new(tokens), are_apart, false)
    }

    fn seams_of(
        &self,
        images: Option<Images<'_>>,
        tokens: &Tokens,
        are_apart: Option<&[bool; 256]>,
        asks_for_joins: bool,
    ) -> Option<Seams> {
        let mut made = Flattened::default();
        made.add(self)?;
        // The model sees pre-tokens of mapped bytes only if there is a mapping, and no stage that may do anything.
        let are_apart = are_apart.filter(|_| made.is_mapped && !made.are_more);
        let (stages, are_more) = (made.stages, made.are_more);
        let mut characters = Characters::new(&stages, images, &tokens.symbols(), are_apart);
        let answers = Answers::new(&stages, &characters);
        let mut tables = answers.seams(asks_for_joins && !are_more);
        let lost = tokens.keep_whole(&answers, &mut tables)?;
        characters.ungroup(&lost);
        let (kinds, tables) = tables.into_kinds();
        let table = characters.table(|group| kinds[group].map_or(0, |kind| 1 << kind));
        let words = (!are_more && images.is_none()).then(|| words(&stages, &characters));
        let open = images.map(|images| Open {
            may_continue: tables.kinds_with(|facts| !facts.begins_alone),
            may_go_on: tables.kinds_with(|facts| !facts.ends_alone),
            ahead: images.ahead,
            before: images.see_clusters(),
        });
        let mut seams =
            Seams::new(table, tables.kinds_with(|facts| facts.is_ink), tables.rules(), words, open)?;
        seams.joined = tables.joined_kinds();
        Some(seams)
    }
}

impl Flattened {
    /// Adds a stage; none if it is a caller's own or looks at the place in the text.
    fn add(&mut self, stage: &PreTokenizer) -> Option<()> {
        match stage {
            PreTokenizer::Sequence(stages) => return stages.iter().try_for_each(|stage| self.add(stage)),
            PreTokenizer::Split(split) => match split.as_pattern() {
                Some(pattern) => self.push(Search::Pattern(pattern), split.behavior(), split.invert()),
                None => self.are_more = true,
            },
            PreTokenizer::ByteLevel(ByteLevel { add_prefix_space: false, use_regex, .. })
                if !self.is_mapped =>
            {
                if *use_regex {
                    let (gpt2, _) = Splitter::PATTERNS[0];
                    self.push(Search::Pattern(Pattern::new(gpt2).ok()?), Behavior::Isolated, false);
                }
                self.is_mapped = true;
            }
            PreTokenizer::Whitespace => {
                self.push(Search::Class(SPACE), Behavior::Removed, false);
                self.push(Search::Class(WORD), Behavior::Contiguous, false);
            }
            PreTokenizer::WhitespaceSplit => self.push(Search::Class(SPACE), Behavior::Removed, false),
            PreTokenizer::Bert => {
                self.push(Search::Class(SPACE), Behavior::Removed, false);
                self.push(Search::Class(PUNCTUATION), Behavior::Isolated, false);
            }
            PreTokenizer::Digits { individual_digits } => {
                let behavior = if *individual_digits { Behavior::Isolated } else { Behavior::Contiguous };
                self.push(Search::Class(NUMERIC), behavior, false);
            }
            PreTokenizer::Punctuation { behavior } => self.push(Search::Class(PUNCTUATION), *behavior, false),
            PreTokenizer::CharDelimiterSplit { delimiter } => {
                self.push(Search::Chars([*delimiter; 2]), Behavior::Removed, false);
            }
            // The place in the text decides about its prefix.
            PreTokenizer::Metaspace(Metaspace { prepend_scheme: PrependScheme::First, .. })
            | PreTokenizer::Custom(_) => return None,
            // It cuts before spaces. Its prefix, which stands before text that begins with anything else, changes no place.
            PreTokenizer::Metaspace(metaspace) => {
                if metaspace.split {
                    let spaces = Search::Chars([' ', metaspace.replacement]);
                    self.push(spaces, Behavior::MergedWithNext, false);
                }
                self.are_more = true;
            }
            PreTokenizer::UnicodeScripts | PreTokenizer::FixedLength { .. } | PreTokenizer::ByteLevel(_) => {
                self.are_more = true;
            }
        }
        Some(())
    }

    fn push(&mut self, search: Search, behavior: Behavior, invert: bool) {
        if !self.are_more {
            self.stages.push(Stage { search, behavior, invert, is_mapped: self.is_mapped });
        }
    }
}
