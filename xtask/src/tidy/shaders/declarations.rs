//! A simple parser of the declarations of a WGSL source and of the words in them.

use std::collections::{BTreeMap, BTreeSet};

/// A declaration in a WGSL source.
#[derive(Debug)]
pub(super) struct Declaration<'a> {
    pub(super) name: &'a str,
    /// The line number of the name, from 1.
    pub(super) line: usize,
    is_function: bool,
    is_entry: bool,
    /// The words that may name other declarations, and whether each is called. Accesses to members are left out.
    words: Vec<(&'a str, bool)>,
}

/// A token: a word, or a single other character.
#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    text: &'a str,
    line: usize,
}

fn is_word_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns the tokens of a source, without its comments.
fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    for (index, line) in source.lines().enumerate() {
        let mut rest = line.split("//").next().unwrap_or_default().trim();
        while let Some(first) = rest.chars().next() {
            let length = if is_word_character(first) {
                rest.find(|c| !is_word_character(c)).unwrap_or(rest.len())
            } else {
                first.len_utf8()
            };
            let (text, behind) = rest.split_at(length);
            tokens.push(Token { text, line: index + 1 });
            rest = behind.trim_start();
        }
    }
    tokens
}

/// Returns the declarations of a source. Each ends with a semicolon or closing brace outside of all brackets.
pub(super) fn declarations(source: &str) -> Vec<Declaration<'_>> {
    let tokens = tokens(source);
    let mut declarations = Vec::new();
    let (mut start, mut depth) = (0, 0_usize);
    for (index, token) in tokens.iter().enumerate() {
        match token.text {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && matches!(token.text, ";" | "}") {
            declarations.extend(declaration(&tokens[start..=index]));
            start = index + 1;
        }
    }
    declarations
}

fn declaration<'a>(tokens: &[Token<'a>]) -> Option<Declaration<'a>> {
    let keywords = ["alias", "const", "fn", "override", "struct", "var"];
    let keyword = tokens.iter().position(|token| keywords.contains(&token.text))?;
    let mut name = keyword + 1;
    if tokens.get(name)?.text == "<" {
        name += tokens[name..].iter().position(|token| token.text == ">")? + 1;
    }
    let Token { text, line } = *tokens.get(name)?;
    let is_word = |index: &usize| tokens[*index].text.starts_with(is_word_character);
    let is_member = |index: usize| index > 0 && tokens[index - 1].text == ".";
    let words = (0..tokens.len()).filter(|index| *index != name && is_word(index) && !is_member(*index));
    let is_called = |index: usize| tokens.get(index + 1).is_some_and(|token| token.text == "(");
    Some(Declaration {
        name: text,
        line,
        is_function: tokens[keyword].text == "fn",
        is_entry: tokens[..keyword].iter().any(|token| token.text == "compute"),
        words: words.map(|index| (tokens[index].text, is_called(index))).collect(),
    })
}

/// Returns the indices of the declarations that an entry point needs, directly or indirectly. A function is needed if
/// it is called.
///
/// A local variable counts as a use of a module's variable or constant of the same name, so some unused ones may be
/// missed.
pub(super) fn reachable(declarations: &[Declaration<'_>]) -> BTreeSet<usize> {
    let by_name: BTreeMap<&str, usize> =
        declarations.iter().enumerate().map(|(index, declaration)| (declaration.name, index)).collect();
    let entries = (0..declarations.len()).filter(|&index| declarations[index].is_entry);
    let mut reached: BTreeSet<usize> = entries.collect();
    let mut open: Vec<usize> = reached.iter().copied().collect();
    while let Some(index) = open.pop() {
        for (word, is_called) in &declarations[index].words {
            let Some(&target) = by_name.get(word) else { continue };
            if (*is_called || !declarations[target].is_function) && reached.insert(target) {
                open.push(target);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(source: &str) -> Vec<(&str, usize)> {
        declarations(source).iter().map(|declaration| (declaration.name, declaration.line)).collect()
    }

    #[test]
    fn every_kind_of_declaration_is_found() {
        let source = "//! A.\n\nconst a: u32 = 1u;\nalias b = u32;\nstruct c {\n    not: u32,\n}\nfn d() {}\n\
                      override e = 1u;\n@group(0) @binding(1) var<storage, read_write> f: array<u32>;\n\
                      var<private> g: u32;\n@must_use\nfn h(\n    i: u32,\n) -> u32 { return i; } // fn j() {}\n";
        let expected = [("a", 3), ("b", 4), ("c", 5), ("d", 8), ("e", 9), ("f", 10), ("g", 11), ("h", 13)];
        assert_eq!(names(source), expected, "and no member, no parameter, no comment");
    }

    #[test]
    fn declarations_that_an_entry_point_needs_are_reached() {
        let source = "const SIZE = 1u;\nconst UNUSED = 2u;\nstruct S {\n    called: u32,\n}\nvar<private> s: S;\n\
                      fn called() -> u32 { return SIZE; }\nfn mentioned() {}\nfn loose() { dead(); }\nfn dead() {}\n\
                      fn between() { called(); }\n\
                      @compute @workgroup_size(1)\nfn run() {\n    let mentioned = s.dead;\n    between();\n}\n";
        let declarations = declarations(source);
        let reached: Vec<&str> =
            reachable(&declarations).into_iter().map(|index| declarations[index].name).collect();
        assert_eq!(
            reached,
            ["SIZE", "S", "s", "called", "between", "run"],
            "not a function that a variable or a member has the name of, nor what only others that are loose call"
        );
    }
}
