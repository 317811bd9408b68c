//! The options for players: what keys and mouse do.

use clap::{ValueEnum, value_parser};

#[cfg(any(feature = "window", feature = "terminal"))]
use super::keys::{self, Keys};
use super::recording::STEP_TICS_MAX;

/// The options for players.
#[derive(clap::Args)]
pub(super) struct ControlArgs {
    /// What letters do.
    #[arg(long, value_name = "LAYOUT", default_value = "wasd")]
    pub(super) keys: Layout,
    /// Let the player also walk with the mouse, as in 1993. By default it only turns.
    #[arg(long)]
    pub(super) mouse_walks: bool,
    /// The width and height of a pixel of the game in the window, when it opens, and in the screenshot. The
    /// default is 3 in the window and 1 in the screenshot.
    #[arg(long, value_name = "PIXELS", value_parser = value_parser!(u8).range(1..=16))]
    pub(super) scale: Option<u8>,
    /// Draw a frame after this number of tics, from 1 to 35. The default in the window and the terminal is as
    /// many frames as there is time for, with up to 8 tics between them; with --headless it is 1.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=STEP_TICS_MAX as i64))]
    pub(super) tics_per_frame: Option<u32>,
}

/// The value of `--keys`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Layout {
    /// W, A, S and D move, E opens, F fires; they type, too, but cheats are not recognised.
    Wasd,
    /// Letters only type.
    Letters,
}

#[cfg(any(feature = "window", feature = "terminal"))]
impl Layout {
    /// Returns what a letter does besides typing. It is that of an American keyboard at the same place.
    pub(super) const fn action(self, letter: char) -> Keys {
        let key = match (self, letter) {
            (Self::Wasd, 'w') => keys::UP,
            (Self::Wasd, 'a') => keys::STRAFE_LEFT,
            (Self::Wasd, 's') => keys::DOWN,
            (Self::Wasd, 'd') => keys::STRAFE_RIGHT,
            (Self::Wasd, 'e') => keys::USE,
            (Self::Wasd, 'f') => keys::FIRE,
            _ => return Keys::NONE,
        };
        Keys::of(key)
    }
}

/// Returns the keys that a character types: its own, and for some what they do besides. `None` if the game
/// has no such key.
#[cfg(any(feature = "window", feature = "terminal"))]
pub(super) fn typed(character: char) -> Option<Keys> {
    let key = u8::try_from(character).ok().filter(|byte| (b' '..0x7f).contains(byte))?.to_ascii_lowercase();
    let action = match key {
        b' ' => Keys::of(keys::USE),
        b',' => Keys::of(keys::STRAFE_LEFT),
        b'.' => Keys::of(keys::STRAFE_RIGHT),
        _ => Keys::NONE,
    };
    Some(Keys::of(key) | action)
}

#[cfg(all(test, any(feature = "window", feature = "terminal")))]
mod tests {
    use super::*;

    fn all(keys: &[keys::Key]) -> Keys {
        keys.iter().copied().collect()
    }

    #[test]
    fn characters_type_in_lower_case() {
        assert_eq!(typed('q'), Some(all(b"q")));
        assert_eq!(typed('Q'), Some(all(b"q")));
        assert_eq!(typed('='), Some(all(b"=")));
        assert_eq!(typed(' '), Some(all(&[b' ', keys::USE])));
        assert_eq!(typed('.'), Some(all(&[b'.', keys::STRAFE_RIGHT])));
        for other in ['é', '\n', '\u{7f}', '€'] {
            assert_eq!(typed(other), None, "{other:?}");
        }
    }

    #[test]
    fn letters_move_in_one_layout() {
        assert_eq!(Layout::Wasd.action('w'), all(&[keys::UP]));
        assert_eq!(Layout::Wasd.action('x'), Keys::NONE);
        assert!(('a'..='z').all(|letter| Layout::Letters.action(letter) == Keys::NONE));
    }
}
