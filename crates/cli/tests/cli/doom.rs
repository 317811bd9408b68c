//! `kvrm doom`: refusals, games that are played back, and demos. Games and demos need `target/programs/doom`, which
//! `cargo xtask guests --doom` makes.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Folder, Outcome, guest, kvrm, outcome, refusal};

/// The header of a recording.
const HEADER: &str =
    r#"kvrm doom 1 {"start":"title","wad":null,"files":[],"blocks":10,"low_detail":false,"monsters":true}"#;

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
