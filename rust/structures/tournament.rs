//! A tournament tree: the best of many players, when a few change at a time.

/// The number of no player: an absent entrant.
const NOBODY: u32 = u32::MAX;

/// A player and its strength, stored in the tree, so that most matches read no other memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entrant {
    /// The player's number.
    pub player: u32,
    /// The player's strength, or an estimate of it.
    pub strength: f64,
}

impl Entrant {
    const NOBODY: Self = Self { player: NOBODY, strength: f64::NEG_INFINITY };
}

/// A binary tree of matches that stores the winner of each. A change replays one match per level: O(log players).
#[derive(Clone, Debug, Default)]
pub struct Tournament {
    /// Node 1 is the final. The children of `node` are `2 * node` and `2 * node + 1`; the last half of the array holds
    /// the players.
    winners: Vec<Entrant>,
}

impl Tournament {
    /// A tournament for players with numbers below `players`, none of whom takes part yet.
    pub fn new(players: usize) -> Self {
        Self { winners: vec![Entrant::NOBODY; 2 * players.next_power_of_two()] }
    }

    /// Grows the tree, if need be, to hold players with numbers below `players`.
    pub fn make_room(&mut self, players: usize) {
        let room = self.winners.len() / 2;
        if players <= room {
            return;
        }
        // The old tree becomes the leftmost subtree of the larger one, copied level by level.
        let mut larger = Self::new(players);
        let mut width = 1;
        let scale = larger.winners.len() / 2 / room.max(1);
        while width <= room {
            let from = &self.winners[width..2 * width];
            larger.winners[width * scale..][..width].copy_from_slice(from);
            width *= 2;
        }
        let mut node = scale;
        while node > 1 {
            node /= 2;
            larger.winners[node] = self.winners.get(1).copied().unwrap_or(Entrant::NOBODY);
        }
        *self = larger;
    }

    /// The best of all players who take part.
    pub fn winner(&self) -> Option<u32> {
        self.winners.get(1).map(|winner| winner.player).filter(|&winner| winner != NOBODY)
    }

    /// Replays the matches of `player` after a change: it has become better or worse, has joined or has left. A player
    /// takes part exactly if it has a `strength`.
    ///
    /// `is_better` is true if the first of two players who take part is the better one; it must be a total order.
    ///
    /// # Panics
    /// If `player` is beyond the size of the tree.
    pub fn update(
        &mut self,
        player: u32,
        strength: Option<f64>,
        mut is_better: impl FnMut(Entrant, Entrant) -> bool,
    ) {
        let mut node = self.winners.len() / 2 + player as usize;
        self.winners[node] = strength.map_or(Entrant::NOBODY, |strength| Entrant { player, strength });
        while node > 1 {
            node /= 2;
            let before = self.winners[node].player;
            let (left, right) = (self.winners[2 * node], self.winners[2 * node + 1]);
            let winner = match (left.player, right.player) {
                (NOBODY, _) => right,
                (_, NOBODY) => left,
                _ if is_better(right, left) => right,
                _ => left,
            };
            // If neither the old nor the new winner of this match is `player`, no match further up changes.
            if before == winner.player && before != player {
                return;
            }
            self.winners[node] = winner;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn tournament_matches_naive(changes in prop::collection::vec((0..13u32, prop::option::of(0..9u32)), 0..60)) {
            let mut strengths = [None; 13];
            let mut tournament = Tournament::new(13);
            for (at, (player, strength)) in (0..).zip(changes) {
                tournament.make_room(13 + at);
                strengths[player as usize] = strength;
                let key = |player: u32| (strengths[player as usize], std::cmp::Reverse(player));
                // The strengths are coarser than the keys, as estimates are.
                let estimate = strength.map(|strength| f64::from(strength / 3));
                tournament.update(player, estimate, |one, other| {
                    let is_stale = |entrant: Entrant| Some(entrant.strength) != strengths[entrant.player as usize].map(|strength: u32| f64::from(strength / 3));
                    assert!(!is_stale(one) && !is_stale(other));
                    key(one.player) > key(other.player)
                });
                let best = (0..13).filter(|&player| strengths[player as usize].is_some()).max_by_key(|&player| key(player));
                prop_assert_eq!(tournament.winner(), best);
            }
        }
    }

    #[test]
    fn nobody_wins_an_empty_tournament() {
        assert_eq!(Tournament::default().winner(), None);
        assert_eq!(Tournament::new(0).winner(), None);
    }
}
