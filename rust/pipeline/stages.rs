//! The stages before the model, one after the other.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::Result;
use crate::added_tokens::{Matchers, Segment};
use crate::cache::KeyForm;
use crate::normalized::{Normalized, NormalizedString, PreTokenized, PreTokenizedString};
use crate::normalizers::Normalizer;
use crate::pre_tokenizers::{Cuts, MappedCuts, PreTokenizer};
use crate::scan::seams::Seams;

/// The stages before the model.
#[derive(Clone, Debug)]
pub(crate) struct Stages {
    /// Changes text before it is cut.
    pub(crate) normalizer: Option<Normalizer>,
    /// Cuts text into pre-tokens.
    pub(crate) pre_tokenizer: Option<PreTokenizer>,
    /// The pre-tokenizer, if it only cuts.
    pub(super) cuts: Option<Arc<Cuts>>,
    /// The pre-tokenizer, if it only cuts before and after it maps bytes.
    pub(super) mapped_cuts: Option<Arc<MappedCuts>>,
    /// The seams of the pre-tokenizer, if there are any; derived where no other plan fits.
    pub(super) seams: OnceLock<Option<Arc<Seams>>>,
    /// The two searches for added tokens.
    pub(crate) matchers: Matchers,
}

/// A visitor that meets the parts of a text, from left to right, on a walk through the stages.
pub(crate) trait Visitor {
    /// An added token at `range` of `text`, which is the original text or a normalized segment.
    fn added_token(&mut self, id: u32, text: &Normalized<'_>, range: Range<usize>) -> Result<()>;

    /// A pre-token at `range` of `text`, a normalized segment that the pre-tokenizer has cut.
    fn pre_token(&mut self, text: &Normalized<'_>, range: Range<usize>) -> Result<()>;

    /// A segment of the original text between added tokens, before any stage. True if the visitor needs no stage for it.
    fn segment(&mut self, _range: Range<usize>) -> Result<bool> {
        Ok(false)
    }

    /// A segment of original text, normalized.
    fn normalize<'t>(&mut self, normalizer: &Normalizer, text: Normalized<'t>) -> Result<Normalized<'t>> {
        normalizer.normalize(text)
    }

    /// Original text between added tokens of either kind, which the normalizer leaves unchanged. True if the
    /// visitor cuts it by itself.
    fn unchanged(&mut self, _range: Range<usize>) -> Result<bool> {
        Ok(false)
    }

    /// Normalized text, at `range` of `text`, between added tokens of either kind. True if the visitor cuts it by itself.
    fn normalized(&mut self, _text: &Normalized<'_>, _range: Range<usize>) -> Result<bool> {
        Ok(false)
    }
}

/// How a text is walked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk<'a> {
    /// The original text.
    pub(crate) text: &'a str,
    /// True if offsets are wanted.
    pub(crate) tracked: bool,
    /// The normalizer of a segment at the beginning of the text; it may be another one where the text continues an earlier text.
    pub(crate) first_normalizer: Option<&'a Normalizer>,
    /// The form of pre-tokens: with [`KeyForm::Bytes`], a last stage that maps bytes to characters is left out.
    pub(crate) key_form: KeyForm,
}

/// The form in which added tokens with `normalized` are looked for.
pub(super) fn looked_for(normalizer: Option<&Normalizer>) -> impl Fn(&str) -> Result<String> {
    let normalizer = normalizer.and_then(Normalizer::for_added_tokens);
    move |content| match &normalizer {
        Some(normalizer) => normalizer.normalize_str(content).map(Cow::into_owned),
        None => Ok(content.to_owned()),
    }
}

impl Stages {
    pub(super) fn new(
        normalizer: Option<Normalizer>,
        pre_tokenizer: Option<PreTokenizer>,
        matchers: Matchers,
    ) -> Self {
        let pre_tokenizer = pre_tokenizer.and_then(PreTokenizer::flattened);
        let cuts = pre_tokenizer.as_ref().and_then(Cuts::new).map(Arc::new);
        let mapped_cuts = pre_tokenizer.as_ref().and_then(MappedCuts::new).map(Arc::new);
        Self { normalizer, pre_tokenizer, cuts, mapped_cuts, seams: OnceLock::new(), matchers }
    }

    /// The seams of the pre-tokenizer, if there are any.
    pub(super) fn seams(&self) -> Option<&Seams> {
        let derive = || self.pre_tokenizer.as_ref().and_then(PreTokenizer::seams).map(Arc::new);
        self.seams.get_or_init(derive).as_deref()
    }

    /// Walks a text through added tokens, normalizer, added tokens again and pre-tokenizer.
    ///
    /// # Errors
    /// The errors of the stages and of the visitor.
    pub(crate) fn walk(&self, walk: Walk<'_>, visitor: &mut impl Visitor) -> Result<()> {
        self.matchers.original.segments(walk.text, &mut |Segment { start, end, token }| match token {
            Some(id) => visitor.added_token(id, &Normalized::new(walk.text, 0, walk.tracked), start..end),
            None if visitor.segment(start..end)? => Ok(()),
            None => self.walk_segment(walk, start..end, visitor),
        })
    }

    /// Walks a segment between added tokens of the original text through the other stages.
    ///
    /// # Errors
    /// The errors of the stages and of the visitor.
    pub(super) fn walk_segment(
        &self,
        walk: Walk<'_>,
        segment: Range<usize>,
        visitor: &mut impl Visitor,
    ) -> Result<()> {
        let Walk { text, tracked, first_normalizer, key_form } = walk;
        let base = segment.start;
        let normalizer = if base == 0 { first_normalizer } else { self.normalizer.as_ref() };
        let piece = &text[segment];
        if self.has_custom() {
            return self.walk_custom(NormalizedString::new(piece, base), normalizer, visitor);
        }
        let mut normalized = Normalized::new(piece, base, tracked);
        if let Some(normalizer) = normalizer {
            normalized = visitor.normalize(normalizer, normalized)?;
        }
        let unchanged_at = normalized.is_unchanged().then_some(base);
        self.walk_normalized(&normalized, unchanged_at, key_form, visitor)
    }

    /// Walks a normalized segment through the other stages. If the normalizer has not changed the segment, it begins at `unchanged_at` of the
    /// original text.
    ///
    /// # Errors
    /// The errors of the stages and of the visitor.
    pub(super) fn walk_normalized(
        &self,
        normalized: &Normalized<'_>,
        unchanged_at: Option<usize>,
        key_form: KeyForm,
        visitor: &mut impl Visitor,
    ) -> Result<()> {
        self.matchers.normalized.segments(normalized.text(), &mut |Segment { start, end, token }| {
            if let Some(id) = token {
                return visitor.added_token(id, normalized, start..end);
            }
            if let Some(base) = unchanged_at
                && visitor.unchanged(base + start..base + end)?
            {
                return Ok(());
            }
            if visitor.normalized(normalized, start..end)? {
                return Ok(());
            }
            let cut = self.cut(normalized.slice(start..end), key_form)?;
            cut.spans.iter().try_for_each(|span| visitor.pre_token(&cut.text, span.clone()))
        })
    }

    /// True if a stage is a caller's own.
    pub(super) fn has_custom(&self) -> bool {
        self.normalizer.as_ref().is_some_and(Normalizer::has_custom)
            || self.pre_tokenizer.as_ref().is_some_and(PreTokenizer::has_custom)
    }

    /// The walk of a segment with stages that callers have made: these also see the original text.
    fn walk_custom(
        &self,
        mut text: NormalizedString,
        normalizer: Option<&Normalizer>,
        visitor: &mut impl Visitor,
    ) -> Result<()> {
        normalizer.map_or(Ok(()), |normalizer| normalizer.apply(&mut text))?;
        self.matchers.normalized.segments(text.normalized(), &mut |Segment { start, end, token }| {
            if let Some(id) = token {
                return visitor.added_token(id, &text.as_normalized(), start..end);
            }
            let mut cut = PreTokenizedString::new(text.slice(start..end));
            self.pre_tokenizer.as_ref().map_or(Ok(()), |pre_tokenizer| pre_tokenizer.apply(&mut cut))?;
            let mut splits = cut.splits().iter().map(|split| &split.text);
            splits
                .try_for_each(|split| visitor.pre_token(&split.as_normalized(), 0..split.normalized().len()))
        })
    }

    /// Cuts normalized text into pre-tokens.
    ///
    /// # Errors
    /// The errors of the pre-tokenizer.
    pub(crate) fn cut<'a>(&self, text: Normalized<'a>, key_form: KeyForm) -> Result<PreTokenized<'a>> {
        let mut cut = PreTokenized::new(text);
        match &self.pre_tokenizer {
            Some(pre_tokenizer) if key_form == KeyForm::Bytes => pre_tokenizer.cut_unmapped(&mut cut)?,
            Some(pre_tokenizer) => pre_tokenizer.pre_tokenize(&mut cut)?,
            None => {}
        }
        Ok(cut)
    }

    /// Appends the pre-tokens of normalized text to `spans`, as ranges of the text that is returned. The pre-tokenizer must not look at
    /// the place in the text.
    ///
    /// # Errors
    /// The errors of the pre-tokenizer.
    pub(super) fn pre_tokens<'t>(
        &self,
        text: &'t str,
        key_form: KeyForm,
        spans: &mut Vec<Range<usize>>,
    ) -> Result<Cow<'t, str>> {
        let maps_nothing = self.pre_tokenizer.as_ref().is_none_or(PreTokenizer::only_cuts);
        if let Some(cuts) = self.cuts.as_ref().filter(|_| maps_nothing || key_form == KeyForm::Bytes) {
            self.for_each_span(cuts, text, |span| {
                spans.push(span);
                Ok(())
            })?;
            return Ok(Cow::Borrowed(text));
        }
        if let Some(cuts) = &self.mapped_cuts {
            let mut mapped = String::with_capacity(2 * text.len());
            cuts.for_each_span(text, &mut mapped, |span| spans.push(span))?;
            return Ok(Cow::Owned(mapped));
        }
        let cut = self.cut(Normalized::new(text, 0, false), key_form)?;
        spans.extend_from_slice(&cut.spans);
        Ok(cut.text.into_text())
    }

    /// Calls `each` with the spans of a text by `cuts`, the cuts of the pre-tokenizer, until one call fails. A word whose pre-tokens
    /// the seams know is not searched.
    ///
    /// # Errors
    /// The errors of the pre-tokenizer and of `each`.
    pub(super) fn for_each_span(
        &self,
        cuts: &Cuts,
        text: &str,
        mut each: impl FnMut(Range<usize>) -> Result<()>,
    ) -> Result<()> {
        // Only if the seams are there already: deriving takes milliseconds.
        let seams = self.seams.get().and_then(Option::as_ref);
        if let Some(mut known) = seams.and_then(|seams| seams.known_pre_tokens(text.as_bytes())) {
            return known.try_for_each(each);
        }
        let mut result = Ok(());
        cuts.for_each_span(text, |span| {
            if result.is_ok() {
                result = each(span);
            }
        })?;
        result
    }

    /// True if the pre-tokenizer treats a segment at the beginning of a text otherwise than other segments.
    pub(super) fn looks_at_beginning(&self) -> bool {
        self.pre_tokenizer.as_ref().is_some_and(PreTokenizer::looks_at_beginning)
    }

    /// The normalized text.
    ///
    /// # Errors
    /// The errors of the normalizer.
    pub(crate) fn normalize<'a>(&self, text: &'a str, start: usize, tracked: bool) -> Result<Normalized<'a>> {
        let text = Normalized::new(text, start, tracked);
        self.normalizer.as_ref().map_or(Ok(text.clone()), |normalizer| normalizer.normalize(text))
    }
}
