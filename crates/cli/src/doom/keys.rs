//! Keys of the game, as bits with the numbers of `doomkeys.h`, and their names in recordings.

use std::ops::{BitOr, BitOrAssign};

/// The number of a key.
pub(super) type Key = u8;

pub(super) const RIGHT: Key = 0xae;
pub(super) const LEFT: Key = 0xac;
pub(super) const UP: Key = 0xad;
pub(super) const DOWN: Key = 0xaf;
pub(super) const STRAFE_LEFT: Key = 0xa0;
pub(super) const STRAFE_RIGHT: Key = 0xa1;
pub(super) const USE: Key = 0xa2;
pub(super) const FIRE: Key = 0xa3;
pub(super) const ESCAPE: Key = 27;
pub(super) const ENTER: Key = 13;
pub(super) const TAB: Key = 9;
pub(super) const BACKSPACE: Key = 0x7f;
pub(super) const PAUSE: Key = 0xff;
pub(super) const SHIFT: Key = 0xb6;
pub(super) const ALT: Key = 0xb8;
const F1: Key = 0xbb;
const F11: Key = 0xd7;

/// The keys with names. Other keys are characters.
const NAMES: [(Key, &str); 28] = [
    (RIGHT, "right"),
    (LEFT, "left"),
    (UP, "up"),
    (DOWN, "down"),
    (STRAFE_LEFT, "strafe-left"),
    (STRAFE_RIGHT, "strafe-right"),
    (USE, "use"),
    (FIRE, "fire"),
    (ESCAPE, "escape"),
    (ENTER, "enter"),
    (TAB, "tab"),
    (BACKSPACE, "backspace"),
    (PAUSE, "pause"),
    (SHIFT, "shift"),
    (ALT, "alt"),
    (b' ', "space"),
    (F1, "f1"),
    (F1 + 1, "f2"),
    (F1 + 2, "f3"),
    (F1 + 3, "f4"),
    (F1 + 4, "f5"),
    (F1 + 5, "f6"),
    (F1 + 6, "f7"),
    (F1 + 7, "f8"),
    (F1 + 8, "f9"),
    (F1 + 9, "f10"),
    (F11, "f11"),
    (F11 + 1, "f12"),
];

/// Returns a function key, if there is one of this number.
#[cfg(any(feature = "window", feature = "terminal"))]
pub(super) const fn function_key(number: u8) -> Option<Key> {
    match number {
        1..=10 => Some(F1 + number - 1),
        11 | 12 => Some(F11 + number - 11),
        _ => None,
    }
}

/// A set of keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Keys([u128; 2]);

impl Keys {
    pub(super) const NONE: Self = Self([0; 2]);

    /// Returns a set of one key.
    pub(super) const fn of(key: Key) -> Self {
        let bit = 1 << (key & 127);
        Self(if key < 128 { [bit, 0] } else { [0, bit] })
    }

    pub(super) const fn has(self, key: Key) -> bool {
        self.0[(key >> 7) as usize] >> (key & 127) & 1 != 0
    }

    pub(super) fn iter(self) -> impl Iterator<Item = Key> {
        (0..=Key::MAX).filter(move |key| self.has(*key))
    }

    /// Returns the set as the game has it in memory: bit `i` of byte `j` is key `8 j + i`.
    pub(super) fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (half, bits) in bytes.chunks_exact_mut(16).zip(self.0) {
            half.copy_from_slice(&bits.to_le_bytes());
        }
        bytes
    }
}

impl BitOr for Keys {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self([self.0[0] | other.0[0], self.0[1] | other.0[1]])
    }
}

impl BitOrAssign for Keys {
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

impl FromIterator<Key> for Keys {
    fn from_iter<I: IntoIterator<Item = Key>>(keys: I) -> Self {
        keys.into_iter().fold(Self::NONE, |all, key| all | Self::of(key))
    }
}

/// Returns the name of a key: a word, a printable character, or a number such as `0x80`.
pub(super) fn name(key: Key) -> String {
    match NAMES.iter().find(|(number, _)| *number == key) {
        Some((_, name)) => (*name).to_owned(),
        None if key.is_ascii_graphic() => char::from(key).to_string(),
        None => format!("{key:#04x}"),
    }
}

/// Returns the key of a name.
pub(super) fn named(name: &str) -> Option<Key> {
    if let Some((key, _)) = NAMES.iter().find(|(_, other)| *other == name) {
        return Some(*key);
    }
    match name.as_bytes() {
        [byte] if byte.is_ascii_graphic() => Some(*byte),
        _ => {
            let digits = name.strip_prefix("0x").filter(|digits| digits.len() == 2)?;
            // The standard library accepts a plus sign.
            Key::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_name_of_its_own() {
        for key in 0..=Key::MAX {
            let name = name(key);
            assert_eq!(named(&name), Some(key), "{name}");
            assert!(!name.contains(char::is_whitespace), "names are words of a line: {name}");
        }
        for wrong in ["", "fier", "0x", "0x1", "0x+1", "0x100", "é", " "] {
            assert_eq!(named(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn sets_are_bits_in_the_order_of_the_game() {
        let keys: Keys = [b'0', FIRE, 0].into_iter().collect();
        let bytes = keys.to_bytes();
        assert_eq!((bytes[0], bytes[6], bytes[20]), (1, 1, 8), "{bytes:?}");
        assert_eq!(bytes.iter().map(|byte| byte.count_ones()).sum::<u32>(), 3);
        assert!(keys.has(FIRE) && !keys.has(USE));
        assert_eq!(keys.iter().collect::<Vec<_>>(), [0, b'0', FIRE]);
    }

    #[cfg(any(feature = "window", feature = "terminal"))]
    #[test]
    fn function_keys_have_the_codes_of_the_game() {
        let codes = [1, 10, 11, 12, 13].map(function_key);
        assert_eq!(codes, [Some(0xbb), Some(0xc4), Some(0xd7), Some(0xd8), None]);
    }
}
