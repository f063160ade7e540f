//! The Python module `lexmill._core`: the only place that names Python.
//!
//! Each function extracts its arguments, detaches from the interpreter, calls the core, and converts.

mod added_token;
mod arguments;
mod array_columns;
mod arrays;
mod arrow;
mod components;
mod continued_training;
mod counts_training;
mod custom_stage;
mod decode_stream;
mod decoders;
mod encoding;
mod errors;
mod file_paths;
mod int_lists;
mod limits;
mod models;
mod normalized_string;
mod normalizers;
mod numpy_loading;
mod parity_training;
mod pre_tokenized_string;
mod pre_tokenizers;
mod processors;
mod progress;
mod properties;
mod regex;
mod remote;
mod scripts;
mod session;
mod shown;
mod sources;
mod stage;
mod stage_class;
mod strings;
mod superword_training;
mod text_block;
mod text_iterator;
mod texts;
mod threads;
mod token_feed;
mod token_files;
mod tokenizer;
mod tokenizer_arrays;
mod tokenizer_async;
mod tokenizer_batch;
mod tokenizer_decode;
mod tokenizer_files;
mod tokenizer_limits;
mod tokenizer_ranges;
mod tokenizer_split;
mod tokenizer_state;
mod tokenizer_training;
mod trainers;
mod training_texts;
mod word_counts;

use pyo3::prelude::*;

/// The compiled core of lexmill.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::added_token::PyAddedToken;
    #[pymodule_export]
    use super::arrays::PyTokenArrays;
    #[pymodule_export]
    use super::continued_training::continue_training_words;
    #[pymodule_export]
    use super::encoding::PyEncoding;
    #[pymodule_export]
    use super::models::PyToken;
    #[pymodule_export]
    use super::normalized_string::PyNormalizedString;
    #[pymodule_export]
    use super::pre_tokenized_string::PyPreTokenizedString;
    #[pymodule_export]
    use super::progress::resident_bytes_of_process;
    #[pymodule_export]
    use super::regex::PyRegex;
    #[pymodule_export]
    use super::scripts::{script_codes, script_ranges, word_scripts};
    #[pymodule_export]
    use super::session::PySession;
    #[pymodule_export]
    use super::sources::{PyFileSource, binary_start, input_path, is_same_version, is_url, local_path};
    #[pymodule_export]
    use super::text_block::PyTextBlock;
    #[pymodule_export]
    use super::text_iterator::PyTextIterator;
    #[pymodule_export]
    use super::token_files::{
        array_record_rows, arrow_stream_batches, merge_token_files, parquet_token_group,
        parquet_token_groups, read_token_manifest, special_affixes, tar_token_rows, tokenize_files,
        write_row_index, write_token_manifest,
    };
    #[pymodule_export]
    use super::tokenizer::PyTokenizer;
    #[pymodule_export]
    use super::trainers::{
        extend_bpe_words, train_bpe_words, train_parity_bpe_words, train_unigram_words,
        train_wordlevel_words, train_wordpiece_words,
    };
    #[pymodule_export]
    use super::word_counts::{PyCountedWords, PyWordCounts};
    use super::{Bound, PyModule, PyModuleMethods, PyResult, pymodule};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::remote::set_up();
        module.add("LONGEST_ROW", crate::token_files::LONGEST_ROW)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    /// Models.
    #[pymodule]
    mod models {
        #[pymodule_export]
        use super::super::models::{PyBpe, PyModel, PyUnigram, PyWordLevel, PyWordPiece};
    }

    /// Trainers.
    #[pymodule]
    mod trainers {
        #[pymodule_export]
        use super::super::trainers::{
            PyBpeTrainer, PyParityBpeTrainer, PySuperwordOptions, PyTrainer, PyUnigramTrainer,
            PyWordLevelTrainer, PyWordPieceTrainer,
        };
    }

    /// Normalizers.
    #[pymodule]
    mod normalizers {
        #[pymodule_export]
        use super::super::normalizers::{
            PyBertNormalizer, PyByteLevel, PyLowercase, PyMetaspaceNormalizer, PyNfc, PyNfd, PyNfkc, PyNfkd,
            PyNmt, PyNormalizer, PyPrecompiled, PyPrepend, PyReplace, PySentencePiece, PySequence, PyStrip,
            PyStripAccents,
        };
    }

    /// Pre-tokenizers.
    #[pymodule]
    mod pre_tokenizers {
        #[pymodule_export]
        use super::super::pre_tokenizers::{
            PyBertPreTokenizer, PyByteLevel, PyCharDelimiterSplit, PyDigits, PyFixedLength, PyMetaspace,
            PyPreTokenizer, PyPunctuation, PySequence, PySplit, PyUnicodeScripts, PyWhitespace,
            PyWhitespaceSplit,
        };
    }

    /// Post-processors.
    #[pymodule]
    mod processors {
        #[pymodule_export]
        use super::super::processors::{
            PyBertProcessing, PyByteLevel, PyPostProcessor, PyRobertaProcessing, PySequence,
            PyTemplateProcessing,
        };
    }

    /// Decoders.
    #[pymodule]
    mod decoders {
        #[pymodule_export]
        use super::super::decode_stream::PyDecodeStream;
        #[pymodule_export]
        use super::super::decoders::{
            PyBpeDecoder, PyByteFallback, PyByteLevel, PyCtc, PyDecoder, PyFuse, PyMetaspace, PyReplace,
            PySentencePiece, PySequence, PyStrip, PyWordPiece,
        };
    }
}
