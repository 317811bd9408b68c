//! The order in which pages leave a pool.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// The policy that chooses the page that leaves a full pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Eviction {
    /// Second chance: a hand goes round all pages, and takes the first one that was not used since it came by last. A page
    /// that a lane needed has been used when it arrives; one that was prefetched has not.
    #[default]
    Clock,
    /// The page that was used longest ago. The arrival of a page counts as a use.
    Lru,
}

impl Eviction {
    /// All policies.
    pub const ALL: [Self; 2] = [Self::Clock, Self::Lru];

    /// Returns the name of the policy.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clock => "clock",
            Self::Lru => "lru",
        }
    }
}

impl fmt::Display for Eviction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no policy of eviction has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownEviction(String);

impl FromStr for Eviction {
    type Err = UnknownEviction;

    fn from_str(text: &str) -> Result<Self, UnknownEviction> {
        let named = Self::ALL.into_iter().find(|eviction| eviction.name() == text);
        named.ok_or_else(|| UnknownEviction(text.to_owned()))
    }
}

impl fmt::Display for UnknownEviction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Eviction::ALL.map(Eviction::name).join(" or ");
        write!(f, "unknown policy of eviction `{}`; expected {names}", self.0)
    }
}

impl Error for UnknownEviction {}

/// The link of a slot that has no neighbour.
const NONE: u32 = u32::MAX;

/// The order of the slots of a pool. Slots are numbered from 0 in the order in which they are filled first.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    Clock {
        /// Whether each slot was used since the hand came by.
        used: Vec<bool>,
        hand: usize,
    },
    Lru {
        /// The neighbours of each slot: the one used before, and the one used after.
        links: Vec<[u32; 2]>,
        oldest: u32,
        newest: u32,
    },
}

impl Order {
    pub(crate) const fn new(eviction: Eviction) -> Self {
        match eviction {
            Eviction::Clock => Self::Clock { used: Vec::new(), hand: 0 },
            Eviction::Lru => Self::Lru { links: Vec::new(), oldest: NONE, newest: NONE },
        }
    }

    /// Adds the next slot, which has just been filled.
    pub(crate) fn add(&mut self, is_used: bool) {
        match self {
            Self::Clock { used, .. } => used.push(is_used),
            Self::Lru { links, oldest, newest } => {
                let slot = links.len() as u32;
                links.push([*newest, NONE]);
                if *newest == NONE {
                    *oldest = slot;
                } else {
                    links[*newest as usize][1] = slot;
                }
                *newest = slot;
            }
        }
    }

    /// Notes that a slot has been filled with another page.
    pub(crate) fn refill(&mut self, slot: usize, is_used: bool) {
        match self {
            Self::Clock { used, .. } => used[slot] = is_used,
            Self::Lru { .. } => self.touch(slot),
        }
    }

    /// Notes that the page in a slot has been used.
    pub(crate) fn touch(&mut self, slot: usize) {
        match self {
            Self::Clock { used, .. } => used[slot] = true,
            Self::Lru { links, oldest, newest } => {
                if *newest == slot as u32 {
                    return;
                }
                // The slot is not the newest, so it has one after it.
                let [before, after] = links[slot];
                links[after as usize][0] = before;
                if before == NONE {
                    *oldest = after;
                } else {
                    links[before as usize][1] = after;
                }
                links[*newest as usize][1] = slot as u32;
                links[slot] = [*newest, NONE];
                *newest = slot as u32;
            }
        }
    }

    /// Returns the slot whose page leaves, among those that may.
    pub(crate) fn victim(&mut self, may_leave: impl Fn(usize) -> bool) -> Option<usize> {
        match self {
            Self::Clock { used, hand } => {
                // The first time round takes the second chances, the second one finds a slot.
                for _ in 0..2 * used.len() {
                    let slot = *hand;
                    *hand = (*hand + 1) % used.len();
                    if may_leave(slot) && !std::mem::take(&mut used[slot]) {
                        return Some(slot);
                    }
                }
                None
            }
            Self::Lru { links, oldest, .. } => {
                let mut slot = *oldest;
                while slot != NONE && !may_leave(slot as usize) {
                    slot = links[slot as usize][1];
                }
                (slot != NONE).then_some(slot as usize)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(eviction: Eviction, slots: usize) -> Order {
        let mut order = Order::new(eviction);
        (0..slots).for_each(|_| order.add(true));
        order
    }

    #[test]
    fn lru_takes_the_slot_that_was_used_longest_ago() {
        let mut order = order(Eviction::Lru, 4);
        [1, 0, 3, 3, 1].iter().for_each(|slot| order.touch(*slot));
        // From the oldest to the newest: 2, 0, 3, 1.
        for expected in [2, 0, 3, 1, 2] {
            assert_eq!(order.victim(|_| true), Some(expected), "in the order of use");
            order.refill(expected, false);
        }
        assert_eq!(order.victim(|slot| slot != 0 && slot != 3), Some(1), "the first that may leave");
        assert_eq!(order.victim(|_| false), None, "none may leave");
    }

    #[test]
    fn the_clock_gives_a_second_chance() {
        let mut order = order(Eviction::Clock, 3);
        assert_eq!(order.victim(|_| true), Some(0), "all were used, so the hand goes round once");
        order.refill(0, true);
        order.touch(1);
        assert_eq!(order.victim(|_| true), Some(2), "1 was used again");
        order.refill(2, false);
        assert_eq!(order.victim(|slot| slot != 1), Some(2), "0 has been used when it arrived, 2 has not");
        assert_eq!(order.victim(|_| false), None, "none may leave");
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for eviction in Eviction::ALL {
            assert_eq!(eviction.to_string().parse(), Ok(eviction), "{eviction}");
        }
        let error = "fifo".parse::<Eviction>().expect_err("there is no such policy");
        assert_eq!(
            error.to_string(),
            "unknown policy of eviction `fifo`; expected clock or lru",
            "the message"
        );
    }
}
