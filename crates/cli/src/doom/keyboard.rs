//! The keys that a player holds down between two steps.

use std::time::Instant;

use super::keys::Keys;

/// The keys of a keyboard that are held down. `P` names the keys of the keyboard, several of which may do the
/// same.
#[derive(Debug)]
pub(super) struct Keyboard<P> {
    held: Vec<Held<P>>,
    /// What was pressed since the last step, even if it was released again.
    pressed: Keys,
}

#[derive(Debug)]
struct Held<P> {
    key: P,
    keys: Keys,
    /// When the key counts as released, if its release is not reported.
    until: Option<Instant>,
}

impl<P: PartialEq> Keyboard<P> {
    pub(super) const fn new() -> Self {
        Self { held: Vec::new(), pressed: Keys::NONE }
    }

    /// Presses a key, which holds down `keys` of the game until its release, or until a time. A press of a
    /// held key sets a new time.
    pub(super) fn press(&mut self, key: P, keys: Keys, until: Option<Instant>) {
        self.release(&key);
        self.pressed |= keys;
        self.held.push(Held { key, keys, until });
    }

    pub(super) fn release(&mut self, key: &P) {
        self.held.retain(|held| held.key != *key);
    }

    pub(super) fn release_all(&mut self) {
        self.held.clear();
    }

    /// Returns the keys of the game that are held down in a step that begins now.
    pub(super) fn take(&mut self, now: Instant) -> Keys {
        self.held.retain(|held| held.until.is_none_or(|until| now < until));
        let pressed = std::mem::take(&mut self.pressed);
        self.held.iter().fold(pressed, |keys, held| keys | held.keys)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const UP: Keys = Keys::of(1);
    const FIRE: Keys = Keys::of(2);

    #[test]
    fn keys_are_held_until_their_release() {
        let (mut keyboard, now) = (Keyboard::new(), Instant::now());
        keyboard.press("w", UP, None);
        keyboard.press("ctrl", FIRE, None);
        assert_eq!(keyboard.take(now), UP | FIRE);
        keyboard.release(&"ctrl");
        assert_eq!(keyboard.take(now), UP);
        keyboard.release_all();
        assert_eq!(keyboard.take(now), Keys::NONE);
    }

    #[test]
    fn a_short_press_lasts_a_step() {
        let (mut keyboard, now) = (Keyboard::new(), Instant::now());
        keyboard.press("w", UP, None);
        keyboard.release(&"w");
        assert_eq!((keyboard.take(now), keyboard.take(now)), (UP, Keys::NONE));
    }

    #[test]
    fn one_of_two_keys_that_do_the_same_is_enough() {
        let (mut keyboard, now) = (Keyboard::new(), Instant::now());
        keyboard.press("w", UP, None);
        keyboard.press("up", UP, None);
        keyboard.release(&"w");
        assert_eq!((keyboard.take(now), keyboard.take(now)), (UP, UP));
    }

    #[test]
    fn a_time_takes_the_place_of_a_release() {
        let (mut keyboard, now) = (Keyboard::new(), Instant::now());
        let after = |ms| now + Duration::from_millis(ms);
        keyboard.press("w", UP, Some(after(150)));
        assert_eq!((keyboard.take(now), keyboard.take(after(149))), (UP, UP));
        keyboard.press("w", UP, Some(after(250)));
        assert_eq!((keyboard.take(after(249)), keyboard.take(after(250))), (UP, Keys::NONE));
    }
}
