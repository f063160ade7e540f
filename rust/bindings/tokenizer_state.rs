//! The state of a Python `Tokenizer`, and the compiled tokenizer that follows its changes.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use super::stage::{Stage, Staged};
use crate::Result;
use crate::added_tokens::AddedTokens;
use crate::decoders::Decoder;
use crate::encoding::Symbol;
use crate::models::Model;
use crate::normalizers::Normalizer;
use crate::pipeline::{DEFAULT_CACHE_LIMIT, Pipeline, Plan};
use crate::pre_tokenizers::PreTokenizer;
use crate::processors::PostProcessor;
use crate::structures::versioned::{Kept, Seen, Version};
use crate::tokenizer::{Components, PaddingRule, Tokenizer, Truncation};
use crate::vocab::Vocab;

/// The stages, shared with the Python objects that were put in or handed out.
#[derive(Clone)]
pub(super) struct State {
    pub(super) normalizer: Option<Arc<Stage<Normalizer>>>,
    pub(super) pre_tokenizer: Option<Arc<Stage<PreTokenizer>>>,
    pub(super) model: Arc<Stage<Arc<Model>>>,
    pub(super) post_processor: Option<Arc<Stage<PostProcessor>>>,
    pub(super) decoder: Option<Arc<Stage<Decoder>>>,
    pub(super) added: Arc<AddedTokens>,
    /// The vocabulary of the model that `added` is numbered for, see [`State::number`].
    pub(super) numbered_for: Arc<Vocab>,
    pub(super) truncation: Option<Truncation>,
    pub(super) padding: Option<PaddingRule>,
    pub(super) role_to_token: Option<Arc<BTreeMap<String, String>>>,
    pub(super) encode_special_tokens: bool,
    pub(super) cache_limit: usize,
    pub(super) runs: Runs,
}

/// How a tokenizer runs; all but the first are for tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runs {
    /// By its plan, with tables that are made once there was enough text.
    AsPlanned,
    /// By its plan, with all tables from the beginning.
    WithAllTables,
    /// Stage by stage, even if there is a plan of chunks.
    Staged,
}

impl State {
    pub(super) fn of(parts: Components) -> Self {
        Self {
            normalizer: parts.normalizer.map(Stage::new),
            pre_tokenizer: parts.pre_tokenizer.map(Stage::new),
            numbered_for: parts.model.shared_vocab(),
            model: Stage::new(parts.model),
            post_processor: parts.post_processor.map(Stage::new),
            decoder: parts.decoder.map(Stage::new),
            added: parts.added,
            truncation: parts.truncation,
            padding: parts.padding,
            role_to_token: parts.role_to_token,
            encode_special_tokens: false,
            cache_limit: DEFAULT_CACHE_LIMIT,
            runs: Runs::AsPlanned,
        }
    }

    /// State that a file of version 1.0 does not hold; `None` if it equals the state of a tokenizer read from a file.
    pub(super) fn beside_file(&self) -> Option<BesideFile> {
        let &Self { encode_special_tokens, cache_limit, .. } = self;
        let special = self.added.once_special();
        let roles = self.role_to_token.as_deref().cloned().unwrap_or_default();
        let is_usual = !encode_special_tokens
            && cache_limit == DEFAULT_CACHE_LIMIT
            && special.is_empty()
            && roles.is_empty();
        (!is_usual).then_some(BesideFile { encode_special_tokens, cache_limit, special, roles })
    }

    pub(super) fn set_beside_file(&mut self, beside: BesideFile) {
        self.encode_special_tokens = beside.encode_special_tokens;
        self.cache_limit = beside.cache_limit;
        self.role_to_token = Some(beside.roles).filter(|roles| !roles.is_empty()).map(Arc::new);
        Arc::make_mut(&mut self.added).set_once_special(&beside.special);
    }

    /// A tokenizer around a model and nothing else.
    pub(super) fn of_model(model: Arc<Stage<Arc<Model>>>) -> Self {
        Self { model: Arc::clone(&model), ..Self::of(Components::of_model(model.get())) }
    }

    /// True if `added` is numbered for the vocabulary of the model as it is now.
    fn is_numbered(&self) -> bool {
        Arc::ptr_eq(&self.numbered_for, &self.model.get().shared_vocab())
    }

    /// Gives added tokens new ids if the model has another vocabulary than they were numbered for: it was trained or replaced, perhaps
    /// through another tokenizer that shares it. The post-processor and padding keep to the tokens that they name.
    pub(super) fn number(&mut self) -> Arc<Vocab> {
        let vocab = self.model.get().shared_vocab();
        if Arc::ptr_eq(&self.numbered_for, &vocab) {
            return vocab;
        }
        self.numbered_for = Arc::clone(&vocab);
        if self.added.is_empty() {
            return vocab;
        }
        let moved = Arc::make_mut(&mut self.added).renumber(&vocab);
        let follow = |symbol: &mut Symbol| match moved.get(&*symbol.text) {
            Some(&(from, to)) if symbol.id == from => {
                symbol.id = to;
                true
            }
            _ => false,
        };
        if let Some(rule) = &mut self.padding {
            follow(&mut rule.padding.symbol);
        }
        if let Some(mut processor) = self.post_processor.as_ref().map(|stage| stage.get())
            && processor.symbols_mut().into_iter().map(follow).fold(false, |any, is_moved| any | is_moved)
        {
            // A new cell: another tokenizer that shares the old one may have other ids.
            self.post_processor = Some(Stage::new(processor));
        }
        vocab
    }

    /// The stages as they are now; notes in `seen` the versions that the pipeline and the rest were read from.
    fn parts(&self, seen: &mut [Seen; 2]) -> Components {
        let [pipeline, rest] = seen;
        Components {
            normalizer: read(self.normalizer.as_ref(), pipeline),
            pre_tokenizer: read(self.pre_tokenizer.as_ref(), pipeline),
            model: self.model.read(pipeline),
            post_processor: read(self.post_processor.as_ref(), rest),
            decoder: read(self.decoder.as_ref(), rest),
            added: Arc::clone(&self.added),
            truncation: self.truncation.clone(),
            padding: self.padding.clone(),
            role_to_token: self.role_to_token.clone(),
        }
    }
}

/// State of a tokenizer that its copies keep and a `tokenizer.json` of version 1.0 does not hold.
pub(super) struct BesideFile {
    pub(super) encode_special_tokens: bool,
    pub(super) cache_limit: usize,
    /// Tokens that were once added as special and are not special now.
    pub(super) special: Vec<String>,
    /// Tokens by their role.
    pub(super) roles: BTreeMap<String, String>,
}

fn read<T: Staged>(stage: Option<&Arc<Stage<T>>>, seen: &mut Seen) -> Option<T> {
    stage.map(|stage| stage.read(seen))
}

/// Which part of the compiled tokenizer a change of the state concerns.
#[derive(Clone, Copy, Debug)]
pub(super) enum Concerns {
    /// The stages up to the model: all is compiled again, and caches start empty.
    Pipeline,
    /// All else: the compiled stages and their caches stay, see [`Shared::tokenizer`].
    Rest,
}

/// The state, with the pipeline and the tokenizer that were compiled from it.
///
/// The compiled pipeline and its caches are kept until one of its stages changes. Changes of the added tokens, of
/// `encode_special_tokens` and of the size of caches are made in the compiled pipeline. The tokenizer around the pipeline is kept
/// until anything changes.
pub(super) struct Shared {
    state: RwLock<State>,
    /// Versions of the state, by [`Concerns`].
    versions: [Version; 2],
    pipeline: Kept<Pipeline>,
    tokenizer: Kept<Tokenizer>,
}

/// The state at one moment, with all stages as they were then.
struct Snapshot {
    parts: Components,
    encode_special_tokens: bool,
    cache_limit: usize,
    runs: Runs,
    /// The versions that the pipeline and the rest were read from.
    seen: [Seen; 2],
}

impl Shared {
    pub(super) fn new(state: State) -> Self {
        Self {
            state: RwLock::new(state),
            versions: Default::default(),
            pipeline: Kept::default(),
            tokenizer: Kept::default(),
        }
    }

    /// The state, with added tokens that are numbered for the model as it is now.
    pub(super) fn state(&self) -> RwLockReadGuard<'_, State> {
        loop {
            let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
            if state.is_numbered() {
                return state;
            }
            drop(state);
            self.change(Concerns::Rest, State::number);
        }
    }

    /// Changes the state; the next call that needs the tokenizer compiles the part that `concerns` names.
    pub(super) fn change<T>(&self, concerns: Concerns, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let result = change(&mut state);
        self.versions[concerns as usize].advance();
        drop(state);
        self.drop_stale();
        result
    }

    /// Frees compiled parts that no call will use again, caches above all.
    fn drop_stale(&self) {
        // The tokenizer shares the pipeline, so the tokenizer goes first.
        self.tokenizer.drop_stale();
        self.pipeline.drop_stale();
    }

    fn snapshot(&self) -> Snapshot {
        loop {
            let state = self.state();
            let mut seen = <[Seen; 2]>::default();
            for (seen, version) in seen.iter_mut().zip(&self.versions) {
                seen.note(version);
            }
            let (parts, encode_special_tokens) = (state.parts(&mut seen), state.encode_special_tokens);
            // Stages that change while others are read could make a tokenizer that nobody has set.
            let is_numbered = Arc::ptr_eq(&state.numbered_for, &parts.model.shared_vocab());
            if is_numbered && seen.iter().all(Seen::is_current) {
                let State { cache_limit, runs, .. } = *state;
                return Snapshot { parts, encode_special_tokens, cache_limit, runs, seen };
            }
        }
    }

    /// All stages and options as they are now.
    pub(super) fn parts(&self) -> Components {
        self.snapshot().parts
    }

    /// The compiled tokenizer as of now.
    pub(super) fn tokenizer(&self) -> Result<Arc<Tokenizer>> {
        if let Some(tokenizer) = self.tokenizer.current() {
            return Ok(tokenizer);
        }
        // Now rather than when the new ones take their place: both would be in memory.
        self.drop_stale();
        let Snapshot { parts, encode_special_tokens, cache_limit, runs, seen } = self.snapshot();
        let [mut seen, rest] = seen;
        let known = self.pipeline.computed_from(&seen);
        let is_same = |pipeline: &Pipeline| {
            Arc::ptr_eq(pipeline.added(), &parts.added)
                && pipeline.encodes_special_tokens() == encode_special_tokens
                && pipeline.cache_limit() == cache_limit
        };
        let pipeline = match known {
            Some(pipeline) if is_same(&pipeline) => pipeline,
            Some(pipeline) => {
                let mut pipeline = pipeline.with_added(Arc::clone(&parts.added), encode_special_tokens)?;
                if pipeline.cache_limit() != cache_limit {
                    pipeline = pipeline.with_cache_limit(cache_limit);
                }
                self.pipeline.replace(pipeline, &seen)
            }
            None => {
                let pipeline = Pipeline::new(
                    parts.normalizer.clone(),
                    parts.pre_tokenizer.clone(),
                    Arc::clone(&parts.model),
                    Arc::clone(&parts.added),
                    encode_special_tokens,
                    cache_limit,
                )?;
                let pipeline = match runs {
                    Runs::AsPlanned => pipeline,
                    Runs::WithAllTables => pipeline.with_all_tables(),
                    Runs::Staged => pipeline.with_plan(Plan::Staged),
                };
                self.pipeline.keep(pipeline, &seen)
            }
        };
        seen.note_all(&rest);
        Ok(self.tokenizer.keep(Tokenizer::with_pipeline(pipeline, parts), &seen))
    }
}

#[cfg(test)]
mod tests {
    //! Threads without an interpreter, whose lock would let one of them run at a time.

    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;
    use crate::models::wordlevel::WordLevel;

    // Of so many turns, a handful at most end between the two steps of another thread that must not come apart.
    const TURNS: usize = 200_000;

    fn model(turn: usize) -> Arc<Model> {
        Arc::new(Model::WordLevel(WordLevel::new(Arc::default(), turn.to_string())))
    }

    fn turn_of(model: &Model) -> usize {
        let Model::WordLevel(model) = model else { panic!("only such models are set") };
        model.unk_token().parse().expect("a number")
    }

    fn normalizer(turn: usize) -> Normalizer {
        Normalizer::Prepend(turn.to_string())
    }

    /// Sets a flag when the work is over, also by a failed assertion.
    struct Ends<'a>(&'a AtomicBool);

    impl Drop for Ends<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// Calls `set` for each turn, and `meanwhile` on other threads all the time.
    fn race(set: impl Fn(usize), meanwhile: impl Fn() + Sync) {
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        meanwhile();
                    }
                });
            }
            let _ends = Ends(&done);
            (1..TURNS).for_each(set);
        });
    }

    #[test]
    fn a_setter_is_seen_by_the_next_call_whatever_others_compile_meanwhile() {
        let shared = Shared::new(State::of_model(Stage::new(model(0))));
        let seen = || turn_of(shared.tokenizer().expect("valid stages").pipeline().model());
        let set = |turn: usize| {
            if turn.is_multiple_of(2) {
                shared.state().model.set(model(turn));
            } else {
                shared.change(Concerns::Pipeline, |state| state.model = Stage::new(model(turn)));
            }
            assert_eq!(seen(), turn);
        };
        race(set, || {
            seen();
        });
        assert_eq!(seen(), TURNS - 1);
    }

    #[test]
    fn stages_that_are_set_one_after_the_other_are_read_as_they_were_at_one_moment() {
        let (first, second) = (Stage::new(normalizer(0)), Stage::new(model(0)));
        let sequence = Stage::of_sequence(vec![Arc::clone(&first)]);
        let shared =
            Shared::new(State { normalizer: Some(sequence), ..State::of_model(Arc::clone(&second)) });
        let set = |turn| {
            first.set(normalizer(turn));
            second.set(model(turn));
        };
        race(set, || {
            let parts = shared.parts();
            let Some(Normalizer::Sequence(stages)) = parts.normalizer else { panic!("it has a sequence") };
            let [Normalizer::Prepend(turn)] = &stages[..] else { panic!("only such elements are set") };
            let (first, second) = (turn.parse::<usize>().expect("a number"), turn_of(&parts.model));
            assert!(first == second || first == second + 1, "{first}, {second}");
        });
    }
}
