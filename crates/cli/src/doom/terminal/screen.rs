//! The terminal as a screen, and as it was before.

use std::io::{self, stdout};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{
    DisableFocusChange, DisableMouseCapture, EnableFocusChange, EnableMouseCapture, KeyboardEnhancementFlags,
    PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::supports_keyboard_enhancement;

/// A terminal that shows nothing but the game. When this is dropped, or at a panic, it becomes what it was.
pub(super) struct Screen {
    pub(super) terminal: DefaultTerminal,
    /// Whether the terminal reports releases of keys, and modifiers as keys.
    pub(super) has_releases: bool,
}

/// What has to be undone. A panic needs it, too.
static IS_OPEN: AtomicBool = AtomicBool::new(false);
static HAS_FLAGS: AtomicBool = AtomicBool::new(false);

impl Screen {
    pub(super) fn open() -> io::Result<Self> {
        // This sets a hook for panics that restores what it has changed.
        let terminal = ratatui::try_init()?;
        IS_OPEN.store(true, Ordering::SeqCst);
        let hook = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            restore();
            hook(info);
        }));
        let mut screen = Self { terminal, has_releases: false };
        execute!(stdout(), EnableMouseCapture, EnableFocusChange)?;
        screen.has_releases = cfg!(windows) || matches!(supports_keyboard_enhancement(), Ok(true));
        if screen.has_releases && !cfg!(windows) {
            let flags = KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES
                | KeyboardEnhancementFlags::REPORT_EVENT_TYPES
                | KeyboardEnhancementFlags::REPORT_ALL_KEYS_AS_ESCAPE_CODES;
            execute!(stdout(), PushKeyboardEnhancementFlags(flags))?;
            HAS_FLAGS.store(true, Ordering::SeqCst);
        }
        Ok(screen)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Undoes everything, once. There is nothing to do about a failure.
fn restore() {
    if HAS_FLAGS.swap(false, Ordering::SeqCst) {
        let _ = execute!(stdout(), PopKeyboardEnhancementFlags);
    }
    if IS_OPEN.swap(false, Ordering::SeqCst) {
        let _ = execute!(stdout(), DisableFocusChange, DisableMouseCapture);
        ratatui::restore();
    }
}
