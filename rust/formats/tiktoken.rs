//! `.tiktoken` files: a token's bytes in base64 and its rank, which is its id, on each line.
//!
//! The file knows neither the pattern that cuts text nor the special tokens. A pre-token that is a token is taken
//! whole (`ignore_merges`); in others, any two neighbours that spell a token may be merged, the lowest rank first.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::splits;
use crate::added_tokens::{AddedToken, AddedTokens};
use crate::byte_level::{BYTE_TO_CHAR, char_to_byte_of, push_mapped};
use crate::decoders::Decoder;
use crate::models::Model;
use crate::models::bpe::{Bpe, BpeOptions};
use crate::pre_tokenizers::{Behavior, ByteLevel, PreTokenizer, Split};
use crate::processors::PostProcessor;
use crate::structures::finder::TextPattern;
use crate::tokenizer::Parts;
use crate::vocab::Vocab;
use crate::{Error, Result};

/// Reads the text of a file that is called `name` in errors; `pattern` cuts text into pre-tokens.
///
/// # Errors
/// [`Error::Format`] if a line is malformed, if a token or a rank is there twice, if a byte has no token, or if a
/// special token's id or text is taken; [`Error::Regex`] if the pattern does not compile.
pub fn read(text: &str, name: &str, pattern: &str, special_tokens: &[(String, u32)]) -> Result<Parts> {
    let tokens = parse(text, name)?;
    let wrong = |message: String| Error::Format { path: name.to_owned(), message };
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
    Ok(Parts {
        pre_tokenizer: Some(PreTokenizer::Sequence(stages)),
        post_processor: Some(PostProcessor::ByteLevel {
            add_prefix_space: true,
            trim_offsets: false,
            use_regex: true,
        }),
        decoder: Some(Decoder::ByteLevel { add_prefix_space: true, trim_offsets: true, use_regex: true }),
        added: Arc::new(added),
        ..Parts::of_model(Arc::new(model))
    })
}

/// Tokens in the byte-level alphabet, and their ranks, in the order of the file.
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

/// As much of a line as a message needs.
fn shown(line: &str) -> String {
    match line.char_indices().nth(60) {
        Some((end, _)) => format!("{:?}...", &line[..end]),
        None => format!("{line:?}"),
    }
}

/// The file of a byte-level BPE model, without the added tokens.
///
/// # Errors
/// [`Error::Unsupported`] for other models, tokens that are no bytes, a byte without a token, and merges that are not
/// in the order of ids or fewer than the ranks would allow.
pub fn write(parts: &Parts) -> Result<String> {
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
    if options.dropout.is_some_and(|dropout| dropout > 0.0) {
        return refuse("it has dropout".to_owned());
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
