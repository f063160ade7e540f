//! Writes `.spm.fb` files: the fields in the order of SentencePiece's converter, so that both files have the same bytes.

use std::collections::{BTreeSet, HashMap};

use super::{NAME, lite_model, lite_normalizer, model_type};
use crate::formats::flatbuffers::writer::{Field, Position, Writer};
use crate::models::piece_kind::PieceKind;
use crate::structures::darts;

/// Tables of tries begin at a multiple of this.
const ALIGNMENT: usize = 8;

/// Longer pieces are merged whenever they are encoded.
const LONGEST_DIRECT: usize = 128;

/// The content of a file.
#[derive(Debug)]
pub(super) struct Lite<'a> {
    pub(super) pieces: Vec<(&'a str, f32, PieceKind)>,
    pub(super) model_type: u64,
    pub(super) unk_surface: &'a str,
    pub(super) charsmap: &'a [u8],
    pub(super) dummy_prefix: bool,
    pub(super) extra_whitespaces: bool,
    pub(super) whitespace_as_suffix: bool,
}

/// The file.
pub(super) fn write(lite: &Lite<'_>) -> Vec<u8> {
    let is_bpe = lite.model_type == model_type::BPE;
    let mut writer = Writer::default();
    let mut fields = vec![(lite_model::PIECES, writer.texts(lite.pieces.iter().map(|&(text, ..)| text)))];
    let scores = lite.pieces.iter().map(|&(_, score, _)| score);
    fields.push(if is_bpe {
        (lite_model::INT_SCORES, writer.longs(scores.map(|score| score as i32 as u32)))
    } else {
        (lite_model::SCORES, writer.longs(scores.map(f32::to_bits)))
    });
    let kinds: Vec<u8> = lite.pieces.iter().map(|&(.., kind)| kind as u8).collect();
    fields.push((lite_model::TYPES, writer.bytes(&kinds, 1)));
    // The converter leaves out an empty text, for which the runtime then takes its default.
    fields.push((lite_model::UNK_SURFACE, writer.text(lite.unk_surface)));
    fields.push((lite_model::NORMALIZER, rules(&mut writer, lite)));
    let ids = (0u32..).zip(&lite.pieces);
    let all: Vec<(&[u8], u32)> = ids.clone().map(|(id, (text, ..))| (text.as_bytes(), id)).collect();
    fields.push((lite_model::PIECES_TRIE, writer.bytes(&trie(all), ALIGNMENT)));
    let user_defined = ids.filter(|&(_, &(.., kind))| kind == PieceKind::UserDefined);
    let user_defined: Vec<(&[u8], u32)> =
        user_defined.map(|(id, (text, ..))| (text.as_bytes(), id)).collect();
    if !user_defined.is_empty() {
        fields.push((lite_model::PREFIX_TRIE, writer.bytes(&trie(user_defined), ALIGNMENT)));
    }
    let neighbours = neighbours(lite.pieces.iter().map(|&(text, ..)| text));
    if !neighbours.is_empty() {
        fields.push((lite_model::NEIGHBOURS_TRIE, writer.bytes(&neighbours, ALIGNMENT)));
    }
    let mut bytes = Vec::new();
    if is_bpe {
        let is_direct = Merger::new(&lite.pieces).direct();
        let is_visible =
            |(&(.., kind), &is_direct): (&(&str, f32, PieceKind), &bool)| kind.is_in_text() && is_direct;
        if lite.pieces.iter().zip(&is_direct).any(is_visible) {
            bytes.push((lite_model::HAS_DIRECT, Field::Byte(1)));
            if is_direct.contains(&false) {
                let flags: Vec<u8> = is_direct.into_iter().map(u8::from).collect();
                fields.push((lite_model::IS_DIRECT, writer.bytes(&flags, 1)));
            }
        }
    }
    if lite.model_type != model_type::UNIGRAM {
        bytes.push((lite_model::MODEL_TYPE, Field::Byte(lite.model_type as u8)));
    }
    let mut longs: Vec<(usize, Field)> =
        fields.into_iter().map(|(field, value)| (field, Field::Offset(value))).collect();
    let id = |is_wanted: &dyn Fn(&str, PieceKind) -> bool| {
        lite.pieces.iter().rposition(|&(text, _, kind)| is_wanted(text, kind)).map(|id| id as i32)
    };
    let unknown = id(&|_, kind| kind == PieceKind::Unknown).unwrap_or(0);
    if unknown != 0 {
        longs.push((lite_model::UNK_ID, Field::Long(unknown)));
    }
    let named = [(lite_model::BOS_ID, "<s>"), (lite_model::EOS_ID, "</s>"), (lite_model::PAD_ID, "<pad>")];
    for (field, name) in named {
        let found = id(&|text, kind| kind == PieceKind::Control && text == name);
        longs.extend(found.map(|id| (field, Field::Long(id))));
    }
    // Larger values first, and of these the later fields.
    longs.sort_by_key(|&(field, _)| std::cmp::Reverse(field));
    longs.extend(bytes);
    let root = writer.table(&longs);
    writer.finish(root)
}

/// The options of normalization.
fn rules(writer: &mut Writer, lite: &Lite<'_>) -> Position {
    let name = writer.text(NAME);
    let mut fields = Vec::new();
    if !lite.charsmap.is_empty() {
        let charsmap = writer.bytes(lite.charsmap, ALIGNMENT);
        fields.push((lite_normalizer::CHARSMAP, Field::Offset(charsmap)));
    }
    fields.push((lite_normalizer::NAME, Field::Offset(name)));
    if lite.whitespace_as_suffix {
        fields.push((lite_normalizer::WHITESPACE_AS_SUFFIX, Field::Byte(1)));
    }
    if !lite.extra_whitespaces {
        fields.push((lite_normalizer::EXTRA_WHITESPACES, Field::Byte(0)));
    }
    if !lite.dummy_prefix {
        fields.push((lite_normalizer::DUMMY_PREFIX, Field::Byte(0)));
    }
    writer.table(&fields)
}

fn bytes_of(units: Vec<u32>) -> Vec<u8> {
    units.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// A trie of texts with their ids.
fn trie(mut keys: Vec<(&[u8], u32)>) -> Vec<u8> {
    keys.sort_unstable();
    bytes_of(darts::build(&keys))
}

/// A trie of all two characters that are neighbours in a piece. The value is the node of the second character as the first
/// character of others; 0 if there is none.
fn neighbours<'a>(pieces: impl Iterator<Item = &'a str>) -> Vec<u8> {
    // By pair of characters: bytes of the first one.
    let mut pairs: BTreeSet<(&[u8], usize)> = BTreeSet::new();
    for piece in pieces {
        let starts: Vec<usize> = piece.char_indices().map(|(at, _)| at).chain([piece.len()]).collect();
        pairs.extend(starts.windows(3).map(|at| (&piece.as_bytes()[at[0]..at[2]], at[1] - at[0])));
    }
    let keys: Vec<(&[u8], u32)> = pairs.iter().zip(0..).map(|(&(pair, _), index)| (pair, index)).collect();
    if keys.is_empty() {
        return Vec::new();
    }
    let mut units = darts::build(&keys);
    for (pair, first) in pairs {
        let node = darts::node(&units, &pair[first..]).unwrap_or(0);
        if let Some(leaf) = darts::leaf(&units, pair) {
            units[leaf] = node as u32 | darts::LEAF;
        }
    }
    bytes_of(units)
}

/// Merges pieces as the lite runtime does: the best pair of neighbours first, of equal ones the leftmost, and never into a piece that
/// is not found in text.
struct Merger<'a> {
    pieces: &'a [(&'a str, f32, PieceKind)],
    /// Ids of the pieces that are found in text.
    ids: HashMap<&'a str, usize>,
}

impl<'a> Merger<'a> {
    fn new(pieces: &'a [(&'a str, f32, PieceKind)]) -> Self {
        let visible = pieces.iter().enumerate().filter(|(_, (.., kind))| kind.is_in_text());
        Self { pieces, ids: visible.map(|(id, &(text, ..))| (text, id)).collect() }
    }

    /// By id: true if the text of a piece becomes the piece, or if it is never found in text.
    fn direct(&self) -> Vec<bool> {
        let longest = self.user_defined().map(str::len).max().unwrap_or(0);
        let is_direct = |&(text, _, kind): &(&str, f32, PieceKind)| {
            !kind.is_in_text() || text.len() <= LONGEST_DIRECT && self.is_whole(text, longest)
        };
        self.pieces.iter().map(is_direct).collect()
    }

    fn user_defined(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.pieces.iter().filter(|(.., kind)| *kind == PieceKind::UserDefined).map(|&(text, ..)| text)
    }

    /// Length of the longest user-defined piece with which `text` begins; 0 if there is none.
    fn frozen(&self, text: &str, longest: usize) -> usize {
        let is_user_defined = |len: &usize| {
            let id = text.get(..*len).and_then(|start| self.ids.get(start));
            id.is_some_and(|&id| self.pieces[id].2 == PieceKind::UserDefined)
        };
        (1..=longest.min(text.len())).rev().find(is_user_defined).unwrap_or(0)
    }

    /// True if `text` is merged into one piece.
    fn is_whole(&self, text: &str, longest: usize) -> bool {
        // The end of each symbol, and true for a user-defined piece, which is not merged.
        let mut ends: Vec<(usize, bool)> = Vec::new();
        let mut start = 0;
        while start < text.len() {
            let frozen = self.frozen(&text[start..], longest);
            let len = text[start..].chars().next().map_or(1, char::len_utf8);
            start += if frozen > 0 { frozen } else { len };
            ends.push((start, frozen > 0));
        }
        while ends.len() > 1 {
            let score = |at: usize| {
                let start = if at == 0 { 0 } else { ends[at - 1].0 };
                let ((_, left), (end, right)) = (ends[at], ends[at + 1]);
                let id = self.ids.get(&text[start..end]).filter(|_| !left && !right)?;
                Some(self.pieces[*id].1 as i32)
            };
            // The last of the largest is the leftmost.
            let best = (0..ends.len() - 1)
                .rev()
                .filter_map(|at| Some((score(at)?, at)))
                .max_by_key(|&(score, _)| score);
            let Some((_, at)) = best else { return false };
            ends.remove(at);
        }
        true
    }
}
