//! A policy of random actions, the same for a lane in every run.

/// Random actions.
pub(super) struct Policy {
    /// The state of the random numbers of each lane.
    states: Vec<u64>,
}

impl Policy {
    pub(super) fn new(lanes: usize) -> Self {
        Self { states: (0..lanes as u64).collect() }
    }

    /// Returns actions for some lanes.
    pub(super) fn actions(&mut self, lanes: &[usize]) -> Vec<i32> {
        lanes.iter().flat_map(|&lane| action(&mut self.states[lane])).collect()
    }
}

/// The components of actions, in their order.
pub(super) const COMPONENTS: [&str; 5] = ["move", "strafe", "turn", "fire", "use"];

/// Returns a random action.
fn action(state: &mut u64) -> [i32; 5] {
    // SplitMix64.
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let bits = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    let eighth = |shift: u32| (bits >> shift & 7) as usize;
    let kind = eighth(41);
    [
        [1, 1, 1, 1, -1, 0, 0, 0][eighth(32)],
        [-1, 1, 0, 0, 0, 0, 0, 0][eighth(38)],
        [-1, -1, 1, 1, 0, 0, 0, 0][eighth(35)],
        i32::from(kind < 2),
        i32::from(kind == 2 || kind == 3),
    ]
}
