//! Patterns as expressions over sets of characters.
//!
//! The translated pattern is parsed by `fancy_regex`, its sets by `regex_syntax`. An expression holds sets, sequences, ordered choices, repeats,
//! look-around and atomic groups. A program runs the first four, and look-around of one character. [`Expression::parse`] answers
//! `None` for everything else.

use fancy_regex::{Assertion, Expr, LookAround};
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};

/// Number of sets in one expression, at most: the members of a character are one `u64`.
pub(super) const MOST_SETS: usize = 64;

/// A set of characters, by its index in [`Expression::sets`].
pub(super) type SetId = u8;

/// Neighbours allowed beside a position: some characters, or the border of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Neighbours {
    /// Sets of characters, one bit a set.
    pub(super) sets: u64,
    /// True if the text may begin or end here.
    pub(super) border: bool,
    /// True if every neighbour outside `sets` is allowed and every other one is not; `border` included.
    pub(super) negated: bool,
}

impl Neighbours {
    /// True if a character with these sets, or the border of the text (`None`), may stand here.
    pub(super) fn allow(self, neighbour: Option<u64>) -> bool {
        let found = neighbour.map_or(self.border, |sets| sets & self.sets != 0);
        found != self.negated
    }
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    /// The empty text.
    Empty,
    /// One character of a set.
    Set(SetId),
    /// One node after the other.
    Concat(Vec<Node>),
    /// The first node that lets the rest of the pattern match.
    Alt(Vec<Node>),
    /// `least` to `most` times; a greedy repeat prefers more, a lazy one fewer.
    Repeat { node: Box<Node>, least: usize, most: Option<usize>, is_greedy: bool },
    /// The empty text before an allowed neighbour.
    Before(Neighbours),
    /// The empty text after an allowed neighbour.
    After(Neighbours),
    /// The empty text before or after a match of the node, or none if `is_negated`, where one neighbour does not decide that.
    Look { node: Box<Node>, is_negated: bool },
    /// The match of the node that is preferred, and no other.
    Atomic(Box<Node>),
}

/// A pattern.
#[derive(Clone, Debug)]
pub(in crate::structures::regex) struct Expression {
    pub(super) root: Node,
    pub(super) sets: Vec<ClassUnicode>,
}

impl Expression {
    /// The expression of a pattern in the language of `fancy_regex`, or `None` if the pattern holds more than an
    /// expression can say.
    pub(in crate::structures::regex) fn parse(pattern: &str) -> Option<Self> {
        let tree = Expr::parse_tree(pattern).ok()?;
        let mut sets = Vec::new();
        let root = Reader { sets: &mut sets }.node(&tree.expr)?;
        Some(Self { root, sets })
    }
}

struct Reader<'a> {
    sets: &'a mut Vec<ClassUnicode>,
}

impl Reader<'_> {
    fn node(&mut self, expr: &Expr) -> Option<Node> {
        Some(match expr {
            Expr::Empty => Node::Empty,
            Expr::Any { newline: true, .. } => {
                self.set(ClassUnicode::new([ClassUnicodeRange::new('\0', char::MAX)]))?
            }
            Expr::Literal { val, casei } => self.pattern(&regex_syntax::escape(val), *casei)?,
            Expr::Delegate { inner, casei } => self.pattern(inner, *casei)?,
            Expr::Concat(nodes) => Node::Concat(self.nodes(nodes)?),
            Expr::Alt(nodes) => Node::Alt(self.nodes(nodes)?),
            Expr::Group(node) => self.node(node)?,
            Expr::Repeat { child, lo, hi, greedy } => {
                let node = self.node(child)?;
                let most = (*hi != usize::MAX).then_some(*hi);
                Node::Repeat { node: Box::new(node), least: *lo, most, is_greedy: *greedy }
            }
            Expr::AtomicGroup(child) => {
                let node = self.node(child)?;
                without_atomic(&node).unwrap_or_else(|| Node::Atomic(Box::new(node)))
            }
            Expr::Assertion(Assertion::EndText) => {
                Node::Before(Neighbours { border: true, ..Neighbours::default() })
            }
            Expr::Assertion(Assertion::StartText) => {
                Node::After(Neighbours { border: true, ..Neighbours::default() })
            }
            Expr::LookAround(child, kind) => {
                let is_negated = matches!(kind, LookAround::LookAheadNeg | LookAround::LookBehindNeg);
                let node = self.node(child)?;
                let is_ahead = matches!(kind, LookAround::LookAhead | LookAround::LookAheadNeg);
                match neighbours(&node, is_ahead) {
                    Some(found) => {
                        let found = Neighbours { negated: found.negated != is_negated, ..found };
                        if is_ahead { Node::Before(found) } else { Node::After(found) }
                    }
                    None => Node::Look { node: Box::new(node), is_negated },
                }
            }
            _ => return None,
        })
    }

    fn nodes(&mut self, nodes: &[Expr]) -> Option<Vec<Node>> {
        nodes.iter().map(|node| self.node(node)).collect()
    }

    /// The node of a pattern without look-around, which is a set or a short text.
    fn pattern(&mut self, pattern: &str, ignore_case: bool) -> Option<Node> {
        let hir =
            regex_syntax::ParserBuilder::new().case_insensitive(ignore_case).build().parse(pattern).ok()?;
        self.hir(&hir)
    }

    fn hir(&mut self, hir: &Hir) -> Option<Node> {
        match hir.kind() {
            HirKind::Literal(literal) => {
                let text = str::from_utf8(&literal.0).ok()?;
                let mut nodes =
                    text.chars().map(|c| self.set(ClassUnicode::new([ClassUnicodeRange::new(c, c)])));
                match text.chars().count() {
                    1 => nodes.next()?,
                    _ => Some(Node::Concat(nodes.collect::<Option<_>>()?)),
                }
            }
            HirKind::Class(Class::Unicode(class)) => self.set(class.clone()),
            HirKind::Class(Class::Bytes(class)) => self.set(class.to_unicode_class()?),
            HirKind::Concat(parts) => {
                parts.iter().map(|part| self.hir(part)).collect::<Option<_>>().map(Node::Concat)
            }
            _ => None,
        }
    }

    fn set(&mut self, class: ClassUnicode) -> Option<Node> {
        let index = self.sets.iter().position(|known| *known == class).unwrap_or_else(|| {
            self.sets.push(class);
            self.sets.len() - 1
        });
        (index < MOST_SETS).then_some(Node::Set(index as SetId))
    }
}

/// The atomic group of a node, spelled without the group, if there is a spelling: the node itself if it has no choices, and for a possessive
/// repeat of one set the repeat with no such character after it.
fn without_atomic(node: &Node) -> Option<Node> {
    if is_choiceless(node) {
        return Some(node.clone());
    }
    let Node::Repeat { node: inner, least, most, is_greedy: true } = node else { return None };
    let Node::Set(set) = **inner else { return None };
    let none_follows = Node::Before(Neighbours { sets: 1 << set, border: false, negated: true });
    match (least, most) {
        (_, None) => Some(Node::Concat(vec![node.clone(), none_follows])),
        (0, Some(1)) => Some(Node::Alt(vec![Node::Set(set), none_follows])),
        _ => None,
    }
}

/// True if a node can match the empty text.
pub(super) fn is_nullable(node: &Node) -> bool {
    match node {
        Node::Empty | Node::Before(_) | Node::After(_) | Node::Look { .. } => true,
        Node::Set(_) => false,
        Node::Atomic(node) => is_nullable(node),
        Node::Concat(nodes) => nodes.iter().all(is_nullable),
        Node::Alt(nodes) => nodes.iter().any(is_nullable),
        Node::Repeat { node, least, .. } => *least == 0 || is_nullable(node),
    }
}

/// True if a node matches in one way at most, so that nothing can be given back.
fn is_choiceless(node: &Node) -> bool {
    match node {
        Node::Empty
        | Node::Set(_)
        | Node::Before(_)
        | Node::After(_)
        | Node::Look { .. }
        | Node::Atomic(_) => true,
        Node::Concat(nodes) => nodes.iter().all(is_choiceless),
        Node::Repeat { node, least, most, .. } => Some(*least) == *most && is_choiceless(node),
        Node::Alt(_) => false,
    }
}

/// The neighbours before which (or after which) `node` matches, if one neighbour decides that.
fn neighbours(node: &Node, is_ahead: bool) -> Option<Neighbours> {
    let anything = Neighbours { negated: true, ..Neighbours::default() };
    match node {
        Node::Empty | Node::Repeat { least: 0, .. } => Some(anything),
        Node::Set(set) => Some(Neighbours { sets: 1 << set, ..Neighbours::default() }),
        Node::Before(neighbours) if is_ahead => Some(*neighbours),
        Node::After(neighbours) if !is_ahead => Some(*neighbours),
        Node::Alt(nodes) => {
            let mut union = Neighbours::default();
            for node in nodes {
                let one = neighbours(node, is_ahead)?;
                if one.negated {
                    return None;
                }
                union.sets |= one.sets;
                union.border |= one.border;
            }
            Some(union)
        }
        // One round is enough where more are allowed.
        Node::Repeat { node, least: 1, .. } => neighbours(node, is_ahead),
        Node::Concat(nodes) => match nodes.as_slice() {
            [] => Some(anything),
            [node] => neighbours(node, is_ahead),
            _ => None,
        },
        _ => None,
    }
}
