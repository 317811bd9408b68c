//! What a player does in a step: held keys, and the mouse.

use super::keys::Keys;

/// The input of a step. Keys and buttons are held in all of its tics; the mouse moves in the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Input {
    pub(super) keys: Keys,
    pub(super) mouse: Mouse,
}

/// How far the mouse has moved since the last step, and its held buttons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mouse {
    pub(super) right: i32,
    pub(super) forward: i32,
    /// Bit 0 is the left button, bit 1 the right, bit 2 the middle one.
    pub(super) buttons: u8,
}

impl Mouse {
    /// Returns the three numbers that the game has in memory.
    pub(super) fn to_bytes(self) -> [u8; 12] {
        let mut bytes = [0; 12];
        for (word, value) in bytes.chunks_exact_mut(4).zip([self.right, self.forward, self.buttons.into()]) {
            word.copy_from_slice(&value.to_le_bytes());
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mouse_is_three_words() {
        let bytes = Mouse { right: -2, forward: 258, buttons: 5 }.to_bytes();
        assert_eq!(bytes, [254, 255, 255, 255, 2, 1, 0, 0, 5, 0, 0, 0]);
    }
}
