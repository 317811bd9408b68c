//! What the keys of a terminal do.

use std::time::{Duration, Instant};

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers, ModifierKeyCode};

use crate::doom::controls::{Layout, typed};
use crate::doom::keyboard::Keyboard;
use crate::doom::keys::{self, Keys};

/// How long a key counts as held down after its last repetition, if the terminal does not report releases.
const HOLD: Duration = Duration::from_millis(150);
/// Characters of an American keyboard, with and without shift.
const PLAIN: &str = "1234567890-=[];'`,./\\";
const SHIFTED: &str = "!@#$%^&*()_+{}:\"~<>?|";

/// Presses or releases the key of an event. `has_releases` says whether the terminal reports releases and
/// modifiers as keys.
pub(super) fn apply(
    event: &KeyEvent,
    layout: Layout,
    has_releases: bool,
    now: Instant,
    keyboard: &mut Keyboard<KeyCode>,
) {
    let (code, is_shifted) = plain(event.code);
    match event.kind {
        KeyEventKind::Release => keyboard.release(&code),
        KeyEventKind::Repeat if has_releases => {}
        KeyEventKind::Press | KeyEventKind::Repeat => {
            let mut keys = keys(code, layout);
            if !has_releases {
                let held = event.modifiers;
                let modifiers = [
                    (is_shifted || held.contains(KeyModifiers::SHIFT), keys::SHIFT),
                    (held.contains(KeyModifiers::CONTROL), keys::FIRE),
                    (held.contains(KeyModifiers::ALT), keys::ALT),
                ];
                keys |= modifiers.into_iter().filter(|(is_held, _)| *is_held).map(|(_, key)| key).collect();
            }
            keyboard.press(code, keys, (!has_releases).then(|| now + HOLD));
        }
    }
}

/// Returns the key that was pressed, without its modifiers, and whether shift was one of them.
fn plain(code: KeyCode) -> (KeyCode, bool) {
    match code {
        KeyCode::BackTab => (KeyCode::Tab, true),
        KeyCode::Char(character) => {
            let shifted = SHIFTED.chars().zip(PLAIN.chars()).find(|(shifted, _)| *shifted == character);
            let plain = shifted.map_or(character.to_ascii_lowercase(), |(_, plain)| plain);
            (KeyCode::Char(plain), plain != character)
        }
        code => (code, false),
    }
}

fn keys(code: KeyCode, layout: Layout) -> Keys {
    Keys::of(match code {
        KeyCode::Char(character) => {
            return typed(character).unwrap_or_default() | layout.action(character);
        }
        KeyCode::F(number) => {
            return keys::function_key(number).map(Keys::of).unwrap_or_default();
        }
        KeyCode::Up => keys::UP,
        KeyCode::Down => keys::DOWN,
        KeyCode::Left => keys::LEFT,
        KeyCode::Right => keys::RIGHT,
        KeyCode::Enter => keys::ENTER,
        KeyCode::Esc => keys::ESCAPE,
        KeyCode::Tab => keys::TAB,
        KeyCode::Backspace => keys::BACKSPACE,
        KeyCode::Pause => keys::PAUSE,
        KeyCode::Modifier(ModifierKeyCode::LeftShift | ModifierKeyCode::RightShift) => keys::SHIFT,
        KeyCode::Modifier(ModifierKeyCode::LeftControl | ModifierKeyCode::RightControl) => keys::FIRE,
        KeyCode::Modifier(ModifierKeyCode::LeftAlt | ModifierKeyCode::RightAlt) => keys::ALT,
        _ => return Keys::NONE,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(keyboard: &mut Keyboard<KeyCode>, now: Instant) -> Vec<keys::Key> {
        keyboard.take(now).iter().collect()
    }

    fn press(code: KeyCode, modifiers: KeyModifiers, has_releases: bool) -> Vec<keys::Key> {
        let (mut keyboard, now) = (Keyboard::new(), Instant::now());
        apply(&KeyEvent::new(code, modifiers), Layout::Wasd, has_releases, now, &mut keyboard);
        held(&mut keyboard, now)
    }

    #[test]
    fn modifiers_come_with_keys_or_as_keys() {
        let (shift, none) = (KeyModifiers::SHIFT, KeyModifiers::NONE);
        assert_eq!(press(KeyCode::Char('W'), shift, false), [b'w', keys::UP, keys::SHIFT]);
        assert_eq!(press(KeyCode::Char('W'), shift, true), [b'w', keys::UP], "shift is a key of its own");
        assert_eq!(press(KeyCode::Char('!'), none, false), [b'1', keys::SHIFT]);
        assert_eq!(press(KeyCode::Up, KeyModifiers::CONTROL, false), [keys::FIRE, keys::UP]);
        assert_eq!(press(KeyCode::BackTab, shift, false), [keys::TAB, keys::SHIFT]);
        assert_eq!(press(KeyCode::Modifier(ModifierKeyCode::LeftControl), none, true), [keys::FIRE]);
        assert_eq!(press(KeyCode::F(10), none, false), [0xc4]);
        assert!(press(KeyCode::Home, none, false).is_empty(), "the game has no such key");
    }

    #[test]
    fn keys_without_releases_are_held_for_a_while() {
        let (mut keyboard, now) = (Keyboard::new(), Instant::now());
        let after = |ms| now + Duration::from_millis(ms);
        let event = KeyEvent::new(KeyCode::Up, KeyModifiers::NONE);
        apply(&event, Layout::Wasd, false, now, &mut keyboard);
        assert_eq!(held(&mut keyboard, after(149)), [keys::UP]);
        apply(&event, Layout::Wasd, false, after(149), &mut keyboard);
        assert_eq!(held(&mut keyboard, after(298)), [keys::UP], "a repetition");
        assert!(held(&mut keyboard, after(299)).is_empty(), "no more repetitions");
    }

    #[test]
    fn releases_are_obeyed_in_upper_and_lower_case() {
        let (mut keyboard, now) = (Keyboard::new(), Instant::now());
        let pressed = KeyEvent::new(KeyCode::Char('D'), KeyModifiers::SHIFT);
        apply(&pressed, Layout::Letters, true, now, &mut keyboard);
        assert_eq!(held(&mut keyboard, now + Duration::from_secs(9)), *b"d");
        let kind = KeyEventKind::Release;
        let released = KeyEvent::new_with_kind(KeyCode::Char('d'), KeyModifiers::NONE, kind);
        apply(&released, Layout::Letters, true, now, &mut keyboard);
        assert!(held(&mut keyboard, now).is_empty(), "the key of the other case");
    }

    #[test]
    fn both_rows_of_characters_have_the_same_keys() {
        assert_eq!(PLAIN.len(), SHIFTED.len());
    }
}
