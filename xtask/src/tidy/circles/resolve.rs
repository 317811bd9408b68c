//! Name resolution: finds the item that a path in a module names, and the file that defines it.

use std::collections::BTreeSet;

use super::syntax::Mention;
use super::tree::Tree;

/// An item of the crate.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) file: usize,
    pub(super) name: String,
    /// Whether no definition was found. The item then counts for the last module of the path.
    is_guess: bool,
}

/// The target of a path.
#[derive(Debug)]
enum Target {
    Module(usize),
    Item(Item),
    /// An item of another crate.
    OtherCrate,
}

/// The module and name of each lookup that has begun, because imports may form a cycle.
type Visited = BTreeSet<(usize, String)>;

/// Returns the item that a mention in a module names, if it is an item of this crate.
pub(super) fn item(tree: &Tree, module: usize, mention: &Mention) -> Option<Item> {
    match follow(tree, module, &mention.path, &mut Visited::new()) {
        Some(Target::Item(item)) => Some(item),
        Some(Target::Module(_) | Target::OtherCrate) => None,
        None if mention.is_macro => macro_in_scope(tree, module, &mention.path),
        None => None,
    }
}

/// Returns the `macro_rules!` of a name that is in textual scope.
fn macro_in_scope(tree: &Tree, module: usize, path: &[String]) -> Option<Item> {
    let [name] = path else { return None };
    let has = |&index: &usize| tree.modules[index].source.macros.contains(name);
    // With `#[macro_use]` a macro is also in scope outside of its module.
    let found = tree.above(module).chain(0..tree.modules.len()).find(has)?;
    Some(Item { file: tree.modules[found].file, name: name.clone(), is_guess: false })
}

/// Returns the target of a path in a module.
fn follow(tree: &Tree, module: usize, path: &[String], visited: &mut Visited) -> Option<Target> {
    let (first, rest) = path.split_first()?;
    let name = |name, is_last| Name { name, is_last, asker: module };
    let mut target = match first.as_str() {
        "crate" => Target::Module(0),
        "self" => Target::Module(module),
        "super" => Target::Module(tree.modules[module].parent?),
        first => look_up(tree, module, name(first, rest.is_empty()), visited)?,
    };
    for (index, part) in rest.iter().enumerate() {
        let Target::Module(current) = target else { break };
        target = match part.as_str() {
            "super" => Target::Module(tree.modules[current].parent?),
            // A name without a definition, such as one from an expanded macro, counts for the module.
            part => {
                look_up(tree, current, name(part, index + 1 == rest.len()), visited).unwrap_or_else(|| {
                    Target::Item(Item {
                        file: tree.modules[current].file,
                        name: part.to_owned(),
                        is_guess: true,
                    })
                })
            }
        };
    }
    Some(target)
}

/// A name to look up.
#[derive(Clone, Copy)]
struct Name<'a> {
    name: &'a str,
    /// Whether the name is the last of its path. If an item and a module share a name, the last name of a path is the
    /// item, and other names are the module.
    is_last: bool,
    /// The module that contains the path. It sees private imports of itself and of its ancestors.
    asker: usize,
}

/// Returns the target of a name in a module.
fn look_up(tree: &Tree, module: usize, wanted: Name<'_>, visited: &mut Visited) -> Option<Target> {
    let name = wanted.name;
    if !visited.insert((module, name.to_owned())) {
        return None;
    }
    let here = &tree.modules[module];
    let is_item = here.source.items.contains(name);
    let item =
        is_item.then(|| Target::Item(Item { file: here.file, name: name.to_owned(), is_guess: false }));
    let child = here.children.get(name).map(|&child| Target::Module(child));
    let mut found: Vec<Target> = item.into_iter().chain(child).collect();
    let sees_all = tree.above(wanted.asker).any(|above| above == module);
    for import in here.source.imports.iter().filter(|import| sees_all || !import.is_private) {
        // Each import is a separate lookup, which may visit the same modules.
        let mut visited = visited.clone();
        match &import.name {
            Some(alias) if alias == name => {
                found.push(follow(tree, module, &import.path, &mut visited).unwrap_or(Target::OtherCrate));
            }
            None => {
                if let Some(Target::Module(other)) = follow(tree, module, &import.path, &mut visited) {
                    found.extend(look_up(tree, other, wanted, &mut visited));
                }
            }
            Some(_) => {}
        }
    }
    let rank = |target: &Target| match target {
        Target::Item(item) => (!wanted.is_last, item.is_guess),
        Target::Module(_) => (wanted.is_last, false),
        Target::OtherCrate => (true, false),
    };
    found.into_iter().min_by_key(rank)
}
