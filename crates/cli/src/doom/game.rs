//! How the game is started: the options, and their text in recordings.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::value_parser;
use kvrm::environments::doom::Doom;
use kvrm::{Builder, Program};
use serde_json::{Value, json};

/// The options for the game.
#[derive(clap::Args)]
pub(super) struct GameArgs {
    /// Start in this episode, in its first map. With none of --episode, --map, --skill and --demo, the title
    /// is shown.
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(1..=9))]
    episode: Option<u8>,
    /// Start in this map.
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(1..=99))]
    map: Option<u8>,
    /// Start with this skill, from 1 (I'm too young to die) to 5 (nightmare). The default is 3 (hurt me
    /// plenty).
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(1..=5))]
    skill: Option<u8>,
    /// Play back a demo of the WAD, such as demo1, and end with it.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["episode", "map", "skill"])]
    demo: Option<String>,
    /// The WAD with the game. The default is the one in the program, which has the first phase of Freedoom.
    #[arg(long, value_name = "FILE")]
    wad: Option<PathBuf>,
    /// A WAD that replaces and adds parts of the game, such as levels. May be repeated.
    #[arg(long = "file", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The size of the view, from 3 to 11. With 11 there is no status bar.
    #[arg(long, value_name = "N", default_value = "10", value_parser = value_parser!(u8).range(3..=11))]
    blocks: u8,
    /// Draw the view with half as many columns.
    #[arg(long)]
    low_detail: bool,
    /// Play without monsters.
    #[arg(long)]
    no_monsters: bool,
}

/// The names of the options of [`GameArgs`], which a recording has instead.
pub(super) const OPTIONS: [&str; 9] =
    ["episode", "map", "skill", "demo", "wad", "files", "blocks", "low_detail", "no_monsters"];

/// The number of maps of an episode.
const MAPS_MAX: u8 = 9;

/// With what a game starts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Start {
    Title,
    Level { skill: u8, episode: u8, map: u8 },
    Demo(String),
}

/// How the game is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Game {
    start: Start,
    wad: Option<PathBuf>,
    files: Vec<PathBuf>,
    blocks: u8,
    low_detail: bool,
    monsters: bool,
}

impl From<&GameArgs> for Game {
    fn from(args: &GameArgs) -> Self {
        let Doom { skill, episode, map, .. } = Doom::default();
        let start = match (&args.demo, args.skill, args.episode, args.map) {
            (Some(demo), ..) => Start::Demo(demo.clone()),
            (None, None, None, None) => Start::Title,
            _ => Start::Level {
                skill: args.skill.unwrap_or(skill),
                episode: args.episode.unwrap_or(episode),
                map: args.map.unwrap_or(map),
            },
        };
        Self {
            start,
            wad: args.wad.clone(),
            files: args.files.clone(),
            blocks: args.blocks,
            low_detail: args.low_detail,
            monsters: !args.no_monsters,
        }
    }
}

impl Game {
    /// Returns whether the game ends by itself.
    pub(super) const fn is_demo(&self) -> bool {
        matches!(self.start, Start::Demo(_))
    }

    /// Checks that the WADs can be read and may have the level, which the game would report less clearly.
    pub(super) fn check(&self) -> Result<()> {
        let wads = self.wad.iter().map(|path| ("--wad", path));
        for (option, path) in wads.chain(self.files.iter().map(|path| ("--file", path))) {
            let is_file = File::open(path).and_then(|file| file.metadata()).map(|data| data.is_file());
            let name = || format!("{option} '{}'", path.display());
            if !is_file.with_context(name)? {
                bail!("{}: expected a file", name());
            }
        }
        let wad = self.wad.as_deref().unwrap_or("".as_ref());
        let has_episodes =
            self.doom().has_episodes().with_context(|| format!("--wad '{}'", wad.display()))?;
        match self.start {
            Start::Level { map, .. } if has_episodes && map > MAPS_MAX => {
                bail!("--map {map}: expected 1 to {MAPS_MAX}, because this game has episodes")
            }
            _ => Ok(()),
        }
    }

    /// Returns the options of the start, with the level if there is one.
    fn doom(&self) -> Doom {
        let mut doom = Doom {
            has_monsters: self.monsters,
            blocks: self.blocks,
            low_detail: self.low_detail,
            wad: self.wad.clone(),
            patches: self.files.clone(),
            ..Doom::default()
        };
        if let Start::Level { skill, episode, map } = self.start {
            (doom.skill, doom.episode, doom.map) = (skill, episode, map);
        }
        doom
    }

    /// Returns the options of a machine that starts the game.
    pub(super) fn machine<'a>(&self, program: Program) -> Builder<'a> {
        match &self.start {
            Start::Title => self.doom().title(program),
            Start::Demo(name) => self.doom().demo(program, name),
            Start::Level { .. } => self.doom().machine(program),
        }
    }

    /// Returns the options as JSON, for a recording.
    pub(super) fn to_json(&self) -> Value {
        let start = match &self.start {
            Start::Title => json!("title"),
            Start::Level { skill, episode, map } => json!({"skill": skill, "episode": episode, "map": map}),
            Start::Demo(name) => json!({ "demo": name }),
        };
        let text = |path: &PathBuf| path.display().to_string();
        json!({
            "start": start,
            "wad": self.wad.as_ref().map(text),
            "files": self.files.iter().map(text).collect::<Vec<_>>(),
            "blocks": self.blocks,
            "low_detail": self.low_detail,
            "monsters": self.monsters,
        })
    }

    /// Returns the options that JSON describes, or what is wrong with it.
    pub(super) fn from_json(json: &Value) -> Result<Self, String> {
        const FIELDS: [&str; 6] = ["start", "wad", "files", "blocks", "low_detail", "monsters"];
        let object = json.as_object().ok_or_else(|| format!("{json}: expected an object"))?;
        if let Some(name) = object.keys().find(|name| !FIELDS.contains(&&name[..])) {
            return Err(format!("\"{name}\": expected one of {}", FIELDS.join(", ")));
        }
        let wrong = |name: &str, expected: &str| format!("\"{name}\": {}: expected {expected}", json[name]);
        let flag = |name| json[name].as_bool().ok_or_else(|| wrong(name, "true or false"));
        let files = json["files"].as_array().and_then(|files| files.iter().map(path).collect());
        let wad = if json["wad"].is_null() { Some(None) } else { path(&json["wad"]).map(Some) };
        Ok(Self {
            start: start(&json["start"])
                .ok_or_else(|| wrong("start", "\"title\", or skill, episode and map, or demo"))?,
            wad: wad.ok_or_else(|| wrong("wad", "a path or null"))?,
            files: files.ok_or_else(|| wrong("files", "a list of paths"))?,
            blocks: number(&json["blocks"], 3, 11).ok_or_else(|| wrong("blocks", "a number from 3 to 11"))?,
            low_detail: flag("low_detail")?,
            monsters: flag("monsters")?,
        })
    }
}

fn path(json: &Value) -> Option<PathBuf> {
    json.as_str().map(|text| Path::new(text).to_owned())
}

fn number(json: &Value, least: u8, most: u8) -> Option<u8> {
    u8::try_from(json.as_u64()?).ok().filter(|number| (least..=most).contains(number))
}

fn start(json: &Value) -> Option<Start> {
    if json == "title" {
        return Some(Start::Title);
    }
    if let Some(name) = json["demo"].as_str() {
        return Some(Start::Demo(name.to_owned()));
    }
    Some(Start::Level {
        skill: number(&json["skill"], 1, 5)?,
        episode: number(&json["episode"], 1, 9)?,
        map: number(&json["map"], 1, 99)?,
    })
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, Command, FromArgMatches as _};

    use super::*;

    fn game(options: &[&str]) -> Game {
        let command = GameArgs::augment_args(Command::new("doom").no_binary_name(true));
        let matches = command.get_matches_from(options);
        Game::from(&GameArgs::from_arg_matches(&matches).expect("the options are right"))
    }

    #[test]
    fn a_level_is_started_if_a_part_of_it_is_named() {
        assert_eq!(game(&[]).start, Start::Title);
        let level = |skill, episode, map| Start::Level { skill, episode, map };
        assert_eq!(game(&["--map", "4"]).start, level(3, 1, 4));
        assert_eq!(game(&["--episode", "2"]).start, level(3, 2, 1));
        assert_eq!(game(&["--skill", "5"]).start, level(5, 1, 1));
        assert_eq!(game(&["--demo", "demo1"]).start, Start::Demo("demo1".to_owned()));
    }

    #[test]
    fn options_survive_in_json() {
        let all = ["--skill", "4", "--wad", "a \"b\".wad", "--file", "c d", "--file", "e", "--blocks", "11"];
        for options in [&all[..], &["--low-detail"], &["--no-monsters", "--demo", "demo2"]] {
            let game = game(options);
            assert_eq!(Game::from_json(&game.to_json()), Ok(game), "{options:?}");
        }
    }

    #[test]
    fn wrong_json_is_refused_with_its_field() {
        let good = game(&[]).to_json();
        let with = |name: &str, value: Value| {
            let mut json = good.clone();
            json[name] = value;
            Game::from_json(&json).expect_err("it is wrong")
        };
        assert_eq!(with("blocks", json!(12)), "\"blocks\": 12: expected a number from 3 to 11");
        assert_eq!(with("monsters", json!(1)), "\"monsters\": 1: expected true or false");
        assert_eq!(with("wad", json!(1)), "\"wad\": 1: expected a path or null");
        assert_eq!(with("files", json!([1])), "\"files\": [1]: expected a list of paths");
        assert!(with("start", json!({"skill": 6, "episode": 1, "map": 1})).contains("expected \"title\""));
        assert!(with("cheats", json!(true)).starts_with("\"cheats\": expected one of start, wad"));
        assert_eq!(Game::from_json(&json!([])), Err("[]: expected an object".to_owned()));
    }
}
