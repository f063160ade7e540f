//! Any bytes as a `.model` file of SentencePiece.

use lexmill::formats::sentencepiece;
use lexmill::tokenizer::Tokenizer;

use super::laws;

pub(crate) fn run(data: &[u8]) {
    let Ok(components) = sentencepiece::read(data) else { return };
    let own = components.model.vocab().iter().take(20).map(|(token, _)| token).collect::<Vec<_>>().concat();
    let texts = [&laws::TEXTS[..], &[&own]].concat();
    let tokenizer = laws::hold(&components, false, &texts);
    let Ok(saved) = sentencepiece::write(&components) else { return };
    let again = sentencepiece::read(&saved).expect("what is written is read");
    assert_eq!(sentencepiece::write(&again).expect("what was written is written again"), saved);
    if let (Some(first), Ok(second)) = (tokenizer, Tokenizer::new(&again)) {
        laws::same_encodings(&first, &second, &texts);
    }
}
