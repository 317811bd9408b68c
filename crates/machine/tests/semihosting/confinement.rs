//! Tests that a guest cannot access files outside of its directory, whatever names it uses.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::support::*;

/// A directory tree with the guest's directory and with files beside it that a guest must not reach.
struct Sandbox {
    outer: tempfile::TempDir,
}

impl Sandbox {
    fn new() -> Self {
        let outer = tempfile::tempdir().unwrap();
        let path = |name: &str| outer.path().join(name);
        fs::create_dir_all(path("guest/sub")).unwrap();
        fs::create_dir_all(path("other")).unwrap();
        fs::write(path("secret"), "secret").unwrap();
        fs::write(path("other/secret"), "secret").unwrap();
        fs::write(path("guest/own"), "own").unwrap();
        symlink("../secret", path("guest/relative")).unwrap();
        symlink(path("secret"), path("guest/absolute")).unwrap();
        symlink("..", path("guest/up")).unwrap();
        symlink(path("other"), path("guest/other")).unwrap();
        symlink("../created", path("guest/dangling")).unwrap();
        symlink(path("created"), path("guest/dangling_absolute")).unwrap();
        symlink("relative", path("guest/chain")).unwrap();
        symlink("sub/../../secret", path("guest/winding")).unwrap();
        symlink("own", path("guest/inside")).unwrap();
        symlink("loop", path("guest/loop")).unwrap();
        Self { outer }
    }

    fn guest(&self) -> Guest {
        Guest::in_folder(&self.outer.path().join("guest"))
    }

    /// Returns all files outside of the guest's directory, with their contents.
    fn outside(&self) -> BTreeMap<PathBuf, Option<String>> {
        fn walk(folder: &Path, found: &mut BTreeMap<PathBuf, Option<String>>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.ends_with("guest") {
                    continue;
                }
                let text = if path.is_dir() { None } else { Some(fs::read_to_string(&path).unwrap()) };
                if text.is_none() {
                    walk(&path, found);
                }
                found.insert(path, text);
            }
        }
        let mut found = BTreeMap::new();
        walk(self.outer.path(), &mut found);
        found
    }

    /// Returns names that lead to files outside.
    fn escapes(&self) -> Vec<String> {
        let names = [
            "../secret",
            "/../secret",
            "..//secret",
            "./../secret",
            "sub/../../secret",
            "sub/../../guest/../secret",
            "../guest/../secret",
            "../../../../../../../../etc/passwd",
            "relative",
            "absolute",
            "chain",
            "winding",
            "up/secret",
            "up/other/secret",
            "other/secret",
            "sub/../up/secret",
        ];
        names.map(str::to_owned).into()
    }
}

#[test]
fn names_that_lead_outside_cannot_be_opened_in_any_mode() {
    let place = Sandbox::new();
    let before = place.outside();
    let mut guest = place.guest();
    for name in place.escapes() {
        for mode in 0..12 {
            assert_eq!((guest.open(&name, mode), guest.errno()), (FAILED, EACCES), "{name} in mode {mode}");
        }
    }
    assert_eq!(place.outside(), before, "nothing outside has changed");
}

#[test]
fn files_cannot_be_created_outside() {
    let place = Sandbox::new();
    let before = place.outside();
    let mut guest = place.guest();
    for name in
        ["../created", "dangling", "dangling_absolute", "up/created", "other/created", "sub/../../created"]
    {
        for mode in 4..12 {
            assert_eq!((guest.open(name, mode), guest.errno()), (FAILED, EACCES), "{name} in mode {mode}");
        }
    }
    assert_eq!(place.outside(), before, "nothing outside has changed");
}

#[test]
fn an_absolute_name_begins_at_the_directory_of_the_guest() {
    let place = Sandbox::new();
    let secret = place.outer.path().join("secret").display().to_string();
    let mut guest = place.guest();
    for name in [&*secret, &format!("/{secret}"), "/etc/passwd", "/dev/null", "//etc/passwd"] {
        assert_eq!((guest.open(name, 0), guest.errno()), (FAILED, ENOENT), "{name} does not exist");
        assert_eq!(
            guest.open(name, 4),
            FAILED,
            "the file cannot be created, because its directory does not exist"
        );
    }
    for (index, name) in ["own", "/own", "//own", "/sub/../own", "inside"].into_iter().enumerate() {
        let handle = guest.open(name, 0);
        assert_eq!(handle, index as u64 + 1, "{name} is the guest's own");
        assert_eq!(guest.read(handle, 9), (b"own".to_vec(), 6), "{name}");
    }
}

#[test]
fn nothing_outside_can_be_removed() {
    let place = Sandbox::new();
    let before = place.outside();
    let mut guest = place.guest();
    let links = ["relative", "absolute", "chain", "winding"];
    for name in place.escapes().iter().filter(|name| !links.contains(&&***name)) {
        guest.put(NAME, name.as_bytes());
        assert_eq!(guest.error(REMOVE, &[NAME, name.len() as u64]), EACCES, "{name}");
    }
    for name in links {
        guest.put(NAME, name.as_bytes());
        assert_eq!(guest.call_with(REMOVE, &[NAME, name.len() as u64]), 0, "the link {name} itself can go");
    }
    assert_eq!(place.outside(), before, "the targets of the links stay");
}

#[test]
fn files_cannot_be_moved_out_or_in() {
    let place = Sandbox::new();
    let before = place.outside();
    let mut guest = place.guest();
    let rename = |guest: &mut Guest, from: &str, to: &str| {
        guest.put(NAME, from.as_bytes());
        guest.put(NAME + 0x200, to.as_bytes());
        guest.error(RENAME, &[NAME, from.len() as u64, NAME + 0x200, to.len() as u64])
    };
    for outside in ["../secret", "../stolen", "up/stolen", "other/stolen", "/../stolen", "sub/../../stolen"] {
        assert_eq!(rename(&mut guest, "own", outside), EACCES, "out to {outside}");
        assert_eq!(rename(&mut guest, outside, "sub/in"), EACCES, "in from {outside}");
    }
    assert_eq!(place.outside(), before, "nothing outside has changed");
    assert!(place.outer.path().join("guest/own").exists(), "the guest's file is still there");
}

#[test]
fn special_files_are_refused_without_being_opened() {
    let place = Sandbox::new();
    let fifo = place.outer.path().join("guest/fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success(), "mkfifo works");
    let _socket = std::os::unix::net::UnixListener::bind(place.outer.path().join("guest/socket")).unwrap();
    let mut guest = place.guest();
    // Opening a FIFO without a writer would block for ever. With both ends open, a wrong open fails the test instead.
    let _both_ends = fs::File::options().read(true).write(true).open(&fifo).unwrap();
    for name in ["fifo", "/fifo", "socket", "sub", "."] {
        for mode in 0..12 {
            assert_eq!((guest.open(name, mode), guest.errno()), (FAILED, EACCES), "{name} in mode {mode}");
        }
    }
}

#[test]
fn a_loop_of_symbolic_links_fails() {
    let mut guest = Sandbox::new().guest();
    for mode in 0..12 {
        assert_eq!(guest.open("loop", mode), FAILED, "mode {mode}");
    }
}

#[test]
fn a_directory_cannot_be_opened() {
    let place = Sandbox::new();
    let mut guest = place.guest();
    for name in ["", "/", ".", "sub", "sub/", "sub/..", "own/", "own/x"] {
        for mode in 0..12 {
            assert_eq!(guest.open(name, mode), FAILED, "{name} in mode {mode}");
        }
    }
}
