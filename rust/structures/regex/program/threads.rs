//! Threads: the ways in which a match may go on, as instructions in the order of preference.

use super::expression::{Expression, Neighbours, Node, SetId, is_nullable};

/// Instructions of one program, at most.
const MOST_INSTRUCTIONS: usize = 2048;

/// The index of an instruction.
pub(super) type At = u16;

#[derive(Clone, Debug)]
pub(super) enum Instruction {
    /// Reads one character of a set.
    Read(SetId, At),
    /// Goes on in each of these ways, the preferred first.
    Choose(Vec<At>),
    /// Goes on if the next character, or the end of the text, is allowed.
    Before(Neighbours, At),
    /// Goes on if the character before, or the start of the text, is allowed.
    After(Neighbours, At),
    /// The pattern has matched.
    Match,
}

/// The instructions of an expression.
#[derive(Clone, Debug)]
pub(super) struct Threads {
    pub(super) instructions: Vec<Instruction>,
    pub(super) start: At,
}

impl Threads {
    /// Compiles an expression; `None` if it takes more than [`MOST_INSTRUCTIONS`], or has look-around or groups that threads cannot run.
    pub(super) fn new(expression: &Expression) -> Option<Self> {
        let mut made = Self { instructions: vec![Instruction::Match], start: 0 };
        made.start = made.node(&expression.root, 0)?;
        Some(made)
    }

    /// The conditions of all look-behinds.
    pub(super) fn look_behinds(&self) -> impl Iterator<Item = Neighbours> {
        self.instructions.iter().filter_map(|instruction| match instruction {
            Instruction::After(neighbours, _) => Some(*neighbours),
            _ => None,
        })
    }

    /// Compiles `node` before the instruction `next`; answers where the node begins.
    fn node(&mut self, node: &Node, next: At) -> Option<At> {
        match node {
            Node::Empty => Some(next),
            Node::Set(set) => self.push(Instruction::Read(*set, next)),
            Node::Before(neighbours) => self.push(Instruction::Before(*neighbours, next)),
            Node::After(neighbours) => self.push(Instruction::After(*neighbours, next)),
            Node::Concat(nodes) => nodes.iter().rev().try_fold(next, |next, node| self.node(node, next)),
            Node::Alt(nodes) => {
                let ways = nodes.iter().map(|node| self.node(node, next)).collect::<Option<_>>()?;
                self.push(Instruction::Choose(ways))
            }
            Node::Look { .. } | Node::Atomic(_) => None,
            // How engines count rounds of nothing differs.
            Node::Repeat { node, .. } if is_nullable(node) => None,
            Node::Repeat { node, least, most, is_greedy } => {
                let choose = |again: At, done: At| {
                    Instruction::Choose(if *is_greedy { vec![again, done] } else { vec![done, again] })
                };
                let mut at = next;
                match most {
                    None => {
                        let loop_at = self.push(Instruction::Match)?;
                        let body = self.node(node, loop_at)?;
                        self.instructions[usize::from(loop_at)] = choose(body, next);
                        at = loop_at;
                    }
                    Some(most) => {
                        for _ in *least..*most {
                            let body = self.node(node, at)?;
                            at = self.push(choose(body, next))?;
                        }
                    }
                }
                (0..*least).try_fold(at, |next, _| self.node(node, next))
            }
        }
    }

    fn push(&mut self, instruction: Instruction) -> Option<At> {
        let at = self.instructions.len();
        self.instructions.push(instruction);
        (at < MOST_INSTRUCTIONS).then_some(at as At)
    }
}
