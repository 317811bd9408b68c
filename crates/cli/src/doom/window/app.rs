//! The window: it lets tics pass when they are due, and draws their frames.

use std::num::NonZeroU32;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Error, Result, anyhow};
use softbuffer::{Context, Surface};
use winit::application::ApplicationHandler;
use winit::dpi::{LogicalSize, PhysicalSize};
use winit::event::{DeviceEvent, DeviceId, ElementState, KeyEvent, MouseButton, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::keyboard::{KeyCode, PhysicalKey};
use winit::platform::modifier_supplement::KeyEventExtModifierSupplement as _;
use winit::window::{CursorGrabMode, Window, WindowId};

use super::key_codes::keys;
use super::scaling;
use crate::doom::controls::ControlArgs;
use crate::doom::input::Input;
use crate::doom::keyboard::Keyboard;
use crate::doom::pacing::Pace;
use crate::doom::playthrough::Playthrough;
use crate::doom::pointer::Pointer;

/// The width and height of a pixel of the game when the window opens.
const SCALE: u8 = 3;
/// How far the mouse moves in the game for a pixel: with the sensitivity that the game starts with, a right
/// angle is 512 pixels.
const MOUSE_UNITS: f64 = 4.0;
/// The time between two titles.
const TITLE_PERIOD: Duration = Duration::from_millis(500);

/// Checks nothing: this build has windows.
#[expect(clippy::unnecessary_wraps, reason = "without the Cargo feature it fails")]
pub(in crate::doom) fn check() -> Result<()> {
    Ok(())
}

/// Opens a window and plays in it, until it is closed or the game is over.
pub(in crate::doom) fn run(play: &mut Playthrough, controls: &ControlArgs) -> Result<()> {
    const HELP: &str = "cannot open a window; --terminal and --headless need none";
    let event_loop = EventLoop::new().context(HELP)?;
    let now = Instant::now();
    let mut app = App {
        play,
        controls,
        open: None,
        pace: Pace::new(now, controls.tics_per_frame),
        keyboard: Keyboard::new(),
        pointer: Pointer::default(),
        is_grabbed: false,
        next_title: now,
        failure: None,
    };
    event_loop.run_app(&mut app).context(HELP)?;
    app.failure.map_or(Ok(()), Err)
}

struct App<'a> {
    play: &'a mut Playthrough,
    controls: &'a ControlArgs,
    open: Option<OpenWindow>,
    pace: Pace,
    keyboard: Keyboard<PhysicalKey>,
    pointer: Pointer,
    /// Whether the mouse is the game's.
    is_grabbed: bool,
    next_title: Instant,
    /// Why the event loop was ended, if something failed.
    failure: Option<Error>,
}

struct OpenWindow {
    window: Rc<Window>,
    surface: Surface<Rc<Window>, Rc<Window>>,
    /// The size as of the last event. Asking for it panics if the display server has destroyed the window.
    size: PhysicalSize<u32>,
}

impl OpenWindow {
    fn new(event_loop: &ActiveEventLoop, frame: (usize, usize), scale: u8, title: &str) -> Result<Self> {
        let size = |scale: u8| {
            let pixels = |pixels: usize| u32::try_from(pixels).unwrap_or(1) * u32::from(scale);
            (pixels(frame.0), pixels(frame.1))
        };
        let attributes = Window::default_attributes()
            .with_title(title)
            .with_inner_size(LogicalSize::<u32>::from(size(scale)))
            .with_min_inner_size(PhysicalSize::<u32>::from(size(1)));
        let window = Rc::new(event_loop.create_window(attributes).context("cannot open a window")?);
        let failure = |error| anyhow!("cannot draw in a window: {error}");
        let context = Context::new(Rc::clone(&window)).map_err(failure)?;
        let surface = Surface::new(&context, Rc::clone(&window)).map_err(failure)?;
        let size = window.inner_size();
        Ok(Self { window, surface, size })
    }

    fn draw(&mut self, play: &Playthrough) -> Result<()> {
        let PhysicalSize { width, height } = self.size;
        let (Some(columns), Some(rows)) = (NonZeroU32::new(width), NonZeroU32::new(height)) else {
            return Ok(());
        };
        let failure = |error| anyhow!("cannot draw in the window: {error}");
        self.surface.resize(columns, rows).map_err(failure)?;
        let mut buffer = self.surface.buffer_mut().map_err(failure)?;
        scaling::draw(play.frame(), &mut buffer, (width as usize, height as usize));
        self.window.pre_present_notify();
        buffer.present().map_err(failure)
    }

    /// Takes the mouse for the game, so that it does not leave the window, or gives it back. Returns whether
    /// it is the game's.
    fn grab(&self, grabs: bool) -> bool {
        let modes = if grabs { &[CursorGrabMode::Locked, CursorGrabMode::Confined][..] } else { &[] };
        let is_grabbed = modes.iter().any(|mode| self.window.set_cursor_grab(*mode).is_ok());
        if !is_grabbed {
            // There is nothing to do about a failure.
            let _ = self.window.set_cursor_grab(CursorGrabMode::None);
        }
        self.window.set_cursor_visible(!is_grabbed);
        is_grabbed
    }
}

impl App<'_> {
    /// Lets the tics pass that are due, and waits for the next.
    fn pass(&mut self, event_loop: &ActiveEventLoop) -> Result<()> {
        let now = Instant::now();
        let tics = self.pace.step(now);
        if tics > 0 {
            let input = Input { keys: self.keyboard.take(now), mouse: self.pointer.take() };
            let tics = self.play.step(input, tics)?;
            self.pace.pass(tics, Instant::now());
            if let Some(open) = &self.open {
                open.window.request_redraw();
                if now >= self.next_title {
                    self.next_title = now + TITLE_PERIOD;
                    open.window.set_title(&self.title());
                }
            }
        }
        if self.play.is_over() {
            event_loop.exit();
        }
        event_loop.set_control_flow(ControlFlow::WaitUntil(self.pace.due()));
        Ok(())
    }

    fn title(&self) -> String {
        let help = if self.is_grabbed { "Escape frees the mouse" } else { "click for the mouse" };
        format!("DOOM | {} | {help}", self.play.status())
    }

    fn grab(&mut self, grabs: bool) {
        self.is_grabbed = self.open.as_ref().is_some_and(|open| open.grab(grabs));
        self.pointer.release_all();
        self.next_title = Instant::now();
    }

    fn key(&mut self, event: &KeyEvent) {
        // Repetitions are the game's affair.
        if event.repeat {
            return;
        }
        let place = event.physical_key;
        if event.state == ElementState::Released {
            return self.keyboard.release(&place);
        }
        if place == PhysicalKey::Code(KeyCode::Escape) && self.is_grabbed {
            self.grab(false);
        }
        self.keyboard.press(place, keys(place, &event.key_without_modifiers(), self.controls.keys), None);
    }

    fn button(&mut self, button: MouseButton, state: ElementState) {
        let number = match button {
            MouseButton::Left => 0,
            MouseButton::Right => 1,
            MouseButton::Middle => 2,
            _ => return,
        };
        if self.is_grabbed {
            self.pointer.set_button(number, state.is_pressed());
        } else if state.is_pressed() {
            self.grab(true);
        }
    }

    /// Ends the event loop after a failure.
    fn check(&mut self, event_loop: &ActiveEventLoop, result: Result<()>) {
        if let Err(error) = result {
            self.failure.get_or_insert(error);
            event_loop.exit();
        }
    }
}

impl ApplicationHandler for App<'_> {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.open.is_some() {
            return;
        }
        let frame = self.play.frame();
        let size = (frame.width, frame.height);
        match OpenWindow::new(event_loop, size, self.controls.scale.unwrap_or(SCALE), &self.title()) {
            Ok(open) => self.open = Some(open),
            Err(error) => self.check(event_loop, Err(error)),
        }
        self.pace = Pace::new(Instant::now(), self.controls.tics_per_frame);
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        match event {
            WindowEvent::CloseRequested | WindowEvent::Destroyed => event_loop.exit(),
            WindowEvent::Resized(size) => {
                if let Some(open) = &mut self.open {
                    open.size = size;
                    open.window.request_redraw();
                }
            }
            WindowEvent::RedrawRequested => {
                let drawn = self.open.as_mut().map_or(Ok(()), |open| open.draw(self.play));
                self.check(event_loop, drawn);
            }
            WindowEvent::Focused(false) => {
                self.keyboard.release_all();
                self.grab(false);
            }
            // Keys that are held when the window gets the focus are none of the game.
            WindowEvent::KeyboardInput { event, is_synthetic: false, .. } => self.key(&event),
            WindowEvent::MouseInput { state, button, .. } => self.button(button, state),
            _ => {}
        }
    }

    fn device_event(&mut self, _: &ActiveEventLoop, _: DeviceId, event: DeviceEvent) {
        if let DeviceEvent::MouseMotion { delta: (right, down) } = event
            && self.is_grabbed
        {
            let forward = if self.controls.mouse_walks { -down } else { 0.0 };
            self.pointer.shift(MOUSE_UNITS * right, MOUSE_UNITS * forward);
        }
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        let passed = self.pass(event_loop);
        self.check(event_loop, passed);
    }
}
