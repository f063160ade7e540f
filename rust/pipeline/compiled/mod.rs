//! The stages of a tokenizer up to its model, compiled.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::added_in_chunks::AddedInChunks;
use super::bert_rewriter::BertRewriter;
use super::chunk_encoder::{ChunkEncoder, Rewriter};
use super::chunk_pre_tokenizer::ChunkPreTokenizer;
use super::metaspace_bpe::without_prefix;
use super::model_encoder::ModelEncoder;
use super::original_chunks::OriginalChunks;
use super::plan::{ChunkPlan, Plan, Rewrite, Scope};
use super::plan_table::choose;
use super::preload::preload_vocab;
use super::scratch::{MissScratch, Pool, Worker};
use super::stages::{Stages, Walk, looked_for};
use super::unigram::{ChunkStages, IsolatedChars, Refinement};
use crate::Result;
use crate::added_tokens::AddedTokens;
use crate::cache::{CacheLimits, ChunkCache, KeyForm};
use crate::encoding::{SpacesAround, TokenNames};
use crate::models::Model;
use crate::normalizers::{CompiledNormalizer, Normalizer};
use crate::pre_tokenizers::PreTokenizer;
use crate::scan::seams::Seams;
use crate::structures::amortized_lazy::AmortizedLazy;
use crate::vocab::Vocab;

/// Bytes that the cache of one thread takes unless told otherwise.
pub const DEFAULT_CACHE_LIMIT: usize = 128 << 20;

/// Bytes of text from which a call begins with a prepared cache.
const PRELOAD_MIN_BYTES: usize = 4 << 20;

/// Bytes of text with one new chunk, at the least; sizes the first table.
const BYTES_PER_NEW_CHUNK: usize = 256;

/// Bytes of text after which all tables are made.
const ENOUGH: usize = usize::MAX / 2;

fn cache_bytes(model: &Model, limit: usize) -> usize {
    if model.is_deterministic() { limit } else { 0 }
}

/// The normalizer in one pass, if the plan is for text that it has normalized, or if trainers look for added tokens in such text.
fn compiled_normalizer(plan: Plan, stages: &Stages) -> Option<Arc<CompiledNormalizer>> {
    let plan = plan.chunked()?;
    let is_searched =
        !stages.matchers.normalized.is_empty() && matches!(plan.rewrite, Rewrite::Bert(_) | Rewrite::Stages);
    let is_normalized = plan.is_after_normalizer() || is_searched;
    let normalizer = stages.normalizer.as_ref().filter(|_| is_normalized)?;
    CompiledNormalizer::new(normalizer).map(Arc::new)
}

fn refinement(plan: Plan, stages: &Stages, model: &Model) -> Option<Arc<Refinement>> {
    plan.chunked().and_then(|plan| Refinement::new(plan, stages, model)).map(Arc::new)
}

/// The stages of a tokenizer up to its model, with the plan that runs them, caches and prepared tables.
///
/// Cheap to clone: clones share caches and tables.
#[derive(Clone, Debug)]
pub struct Pipeline {
    stages: Stages,
    added: Arc<AddedTokens>,
    plan: Plan,
    refinement: Option<Arc<Refinement>>,
    compiled_normalizer: Option<Arc<CompiledNormalizer>>,
    /// Derived once enough text was encoded.
    original_seams: Arc<AmortizedLazy<Seams>>,
    /// Seams for ids alone, derived once enough text was encoded.
    seams_for_ids: Arc<AmortizedLazy<Seams>>,
    encoder: Arc<ModelEncoder>,
    vocab: Arc<Vocab>,
    pool: Arc<Pool>,
    limits: CacheLimits,
    /// Bytes for caches; the caches of a random model take none.
    cache_limit: usize,
    calls: Arc<AtomicU64>,
    seed: u64,
}

impl Pipeline {
    /// Compiles the stages; `encode_special_tokens` leaves special tokens in the text to the model.
    ///
    /// # Errors
    /// As [`AddedTokens::matchers`].
    pub fn new(
        normalizer: Option<Normalizer>,
        pre_tokenizer: Option<PreTokenizer>,
        model: Arc<Model>,
        added: Arc<AddedTokens>,
        encode_special_tokens: bool,
        cache_limit: usize,
    ) -> Result<Self> {
        let matchers = added.matchers(None, encode_special_tokens, looked_for(normalizer.as_ref()))?;
        let stages = Stages::new(normalizer, pre_tokenizer, matchers);
        let id_bound = model.vocab().id_bound();
        let limits = CacheLimits { bytes: cache_bytes(&model, cache_limit), id_bound };
        let plan = choose(&stages, &model);
        Ok(Self {
            plan,
            refinement: refinement(plan, &stages, &model),
            compiled_normalizer: compiled_normalizer(plan, &stages),
            original_seams: Arc::default(),
            seams_for_ids: Arc::default(),
            stages,
            added,
            vocab: model.shared_vocab(),
            calls: Arc::default(),
            seed: model.seed().unwrap_or_else(|| fastrand::u64(..)),
            encoder: Arc::new(ModelEncoder::new(model, plan.key_form())),
            pool: Arc::new(Pool::new(limits)),
            limits,
            cache_limit,
        })
    }

    /// The same stages with other added tokens. Only tokens that are new are compiled, and caches stay, unless the plan changes.
    ///
    /// # Errors
    /// As [`AddedTokens::matchers`].
    pub fn with_added(&self, added: Arc<AddedTokens>, encode_special_tokens: bool) -> Result<Self> {
        let known = &self.stages.matchers;
        let matchers = if Arc::ptr_eq(&added, &self.added) {
            known.clone().leaving_special(encode_special_tokens)
        } else {
            let normalize = looked_for(self.stages.normalizer.as_ref());
            added.matchers(Some(known), encode_special_tokens, normalize)?
        };
        let (were, are) = (known.normalized_contents(), matchers.normalized_contents());
        let finds_same = known.find_same_normalized(&matchers);
        let stages = Stages { matchers, ..self.stages.clone() };
        let same = Self { stages, added, ..self.clone() };
        if were != are || known.normalized.is_empty() != same.stages.matchers.normalized.is_empty() {
            let plan = choose(&same.stages, self.model());
            let is_unaffected = plan == self.plan && !self.knows_added() && !same.knows_added();
            return Ok(if is_unaffected { same } else { same.with_plan(plan) });
        }
        if finds_same || !same.knows_added() {
            return Ok(same);
        }
        Ok(Self {
            refinement: same.refinement.as_ref().map(|known| Arc::new(known.with_other_tokens(self.model()))),
            pool: Arc::new(Pool::new(self.limits)),
            original_seams: Arc::default(),
            ..same
        })
    }

    /// True if caches or seams depend on the added tokens that are looked for in normalized text.
    fn knows_added(&self) -> bool {
        self.added_in_chunks().is_some() || self.compiled_normalizer.is_some()
    }

    /// The same stages with caches of another size.
    #[must_use]
    pub fn with_cache_limit(&self, cache_limit: usize) -> Self {
        let limits = CacheLimits { bytes: cache_bytes(self.model(), cache_limit), ..self.limits };
        Self { limits, cache_limit, pool: Arc::new(Pool::new(limits)), ..self.clone() }
    }

    /// The same stages run by another plan: [`Plan::Staged`] is the slow twin that every plan of chunks must equal. A plan of
    /// chunks must be the one that these stages were compiled to.
    #[must_use]
    pub fn with_plan(self, plan: Plan) -> Self {
        Self {
            plan,
            refinement: refinement(plan, &self.stages, self.model()),
            compiled_normalizer: compiled_normalizer(plan, &self.stages),
            original_seams: Arc::default(),
            encoder: Arc::new(ModelEncoder::new(Arc::clone(self.model()), plan.key_form())),
            pool: Arc::new(Pool::new(self.limits)),
            ..self
        }
    }

    /// The same plan without fragments and isolated characters: Unigram chunks are looked up whole.
    #[must_use]
    pub fn without_refinement(self) -> Self {
        let refinement =
            self.plan.chunked().and_then(|plan| Refinement::new(plan, &self.stages, self.model()));
        let refinement = refinement.map(|refinement| Arc::new(refinement.off()));
        Self { refinement, pool: Arc::new(Pool::new(self.limits)), ..self }
    }

    /// The model.
    pub fn model(&self) -> &Arc<Model> {
        self.encoder.model()
    }

    /// The stages before the model.
    pub(crate) fn stages(&self) -> &Stages {
        &self.stages
    }

    /// The model, prepared for chunks of the plan.
    pub(super) fn encoder(&self) -> &ModelEncoder {
        &self.encoder
    }

    /// The added tokens.
    pub fn added(&self) -> &Arc<AddedTokens> {
        &self.added
    }

    /// The text of an added token's id: its content, normalized if that is how the token is looked for.
    pub fn added_text(&self, id: u32) -> Option<&str> {
        let content = || self.added.get(id).map(|token| token.content.as_str());
        self.stages.matchers.spelling(id).or_else(content)
    }

    /// How text is encoded.
    pub fn plan(&self) -> Plan {
        self.plan
    }

    /// True if special tokens in the text are left to the model.
    pub fn encodes_special_tokens(&self) -> bool {
        self.stages.matchers.leaves_special()
    }

    /// Bytes that the cache of one thread may take.
    pub fn cache_limit(&self) -> usize {
        self.cache_limit
    }

    /// One more than the largest id of the model.
    pub fn id_bound(&self) -> usize {
        self.limits.id_bound
    }

    /// Spaces around token `id` of the vocabulary.
    #[inline]
    pub(crate) fn spaces_around(&self, id: u32) -> SpacesAround {
        self.encoder.spaces_around(id)
    }

    /// Workers with their caches.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Prepares for a call of `threads` threads on `bytes` bytes.
    pub fn prepare(&self, bytes: usize, threads: usize) {
        if bytes >= PRELOAD_MIN_BYTES {
            let chunks = bytes / threads.max(1) / BYTES_PER_NEW_CHUNK;
            self.pool.prepare(threads, |limits| {
                let (encoder, mut scratch) = (self.chunk_encoder(), MissScratch::default());
                let leaves_alone = |chunk: &[u8]| encoder.leaves_alone(chunk, &mut scratch);
                let known = preload_vocab(&self.encoder, leaves_alone, limits);
                known.unwrap_or_else(|| ChunkCache::with_room(limits, chunks))
            });
        }
    }

    /// Makes all tables that are otherwise made once there was enough text, for tests and measurements with little text.
    #[must_use]
    pub fn with_all_tables(self) -> Self {
        self.encoder.cut_points(ENOUGH);
        if let Some(steps) = self.encoder.two_steps(ENOUGH) {
            steps.seams(&self.stages, ENOUGH);
        }
        self.original_seams_if_ready(ENOUGH);
        self.seams_for_ids(ENOUGH);
        if let Some(normalizer) = self.compiled_normalizer() {
            normalizer.inert(ENOUGH);
        }
        self
    }

    /// The number of a new call, which its random choices depend on.
    pub fn next_call(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed)
    }

    /// Seeds the random choices for row `row` of call `call` from the seed of the pipeline: they are the same on any thread.
    pub fn seed_row(&self, call: u64, row: usize, worker: &mut Worker) {
        if !self.model().is_deterministic() {
            let mix =
                |state: u64, value: u64| (state ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
            worker.scratch.seed(mix(mix(self.seed, call), row as u64));
        }
    }

    /// How the ids of this pipeline are spelled.
    pub fn names(&self) -> TokenNames {
        TokenNames::Vocab(Arc::clone(&self.vocab))
    }

    /// Bytes of the original text that each id covers where tokens simply follow one another.
    pub fn token_lens(&self) -> &[u32] {
        self.encoder.token_lens()
    }

    /// The first value of [`ColumnSink::skipped_word_ids`](crate::sinks::ColumnSink): chunks that a normalizer rewrites are not
    /// the same as pre-tokens.
    pub(super) fn skipped_word_ids(&self) -> Option<u32> {
        let has_word_ids = self.plan.chunked().is_some_and(|plan| !plan.is_for_ids_alone());
        (self.rewrites_chunks() && has_word_ids).then_some(0)
    }

    /// True if the plan has stages before the model for a missed chunk.
    pub(super) fn rewrites_chunks(&self) -> bool {
        self.plan.chunked().is_some_and(|plan| plan.rewrite != Rewrite::None)
    }

    /// The model, with the stages that a missed chunk takes before it.
    pub(super) fn chunk_encoder(&self) -> ChunkEncoder<'_> {
        let rewriter = match self.plan.chunked().map(|plan| plan.rewrite) {
            Some(Rewrite::Bert(bert)) => Rewriter::Bert(BertRewriter(bert)),
            Some(Rewrite::Stages) => self.chunk_stages().map_or(Rewriter::None, Rewriter::Stages),
            Some(Rewrite::PreTokenizer { cuts_alone, ids_alone }) => {
                Rewriter::PreTokenizer(ChunkPreTokenizer { stages: &self.stages, cuts_alone, ids_alone })
            }
            Some(Rewrite::None) | None => Rewriter::None,
        };
        ChunkEncoder {
            model: &self.encoder,
            rewriter,
            isolated: self.isolated_chars(),
            added: self.added_in_chunks(),
        }
    }

    /// As [`Self::chunk_encoder`], for chunks of text that the normalizer has not changed yet.
    pub(super) fn original_chunk_encoder(&self) -> Option<ChunkEncoder<'_>> {
        let (plan, normalizer) = (self.plan.chunked()?, self.compiled_normalizer()?);
        let rewriter = Rewriter::Original(OriginalChunks { normalizer, stages: &self.stages, plan });
        Some(ChunkEncoder { rewriter, ..self.chunk_encoder() })
    }

    /// True if the cache has the spans of all chunks as places in the original text.
    pub fn keeps_spans(&self) -> bool {
        let is_normalized =
            |plan: ChunkPlan| plan.is_after_normalizer() && self.compiled_normalizer().is_some();
        !self.plan.chunked().is_some_and(|plan| plan.is_for_ids_alone() || is_normalized(plan))
    }

    /// Where the seams of text before the normalizer are kept.
    pub(super) fn known_original_seams(&self) -> &AmortizedLazy<Seams> {
        &self.original_seams
    }

    /// Where the seams for ids alone are kept.
    pub(super) fn known_seams_for_ids(&self) -> &AmortizedLazy<Seams> {
        &self.seams_for_ids
    }

    /// The search for added tokens in chunks; none if chunks are made of text that was searched before.
    pub(super) fn added_in_chunks(&self) -> Option<AddedInChunks<'_>> {
        let plan = self.plan.chunked()?;
        let is_searched = plan.is_after_normalizer() || self.stages.matchers.normalized.is_empty();
        (!is_searched).then_some(AddedInChunks { stages: &self.stages, tokens: &self.added })
    }

    /// The stages of a Unigram tokenizer, for one chunk at a time.
    pub(super) fn chunk_stages(&self) -> Option<ChunkStages<'_>> {
        self.refinement.as_ref().map(|refinement| refinement.chunk_stages(&self.stages))
    }

    /// The normalizer in one pass, for text that is chunked once it is normalized.
    pub(super) fn compiled_normalizer(&self) -> Option<&CompiledNormalizer> {
        self.compiled_normalizer.as_deref()
    }

    /// The table of isolated characters, if chunks may be cut beside these.
    pub(super) fn isolated_chars(&self) -> Option<&IsolatedChars> {
        self.refinement.as_ref()?.isolated.as_ref()
    }

    /// A walk of `text` through the stages; `is_first` is true if `text` begins a text, false if it continues one.
    pub(crate) fn walk<'a>(&'a self, text: &'a str, is_first: bool, tracked: bool) -> Walk<'a> {
        let normalizer = self.stages.normalizer.as_ref();
        let has_prefix = self
            .plan
            .chunked()
            .is_some_and(|plan| plan.scope == Scope::WithoutMetaspace { has_prefix: true });
        let first_normalizer =
            if is_first || !has_prefix { normalizer } else { normalizer.and_then(without_prefix) };
        Walk { text, tracked, first_normalizer, key_form: self.plan.key_form() }
    }

    /// The form of the words that trainers count: bytes in place of characters only if every added token is spelled by its own bytes.
    ///
    /// The trainer learns any other added token as it stands in the text: Hugging Face does so.
    pub fn training_key_form(&self) -> KeyForm {
        // The mapping of bytes puts a space before a segment.
        let is_fronted = self.plan.chunked().is_some_and(|plan| matches!(plan.scope, Scope::Fronted { .. }));
        match self.plan.key_form() {
            KeyForm::Bytes if self.added.are_own_bytes() && !is_fronted => KeyForm::Bytes,
            _ => KeyForm::Text,
        }
    }
}

#[cfg(test)]
mod tests;
