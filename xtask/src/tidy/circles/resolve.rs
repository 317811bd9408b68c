//! From a name in a module to the item it means, and the file that defines this.

use std::collections::BTreeSet;

use super::syntax::Mention;
use super::tree::Tree;

/// An item of the crate.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) file: usize,
    pub(super) name: String,
    /// Whether no definition was found, so that the module at the end of the path has to stand for it.
    is_guess: bool,
}

/// What a path leads to.
#[derive(Debug)]
enum Target {
    Module(usize),
    Item(Item),
    /// What lies in another crate.
    Elsewhere,
}

/// The lookups that have begun, as module and name: imports may lead in a circle.
type Begun = BTreeSet<(usize, String)>;

/// The item that a module mentions; nothing if it is none of this crate's.
pub(super) fn item(tree: &Tree, module: usize, mention: &Mention) -> Option<Item> {
    match follow(tree, module, &mention.path, &mut Begun::new()) {
        Some(Target::Item(item)) => Some(item),
        Some(Target::Module(_) | Target::Elsewhere) => None,
        None if mention.is_macro => called(tree, module, &mention.path),
        None => None,
    }
}

/// The macro of a name that is in scope because of where it is defined.
fn called(tree: &Tree, module: usize, path: &[String]) -> Option<Item> {
    let [name] = path else { return None };
    let has = |&index: &usize| tree.modules[index].source.macros.contains(name);
    // `#[macro_use]` brings it out of modules, too.
    let found = tree.above(module).chain(0..tree.modules.len()).find(has)?;
    Some(Item { file: tree.modules[found].file, name: name.clone(), is_guess: false })
}

/// Where a path leads that stands in a module.
fn follow(tree: &Tree, module: usize, path: &[String], begun: &mut Begun) -> Option<Target> {
    let (first, rest) = path.split_first()?;
    let name = |name, is_last| Name { name, is_last, asker: module };
    let mut target = match first.as_str() {
        "crate" => Target::Module(0),
        "self" => Target::Module(module),
        "super" => Target::Module(tree.modules[module].parent?),
        first => look_up(tree, module, name(first, rest.is_empty()), begun)?,
    };
    for (index, part) in rest.iter().enumerate() {
        let Target::Module(current) = target else { break };
        target = match part.as_str() {
            "super" => Target::Module(tree.modules[current].parent?),
            // A name that only an expanded macro defines counts for the module.
            part => look_up(tree, current, name(part, index + 1 == rest.len()), begun).unwrap_or_else(|| {
                Target::Item(Item { file: tree.modules[current].file, name: part.to_owned(), is_guess: true })
            }),
        };
    }
    Some(target)
}

/// A name to look up.
#[derive(Clone, Copy)]
struct Name<'a> {
    name: &'a str,
    /// Whether it ends its path. Where an item and a module share a name, the item is meant there, and the module
    /// before the end.
    is_last: bool,
    /// The module that names it, which sees private imports of itself and of those above it.
    asker: usize,
}

/// What a name means in a module.
fn look_up(tree: &Tree, module: usize, wanted: Name<'_>, begun: &mut Begun) -> Option<Target> {
    let name = wanted.name;
    if !begun.insert((module, name.to_owned())) {
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
        // Each import is a way of its own, which may come by the same modules.
        let mut begun = begun.clone();
        match &import.name {
            Some(alias) if alias == name => {
                found.push(follow(tree, module, &import.path, &mut begun).unwrap_or(Target::Elsewhere));
            }
            None => {
                if let Some(Target::Module(other)) = follow(tree, module, &import.path, &mut begun) {
                    found.extend(look_up(tree, other, wanted, &mut begun));
                }
            }
            Some(_) => {}
        }
    }
    let rank = |target: &Target| match target {
        Target::Item(item) => (!wanted.is_last, item.is_guess),
        Target::Module(_) => (wanted.is_last, false),
        Target::Elsewhere => (true, false),
    };
    found.into_iter().min_by_key(rank)
}
