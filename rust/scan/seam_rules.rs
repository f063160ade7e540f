//! Kinds of characters, and the rules that make a place between two of them a seam.

use crate::structures::char_table::CharTable;

/// A set of kinds, one bit each. A kind is a class of characters that is made for one tokenizer; a character has one kind or none.
pub(crate) type Kinds = u8;

/// Kinds of one tokenizer, at most: one bit each.
pub(crate) const MOST_KINDS: usize = Kinds::BITS as usize;

/// Rules of one tokenizer, at most: three for each kind.
pub(super) const MOST_RULES: usize = 3 * MOST_KINDS;

/// The seams of one tokenizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seams {
    pub(super) table: CharTable,
    /// The kinds that are ink.
    pub(super) ink: Kinds,
    pub(super) rules: Vec<Rule>,
    /// True if a rule needs the character before the two.
    pub(super) asks_for_ink: bool,
    /// True if a rule needs the character after the two.
    pub(super) asks_for_next: bool,
    /// Set if a normalizer changes the text before the stages cut it.
    pub(super) open: Option<Open>,
    pub(super) words: Option<Words>,
    /// By kind, the kinds after a space that is in one pre-token with both.
    pub(crate) joined: [Kinds; MOST_KINDS],
}

/// The *open* characters: a normalizer may change them together with characters beside them. There is no seam beside an open character.
///
/// A character is open if it has no kind, or if it may continue a match and the character before it has no kind, or a match may go on after
/// that character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    /// The kinds that may continue a match of the normalizer, and the kinds after which a match may go on.
    pub(crate) may_continue: Kinds,
    pub(crate) may_go_on: Kinds,
    /// So many characters after the right neighbour of a seam must not be open. The end of the text is not open.
    pub(crate) ahead: usize,
    /// True if the character before the left neighbour must not be open either.
    pub(crate) before: bool,
}

/// A rule: where a character of `left` and then one of `right` stand in `context`, there is a seam.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) left: Kinds,
    pub(crate) right: Kinds,
    pub(crate) context: Context,
}

/// Where the two characters of a rule stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Context {
    /// Side by side, after anything.
    Any,
    /// Side by side, after ink or at the start of the text.
    AfterInk,
    /// With one space between them. The seam is before the space.
    AcrossSpace,
}

/// Sets of words, at most.
pub(crate) const MOST_WORDS: usize = 4;

/// Sets of words that no stage cuts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    /// For each character: in the lower four bits the sets in whose words it may stand, in the upper four the sets whose words it may begin.
    pub(crate) table: CharTable,
    /// Sets of words that keep a space before them, that are cut from it, or whose space is dropped.
    pub(crate) space_kept: Kinds,
    pub(crate) space_cut_off: Kinds,
    pub(crate) space_dropped: Kinds,
}

impl Seams {
    /// None if there are no rules, or more than [`MOST_RULES`].
    pub(crate) fn new(
        table: CharTable,
        ink: Kinds,
        rules: Vec<Rule>,
        words: Option<Words>,
        open: Option<Open>,
    ) -> Option<Self> {
        let asks_for_ink = rules.iter().any(|rule| rule.context == Context::AfterInk);
        let asks_for_next = rules.iter().any(|rule| rule.context == Context::AcrossSpace);
        let has_rules = (1..=MOST_RULES).contains(&rules.len());
        has_rules.then_some(Self {
            table,
            ink,
            rules,
            asks_for_ink,
            asks_for_next,
            open,
            words,
            joined: [0; MOST_KINDS],
        })
    }

    /// The number of characters from byte `at` on before the first open one: at most `ahead`, and `ahead` if the text ends first.
    #[inline]
    pub(super) fn chars_before_open(&self, open: Open, text: &[u8], at: usize) -> usize {
        let Open { may_continue, may_go_on, ahead, .. } = open;
        let mut at = (at..text.len()).find(|&at| is_char_start(text[at])).unwrap_or(text.len());
        let mut may_join = None;
        for count in 0..ahead {
            if at >= text.len() {
                break;
            }
            let (kind, len) = self.table.at(text, at);
            let may_join_before = || {
                let before = (0..at).rev().find(|&at| is_char_start(text[at])).unwrap_or_default();
                may_join_after(self.table.at(text, before).0, may_go_on)
            };
            if kind == 0 || kind & may_continue != 0 && may_join.unwrap_or_else(may_join_before) {
                return count;
            }
            (at, may_join) = (at + len, Some(may_join_after(kind, may_go_on)));
        }
        ahead
    }
}

/// True if a match of the normalizer may go on after a character of `kind`, or if the character has no kind.
pub(super) fn may_join_after(kind: Kinds, may_go_on: Kinds) -> bool {
    kind == 0 || kind & may_go_on != 0
}

pub(super) fn is_char_start(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}
