//! `lexmill.processors.TemplateProcessing`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::PyPostProcessor;
use crate::bindings::arguments::with_note;
use crate::bindings::components::{get_field, replace};
use crate::bindings::errors::{OrRaise, exception};
use crate::bindings::properties::symbol;
use crate::bindings::strings::surrogate_note;
use crate::processors::{PostProcessor, Template, TemplatePiece, TemplateSequence, TemplateToken};

/// Special tokens and sequences arranged by a template.
///
/// A template is a text of pieces with spaces between them, or a list of pieces: `$A` and `$B` are the sequences, any
/// other piece is a special token, and `:1` after a piece gives its type id.
///
/// Args:
///     `single`: the template of one text, such as `[CLS] $A [SEP]`; `$A` if None.
///     `pair`: the template of a pair, such as `[CLS] $A [SEP] $B:1 [SEP]:1`; `$A:0 $B:1` if None.
///     `special_tokens`: pairs of text and id, or a dictionary with `id`, `ids` and `tokens` for one that stands for
///         several.
///
/// Raises:
///     `OptionError`: a piece is malformed, or `special_tokens` lacks one of a template.
#[pyclass(name = "TemplateProcessing", module = "lexmill.processors", extends = PyPostProcessor, frozen)]
pub(in crate::bindings) struct PyTemplateProcessing;

/// One piece of a template string: `$A`, `$B:1`, `$0`, `[CLS]`, `[SEP]:1`.
fn template_piece(text: &str) -> Option<TemplatePiece> {
    let (name, given_type) = match text.split(':').collect::<Vec<_>>().as_slice() {
        [name] => (*name, None),
        [name, type_id] => (*name, Some(type_id.parse::<u32>().ok()?)),
        _ => return None,
    };
    let Some(sequence) = name.strip_prefix('$') else {
        return Some(TemplatePiece::Special { id: name.to_owned(), type_id: given_type.unwrap_or(0) });
    };
    let (id, own_type) = match sequence {
        "" | "A" | "a" => (TemplateSequence::A, 0),
        "B" | "b" => (TemplateSequence::B, 0),
        number => (TemplateSequence::A, number.parse().ok()?),
    };
    Some(TemplatePiece::Sequence { id, type_id: given_type.unwrap_or(own_type) })
}

/// A template as one string, cut at spaces, or as a list of pieces.
fn template(argument: &Bound<'_, PyAny>) -> PyResult<Vec<TemplatePiece>> {
    let pieces: Vec<String> = if let Ok(text) = argument.cast::<PyString>() {
        text.to_str()
            .map_err(|_| {
                let message = with_note("Expected Union[str, List[str]]", surrogate_note(text));
                exception(argument.py(), "InputTypeError", message)
            })?
            .split(' ')
            .map(str::to_owned)
            .collect()
    } else {
        argument.extract().map_err(|_| PyTypeError::new_err("Expected Union[str, List[str]]"))?
    };
    let piece = |text: &String| {
        let message = || {
            format!("Cannot build Piece from string \"{text}\", a piece is like $A, $B:1, [CLS] or [SEP]:1")
        };
        template_piece(text).ok_or_else(|| exception(argument.py(), "OptionError", message()))
    };
    pieces.iter().map(piece).collect()
}

fn template_token(item: &Bound<'_, PyAny>) -> PyResult<TemplateToken> {
    if let Ok((text, id)) = item.extract::<(String, u32)>() {
        return Ok(TemplateToken { id: text.clone(), symbols: vec![symbol((text, id))] });
    }
    if let Ok((id, text)) = item.extract::<(u32, String)>() {
        return Ok(TemplateToken { id: text.clone(), symbols: vec![symbol((text, id))] });
    }
    let Ok(spec) = item.cast::<PyDict>() else {
        return Err(PyTypeError::new_err("Expected Union[Tuple[str, int], Tuple[int, str], dict]"));
    };
    let get = |key: &str| {
        let missing = || PyValueError::new_err(format!("`{key}` must be specified"));
        spec.get_item(key)?.ok_or_else(missing)
    };
    let ids: Vec<u32> = get("ids")?.extract()?;
    let texts: Vec<String> = get("tokens")?.extract()?;
    if ids.len() != texts.len() {
        let message = format!(
            "SpecialToken: ids and tokens must be of the same length, not {} and {}",
            ids.len(),
            texts.len()
        );
        return Err(exception(item.py(), "OptionError", message));
    }
    let symbols = texts.into_iter().zip(ids).map(symbol).collect();
    Ok(TemplateToken { id: get("id")?.extract()?, symbols })
}

#[pymethods]
impl PyTemplateProcessing {
    #[new]
    #[pyo3(signature = (single=None, pair=None, special_tokens=None))]
    fn new(
        py: Python<'_>,
        single: Option<&Bound<'_, PyAny>>,
        pair: Option<&Bound<'_, PyAny>>,
        special_tokens: Option<Vec<Bound<'_, PyAny>>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let sequence = |id, type_id| TemplatePiece::Sequence { id, type_id };
        let single = single.map_or_else(|| Ok(vec![sequence(TemplateSequence::A, 0)]), template)?;
        let default_pair = || Ok(vec![sequence(TemplateSequence::A, 0), sequence(TemplateSequence::B, 1)]);
        let pair = pair.map_or_else(default_pair, template)?;
        Template::check_pair(&pair).or_raise(py)?;
        let tokens = special_tokens.unwrap_or_default();
        let tokens = tokens.iter().map(template_token).collect::<PyResult<Vec<_>>>()?;
        let template = Template::new(single, pair, tokens).or_raise(py)?;
        Ok(PyPostProcessor::of(PostProcessor::Template(template)).add_subclass(Self))
    }

    #[getter]
    fn get_single(this: PyRef<'_, Self>) -> PyResult<String> {
        let pieces = get_field(&this.as_super().stage, |stage| match stage {
            PostProcessor::Template(template) => Some(template.single().to_vec()),
            _ => None,
        })?;
        let shown = pieces.iter().map(|piece| match piece {
            TemplatePiece::Sequence { id, type_id } => {
                format!("Sequence {{ id: {id:?}, type_id: {type_id} }}")
            }
            TemplatePiece::Special { id, type_id } => {
                format!("SpecialToken {{ id: {id:?}, type_id: {type_id} }}")
            }
        });
        Ok(format!("Template([{}])", shown.collect::<Vec<_>>().join(", ")))
    }

    #[setter]
    fn set_single(this: PyRef<'_, Self>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let single = template(value)?;
        replace(this.py(), &this.as_super().stage, |stage| {
            let PostProcessor::Template(current) = stage else { return None };
            let changed = Template::new(single, current.pair().to_vec(), current.tokens().to_vec());
            Some(changed.map(PostProcessor::Template))
        })
    }
}
