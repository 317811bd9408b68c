//! DOOM: how it is started, and its variables. `cargo xtask guests --doom` makes the program.
//!
//! ```no_run
//! use kvrm_environments::doom::{self, Doom};
//! use kvrm_environments::Environments;
//! use kvrm_machine::{Program, ViewFormat};
//!
//! let program = Program::open("target/programs/doom")?;
//! let start = Doom { map: 3, skill: 4, ..Doom::default() }.machine(program).build()?;
//! let mut environments = Environments::builder(start)
//!     .lanes(64)
//!     .components(["move", "turn", "fire", "use"])
//!     .ticks(4)
//!     .format(ViewFormat::Grey)
//!     .downscale(1)
//!     .variables([doom::variable("health"), doom::variable("kills")])
//!     .build()?;
//! environments.reset(..)?;
//! let batch = environments.step(&[1, 0, 0, 0].repeat(64))?; // all lanes go forward
//! println!("lane 0 has health {} and has earned {}", batch.variables[0], batch.rewards[0]);
//! # Ok::<(), kvrm_environments::Error>(())
//! ```

use std::fs::File;
use std::io::{self, BufReader, Error, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

use kvrm_machine::{Builder, Machine, Program};

use crate::variable::{Variable, VariableType};

/// How DOOM is started: the level, and how it is drawn.
///
/// A scenario ([`Builder::scenario`](crate::Builder::scenario)) is another level: 10,000 times the skill plus 100 times the
/// episode plus the map. A lane that begins an episode of a scenario loads its level first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doom {
    /// The skill, from 1 to 5.
    pub skill: u8,
    /// The episode, from 1. Games without episodes ([`Self::has_episodes`]) ignore it.
    pub episode: u8,
    /// The map, from 1.
    pub map: u8,
    /// Whether there are monsters.
    pub has_monsters: bool,
    /// The size of the view, from 3 to 11: the view is 32 times as many pixels wide. With 11 there is no status bar.
    pub blocks: u8,
    /// Whether the view is drawn with half as many columns, each two pixels wide.
    pub low_detail: bool,
    /// The WAD with the game. By default it is the one in the program, which has the first phase of Freedoom.
    pub wad: Option<PathBuf>,
    /// WADs that replace and add parts of the game, such as levels.
    pub patches: Vec<PathBuf>,
}

impl Default for Doom {
    fn default() -> Self {
        Self {
            skill: 3,
            episode: 1,
            map: 1,
            has_monsters: true,
            blocks: 10,
            low_detail: false,
            wad: None,
            patches: Vec::new(),
        }
    }
}

impl Doom {
    /// Returns whether the levels of the game belong to episodes, as in the first phase of Freedoom, which the program
    /// has. In games such as the second phase they do not: their maps are numbered through.
    ///
    /// # Errors
    ///
    /// The WAD cannot be read, or is none of a game.
    pub fn has_episodes(&self) -> io::Result<bool> {
        let Some(path) = &self.wad else { return Ok(true) };
        let wrong = |expected: &str| Error::new(ErrorKind::InvalidData, format!("expected {expected}"));
        let mut file = BufReader::new(File::open(path)?);
        let mut header = [[0; 4]; 3];
        file.read_exact(header.as_flattened_mut())?;
        let [magic, lumps, directory] = header;
        if !matches!(&magic, b"IWAD" | b"PWAD") {
            return Err(wrong("a WAD, which begins with IWAD or PWAD"));
        }
        file.seek(SeekFrom::Start(u32::from_le_bytes(directory).into()))?;
        for _ in 0..u32::from_le_bytes(lumps) {
            // An address, a size and a name.
            let mut entry = [0; 16];
            file.read_exact(&mut entry)?;
            // The engine decides by the first level, too.
            match &entry[8..].to_ascii_uppercase()[..] {
                b"MAP01\0\0\0" => return Ok(false),
                b"E1M1\0\0\0\0" => return Ok(true),
                _ => {}
            }
        }
        Err(wrong("a WAD with a level MAP01 or E1M1"))
    }

    /// Returns the options of a machine with one lane that starts the level.
    #[must_use]
    pub fn machine<'a>(&self, program: Program) -> Builder<'a> {
        let mut arguments = vec!["-skill".into(), self.skill.to_string(), "-warp".into()];
        // With a WAD that cannot be read, the game reports that and stops.
        arguments.extend(self.has_episodes().unwrap_or(true).then(|| self.episode.to_string()));
        arguments.push(self.map.to_string());
        self.machine_with(program, arguments)
    }

    /// Returns the options of a machine with one lane that plays back a demo of the WAD, such as `demo1`.
    #[must_use]
    pub fn demo<'a>(&self, program: Program, name: &str) -> Builder<'a> {
        self.machine_with(program, ["-playdemo".into(), name.to_owned()])
    }

    /// Returns the options of a machine with one lane that shows the title, from which a game can be started.
    #[must_use]
    pub fn title<'a>(&self, program: Program) -> Builder<'a> {
        self.machine_with(program, [])
    }

    fn machine_with<'a>(&self, program: Program, more: impl IntoIterator<Item = String>) -> Builder<'a> {
        let mut arguments = vec!["-blocks".to_owned(), self.blocks.to_string()];
        arguments.extend(more);
        arguments.extend(self.low_detail.then(|| "-low".into()));
        arguments.extend((!self.has_monsters).then(|| "-nomonsters".into()));
        let mut builder = Machine::builder(program);
        // Each file is seen in a folder of its own, under its own name.
        let wad = self.wad.iter().map(|path| ("-iwad", path));
        for (number, (option, path)) in wad.chain(self.patches.iter().map(|path| ("-file", path))).enumerate()
        {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            // The names of all patches follow one option.
            if !arguments.contains(&option.to_owned()) {
                arguments.push(option.into());
            }
            arguments.push(format!("/wads/{number}/{name}"));
            builder = builder.mount(folder.unwrap_or(".".as_ref()), format!("/wads/{number}"));
        }
        builder.arguments(move |_| arguments.clone())
    }
}

/// The names of the variables, without `doom_`.
pub const VARIABLES: [&str; 18] = [
    "health", "armor", "kills", "items", "secrets", "weapon", "bullets", "shells", "cells", "rockets",
    "damage", "x", "y", "z", "angle", "episode", "map", "tics",
];

/// Returns a variable of the game.
///
/// Coordinates have 16 bits behind the binary point; an angle of 2^32 is a full turn, and 0 is east. A weapon is the number
/// of its key. `damage` is how red the picture is; `tics` are those of the level.
#[must_use]
pub fn variable(name: &str) -> Variable {
    let kind = if name == "angle" { VariableType::U32 } else { VariableType::I32 };
    Variable::named(format!("doom_{name}"), kind)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Returns what a WAD with these lumps says about episodes.
    fn has_episodes(magic: &[u8; 4], lumps: &[&str]) -> io::Result<bool> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("a.wad");
        let mut bytes =
            [&magic[..], &(lumps.len() as u32).to_le_bytes(), &20_u32.to_le_bytes(), &[9; 8]].concat();
        for name in lumps {
            let mut entry = [0; 16];
            entry[8..8 + name.len()].copy_from_slice(name.as_bytes());
            bytes.extend(entry);
        }
        fs::write(&path, bytes)?;
        Doom { wad: Some(path), ..Doom::default() }.has_episodes()
    }

    #[test]
    fn the_first_level_says_whether_there_are_episodes() {
        assert!(Doom::default().has_episodes().expect("the game in the program"));
        assert!(has_episodes(b"IWAD", &["PLAYPAL", "E1M1", "THINGS"]).expect("a WAD"));
        assert!(!has_episodes(b"IWAD", &["PLAYPAL", "map01", "E1M1"]).expect("a WAD"));
        let message = |magic, lumps: &[&str]| has_episodes(magic, lumps).expect_err("no game").to_string();
        assert_eq!(message(b"ZIP!", &["E1M1"]), "expected a WAD, which begins with IWAD or PWAD");
        assert_eq!(message(b"PWAD", &["MAP011", "E1M12"]), "expected a WAD with a level MAP01 or E1M1");
    }
}
