//! States: ordered lists of threads, which one character moves to another list.
//!
//! The threads of a state stand *before* they look at the next character. A step knows that character. So it decides
//! look-ahead and look-behind of one character, and it decides if the pattern matches right before the character.
//! A match ends the list: it is preferred to the threads after it. The threads before it go on, and may find a match that is
//! preferred to this one.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::atoms::Atoms;
use super::expression::Neighbours;
use super::threads::{At, Instruction, Threads};

/// States of one program, at most.
const MOST_STATES: usize = 1536;

/// Instructions that building may follow, at most: some milliseconds.
const MOST_WORK: usize = 1 << 21;

/// The state without threads.
pub(super) const DEAD: u16 = 0;

/// Transition of a state on one character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Step {
    /// The state after the character.
    pub(super) next: u16,
    /// True if the pattern matches right before the character.
    pub(super) is_match: bool,
}

/// A deterministic automaton over atoms.
#[derive(Clone, Debug)]
pub(super) struct States {
    /// Steps of one state: one for each atom, and the last for the end of the text.
    width: usize,
    steps: Vec<Step>,
    /// The kind of each atom, and last the kind of the start of the text. All look-behinds treat neighbours of one kind alike.
    kinds: Vec<u16>,
    /// The state in which a search begins after a neighbour of each kind.
    starts: Vec<u16>,
    /// The kind of the last character before each state.
    kinds_before: Vec<u16>,
}

impl States {
    /// Builds all states; `None` if there are more than [`MOST_STATES`], or if they take more than [`MOST_WORK`].
    pub(super) fn new(threads: &Threads, atoms: &Atoms) -> Option<Self> {
        let mut builder = Builder::new(threads, atoms);
        builder.state(&[], 0)?;
        let kinds = 0..builder.examples.len();
        let starts = kinds.map(|kind| builder.state(&[threads.start], kind as u16)).collect::<Option<_>>()?;
        let (mut steps, mut state) = (Vec::new(), 0);
        while state < builder.keys.len() {
            for atom in 0..=atoms.len() {
                steps.push(builder.step(state, atom)?);
            }
            state += 1;
        }
        let kinds_before = builder.keys.iter().map(|&(_, kind)| kind).collect();
        Some(Self { width: atoms.len() + 1, steps, kinds: builder.kinds, starts, kinds_before })
    }

    /// Number of states.
    pub(super) fn len(&self) -> usize {
        self.kinds_before.len()
    }

    #[inline]
    pub(super) fn step(&self, state: u16, atom: usize) -> Step {
        self.steps[usize::from(state) * self.width + atom]
    }

    /// True if a match may begin in `state` before `atom`.
    pub(super) fn begins(&self, state: u16, atom: usize) -> bool {
        let step = self.step(state, atom);
        step.next != DEAD || step.is_match
    }

    /// True if a match may be empty.
    pub(super) fn may_be_empty(&self) -> bool {
        self.starts.iter().any(|&start| (0..self.width).any(|atom| self.step(start, atom).is_match))
    }

    /// By state: true if the pattern may fail to match, once a search is in the state and has found no match.
    pub(super) fn may_fail(&self) -> Vec<bool> {
        let mut may_fail = vec![false; self.len()];
        loop {
            let fails =
                |step: Step| !step.is_match && (step.next == DEAD || may_fail[usize::from(step.next)]);
            let found = |state: &u16| {
                !may_fail[usize::from(*state)] && (0..self.width).any(|atom| fails(self.step(*state, atom)))
            };
            let more: Vec<u16> = (0..self.len() as u16).filter(found).collect();
            if more.is_empty() {
                return may_fail;
            }
            for state in more {
                may_fail[usize::from(state)] = true;
            }
        }
    }

    /// Number of kinds.
    pub(super) fn kinds(&self) -> usize {
        self.starts.len()
    }

    /// The kind of an atom, or of the start of the text, whose index is the number of atoms.
    #[inline]
    pub(super) fn kind(&self, atom: usize) -> u16 {
        self.kinds[atom]
    }

    /// The kind of the character before `state`.
    pub(super) fn kind_before(&self, state: u16) -> u16 {
        self.kinds_before[usize::from(state)]
    }

    /// The state in which a search begins after a neighbour of `kind`.
    #[inline]
    pub(super) fn start(&self, kind: u16) -> u16 {
        self.starts[usize::from(kind)]
    }
}

struct Builder<'a> {
    threads: &'a Threads,
    /// The sets of each atom; `None`, the border of the text, comes last.
    neighbours: Vec<Option<u64>>,
    /// The kind of each neighbour.
    kinds: Vec<u16>,
    /// One neighbour of each kind.
    examples: Vec<Option<u64>>,
    /// States by their threads and by the kind of the neighbour before them.
    known: HashMap<(Vec<At>, u16), u16, FixedState>,
    keys: Vec<(Vec<At>, u16)>,
    work: usize,
}

impl<'a> Builder<'a> {
    fn new(threads: &'a Threads, atoms: &Atoms) -> Self {
        let looks: Vec<Neighbours> = threads.look_behinds().collect();
        let neighbours: Vec<Option<u64>> =
            (0..atoms.len()).map(|atom| Some(atoms.sets(atom))).chain([None]).collect();
        let (mut kinds, mut examples, mut seen) = (Vec::new(), Vec::new(), Vec::<Vec<bool>>::new());
        for &neighbour in &neighbours {
            let answers: Vec<bool> = looks.iter().map(|look| look.allow(neighbour)).collect();
            let kind = seen.iter().position(|known| *known == answers).unwrap_or_else(|| {
                seen.push(answers);
                examples.push(neighbour);
                seen.len() - 1
            });
            kinds.push(kind as u16);
        }
        Self { threads, neighbours, kinds, examples, known: HashMap::default(), keys: Vec::new(), work: 0 }
    }

    fn state(&mut self, threads: &[At], kind: u16) -> Option<u16> {
        // Without threads, the character before does not matter.
        let key = (threads.to_vec(), if threads.is_empty() { 0 } else { kind });
        if let Some(&state) = self.known.get(&key) {
            return Some(state);
        }
        let state = self.keys.len();
        self.keys.push(key.clone());
        self.known.insert(key, state as u16);
        (state < MOST_STATES).then_some(state as u16)
    }

    /// The step of a state before a character of `atom`, or before the end of the text.
    fn step(&mut self, state: usize, atom: usize) -> Option<Step> {
        let (threads, kind) = &self.keys[state];
        let next = self.neighbours[atom];
        let mut walk = Walk {
            instructions: &self.threads.instructions,
            before: self.examples[usize::from(*kind)],
            next,
            seen: vec![false; self.threads.instructions.len()],
            moved: Vec::new(),
            work: 0,
        };
        let is_match = threads.iter().any(|&thread| walk.follow(thread));
        let (moved, work) = (walk.moved, walk.work + walk.seen.len() / 64);
        self.work += work;
        if self.work > MOST_WORK {
            return None;
        }
        let next = if next.is_some() { self.state(&moved, self.kinds[atom])? } else { DEAD };
        Some(Step { next, is_match })
    }
}

/// The threads of one state on their way to the next character.
struct Walk<'a> {
    instructions: &'a [Instruction],
    before: Option<u64>,
    next: Option<u64>,
    /// Instructions that a preferred thread has come to.
    seen: Vec<bool>,
    /// The threads after the next character.
    moved: Vec<At>,
    work: usize,
}

impl Walk<'_> {
    /// Follows a thread up to the next character in all its ways; true as soon as one of them matches.
    fn follow(&mut self, at: At) -> bool {
        self.work += 1;
        if std::mem::replace(&mut self.seen[usize::from(at)], true) {
            return false;
        }
        match &self.instructions[usize::from(at)] {
            Instruction::Match => true,
            Instruction::Read(set, then) => {
                if self.next.is_some_and(|sets| sets >> set & 1 == 1) && !self.moved.contains(then) {
                    self.moved.push(*then);
                }
                false
            }
            Instruction::Choose(ways) => ways.iter().any(|&way| self.follow(way)),
            Instruction::Before(neighbours, then) => neighbours.allow(self.next) && self.follow(*then),
            Instruction::After(neighbours, then) => neighbours.allow(self.before) && self.follow(*then),
        }
    }
}
