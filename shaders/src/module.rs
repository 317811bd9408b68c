//! What the linker sees of a module: its imports and the names it declares.

use crate::{LinkError, Place};

/// An import line.
#[derive(Debug)]
pub(crate) struct Import<'a> {
    pub(crate) place: Place,
    pub(crate) module: &'a str,
    pub(crate) items: Vec<&'a str>,
}

/// The file of a module: that of `arm64::flags` is `arm64/flags.wgsl`.
pub(crate) fn path(module: &str) -> String {
    format!("{}.wgsl", module.replace("::", "/"))
}

pub(crate) fn is_import(line: &str) -> bool {
    line.starts_with("import ")
}

/// The imports of a module, each of which has to be used.
pub(crate) fn imports<'a>(module: &str, text: &'a str) -> Result<Vec<Import<'a>>, LinkError> {
    let mut imports = Vec::new();
    let mut items = Vec::new();
    let mut in_head = true;
    for (index, line) in text.lines().enumerate() {
        let place = Place { path: path(module), line: index + 1 };
        if !is_import(line) {
            in_head &= code(line).trim().is_empty();
            continue;
        }
        if !in_head {
            return Err(LinkError::LateImport { place });
        }
        let Some(import) = parse(line, &place) else { return Err(LinkError::MalformedImport { place }) };
        for item in &import.items {
            if items.contains(item) || !uses(text, item) {
                return Err(LinkError::UnusedImport { place, item: (*item).to_owned() });
            }
            items.push(*item);
        }
        imports.push(import);
    }
    Ok(imports)
}

/// `import package::a::b::{c, d};`
fn parse<'a>(line: &'a str, place: &Place) -> Option<Import<'a>> {
    let (module, items) = line.strip_prefix("import package::")?.strip_suffix("};")?.split_once("::{")?;
    let items: Vec<&str> = items.split(", ").collect();
    let names = || module.split("::").chain(items.iter().copied());
    names().all(is_name).then(|| Import { place: place.clone(), module, items: items.clone() })
}

/// Whether the code of a module, imports aside, has a word.
fn uses(text: &str, word: &str) -> bool {
    let lines = text.lines().filter(|line| !is_import(line));
    lines.flat_map(|line| code(line).split(|c| !is_word_character(c))).any(|found| found == word)
}

/// Whether a module declares a name. Declarations of a module are not indented.
pub(crate) fn declares(text: &str, name: &str) -> bool {
    text.lines().any(|line| declared(code(line)) == Some(name))
}

/// The name that a line declares: `@group(0) @binding(1) var<storage> name: u32;` and the like.
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

/// A line without its comment.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_word_character)
}

fn is_word_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
