//! Installation of newer Mesa packages from the backports of Debian 12, whose own Mesa 22.3 is slow and ends long loops
//! early.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::system;

const RELEASE: &str = "bookworm";
const BACKPORTS: &str = "bookworm-backports";

/// The files with apt's sources.
const SOURCES: &str = "/etc/apt/sources.list";
const SOURCES_FOLDER: &str = "/etc/apt/sources.list.d";
const DEBIAN_SOURCES: &str = "/etc/apt/sources.list.d/debian.sources";
/// The file with sources that this task adds.
const OUR_SOURCES: &str = "/etc/apt/sources.list.d/kvrm-backports.sources";

/// Returns whether this system is Debian 12.
pub(super) fn is_bookworm() -> bool {
    fs::read_to_string("/etc/os-release").is_ok_and(|text| names_bookworm(&text))
}

/// Installs packages from the backports, as root. Returns whether that succeeded; if not, apt's sources are as before.
pub(super) fn install_backports(packages: &[&str]) -> Result<bool> {
    let has_added = match sources_to_add() {
        Sources::Present => false,
        Sources::Add(text) => {
            println!("adding {BACKPORTS} to the sources of apt: {OUR_SOURCES}");
            fs::write(OUR_SOURCES, text).with_context(|| format!("cannot write {OUR_SOURCES}"))?;
            true
        }
        Sources::Unknown => return Ok(false),
    };
    println!("installing {} from {BACKPORTS}", packages.join(", "));
    let mut install = vec!["install", "-y", "--no-install-recommends", "-t", BACKPORTS];
    install.extend(packages);
    if system::apt_get(&["update"])? && system::apt_get(&install)? {
        return Ok(true);
    }
    if has_added {
        // Sources that do not work would fail every later update.
        fs::remove_file(OUR_SOURCES).with_context(|| format!("cannot remove {OUR_SOURCES}"))?;
    }
    println!("{BACKPORTS} is not available; using the packages of the release");
    Ok(false)
}

/// The change that apt's sources need.
#[derive(Debug, PartialEq)]
enum Sources {
    /// No change: the backports are among the sources.
    Present,
    /// A new file with this text.
    Add(String),
    /// Unknown, because the sources have an unknown format.
    Unknown,
}

fn sources_to_add() -> Sources {
    let mut files = vec![PathBuf::from(SOURCES)];
    files.extend(fs::read_dir(SOURCES_FOLDER).into_iter().flatten().flatten().map(|entry| entry.path()));
    let texts: Vec<String> =
        files.iter().filter(|file| is_read(file)).filter_map(|file| fs::read_to_string(file).ok()).collect();
    decide(&texts, fs::read_to_string(DEBIAN_SOURCES).ok().as_deref())
}

/// Returns whether apt reads a file of this name.
fn is_read(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "list" || extension == "sources")
}

fn decide(all_sources: &[String], debian_sources: Option<&str>) -> Sources {
    if all_sources.iter().any(|text| names_backports(text)) {
        return Sources::Present;
    }
    debian_sources.and_then(backports_sources).map_or(Sources::Unknown, Sources::Add)
}

/// Returns whether this text of `/etc/os-release` names Debian 12.
fn names_bookworm(os_release: &str) -> bool {
    let has = |key: &str, value: &str| {
        os_release
            .lines()
            .filter_map(|line| line.split_once('='))
            .any(|(name, text)| name.trim() == key && text.trim().trim_matches(['"', '\'']) == value)
    };
    has("ID", "debian") && has("VERSION_ID", "12")
}

fn names_backports(sources: &str) -> bool {
    let lines = sources.lines().filter(|line| !line.trim_start().starts_with('#'));
    lines.flat_map(str::split_whitespace).any(|word| word == BACKPORTS)
}

/// Returns Debian's sources with the backports in place of the release, or `None` if they do not contain the release.
/// Stanzas are separated by empty lines. The stanza of security updates has no backports and is left out.
fn backports_sources(debian_sources: &str) -> Option<String> {
    let mut stanzas = vec![Vec::new()];
    for line in debian_sources.lines() {
        if line.trim().is_empty() {
            stanzas.push(Vec::new());
        } else {
            stanzas.last_mut().expect("there is one from the start").push(line);
        }
    }
    let suites = |line: &str| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("Suites").then(|| value.split_whitespace().any(|suite| suite == RELEASE))
    };
    let of_release = stanzas.iter().filter(|stanza| stanza.iter().any(|line| suites(line) == Some(true)));
    let rewritten: Vec<String> = of_release
        .map(|stanza| {
            let lines = stanza.iter().map(|line| match suites(line) {
                Some(_) => format!("Suites: {BACKPORTS}\n"),
                None => format!("{line}\n"),
            });
            lines.collect()
        })
        .collect();
    (!rewritten.is_empty()).then(|| rewritten.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEBIAN: &str = "\
Types: deb
# A comment.
URIs: http://deb.debian.org/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://deb.debian.org/debian-security
Suites: bookworm-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
";

    const ADDED: &str = "\
Types: deb
# A comment.
URIs: http://deb.debian.org/debian
Suites: bookworm-backports
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
";

    #[test]
    fn backports_come_from_the_same_server_as_the_release() {
        assert_eq!(backports_sources(DEBIAN).as_deref(), Some(ADDED), "one stanza, the other suite");
        let elsewhere = DEBIAN.replace("Suites: bookworm", "suites:  trixie bookworm");
        assert_eq!(backports_sources(&elsewhere).as_deref(), Some(ADDED), "of a mixed system");
        assert_eq!(backports_sources("Types: deb\nSuites: trixie\n"), None, "of another release");
        assert_eq!(backports_sources(""), None, "of no sources");
    }

    #[test]
    fn sources_that_have_backports_stay_as_they_are() {
        let texts = |text: &str| vec![DEBIAN.to_owned(), text.to_owned()];
        assert_eq!(decide(&texts(ADDED), Some(DEBIAN)), Sources::Present, "a stanza");
        let line = "deb http://deb.debian.org/debian bookworm-backports main\n";
        assert_eq!(decide(&texts(line), Some(DEBIAN)), Sources::Present, "a line");
        let comment = format!("# {line}");
        assert_eq!(decide(&texts(&comment), Some(DEBIAN)), Sources::Add(ADDED.to_owned()), "a comment");
        assert_eq!(decide(&texts(""), None), Sources::Unknown, "sources in an older form");
    }

    #[test]
    fn apt_reads_two_kinds_of_files() {
        for (name, read) in [("a.list", true), ("b.sources", true), ("c.sources.save", false), ("d", false)] {
            assert_eq!(is_read(Path::new(name)), read, "{name}");
        }
    }

    #[test]
    fn debian_12_is_recognised() {
        let release = |id: &str, version: &str| format!("PRETTY_NAME=\"x\"\nID={id}\nVERSION_ID={version}\n");
        assert!(names_bookworm(&release("debian", "\"12\"")), "Debian 12");
        assert!(!names_bookworm(&release("debian", "\"13\"")), "Debian 13");
        assert!(!names_bookworm(&release("ubuntu", "\"12\"")), "another distribution");
        assert!(!names_bookworm(""), "no release at all");
    }
}
