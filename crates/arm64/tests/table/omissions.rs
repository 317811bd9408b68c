//! Encodings that the table does not have. Comments in its source name them, by architecture version:
//!
//! ```text
//! // Armv8.5 MTE (addsub_immtags): ADDG_64 SUBG_64
//! // Armv9.4 LSE128 (memop_128): 36 encodings LDCLRP_128 to RCWSSETPAL_128
//! ```
//!
//! Names that end in the group in parentheses are written without it. A list may continue on the next lines. A range
//! is in Arm's order; its count includes only encodings that are neither rows nor named in another list.

use std::collections::{BTreeMap, BTreeSet};

use kvrm_arm64::Op;
use kvrm_arm64::encoding::ENCODINGS;

use crate::arm::{self, ArmEncoding};

/// The files with the rows of the table.
const SOURCES: [&str; 8] = [
    include_str!("../../src/isa/immediate.rs"),
    include_str!("../../src/isa/control.rs"),
    include_str!("../../src/isa/load_store.rs"),
    include_str!("../../src/isa/register.rs"),
    include_str!("../../src/isa/crypto.rs"),
    include_str!("../../src/isa/scalar.rs"),
    include_str!("../../src/isa/vector.rs"),
    include_str!("../../src/isa/float.rs"),
];

/// A comment, with its lines joined.
#[derive(Debug)]
struct Comment {
    version: String,
    group: String,
    text: String,
}

/// The content of a comment: a list of names, or a range.
enum Content<'a> {
    Names(Vec<&'a str>),
    Range { count: usize, first: &'a str, last: &'a str },
}

fn comments() -> Vec<Comment> {
    let mut comments: Vec<Comment> = Vec::new();
    let mut goes_on = false;
    for line in SOURCES.iter().flat_map(|source| source.lines()) {
        let Some(line) = line.trim().strip_prefix("// ") else {
            goes_on = false;
            continue;
        };
        if line.starts_with("Armv") {
            let (head, text) = line.split_once("): ").unwrap_or_else(|| panic!("no group in: {line}"));
            let (version, group) = head.split_once(" (").unwrap_or_else(|| panic!("no group in: {line}"));
            let (version, group, text) = (version.to_owned(), group.to_owned(), text.to_owned());
            comments.push(Comment { version, group, text });
            goes_on = true;
        } else if let Some(comment) = comments.last_mut().filter(|_| goes_on) {
            comment.text += " ";
            comment.text += line;
        }
    }
    comments
}

impl Comment {
    fn content(&self) -> Content<'_> {
        let words: Vec<&str> = self.text.split_whitespace().collect();
        let count = || words[0].parse().unwrap_or_else(|_| panic!("no number in {self:?}"));
        match words[..] {
            [_, "encodings", first, "to", last] => Content::Range { count: count(), first, last },
            _ => Content::Names(words),
        }
    }

    /// Returns the encoding of a name in this comment.
    fn find(&self, short: &str) -> &'static ArmEncoding {
        let long = format!("{short}_{}", self.group);
        let all = arm::by_name();
        let arm = all.get(long.as_str()).or_else(|| all.get(short));
        let arm = *arm.unwrap_or_else(|| panic!("{}: there is no {short}", self.version));
        assert_eq!(arm.group, self.group, "the group of {short}");
        arm
    }
}

fn is_row(arm: &ArmEncoding) -> bool {
    Op::from_name(&arm.name).is_some()
}

/// Returns the encodings that are named one by one, with the comment that names each.
fn named_encodings(comments: &[Comment]) -> BTreeMap<&'static str, &Comment> {
    let mut named = BTreeMap::new();
    for comment in comments {
        let Content::Names(names) = comment.content() else { continue };
        for name in names {
            let arm = comment.find(name);
            assert!(!is_row(arm), "{} is in {comment:?}, but the table has a row for it", arm.name);
            let before = named.insert(arm.name.as_str(), comment);
            assert!(before.is_none(), "{} is named by {before:?} and by {comment:?}", arm.name);
        }
    }
    named
}

/// Returns the encodings from `first` to `last` that are neither rows nor named.
fn encodings_of_range(
    comment: &Comment,
    first: &str,
    last: &str,
    named: &BTreeMap<&str, &Comment>,
) -> Vec<&'static str> {
    let (first, last) = (comment.find(first), comment.find(last));
    let group = || arm::encodings().iter().filter(|arm| arm.group == comment.group);
    let position = |wanted: &ArmEncoding| group().position(|arm| arm.name == wanted.name);
    let (from, to) = (position(first), position(last));
    let (Some(from), Some(to)) = (from, to) else { panic!("{comment:?} ends outside its group") };
    let inside = group().take(to + 1).skip(from);
    let omitted = inside.filter(|arm| !is_row(arm) && !named.contains_key(arm.name.as_str()));
    let names: Vec<&str> = omitted.map(|arm| arm.name.as_str()).collect();
    assert_eq!(names.first(), Some(&first.name.as_str()), "the first of {comment:?}");
    assert_eq!(names.last(), Some(&last.name.as_str()), "the last of {comment:?}");
    names
}

#[test]
fn every_encoding_of_arm_is_in_the_table_or_a_comment() {
    let comments = comments();
    let mut known: BTreeSet<&str> = named_encodings(&comments).keys().copied().collect();
    known.extend(ENCODINGS.iter().map(|row| row.name));
    for comment in &comments {
        match comment.content() {
            Content::Names(_) => {}
            Content::Range { first, last, .. } => {
                known.extend(encodings_of_range(comment, first, last, &named_encodings(&comments)));
            }
        }
    }
    let missing: Vec<&str> =
        arm::encodings().iter().map(|arm| arm.name.as_str()).filter(|name| !known.contains(name)).collect();
    assert_eq!(missing, [""; 0], "encodings of Arm that are neither in the table nor in a comment");
}

#[test]
fn counts_in_comments_are_right() {
    let comments = comments();
    let named = named_encodings(&comments);
    let mut wrong = Vec::new();
    for comment in &comments {
        let (said, counted) = match comment.content() {
            Content::Names(_) => continue,
            Content::Range { count, first, last } => {
                (count, encodings_of_range(comment, first, last, &named).len())
            }
        };
        if said != counted {
            wrong.push(format!(
                "{} ({}): the comment says {said}, but Arm has {counted}",
                comment.version, comment.group
            ));
        }
    }
    assert_eq!(wrong, [""; 0], "counts that differ from Arm's tables");
}
