//! The parser for the parts of a module that the linker handles: imports, fragments, and the lines between them.

use std::collections::HashSet;

use crate::{LinkError, Place};

/// A parsed module.
#[derive(Debug)]
pub(crate) struct Module<'a> {
    path: String,
    pub(crate) imports: Vec<Import<'a>>,
    /// The directives `enable extension;`.
    pub(crate) directives: Vec<&'a str>,
    /// The fragments, in their order in the file.
    pub(crate) fragments: Vec<Fragment<'a>>,
    /// The replacement, in the linked source, of each line of the file.
    pub(crate) lines: Vec<Line<'a>>,
}

/// An import, `import package::a::b::{c, d};`.
#[derive(Debug)]
pub(crate) struct Import<'a> {
    pub(crate) place: Place,
    pub(crate) module: &'a str,
    pub(crate) items: Vec<Item<'a>>,
}

impl Import<'_> {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.items.iter().any(|item| item.name == name)
    }
}

/// A name in an import.
#[derive(Debug)]
pub(crate) struct Item<'a> {
    pub(crate) place: Place,
    pub(crate) name: &'a str,
}

/// Statements that other modules insert into their functions.
#[derive(Debug)]
pub(crate) struct Fragment<'a> {
    name: &'a str,
    /// The index of the first line of `body` in the file.
    pub(crate) start: usize,
    /// The replacement of each line of the body.
    pub(crate) body: Vec<Line<'a>>,
}

/// The replacement of a line of a module in the linked source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// The line itself.
    Text(&'a str),
    /// An empty line, for a line of an import or of a fragment, or for a directive.
    Blank,
    /// The statements of the fragment of this name.
    Insert(&'a str),
}

/// Returns the path of the file of a module: `arm64/flags.wgsl` for `arm64::flags`.
pub(crate) fn path(module: &str) -> String {
    format!("{}.wgsl", module.replace("::", "/"))
}

impl<'a> Module<'a> {
    /// Parses a module, and checks that it uses each import and declares each fragment once.
    pub(crate) fn parse(name: &str, text: &'a str) -> Result<Self, LinkError> {
        let mut module = Self {
            path: path(name),
            imports: Vec::new(),
            directives: Vec::new(),
            fragments: Vec::new(),
            lines: Vec::new(),
        };
        let lines: Vec<&'a str> = text.lines().collect();
        let mut declares_something = false;
        while let Some(&line) = lines.get(module.lines.len()) {
            let words = code(line).trim_end();
            if line.starts_with("import ") {
                if declares_something {
                    return Err(LinkError::LateImport { place: module.place(module.lines.len()) });
                }
                module.read_import(&lines)?;
            } else if line.starts_with("enable ") {
                module.directives.push(words);
                module.lines.push(Line::Blank);
            } else if first_word(words) == "fragment" {
                module.read_fragment(&lines)?;
            } else {
                let place = module.place(module.lines.len());
                module.lines.push(insertion(line, &place)?.map_or(Line::Text(line), Line::Insert));
            }
            let is_head = ["import ", "enable "].iter().any(|head| line.starts_with(head));
            declares_something |= !words.is_empty() && !is_head;
        }
        module.check_imports_are_used()?;
        module.check_fragments_are_declared_once()?;
        Ok(module)
    }

    /// Returns the place of a line of the file, given by its index.
    pub(crate) fn place(&self, index: usize) -> Place {
        Place { path: self.path.clone(), line: index + 1 }
    }

    /// Whether the module declares a name, be it of a fragment or of a WGSL item.
    pub(crate) fn declares(&self, name: &str) -> bool {
        self.declares_item(name) || self.fragment(name).is_some()
    }

    /// Whether the module declares a WGSL item of a name. Declarations are not indented.
    fn declares_item(&self, name: &str) -> bool {
        self.lines.iter().any(|line| matches!(line, Line::Text(text) if declares(text, name)))
    }

    /// Returns the index of the fragment of a name.
    pub(crate) fn fragment(&self, name: &str) -> Option<usize> {
        self.fragments.iter().position(|fragment| fragment.name == name)
    }

    /// Whether the module inserts a fragment of this name.
    pub(crate) fn inserts(&self, name: &str) -> bool {
        let bodies = self.fragments.iter().map(|fragment| &fragment.body);
        bodies.chain([&self.lines]).any(|lines| lines.contains(&Line::Insert(name)))
    }

    /// Parses an import: one line, or a line that ends in `{`, lines of names, and `};`.
    fn read_import(&mut self, lines: &[&'a str]) -> Result<(), LinkError> {
        let start = self.lines.len();
        let place = self.place(start);
        let malformed = || LinkError::MalformedImport { place: place.clone() };
        let head = lines[start].strip_prefix("import package::").ok_or_else(malformed)?;
        let (module, names, length) = if let Some(module) = head.strip_suffix("::{") {
            let rows = lines[start + 1..].iter().take_while(|line| **line != "};");
            let rows: Option<Vec<&str>> =
                rows.map(|line| line.strip_prefix("    ")?.strip_suffix(',')).collect();
            let rows = rows.filter(|rows| start + 1 + rows.len() < lines.len()).ok_or_else(malformed)?;
            (module, rows.clone(), rows.len() + 2)
        } else {
            let (module, names) =
                head.strip_suffix("};").and_then(|head| head.split_once("::{")).ok_or_else(malformed)?;
            (module, vec![names], 1)
        };
        // The names of an import of several lines begin in its second one.
        let first = start + usize::from(length > 1);
        let rows = names.iter().enumerate();
        let items: Vec<Item<'a>> = rows
            .flat_map(|(row, names)| names.split(", ").map(move |name| (first + row, name)))
            .map(|(index, name)| Item { place: self.place(index), name })
            .collect();
        if items.is_empty() || !module.split("::").chain(items.iter().map(|item| item.name)).all(is_name) {
            return Err(malformed());
        }
        self.imports.push(Import { place, module, items });
        self.lines.extend(vec![Line::Blank; length]);
        Ok(())
    }

    /// Parses `fragment name {`, indented statements, and `}`.
    fn read_fragment(&mut self, lines: &[&'a str]) -> Result<(), LinkError> {
        let header = self.lines.len();
        let malformed = |index| LinkError::MalformedFragment { place: self.place(index) };
        let name =
            code(lines[header]).trim_end().strip_prefix("fragment ").and_then(|rest| rest.strip_suffix(" {"));
        let name = name.filter(|name| is_name(name)).ok_or_else(|| malformed(header))?;
        let start = header + 1;
        let body: Vec<&'a str> = lines[start..].iter().copied().take_while(|line| is_inner(line)).collect();
        let end = start + body.len();
        // Only a line `}` ends a fragment, not the end of the file or another declaration.
        if lines.get(end) != Some(&"}") {
            return Err(malformed(header));
        }
        let body = body.into_iter().enumerate().map(|(row, line)| {
            let place = self.place(start + row);
            Ok(insertion(line, &place)?.map_or(Line::Text(line), Line::Insert))
        });
        let body: Vec<Line<'a>> = body.collect::<Result<_, _>>()?;
        // Left in place, the comment of a fragment would document the next declaration.
        let is_comment = |line: &&mut Line<'_>| matches!(line, Line::Text(text) if text.starts_with("///"));
        self.lines.iter_mut().rev().take_while(is_comment).for_each(|line| *line = Line::Blank);
        self.lines.extend(vec![Line::Blank; body.len() + 2]);
        self.fragments.push(Fragment { name, start, body });
        Ok(())
    }

    fn check_imports_are_used(&self) -> Result<(), LinkError> {
        let (mut known, used) = (HashSet::new(), self.words());
        for item in self.imports.iter().flat_map(|import| &import.items) {
            if !known.insert(item.name) || !used.contains(item.name) {
                let (place, item) = (item.place.clone(), item.name.to_owned());
                return Err(LinkError::UnusedImport { place, item });
            }
        }
        Ok(())
    }

    fn check_fragments_are_declared_once(&self) -> Result<(), LinkError> {
        for (index, fragment) in self.fragments.iter().enumerate() {
            let is_same = |other: &Fragment<'_>| other.name == fragment.name;
            if self.fragments[..index].iter().any(is_same) || self.declares_item(fragment.name) {
                let (place, name) = (self.place(fragment.start - 1), fragment.name.to_owned());
                return Err(LinkError::DeclaredTwice { place, name });
            }
        }
        Ok(())
    }

    /// Returns the words of the code of the module, fragments included.
    fn words(&self) -> HashSet<&'a str> {
        let bodies = self.fragments.iter().flat_map(|fragment| &fragment.body);
        let lines = self.lines.iter().chain(bodies);
        let texts = lines.filter_map(|line| match line {
            Line::Text(text) | Line::Insert(text) => Some(*text),
            Line::Blank => None,
        });
        texts.flat_map(words).collect()
    }
}

/// Returns the name of the fragment that a line inserts: `insert name;`, which is part of a function and so is indented.
fn insertion<'a>(line: &'a str, place: &Place) -> Result<Option<&'a str>, LinkError> {
    let words = code(line).trim_end();
    if first_word(words.trim_start()) != "insert" {
        return Ok(None);
    }
    let name = words.trim_start().strip_prefix("insert ").and_then(|rest| rest.strip_suffix(';'));
    match name.filter(|name| is_name(name) && words.starts_with(' ')) {
        Some(name) => Ok(Some(name)),
        None => Err(LinkError::MalformedInsert { place: place.clone() }),
    }
}

/// Whether the code of a line contains a word.
pub(crate) fn has_word(line: &str, word: &str) -> bool {
    words(line).any(|found| found == word)
}

/// Returns the words of the code of a line.
fn words(line: &str) -> impl Iterator<Item = &str> {
    code(line).split(|c| !is_word_character(c))
}

/// Whether a line declares a name.
pub(crate) fn declares(line: &str, name: &str) -> bool {
    declared(code(line)) == Some(name)
}

/// Returns the name that a line declares, such as `name` for `@group(0) @binding(1) var<storage> name: u32;`.
fn declared(line: &str) -> Option<&str> {
    let mut rest = line;
    while let Some(attribute) = rest.strip_prefix('@') {
        rest = attribute.trim_start_matches(is_word_character);
        rest = if rest.starts_with('(') { rest.split_once(')')?.1 } else { rest }.trim_start();
    }
    let (keyword, rest) = rest.split_at(rest.find(|c| !is_word_character(c))?);
    if !["alias", "const", "fn", "override", "struct", "var"].contains(&keyword) {
        return None;
    }
    let rest = if rest.starts_with('<') { rest.split_once('>')?.1 } else { rest }.trim_start();
    Some(rest.split(|c| !is_word_character(c)).next().unwrap_or_default())
}

/// Returns a line without its comment.
pub(crate) fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

/// Returns the first word of some code.
fn first_word(code: &str) -> &str {
    code.split(|c| !is_word_character(c)).next().unwrap_or_default()
}

/// Whether a line can stand inside a fragment: it is empty or indented.
fn is_inner(line: &str) -> bool {
    line.is_empty() || line.starts_with(' ')
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_word_character)
}

pub(crate) fn is_word_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
