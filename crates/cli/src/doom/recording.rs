//! Recordings of a player: a text with the options of the game, the inputs, and checksums of frames.
//!
//! ```text
//! kvrm doom 1 {"start":"title",...}
//! 0 frame 0123456789abcdef
//! 17 input 0 0 0 up fire
//! 18 tics 3
//! 35 frame 123456789abcdef0
//! 41 end
//! ```
//!
//! A step has one tic, or as many as the last `tics` before it says, which is at its first tic. A frame is
//! drawn at the end of each step.
//!
//! An input is how far the mouse moves to the right and forward, its buttons, and the names of the held keys.
//! It is that of the step that begins with its tic, and of all steps up to the next input. A frame is the one
//! after its tic, the last of a step; tic 0 is the start. The last line is `end` if the player has ended the
//! game after that tic, or `stop` if the game has ended in the step up to it.

use std::fmt::Write as _;
use std::str::FromStr;

use serde_json::Value;

use super::game::Game;
use super::input::{Input, Mouse};
use super::keys::{self, Key, Keys};

/// The first words of a recording; the number is the version of the format.
const HEADER: &str = "kvrm doom 1";

/// The largest number of tics of a step.
pub(super) const STEP_TICS_MAX: u32 = 35;

/// What a line says about a tic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The number of tics of a step, from the one on that begins with this tic.
    Tics(u32),
    /// The input from this tic on.
    Input(Input),
    /// The checksum of the frame after this tic.
    Frame(u64),
    /// The last tic.
    End(End),
}

/// How a recording ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The player has ended the game.
    Player,
    /// The game has ended.
    Stop,
}

/// A recording that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recording {
    pub(super) game: Game,
    /// Tics and what happens in them. Tics do not fall, and the last event is the end.
    pub(super) events: Vec<(u64, Event)>,
}

/// Returns the first line of a recording.
pub(super) fn header(game: &Game) -> String {
    format!("{HEADER} {}\n", game.to_json())
}

/// Returns the line of an event.
pub(super) fn line(tic: u64, event: &Event) -> String {
    match event {
        Event::Input(Input { keys, mouse: Mouse { right, forward, buttons } }) => {
            let mut line = format!("{tic} input {right} {forward} {buttons}");
            for key in keys.iter() {
                // Writing to a string does not fail.
                let _ = write!(line, " {}", keys::name(key));
            }
            line + "\n"
        }
        Event::Tics(tics) => format!("{tic} tics {tics}\n"),
        Event::Frame(checksum) => format!("{tic} frame {checksum:016x}\n"),
        Event::End(End::Player) => format!("{tic} end\n"),
        Event::End(End::Stop) => format!("{tic} stop\n"),
    }
}

impl Recording {
    /// Reads a recording. An error begins with the number of its line.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
        let (_, first) = lines.next().unwrap_or((1, ""));
        let game = parse_header(first).map_err(|message| format!("1: {message}"))?;
        let mut events: Vec<(u64, Event)> = Vec::new();
        let mut steps = Steps { begin: 1, tics: 1 };
        for (number, line) in lines {
            if let Some((_, Event::End(_))) = events.last() {
                return Err(format!("{number}: '{line}': expected no line after the end"));
            }
            let (tic, event) = parse_line(line).map_err(|message| format!("{number}: {message}"))?;
            let last = events.last().map_or(0, |(last, _)| *last);
            let is_after = match event {
                // Both come before the frame of their step, the number of tics first.
                Event::Tics(_) => true,
                Event::Input(_) => !matches!(events.last(), Some((_, Event::Tics(_)))),
                Event::Frame(_) | Event::End(_) => false,
            };
            let least = last + u64::from(is_after);
            if tic < least {
                return Err(format!("{number}: '{tic}': expected a tic of at least {least}"));
            }
            steps.check(tic, event).map_err(|message| format!("{number}: '{tic}': {message}"))?;
            if let Event::Tics(tics) = event {
                steps = Steps { begin: tic, tics };
            }
            events.push((tic, event));
        }
        if !matches!(events.last(), Some((_, Event::End(_)))) {
            let (line, last) = (text.lines().count() + 1, events.last().map_or(0, |(last, _)| *last));
            return Err(format!(
                "{line}: the recording is cut off: expected a last line such as '{last} end'"
            ));
        }
        Ok(Self { game, events })
    }
}

/// Steps of the same number of tics.
#[derive(Clone, Copy)]
struct Steps {
    /// The first tic of the first of them.
    begin: u64,
    tics: u32,
}

impl Steps {
    /// Checks that an event is at the begin or at the end of a step, as it has to be.
    fn check(self, tic: u64, event: Event) -> Result<(), String> {
        let (passed, tics) = (tic.saturating_sub(self.begin - 1), u64::from(self.tics));
        // How many tics after the right one it is.
        let (rest, place) = match event {
            Event::Tics(_) | Event::Input(_) => ((passed + tics - 1) % tics, "first"),
            Event::Frame(_) | Event::End(_) => (passed % tics, "last"),
        };
        if rest == 0 {
            return Ok(());
        }
        let right = (tic - rest).saturating_add(tics);
        Err(format!("expected the {place} tic of a step of {tics} tics, such as {right}"))
    }
}

fn parse_header(line: &str) -> Result<Game, String> {
    let Some(json) = line.strip_prefix(HEADER).and_then(|rest| rest.strip_prefix(' ')) else {
        let start: String = line.chars().take(40).collect();
        return Err(format!("'{}': expected '{HEADER}' and the options of the game", start.escape_debug()));
    };
    let json: Value = serde_json::from_str(json)
        .map_err(|error| format!("expected the options of the game as JSON: {error}"))?;
    Game::from_json(&json)
}

fn parse_line(line: &str) -> Result<(u64, Event), String> {
    let mut words = line.split_ascii_whitespace();
    let tic = parse(words.next(), "a line TIC tics, input, frame, end or stop")?;
    let event = match words.next() {
        Some("tics") => {
            let word = words.next();
            let tics = word.and_then(|word| word.parse().ok());
            Event::Tics(tics.filter(|tics| (1..=STEP_TICS_MAX).contains(tics)).ok_or_else(|| {
                let word = word.unwrap_or_default();
                format!("'{word}': expected a number of tics from 1 to {STEP_TICS_MAX}")
            })?)
        }
        Some("input") => {
            let expected = "three numbers: mouse to the right, forward, and buttons";
            let mouse = Mouse {
                right: parse(words.next(), expected)?,
                forward: parse(words.next(), expected)?,
                buttons: parse(words.next(), expected)?,
            };
            let key = |name: &str| -> Result<Key, String> {
                let named = keys::named(name);
                named.ok_or_else(|| format!("'{name}': expected a key, such as up, fire, a or 0x80"))
            };
            let keys: Keys = words.by_ref().map(key).collect::<Result<_, _>>()?;
            Event::Input(Input { keys, mouse })
        }
        Some("frame") => {
            let digits = words.next().unwrap_or_default();
            let is_right = digits.len() == 16 && !digits.starts_with('+');
            let checksum = u64::from_str_radix(digits, 16).ok().filter(|_| is_right);
            Event::Frame(checksum.ok_or_else(|| format!("'{digits}': expected 16 hexadecimal digits"))?)
        }
        Some("end") => Event::End(End::Player),
        Some("stop") => Event::End(End::Stop),
        other => {
            return Err(format!("'{}': expected tics, input, frame, end or stop", other.unwrap_or_default()));
        }
    };
    match words.next() {
        Some(word) => Err(format!("'{word}': expected the end of the line")),
        None => Ok((tic, event)),
    }
}

/// Parses a word as a number.
fn parse<T: FromStr>(word: Option<&str>, expected: &str) -> Result<T, String> {
    let word = word.unwrap_or_default();
    word.parse().map_err(|_| format!("'{word}': expected {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: &str =
        r#"{"start":"title","wad":null,"files":[],"blocks":10,"low_detail":false,"monsters":true}"#;

    fn game() -> Game {
        Game::from_json(&serde_json::from_str(OPTIONS).unwrap()).unwrap()
    }

    #[test]
    fn a_recording_survives() {
        let mouse = Mouse { right: -3, forward: 4, buttons: 7 };
        let keys = (0..=Key::MAX).collect();
        let events = vec![
            (0, Event::Frame(0xabc)),
            (1, Event::Input(Input { keys, mouse })),
            (2, Event::Input(Input::default())),
            (2, Event::Frame(u64::MAX)),
            (3, Event::Tics(4)),
            (3, Event::Input(Input { keys: Keys::of(1), mouse })),
            (7, Event::Input(Input::default())),
            (10, Event::Frame(7)),
            (11, Event::Tics(1)),
            (11, Event::End(End::Stop)),
        ];
        let lines: String = events.iter().map(|(tic, event)| line(*tic, event)).collect();
        let text = header(&game()) + &lines;
        assert_eq!(Recording::parse(&text), Ok(Recording { game: game(), events }), "{text}");
        assert!(text.contains("\n2 input 0 0 0\n2 frame ffffffffffffffff\n3 tics 4\n3 input -3 "), "{text}");
    }

    #[test]
    fn mistakes_are_named_with_their_lines() {
        let cases = [
            ("0 end\n1 end\n", "3: '1 end': expected no line after the end"),
            ("7 frame 0123456789abcdef\n6 end\n", "3: '6': expected a tic of at least 7"),
            ("7 frame 0123456789abcdef\n7 input 0 0 0\n", "3: '7': expected a tic of at least 8"),
            ("0 input 0 0 0\n", "2: '0': expected a tic of at least 1"),
            ("", "2: the recording is cut off: expected a last line such as '0 end'"),
            ("5 input 0 0 0 a\n", "3: the recording is cut off: expected a last line such as '5 end'"),
            ("\n", "2: '': expected a line TIC tics, input, frame, end or stop"),
            ("-1 end\n", "2: '-1': expected a line TIC tics, input, frame, end or stop"),
            ("1 jump\n", "2: 'jump': expected tics, input, frame, end or stop"),
            ("1\n", "2: '': expected tics, input, frame, end or stop"),
            ("1 tics\n", "2: '': expected a number of tics from 1 to 35"),
            ("1 tics 0\n", "2: '0': expected a number of tics from 1 to 35"),
            ("1 tics 36\n", "2: '36': expected a number of tics from 1 to 35"),
            ("0 tics 2\n", "2: '0': expected a tic of at least 1"),
            ("3 tics 2\n3 tics 4\n", "3: '3': expected a tic of at least 4"),
            ("3 input 0 0 0\n3 tics 4\n", "3: '3': expected a tic of at least 4"),
            ("3 tics 4\n8 tics 1\n", "3: '8': expected the first tic of a step of 4 tics, such as 11"),
            ("3 tics 4\n6 input 0 0 0\n", "3: '6': expected the first tic of a step of 4 tics, such as 7"),
            (
                "3 tics 4\n3 frame 0123456789abcdef\n",
                "3: '3': expected the last tic of a step of 4 tics, such as 6",
            ),
            ("3 tics 4\n9 end\n", "3: '9': expected the last tic of a step of 4 tics, such as 10"),
            ("1 input 0 0\n", "2: '': expected three numbers: mouse to the right, forward, and buttons"),
            (
                "1 input 0 0 256\n",
                "2: '256': expected three numbers: mouse to the right, forward, and buttons",
            ),
            ("1 input 0 0 0 up jump\n", "2: 'jump': expected a key, such as up, fire, a or 0x80"),
            ("1 frame 12\n", "2: '12': expected 16 hexadecimal digits"),
            ("1 frame 0123456789abcdeg\n", "2: '0123456789abcdeg': expected 16 hexadecimal digits"),
            ("1 frame +123456789abcdef\n", "2: '+123456789abcdef': expected 16 hexadecimal digits"),
            ("1 end now\n", "2: 'now': expected the end of the line"),
        ];
        for (lines, expected) in cases {
            let mistake = Recording::parse(&(header(&game()) + lines)).expect_err("it is wrong");
            assert_eq!(mistake.to_string(), expected, "{lines:?}");
        }
    }

    #[test]
    fn other_files_are_no_recordings() {
        let parse = |text: &str| Recording::parse(text).expect_err("it is wrong").to_string();
        assert_eq!(parse(""), "1: '': expected 'kvrm doom 1' and the options of the game");
        assert_eq!(
            parse("kvrm doom 2 {}"),
            "1: 'kvrm doom 2 {}': expected 'kvrm doom 1' and the options of the game"
        );
        assert!(parse("kvrm doom 1 {").starts_with("1: expected the options of the game as JSON: EOF"));
        assert!(parse("kvrm doom 1 {\"a\":1}").starts_with("1: \"a\": expected one of start"));
        assert!(
            parse("kvrm doom 1 {\"start\":\"end\"}").starts_with("1: \"start\": \"end\": expected \"title\"")
        );
    }
}
