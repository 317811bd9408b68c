//! `kvrm doom`: refusals, games that are played back, and demos. Games and demos need `target/programs/doom`, which
//! `cargo xtask guests --doom` makes.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Folder, Outcome, guest, kvrm, outcome, refusal};

/// The header of a recording.
const HEADER: &str =
    r#"kvrm doom 1 {"start":"title","wad":null,"files":[],"blocks":10,"low_detail":false,"monsters":true}"#;

/// How each recording begins.
const HEADER_START: &str = "kvrm doom 1 {";

/// Returns the path of a file that is made with DOOM.
fn made(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/programs").join(name)
}

/// Returns the path of DOOM.
fn program() -> PathBuf {
    made("doom")
}

/// Runs DOOM without a picture, which has to work. Returns standard error.
fn play(program: &Path, options: &[&str]) -> String {
    let program = program.display().to_string();
    let Outcome { status, stdout, stderr } =
        kvrm(&[&["doom", "--headless", "--program", &program], options].concat());
    assert_eq!((status, &*stdout), (0, ""), "{options:?}: {stderr}");
    stderr
}

#[test]
fn wrong_options_are_refused() {
    let refused = |options: &[&str]| refusal(&[&["doom"], options].concat());
    for (option, value, expected) in [
        ("--map", "0", "1..=99"),
        ("--episode", "10", "1..=9"),
        ("--skill", "hard", "invalid digit"),
        ("--blocks", "12", "3..=11"),
        ("--tics", "1s", "expected a number"),
        ("--scale", "0", "1..=16"),
        ("--tics-per-frame", "0", "1..=35"),
        ("--tics-per-frame", "36", "1..=35"),
        ("--keys", "dvorak", "wasd, letters"),
    ] {
        let text = refused(&[option, value]);
        assert!(
            text.contains(option) && text.contains(&format!("'{value}'")) && text.contains(expected),
            "{text}"
        );
    }
    let text = refused(&["--demo", "demo1", "--map", "2"]);
    assert!(text.contains("'--demo <NAME>' cannot be used with '--map <N>'"), "{text}");
    let text = refused(&["--headless", "--terminal"]);
    assert!(text.contains("'--headless' cannot be used with '--terminal'"), "{text}");
    let text = refused(&["--headless"]);
    assert!(
        text.contains("--headless: nothing would end the game; add --tics, --demo or --replay"),
        "{text}"
    );
    let text = refused(&["--terminal"]);
    let has_feature = text.contains("--terminal: standard input is a file or a pipe: expected a terminal");
    assert!(has_feature || text.contains("--terminal: this kvrm was built without"), "{text}");
}

#[test]
fn options_that_a_recording_has_are_refused_beside_it() {
    let folder = Folder::new();
    let path = folder.file("recording", format!("{HEADER}\n0 end\n"));
    for option in [
        &["--map", "1"][..],
        &["--episode", "1"],
        &["--skill", "1"],
        &["--demo", "demo1"],
        &["--wad", "w"],
        &["--file", "w"],
        &["--blocks", "10"],
        &["--low-detail"],
        &["--no-monsters"],
        &["--record", "r"],
        &["--tics-per-frame", "1"],
    ] {
        let text = refusal(&[&["doom", "--headless", "--replay", &path], option].concat());
        assert!(
            text.contains("--replay") && text.contains(option[0]) && text.contains("cannot be used"),
            "{text}"
        );
    }
}

#[test]
fn broken_recordings_are_refused_with_their_lines() {
    let folder = Folder::new();
    let refused = |lines: &str| {
        let path = folder.file("recording", lines);
        let text = refusal(&["doom", "--headless", "--replay", &path]);
        let rest = text.strip_prefix(&format!("error: --replay: {path}:"));
        rest.unwrap_or_else(|| panic!("it names the file: {text}")).trim_end().to_owned()
    };
    assert_eq!(
        refused(&format!("{HEADER}\n3 input 0 0 0 jmp\n")),
        "2: 'jmp': expected a key, such as up, fire, a or 0x80"
    );
    assert_eq!(
        refused(&format!("{HEADER}\n")),
        "2: the recording is cut off: expected a last line such as '0 end'"
    );
    let text = refused(&format!("{}\n0 end\n", HEADER.replace("10", "\"ten\"")));
    assert_eq!(text, "1: \"blocks\": \"ten\": expected a number from 3 to 11");
    assert_eq!(refused("#!/bin/sh\n"), "1: '#!/bin/sh': expected 'kvrm doom 1' and the options of the game");
    let missing = folder.path("missing").display().to_string();
    let text = refusal(&["doom", "--headless", "--replay", &missing]);
    assert!(text.contains(&format!("--replay: cannot read '{missing}': No such file")), "{text}");
}

#[test]
fn other_programs_and_missing_files_are_refused() {
    let folder = Folder::new();
    let missing = folder.path("missing").display().to_string();
    let refused = |options: &[&str]| refusal(&[&["doom", "--headless", "--tics", "1"], options].concat());
    let text = refused(&["--program", &missing]);
    assert!(text.contains(&missing) && text.contains("`cargo xtask guests --doom` makes it"), "{text}");
    let text = refused(&["--program", &guest("mix")]);
    assert!(text.contains("--program '") && text.contains("the program is no environment"), "{text}");
    for option in ["--wad", "--file"] {
        let text = refused(&[option, &missing]);
        assert!(text.contains(&format!("{option} '{missing}': No such file")), "{text}");
    }
    let zip = folder.file("zip", "a long text that is no WAD");
    let text = refused(&["--wad", &zip]);
    assert!(
        text.contains(&format!("--wad '{zip}': expected a WAD, which begins with IWAD or PWAD")),
        "{text}"
    );
    let text = refused(&["--map", "10"]);
    assert!(text.contains("--map 10: expected 1 to 9, because this game has episodes"), "{text}");
    let directory = folder.path("").display().to_string();
    let text = refused(&["--wad", &directory]);
    assert!(text.contains(&format!("--wad '{directory}': expected a file")), "{text}");
}

#[test]
#[ignore = "needs DOOM: cargo xtask guests --doom, then cargo test -p kvrm-cli doom -- --ignored"]
fn recordings_have_the_same_frames_on_all_engines() {
    let program = program();
    let folder = Folder::new();
    let path = |name: &str| folder.path(name).display().to_string();
    let (first, second) = (path("first"), path("second"));
    play(&program, &["--map", "1", "--tics", "40", "--record", &first]);
    let text = std::fs::read_to_string(&first).expect("a recording");
    let ends = ["0 frame ", "35 frame ", "40 frame ", "40 end"];
    assert!(text.lines().skip(1).zip(ends).all(|(line, start)| line.starts_with(start)), "{text}");
    // Another engine, and inputs that someone has written.
    play(&program, &["--replay", &first, "--engine", "reference"]);
    let with_inputs = text.lines().filter(|line| !line.starts_with("35 ") && !line.starts_with("40 frame"));
    let lines: Vec<&str> = with_inputs.collect();
    let inputs = "5 input 0 0 0 up shift\n20 input -300 0 1 use\n30 input 0 0 0";
    let edited = folder.file("edited", format!("{}\n{}\n{inputs}\n40 end\n", lines[0], lines[1]));
    let screenshot = path("frame.png");
    play(&program, &["--replay", &edited]);
    play(&program, &["--map", "1", "--tics", "40", "--engine", "reference", "--record", &second]);
    assert_eq!(std::fs::read_to_string(&second).expect("a recording"), text, "it is the same on two engines");
    if cfg!(feature = "screenshots") {
        play(&program, &["--replay", &edited, "--screenshot", &screenshot, "--scale", "2"]);
        let bytes = std::fs::read(&screenshot).expect("a screenshot");
        assert_eq!(bytes[16..24], [0, 0, 2, 128, 0, 0, 1, 144], "640 by 400 pixels");
    }
    // Another input has another frame.
    let wrong = folder.file("wrong", text.replace("35 frame", "9 input 0 0 0 up\n35 frame"));
    let options = ["doom", "--headless", "--program", &program.display().to_string(), "--replay", &wrong];
    let Outcome { status, stderr, .. } = kvrm(&options);
    assert!(
        status == 2 && stderr.contains(&format!("--replay '{wrong}': tic 35: the frame has")),
        "{stderr}"
    );
}

#[test]
#[ignore = "needs DOOM: cargo xtask guests --doom, then cargo test -p kvrm-cli doom -- --ignored"]
fn steps_of_several_tics_are_played_back_on_all_engines() {
    let program = program();
    let folder = Folder::new();
    let path = |name: &str| folder.path(name).display().to_string();
    let (each, skipped) = (path("each"), path("skipped"));
    let read = |path: &str| std::fs::read_to_string(path).expect("a recording");
    let game = ["--map", "1", "--tics", "40"];
    play(&program, &[&game[..], &["--record", &each]].concat());
    let stderr = play(&program, &[&game[..], &["--tics-per-frame", "7", "--record", &skipped]].concat());
    assert!(stderr.contains("jit: 40 tics in "), "{stderr}");
    let (each, text) = (read(&each), read(&skipped));
    let lines: Vec<&str> = text.lines().collect();
    let starts = [HEADER_START, "0 frame ", "1 tics 7", "35 frame ", "36 tics 5", "40 frame ", "40 end"];
    let is_right = lines.iter().zip(starts).all(|(line, start)| line.starts_with(start));
    assert!(is_right && lines.len() == starts.len(), "{text}");
    let frame = |text: &str| text.lines().find(|line| line.starts_with("40 frame")).map(str::to_owned);
    assert_eq!(frame(&text), frame(&each), "the game is the same, however many of its frames are drawn");
    play(&program, &["--replay", &skipped, "--engine", "reference"]);
    // The frame after a part of a step is not compared.
    play(&program, &["--replay", &skipped, "--tics", "33"]);
}

#[test]
#[ignore = "needs DOOM: cargo xtask guests --doom, then cargo test -p kvrm-cli doom -- --ignored"]
fn a_game_without_episodes_starts_in_its_map() {
    let folder = Folder::new();
    let (program, wad) = (program(), made("apt/files/usr/share/games/doom/freedoom2.wad"));
    let first_frame = |name: &str, level: &[&str]| {
        let path = folder.path(name).display().to_string();
        let game = ["--wad", &wad.display().to_string(), "--tics", "1", "--record", &path];
        play(&program, &[&game[..], level].concat());
        std::fs::read_to_string(path).expect("a recording").lines().nth(1).map(str::to_owned)
    };
    let [first, episode, other] = [
        first_frame("1", &["--map", "1"]),
        first_frame("2", &["--map", "1", "--episode", "3"]),
        first_frame("3", &["--map", "12"]),
    ];
    assert_eq!(first, episode, "an episode is ignored");
    assert_ne!(first, other, "maps are numbered through");
}

#[test]
#[ignore = "needs DOOM: cargo xtask guests --doom, then cargo test -p kvrm-cli doom -- --ignored"]
fn keys_are_held_for_all_tics_of_a_step() {
    let folder = Folder::new();
    let program = program().display().to_string();
    let header = HEADER.replace(r#""title""#, r#"{"skill":3,"episode":1,"map":1}"#);
    // Returns the checksum of the last frame, which the error has.
    let last_frame = |lines: &[&str], engine: &str| {
        let text = format!("{header}\n{}\n37 frame {:016x}\n37 end\n", lines.join("\n"), 0);
        let path = folder.file("recording", text);
        let options = ["doom", "--headless", "--program", &program, "--engine", engine, "--replay", &path];
        let Outcome { status, stderr, .. } = kvrm(&options);
        let rest = stderr.split("tic 37: the frame has the checksum ").nth(1);
        let rest = rest.unwrap_or_else(|| panic!("{status}: {lines:?}: {stderr}"));
        rest.split(':').next().map(str::to_owned)
    };
    let (walk, turn) = ("1 input 0 0 0 up", "7 input 300 0 0 up fire");
    let each = [walk, turn, "8 input 0 0 0 up fire", "22 input 0 0 0"];
    let frame = last_frame(&each, "jit");
    let steps =
        ["1 tics 3", walk, "7 tics 7", turn, "14 input 0 0 0 up fire", "21 tics 1", "22 tics 4", each[3]];
    for engine in ["jit", "reference"] {
        assert_eq!(last_frame(&steps, engine), frame, "{engine}");
    }
    let shorter = [walk, turn, "8 input 0 0 0 up fire", "21 input 0 0 0"];
    assert_ne!(last_frame(&shorter, "jit"), frame, "a tic more or less of the keys is seen");
}

#[test]
#[ignore = "needs DOOM: cargo xtask guests --doom, then cargo test -p kvrm-cli doom -- --ignored"]
fn the_end_of_a_game_is_the_end_of_the_command() {
    let program = program();
    let folder = Folder::new();
    let path = folder.path("recording").display().to_string();
    // F10 asks whether to quit, and y says so.
    let quit = format!("{HEADER}\n10 input 0 0 0 f10\n12 input 0 0 0\n20 input 0 0 0 y\n99 stop\n");
    let early = folder.file("quit", &quit);
    let options = ["doom", "--headless", "--program", &program.display().to_string(), "--replay", &early];
    let Outcome { status, stderr, .. } = kvrm(&options);
    assert!(
        status == 2 && stderr.contains("the game stopped: expected it to go on up to tic 99"),
        "{stderr}"
    );
    let tic = stderr.split("tic ").nth(1).and_then(|rest| rest.split(':').next()).expect("a tic");
    let right = folder.file("right", quit.replace("99", tic));
    let Outcome { status, stderr, .. } =
        kvrm(&["doom", "--headless", "--program", &program.display().to_string(), "--replay", &right]);
    assert_eq!(status, 0, "{stderr}");
    let Outcome { status, stderr, .. } = kvrm(&[
        "doom",
        "--headless",
        "--program",
        &program.display().to_string(),
        "--demo",
        "none",
        "--record",
        &path,
    ]);
    assert!(
        status == 2 && stderr.contains("none not found") && stderr.contains("the game stopped"),
        "{stderr}"
    );
}

/// The WADs of Freedoom. The first one is a part of the program.
const WADS: [&str; 2] = ["freedoom1.wad", "freedoom2.wad"];

/// Returns the checksums of the first frames of a demo: from the program for the host, and from KVRM with an engine.
fn first_frames(engine: &str, wad: &str, demo: &str, frames: usize) -> [String; 2] {
    let wads = made("apt/files/usr/share/games/doom");
    let count = frames.to_string();
    let game = ["-frames", &count, "-playdemo", demo, "-iwad", wad];
    let native = Command::new(made("doom-native")).args(game).current_dir(&wads).output();
    let native = outcome(native.expect("`cargo xtask guests --doom` makes the program for the host"));
    let (mount, program) = (format!("{}:/wads", wads.display()), program().display().to_string());
    let options = ["run", "--engine", engine, "--mount", &mount, "--cwd", "/wads", &program, "--"];
    let ours = kvrm(&[&options[..], &game].concat());
    assert_eq!((native.status, ours.status), (0, 0), "{wad} {demo}: {}{}", native.stderr, ours.stderr);
    assert_eq!(native.stdout.lines().count(), frames, "{wad} {demo}");
    [native, ours].map(|outcome| outcome.stdout)
}

#[test]
#[ignore = "needs DOOM: cargo xtask guests --doom, then cargo test -p kvrm-cli doom -- --ignored"]
fn demos_have_the_frames_of_the_program_for_the_host() {
    for wad in WADS {
        for demo in ["demo1", "demo2", "demo3"] {
            for engine in ["reference", "jit"] {
                let [native, ours] = first_frames(engine, wad, demo, 40);
                assert_eq!(ours, native, "{engine}: {wad} {demo}");
            }
        }
    }
    let [first, second] = WADS.map(|wad| first_frames("jit", wad, "demo1", 40)[1].clone());
    assert_ne!(first, second, "each WAD has its own demos");
}

#[test]
#[cfg(not(kvrm_skip_gpu))]
#[ignore = "needs DOOM: cargo xtask guests --doom, then cargo test -p kvrm-cli doom -- --ignored"]
fn demos_have_the_frames_of_the_program_for_the_host_on_a_gpu() {
    let [native, ours] = first_frames("gpu", WADS[0], "demo1", 4);
    assert_eq!(ours, native);
}
