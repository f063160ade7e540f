//! A byte-level BPE tokenizer trained on the spot.

use std::sync::Arc;

use lexmill::decoders::Decoder;
use lexmill::models::Model;
use lexmill::models::bpe::{Bpe, BpeOptions};
use lexmill::pre_tokenizers::{ByteLevel, PreTokenizer};
use lexmill::tokenizer::{Components, Tokenizer, WordCounting};
use lexmill::trainers::bpe::BpeTrainer;

/// GPT-2's stages around a vocabulary learnt from `text`.
pub(crate) fn trained(text: &str, vocab_size: usize) -> Components {
    let byte_level = ByteLevel { add_prefix_space: false, ..ByteLevel::default() };
    let empty = Components {
        pre_tokenizer: Some(PreTokenizer::ByteLevel(byte_level)),
        decoder: Some(Decoder::ByteLevel { add_prefix_space: true, trim_offsets: true, use_regex: true }),
        ..Components::of_model(Arc::new(Model::Bpe(Bpe::default())))
    };
    let tokenizer = Tokenizer::new(&empty).expect("no added tokens");
    let mut counting = WordCounting::new(Arc::clone(tokenizer.pipeline()), 1);
    counting.add_texts(&[text]).expect("a known splitter");
    let trainer = BpeTrainer { vocab_size, ..BpeTrainer::default() };
    let words = counting.finish(&mut |_| Ok(())).expect("the text is not empty");
    let trained = trainer.train(words, &mut |_| Ok(())).expect("a small alphabet");
    let model = trained.into_model(BpeOptions::default()).expect("no options");
    Components { model: Arc::new(Model::Bpe(model)), ..empty }
}
