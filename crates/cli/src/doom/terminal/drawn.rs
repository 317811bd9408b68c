//! Which frames are drawn: a slow terminal shows some of them, rather than slow down the game.

/// The frames of which one is drawn while the game is late.
const PERIOD: u32 = 5;

/// The choice of frames.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    /// The number of frames that were left out one after the other.
    missing: u32,
}

impl Drawn {
    /// Returns whether a frame should be drawn. `is_late` says whether the next tic is due already.
    pub(super) const fn next(&mut self, is_late: bool) -> bool {
        let draws = !is_late || self.missing + 1 >= PERIOD;
        self.missing = if draws { 0 } else { self.missing + 1 };
        draws
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_frames_are_left_out_but_not_all() {
        let mut drawn = Drawn::default();
        assert!(drawn.next(false) && drawn.next(false), "in time");
        let late: Vec<bool> = (0..10).map(|_| drawn.next(true)).collect();
        assert_eq!(late, [[false, false, false, false, true]; 2].concat());
        assert!(drawn.next(false), "in time again");
    }
}
