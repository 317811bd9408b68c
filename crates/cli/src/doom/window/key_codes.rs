//! What the keys of a window do.

use winit::keyboard::{Key, KeyCode, PhysicalKey};

use crate::doom::controls::{Layout, typed};
use crate::doom::keys::{self, Keys};

/// Returns what a key does: what is on it without modifiers types, and its place on the keyboard moves.
pub(super) fn keys(place: PhysicalKey, label: &Key, layout: Layout) -> Keys {
    let PhysicalKey::Code(code) = place else { return character(label) };
    if let Some(key) = named(code) {
        return Keys::of(key);
    }
    let letter = match code {
        KeyCode::KeyW => 'w',
        KeyCode::KeyA => 'a',
        KeyCode::KeyS => 's',
        KeyCode::KeyD => 'd',
        KeyCode::KeyE => 'e',
        KeyCode::KeyF => 'f',
        KeyCode::Space => return typed(' ').unwrap_or_default(),
        _ => return character(label),
    };
    character(label) | layout.action(letter)
}

fn character(label: &Key) -> Keys {
    let Key::Character(text) = label else { return Keys::NONE };
    let mut characters = text.chars();
    let first = characters.next().and_then(typed).unwrap_or_default();
    if characters.next().is_none() { first } else { Keys::NONE }
}

/// Returns the key of the game in the place of a key without a character.
const fn named(code: KeyCode) -> Option<keys::Key> {
    Some(match code {
        KeyCode::ArrowUp => keys::UP,
        KeyCode::ArrowDown => keys::DOWN,
        KeyCode::ArrowLeft => keys::LEFT,
        KeyCode::ArrowRight => keys::RIGHT,
        KeyCode::ControlLeft | KeyCode::ControlRight => keys::FIRE,
        KeyCode::ShiftLeft | KeyCode::ShiftRight => keys::SHIFT,
        KeyCode::AltLeft | KeyCode::AltRight => keys::ALT,
        KeyCode::Escape => keys::ESCAPE,
        KeyCode::Enter | KeyCode::NumpadEnter => keys::ENTER,
        KeyCode::Tab => keys::TAB,
        KeyCode::Backspace => keys::BACKSPACE,
        KeyCode::Pause => keys::PAUSE,
        KeyCode::F1 => return keys::function_key(1),
        KeyCode::F2 => return keys::function_key(2),
        KeyCode::F3 => return keys::function_key(3),
        KeyCode::F4 => return keys::function_key(4),
        KeyCode::F5 => return keys::function_key(5),
        KeyCode::F6 => return keys::function_key(6),
        KeyCode::F7 => return keys::function_key(7),
        KeyCode::F8 => return keys::function_key(8),
        KeyCode::F9 => return keys::function_key(9),
        KeyCode::F10 => return keys::function_key(10),
        KeyCode::F11 => return keys::function_key(11),
        KeyCode::F12 => return keys::function_key(12),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: KeyCode, label: &str) -> Vec<keys::Key> {
        keys(PhysicalKey::Code(code), &Key::Character(label.into()), Layout::Wasd).iter().collect()
    }

    #[test]
    fn places_move_and_labels_type() {
        assert_eq!(of(KeyCode::KeyW, "w"), [b'w', keys::UP]);
        assert_eq!(of(KeyCode::KeyW, "z"), [b'z', keys::UP], "a French keyboard");
        assert_eq!(of(KeyCode::KeyY, "z"), *b"z", "a German keyboard");
        assert_eq!(of(KeyCode::Digit3, "3"), *b"3");
        assert!(of(KeyCode::Semicolon, "ö").is_empty(), "the game has no such key");
        assert!(of(KeyCode::Digit1, "ab").is_empty(), "no character");
    }

    #[test]
    fn other_keys_have_places_only() {
        assert_eq!(of(KeyCode::ArrowLeft, ""), [keys::LEFT]);
        assert_eq!(of(KeyCode::ControlLeft, ""), [keys::FIRE]);
        assert_eq!(of(KeyCode::F11, ""), [0xd7]);
        assert_eq!(of(KeyCode::Space, " "), [b' ', keys::USE]);
        assert!(of(KeyCode::Insert, "").is_empty(), "the game has no such key");
    }
}
