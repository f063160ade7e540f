//! Documents of conversations for token files: Python renders and encodes them.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyIterator;

use super::errors::exception;
use super::numpy_loading::load_numpy;
use crate::corpus::inputs::Place;
use crate::token_files::{FedBlock, LossForm, Messages};
use crate::{Error, Result};

/// The form of loss masks; the rendering of conversations as JSON; and a callable that answers an iterator of blocks from a file and
/// a record on.
#[derive(FromPyObject)]
pub(super) struct MessagesArgument(String, String, Py<PyAny>);

/// A block of documents: the number of its file, their records, ids and masks end to end, splits of these, the records left out before
/// each document and after the last, and the bytes of the file up to the end of the block.
type Block<'py> = (
    usize,
    PyReadonlyArray1<'py, u64>,
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, u8>,
    PyReadonlyArray1<'py, i64>,
    PyReadonlyArray1<'py, u64>,
    u64,
);

/// An iterator of blocks, and the exception that Python raised.
pub(super) struct PyFeed {
    documents: Py<PyAny>,
    blocks: Option<Py<PyIterator>>,
    raised: Option<PyErr>,
}

impl MessagesArgument {
    /// The options of the run, and its documents.
    ///
    /// # Errors
    /// [`Error::InvalidOption`]; [`Error::Custom`] if the rendering is no JSON.
    pub(super) fn parts(self) -> Result<(Messages, PyFeed)> {
        let Self(loss, rendering, documents) = self;
        let rendering = serde_json::from_str(&rendering).map_err(|error| Error::Custom(Box::new(error)))?;
        let messages = Messages { loss: LossForm::named(&loss)?, rendering };
        Ok((messages, PyFeed { documents, blocks: None, raised: None }))
    }
}

impl PyFeed {
    /// The next block of the records from `begin` on.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if Python raised; [`Self::or_raise`] then gives the exception.
    pub(super) fn next(&mut self, begin: Place) -> Result<Option<FedBlock>> {
        Python::attach(|py| self.next_block(py, begin)).map_err(|error| {
            self.raised = Some(error);
            Error::Interrupted
        })
    }

    fn next_block(&mut self, py: Python<'_>, begin: Place) -> PyResult<Option<FedBlock>> {
        load_numpy(py)?;
        let mut blocks = match &self.blocks {
            Some(blocks) => blocks.bind(py).clone(),
            None => self.documents.bind(py).call1((begin.file, begin.byte))?.try_iter()?,
        };
        self.blocks = Some(blocks.clone().unbind());
        let Some(block) = blocks.next().transpose()? else { return Ok(None) };
        let (file, records, ids, mask, splits, skipped, read) = block.extract::<Block<'_>>()?;
        let splits = splits.as_slice()?.iter().map(|&split| usize::try_from(split));
        let splits: std::result::Result<_, _> = splits.collect();
        let found = FedBlock {
            file,
            records: records.as_slice()?.to_vec(),
            ids: ids.as_slice()?.to_vec(),
            mask: mask.as_slice()?.to_vec(),
            splits: splits.map_err(|error| exception(py, "InputTypeError", error.to_string()))?,
            skipped: skipped.as_slice()?.to_vec(),
            read,
        };
        Ok(Some(found))
    }

    /// The outcome of a run, or the exception that Python raised during it.
    pub(super) fn or_raise<T>(&mut self, outcome: PyResult<T>) -> PyResult<T> {
        match self.raised.take() {
            Some(raised) if outcome.is_err() => Err(raised),
            _ => outcome,
        }
    }
}
