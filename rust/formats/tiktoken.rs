//! `.tiktoken` files: each line has a token's bytes in base64 and its rank, which is its id.
//!
//! The file has neither the pattern that cuts text nor the special tokens. A pre-token that is a token becomes that
//! token (`ignore_merges`). In any other pre-token, any two neighbours that together spell a token may be merged, the
//! lowest rank first.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::splits;
use crate::added_tokens::{AddedToken, AddedTokens};
use crate::byte_level::{BYTE_TO_CHAR, char_to_byte_of, push_mapped};
use crate::decoders::Decoder;
use crate::models::bpe::{Bpe, BpeOptions, Scratch};
use crate::models::{Model, Tokens};
use crate::pre_tokenizers::{Behavior, ByteLevel, PreTokenizer, Split};
use crate::processors::PostProcessor;
use crate::structures::finder::TextPattern;
use crate::tokenizer::Components;
use crate::vocab::Vocab;
use crate::{Error, Result};

/// Reads the text of a file. Errors call the file `name`; `pattern` cuts text into pre-tokens.
///
/// # Errors
/// [`Error::Format`] if a line is malformed, if a token or a rank occurs twice, if a byte has no token, or if a special
/// token's id or text is taken; [`Error::Regex`] if the pattern does not compile.
pub fn read(text: &str, name: &str, pattern: &str, special_tokens: &[(String, u32)]) -> Result<Components> {
    let tokens = parse(text, name)?;
    let wrong = |message: String| Error::Format { path: name.to_owned(), message };
    if tokens.is_empty() {
        return Err(wrong(
            "there is nothing in it, but a token in base64 and its rank must be in each line".to_owned(),
        ));
    }
    let mut vocab = Vocab::new();
    for (token, id) in &tokens {
        vocab.insert(token, *id);
    }
    if let Some(byte) =
        (0..=255u8).find(|&byte| vocab.id(BYTE_TO_CHAR[usize::from(byte)].encode_utf8(&mut [0; 4])).is_none())
    {
        return Err(wrong(format!("byte 0x{byte:02X} has no token")));
    }
    let ordinary: Vec<(&str, u32)> = tokens.iter().map(|(token, id)| (token.as_str(), *id)).collect();
    let mut merges = splits::every_split(&ordinary)?;
    splits::sort_by_rank(&mut merges, |id| id);
    for (token, id) in special_tokens {
        if vocab.token(*id).is_some() || vocab.id(token).is_some() {
            return Err(wrong(format!("special token `{token}` with id {id}: one of both is taken")));
        }
        vocab.insert(token, *id);
    }
    let options = BpeOptions { ignore_merges: true, ..BpeOptions::default() };
    let model = Model::Bpe(Bpe::from_pairs(Arc::new(vocab), &merges, options)?);
    let special: Vec<AddedToken> =
        special_tokens.iter().map(|(token, _)| AddedToken::new(token.as_str(), true)).collect();
    let mut added = AddedTokens::default();
    added.add(&special, model.vocab());
    let split = Split::new(TextPattern::Regex(pattern.to_owned()), Behavior::Isolated, false)?;
    let to_bytes = ByteLevel { add_prefix_space: false, trim_offsets: true, use_regex: false };
    let stages = vec![PreTokenizer::Split(Arc::new(split)), PreTokenizer::ByteLevel(to_bytes)];
    Ok(Components {
        pre_tokenizer: Some(PreTokenizer::Sequence(stages)),
        post_processor: Some(PostProcessor::ByteLevel {
            add_prefix_space: true,
            trim_offsets: false,
            use_regex: true,
        }),
        decoder: Some(Decoder::ByteLevel { add_prefix_space: true, trim_offsets: true, use_regex: true }),
        added: Arc::new(added),
        ..Components::of_model(Arc::new(model))
    })
}

/// Tokens in the byte-level alphabet with their ranks, in the order of the file.
fn parse(text: &str, name: &str) -> Result<Vec<(String, u32)>> {
    let (mut tokens, mut lines_of_rank) = (Vec::new(), HashMap::new());
    let mut lines_of_token = HashMap::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |message: String| Error::Format { path: format!("{name} line {number}"), message };
        let (encoded, rank) = line.split_once(' ').ok_or_else(|| {
            wrong(format!("expected a token in base64, a space and its rank, found {}", shown(line)))
        })?;
        let bytes = BASE64_STANDARD
            .decode(encoded)
            .map_err(|_| wrong(format!("{} is not base64", shown(encoded))))?;
        let rank = rank.trim_end().parse::<u32>();
        let rank = rank
            .map_err(|_| wrong(format!("the rank must be from 0 to {} in {}", u32::MAX - 1, shown(line))))?;
        if bytes.is_empty() || rank == u32::MAX {
            return Err(wrong(format!(
                "an empty token, or a rank beyond {}, in {}",
                u32::MAX - 1,
                shown(line)
            )));
        }
        let mut token = String::with_capacity(bytes.len());
        push_mapped(&bytes, &mut token);
        let earlier = lines_of_rank.insert(rank, number).or(lines_of_token.insert(token.clone(), number));
        if let Some(earlier) = earlier {
            return Err(wrong(format!("{} repeats a token or a rank of line {earlier}", shown(line))));
        }
        tokens.push((token, rank));
    }
    Ok(tokens)
}

/// The beginning of a line, short enough for an error message.
fn shown(line: &str) -> String {
    match line.char_indices().nth(60) {
        Some((end, _)) => format!("{:?}...", &line[..end]),
        None => format!("{line:?}"),
    }
}

/// The file of a byte-level BPE model, without its added tokens.
///
/// # Errors
/// [`Error::Unsupported`] for other models, for kinds of pieces, for tokens that are not bytes in the byte-level
/// alphabet, for a byte without a token, and for merges that are not in the order of ids or fewer than the ranks would
/// allow. Also for a token that its own text does not merge to, unless the model takes such tokens whole
/// (`ignore_merges`).
pub fn write(parts: &Components) -> Result<String> {
    let refuse = |message: String| {
        Err(Error::Unsupported(format!("a .tiktoken file cannot express this model: {message}")))
    };
    let Model::Bpe(bpe) = &*parts.model else {
        return refuse(format!("it is {}, not BPE", parts.model.kind()));
    };
    let options = bpe.options();
    if !bpe.has_plain_symbols() {
        return refuse("it has a continuing_subword_prefix or an end_of_word_suffix".to_owned());
    }
    if !bpe.is_deterministic() {
        return refuse("it has dropout or an alpha".to_owned());
    }
    if bpe.kinds().is_some() {
        return refuse("its pieces have kinds".to_owned());
    }
    let mut tokens = bpe.vocab().sorted_by_id();
    tokens.retain(|&(_, id)| parts.added.get(id).is_none());
    if let Some((token, id)) = tokens
        .iter()
        .find(|(token, _)| token.is_empty() || token.chars().any(|c| char_to_byte_of(c).is_none()))
    {
        return refuse(format!("token `{token}` with id {id} is not spelled in the byte-level alphabet"));
    }
    if let Some(pair) = tokens.windows(2).find(|pair| pair[0].1 == pair[1].1) {
        return refuse(format!("tokens `{}` and `{}` share id {}", pair[0].0, pair[1].0, pair[0].1));
    }
    let has_token =
        |c: &char| bpe.vocab().id(c.encode_utf8(&mut [0; 4])).is_some_and(|id| parts.added.get(id).is_none());
    if let Some(byte) = (0..=255u8).find(|&byte| !has_token(&BYTE_TO_CHAR[usize::from(byte)])) {
        return refuse(format!("byte 0x{byte:02X} has no token"));
    }
    let order = splits::ranked(bpe, &tokens, "a .tiktoken file")?;
    if let Some(pair) = order.windows(2).find(|pair| pair[0] > pair[1]) {
        let text = |id: u32| bpe.vocab().token(id).unwrap_or_default();
        return refuse(format!(
            "`{}` with id {} is merged before `{}` with id {}",
            text(pair[0]),
            pair[0],
            text(pair[1]),
            pair[1],
        ));
    }
    if !options.ignore_merges
        && let Some((token, id)) = not_from_its_text(bpe, &tokens)?
    {
        return refuse(format!(
            "`{token}` with id {id} is not what its text is encoded to, but would be taken whole (ignore_merges)"
        ));
    }
    let mut file = String::new();
    for (token, id) in tokens {
        let bytes: Vec<u8> = token.chars().filter_map(char_to_byte_of).collect();
        BASE64_STANDARD.encode_string(bytes, &mut file);
        file.push(' ');
        file.push_str(&id.to_string());
        file.push('\n');
    }
    Ok(file)
}

/// The first token that merging does not make from its own text.
fn not_from_its_text<'a>(bpe: &Bpe, tokens: &[(&'a str, u32)]) -> Result<Option<(&'a str, u32)>> {
    let mut plain = bpe.clone();
    plain.set_options(BpeOptions::default())?;
    let (mut scratch, mut found) = (Scratch::default(), Tokens::default());
    for &(token, id) in tokens {
        found.clear();
        plain.encode_word(token, &mut scratch, &mut found)?;
        if found.ids != [id] {
            return Ok(Some((token, id)));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::models::piece_kind::PieceKind;
    use crate::testing::cases;

    fn ids(parts: &Components, text: &str) -> Vec<u32> {
        let Model::Bpe(bpe) = &*parts.model else { panic!("it is BPE") };
        let (mut scratch, mut tokens) = (Scratch::default(), Tokens::default());
        bpe.encode_word(text, &mut scratch, &mut tokens).expect("every byte has a token");
        tokens.ids
    }

    fn bytes() -> Vec<String> {
        BYTE_TO_CHAR.iter().map(char::to_string).collect()
    }

    proptest! {
        #![proptest_config(cases(500))]

        // Keeps a random subset of all merges. If the model can be written, the file must encode any text as the model
        // does.
        #[test]
        fn what_is_written_encodes_as_what_is_read(
            tokens in prop::collection::btree_set("[abc]{2,4}", 0..8),
            order in any::<u64>(),
            kept in prop::collection::vec(prop::bool::weighted(0.8), 40),
            ignore_merges in any::<bool>(),
            texts in prop::collection::vec("[abc]{0,9}", 8),
        ) {
            let mut tokens: Vec<String> = tokens.into_iter().collect();
            fastrand::Rng::with_seed(order).shuffle(&mut tokens);
            let all: Vec<String> = bytes().into_iter().chain(tokens.clone()).collect();
            let known: Vec<(&str, u32)> = (0..).zip(&all).map(|(id, token)| (token.as_str(), id)).collect();
            let mut merges = splits::every_split(&known).expect("few");
            splits::sort_by_rank(&mut merges, |id| id);
            let mut keep = kept.into_iter().chain(std::iter::repeat(true));
            merges.retain(|_| keep.next().unwrap_or(true));
            let options = BpeOptions { ignore_merges, ..BpeOptions::default() };
            let bpe = Bpe::from_pairs(Arc::new(Vocab::from_tokens(&all)), &merges, options).expect("no dropout");
            let parts = Components::of_model(Arc::new(Model::Bpe(bpe)));
            if let Ok(file) = write(&parts) {
                let back = read(&file, "a test", ".", &[]).expect("it is well formed");
                for text in texts.iter().chain(&tokens) {
                    prop_assert_eq!(ids(&back, text), ids(&parts, text), "{:?} of {:?}", text, tokens);
                }
            }
        }
    }

    #[test]
    fn kinds_of_pieces_are_not_left_out() {
        let bpe = Bpe::from_pairs(Arc::new(Vocab::from_tokens(bytes())), &[], BpeOptions::default());
        let bpe = bpe.expect("no dropout").with_kinds(vec![PieceKind::Normal; 256]).expect("256 kinds");
        let refused = write(&Components::of_model(Arc::new(Model::Bpe(bpe)))).expect_err("it has kinds");
        assert!(refused.to_string().ends_with("its pieces have kinds"), "{refused}");
    }
}
