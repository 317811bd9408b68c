//! What a player does with the mouse between two steps.

use super::input::Mouse;

/// The mouse since the last step.
#[derive(Debug, Default)]
pub(super) struct Pointer {
    /// How far it has moved to the right and forward.
    right: f64,
    forward: f64,
    held: u8,
    /// The buttons that were pressed since the last step, even if they were released again.
    pressed: u8,
}

impl Pointer {
    /// Moves the mouse by units of the game.
    #[cfg(feature = "window")]
    pub(super) fn shift(&mut self, right: f64, forward: f64) {
        self.right += right;
        self.forward += forward;
    }

    /// Presses or releases a button by its number: left, right, middle.
    pub(super) const fn set_button(&mut self, button: u8, is_held: bool) {
        let bit = 1 << button;
        if is_held {
            self.held |= bit;
            self.pressed |= bit;
        } else {
            self.held &= !bit;
        }
    }

    /// Releases all buttons.
    pub(super) const fn release_all(&mut self) {
        self.held = 0;
    }

    /// Returns the input of a step. What is left of a unit counts for the next one.
    pub(super) fn take(&mut self) -> Mouse {
        let mouse = Mouse {
            right: self.right.trunc() as i32,
            forward: self.forward.trunc() as i32,
            buttons: self.held | std::mem::take(&mut self.pressed),
        };
        self.right = self.right.fract();
        self.forward = self.forward.fract();
        mouse
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "window")]
    #[test]
    fn slow_movements_add_up() {
        let mut pointer = Pointer::default();
        let mut moved = 0;
        for _ in 0..10 {
            pointer.shift(0.4, -1.5);
            moved += pointer.take().right;
        }
        assert_eq!((moved, pointer.take()), (4, Mouse::default()), "and nothing is left");
    }

    #[test]
    fn a_short_click_lasts_a_step() {
        let mut pointer = Pointer::default();
        pointer.set_button(0, true);
        pointer.set_button(0, false);
        pointer.set_button(2, true);
        assert_eq!((pointer.take().buttons, pointer.take().buttons), (5, 4));
        pointer.release_all();
        assert_eq!(pointer.take(), Mouse::default());
    }
}
