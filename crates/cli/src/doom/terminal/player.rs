//! The player at a terminal: tics pass when they are due, and a frame is drawn after them.

use std::io::{IsTerminal as _, stdin, stdout};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use ratatui::Frame as Drawing;
use ratatui::crossterm::event::{
    self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEventKind,
};
use ratatui::layout::{Constraint, Layout as Rows};
use ratatui::text::Line;

use super::half_blocks::HalfBlocks;
use super::key_events;
use super::screen::Screen;
use crate::doom::controls::ControlArgs;
use crate::doom::input::Input;
use crate::doom::keyboard::Keyboard;
use crate::doom::pacing::Pace;
use crate::doom::playthrough::Playthrough;
use crate::doom::pointer::Pointer;

/// Checks that there is a terminal.
pub(in crate::doom) fn check() -> Result<()> {
    for (name, is_terminal) in [("input", stdin().is_terminal()), ("output", stdout().is_terminal())] {
        if !is_terminal {
            bail!("--terminal: standard {name} is a file or a pipe: expected a terminal");
        }
    }
    Ok(())
}

/// Plays in the terminal, until Ctrl-C is pressed or the game is over.
pub(in crate::doom) fn run(play: &mut Playthrough, controls: &ControlArgs) -> Result<()> {
    let mut screen = Screen::open().context("--terminal: cannot use the terminal")?;
    let mut keyboard = Keyboard::new();
    let mut pointer = Pointer::default();
    let mut pace = Pace::new(Instant::now(), controls.tics_per_frame);
    while !play.is_over() {
        while event::poll(pace.due().saturating_duration_since(Instant::now()))? {
            match event::read()? {
                Event::Key(event) if is_end(&event) => return Ok(()),
                Event::Key(event) => {
                    let has_releases = screen.has_releases;
                    key_events::apply(&event, controls.keys, has_releases, Instant::now(), &mut keyboard);
                }
                Event::Mouse(event) => match event.kind {
                    MouseEventKind::Down(button) => pointer.set_button(number(button), true),
                    MouseEventKind::Up(button) => pointer.set_button(number(button), false),
                    _ => {}
                },
                Event::FocusLost => {
                    keyboard.release_all();
                    pointer.release_all();
                }
                _ => {}
            }
        }
        let now = Instant::now();
        let tics = pace.step(now);
        if tics == 0 {
            continue;
        }
        let tics = play.step(Input { keys: keyboard.take(now), mouse: pointer.take() }, tics)?;
        let has_releases = screen.has_releases;
        screen.terminal.draw(|drawing| draw(drawing, play, has_releases)).context("cannot draw")?;
        // A slow terminal leaves less time for frames, too.
        pace.pass(tics, Instant::now());
    }
    Ok(())
}

/// Returns whether a key is Ctrl-C.
fn is_end(event: &KeyEvent) -> bool {
    let is_pressed = event.kind == KeyEventKind::Press;
    is_pressed && event.code == KeyCode::Char('c') && event.modifiers.contains(KeyModifiers::CONTROL)
}

/// Returns the number that the game has for a button.
const fn number(button: MouseButton) -> u8 {
    match button {
        MouseButton::Left => 0,
        MouseButton::Right => 1,
        MouseButton::Middle => 2,
    }
}

fn draw(drawing: &mut Drawing<'_>, play: &Playthrough, has_releases: bool) {
    let [picture, status] =
        Rows::vertical([Constraint::Fill(1), Constraint::Length(1)]).areas(drawing.area());
    drawing.render_widget(HalfBlocks(play.frame()), picture);
    let releases = if has_releases { "" } else { " | no key releases here" };
    drawing.render_widget(Line::from(format!("{} | Ctrl-C ends{releases}", play.status())), status);
}
