//! The rule against module circles: files of a crate must not use each other's items in a cycle.
//!
//! The rule works on files. File A *uses* file B if code in A names an item that B defines: in a `use`, in a path
//! (`crate::b::item`, `super::item`, `b::item`), or in the arguments of a macro. Names are followed through
//! re-exports to the file with the definition. A circle is a set of files in which each uses each other one,
//! directly or through others of the set. In particular, a child that uses an item its parent defines, while the
//! parent uses an item of the child, is a circle.
//!
//! Not uses are: a `mod` declaration; a re-export (`pub use`, `pub(crate) use`), unless the file's own code names the
//! item; code under `#[cfg(test)]`; links in documentation; calls of methods, whose types only the compiler knows.
//!
//! An item that a macro defines counts for the file of the module in which it is named.

mod graph;
mod resolve;
mod syntax;
mod tree;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use self::tree::Tree;
use super::files::File;
use super::packages::Package;
use super::violation::Violation;

/// Packages whose circles are not reported.
const EXEMPT: &[&str] = &[];

/// The names that a file uses from another, with the line of the first use of each.
type Names = BTreeMap<String, usize>;

pub(super) fn check(package: &Package, files: &[File]) -> Vec<Violation> {
    if EXEMPT.contains(&package.name.as_str()) {
        return Vec::new();
    }
    package.source_targets().flat_map(|target| in_target(target, files)).collect()
}

/// Returns the circles among the files that are reachable from the target `root`.
fn in_target(root: &str, files: &[File]) -> Vec<Violation> {
    let tree = match Tree::read(root, files) {
        Ok(tree) => tree,
        Err(violation) => return vec![violation],
    };
    let uses = uses(&tree);
    let pairs: Vec<(usize, usize)> = uses.keys().copied().collect();
    graph::circles(tree.files.len(), &pairs).iter().map(|circle| report(&tree, &uses, circle)).collect()
}

/// Returns the pairs of files of which the first uses the second, with the names used.
fn uses(tree: &Tree) -> BTreeMap<(usize, usize), Names> {
    let mut uses: BTreeMap<(usize, usize), Names> = BTreeMap::new();
    for (index, module) in tree.modules.iter().enumerate() {
        for mention in &module.source.mentions {
            let Some(item) = resolve::item(tree, index, mention) else { continue };
            if item.file != module.file {
                let names = uses.entry((module.file, item.file)).or_default();
                let line = names.entry(item.name).or_insert(mention.line);
                *line = mention.line.min(*line);
            }
        }
    }
    uses
}

/// Returns a violation with one line for the circle, and one for each pair of its files.
fn report(tree: &Tree, uses: &BTreeMap<(usize, usize), Names>, circle: &[usize]) -> Violation {
    let mut message = format!("{} files use each other in a circle:", circle.len());
    let mut first = None;
    for ((from, to), names) in uses {
        if circle.contains(from) && circle.contains(to) {
            let line = names.values().min().copied().unwrap_or(1);
            let list: Vec<&str> = names.keys().map(String::as_str).collect();
            let (from, to) = (tree.files[*from].as_str(), tree.files[*to].as_str());
            // Writing to a String does not fail.
            let _ = write!(message, "\n    {from}:{line} uses {} of {to}", list.join(", "));
            first.get_or_insert((from, line));
        }
    }
    let (path, line) = first.unwrap_or_default();
    Violation::new(path, line, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the circles of a crate with these files below `src/`.
    fn circles(files: &[(&str, &str)]) -> Vec<String> {
        let targets = vec!["a/src/lib.rs".to_owned()];
        let package = Package { targets, ..Package::of_manifest("a/Cargo.toml", "") };
        let files: Vec<File> =
            files.iter().map(|(path, text)| File::new(&format!("a/src/{path}"), text)).collect();
        check(&package, &files).iter().map(|violation| violation.to_string().replace("a/src/", "")).collect()
    }

    const NONE: [&str; 0] = [];

    #[test]
    fn siblings_that_use_each_other_are_a_circle() {
        let found = circles(&[
            ("lib.rs", "mod b;\nmod c;\n"),
            ("b.rs", "use crate::c::{One, Two as Other};\npub struct B;\n"),
            ("c.rs", "pub struct One;\npub struct Two;\nfn f(_: &super::b::B) {}\n"),
        ]);
        let expected = "b.rs:1: 2 files use each other in a circle:\n    \
                        b.rs:1 uses One, Two of c.rs\n    \
                        c.rs:3 uses B of b.rs";
        assert_eq!(found, [expected], "with the files, the lines and the names");
    }

    #[test]
    fn a_parent_and_a_child_that_use_each_other_are_a_circle() {
        let found = circles(&[
            ("lib.rs", "mod b;\npub struct Parent;\nfn f() { b::child() }\n"),
            ("b.rs", "use super::Parent;\npub fn child() -> Parent { Parent }\n"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn longer_circles_are_one_each() {
        let found = circles(&[
            ("lib.rs", "mod b;\nmod c;\nmod d;\nmod e;\nmod f;\n"),
            ("b.rs", "use crate::c::C;\npub struct B;\n"),
            ("c.rs", "use crate::d::D;\npub struct C;\n"),
            ("d.rs", "use crate::b::B;\nuse crate::e::E;\npub struct D;\n"),
            ("e.rs", "use crate::f::F;\npub struct E;\n"),
            ("f.rs", "use crate::e::E;\npub struct F;\n"),
        ]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("b.rs:1: 3 files"), "{found:?}");
        assert!(found[1].starts_with("e.rs:1: 2 files"), "{found:?}");
    }

    #[test]
    fn uses_are_followed_through_reexports_to_the_definition() {
        let found = circles(&[
            ("lib.rs", "mod b;\nmod c;\npub use self::b::*;\npub use self::c::C;\n"),
            ("b.rs", "use crate::C;\npub struct B;\n"),
            ("c.rs", "use crate::B;\npub struct C;\n"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("b.rs:1: 2 files"), "lib.rs defines nothing: {found:?}");
    }

    #[test]
    fn declarations_and_reexports_of_children_are_no_uses() {
        let found = circles(&[
            ("lib.rs", "pub mod b;\npub(crate) use self::b::B;\npub struct Parent;\n"),
            ("b.rs", "use super::Parent;\npub struct B(Parent);\n"),
        ]);
        assert_eq!(found, NONE, "only the child uses its parent");
    }

    #[test]
    fn a_reexported_item_that_the_parent_itself_names_is_used() {
        let found = circles(&[
            ("lib.rs", "mod b;\npub use self::b::B;\npub struct Parent(B);\n"),
            ("b.rs", "use super::Parent;\npub struct B(Option<Box<Parent>>);\n"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn paths_outside_of_use_are_uses() {
        for code in [
            "fn f() -> crate::b::B { todo() }",
            "fn f(x: u32) { match x { self::b::N => {} _ => {} } }",
            "fn f() { println!(\"{}\", b::N); }",
            "fn f() { use b::N; }",
            "use self::b as other;\nfn f() -> u32 { other::N }",
            "use self::b::*;\nfn f() -> u32 { N }",
            "macro_rules! m { () => { $crate::b::N } }",
            "fn f() { println!(\"{}\", g(1).b.max(b::N)); }",
            "mod inner { fn f() -> u32 { super::b::N } }",
        ] {
            let root = format!("mod b;\npub struct Parent;\n{code}\n");
            let child = "use crate::Parent;\npub struct B;\npub const N: u32 = 1;\n";
            let found = circles(&[("lib.rs", &root), ("b.rs", child)]);
            assert_eq!(found.len(), 1, "{code}: {found:?}");
        }
    }

    #[test]
    fn a_macro_of_the_parent_that_its_child_calls_is_used() {
        let found = circles(&[
            ("lib.rs", "macro_rules! m { () => { 1 } }\nmod b;\nconst N: u32 = b::N;\n"),
            ("b.rs", "pub const N: u32 = m!();\n"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn tests_and_links_in_documentation_are_no_uses() {
        let found = circles(&[
            ("lib.rs", "mod b;\nmod c;\n"),
            ("b.rs", "use crate::c::C;\npub struct B;\n"),
            (
                "c.rs",
                "//! See [B](crate::b::B).\npub struct C;\n#[cfg(test)]\nmod tests { use crate::b::B; }\n\
                 #[cfg(all(test, unix))]\nuse crate::b::B;\n",
            ),
        ]);
        assert_eq!(found, NONE, "the other direction is not code of the crate");
    }

    #[test]
    fn names_of_other_crates_and_of_local_things_are_no_uses() {
        let found = circles(&[
            ("lib.rs", "mod b;\nmod fmt;\npub struct Parent;\n"),
            ("b.rs", "use std::fmt;\nuse super::fmt::F;\nfn f(lib: u32) { fmt::format(lib.F) }\n"),
            ("fmt.rs", "use super::Parent;\npub struct F;\nfn f() { other::b::B }\n"),
        ]);
        assert_eq!(found, NONE, "`std::fmt` and `other::b` lie elsewhere");
    }

    #[test]
    fn members_and_paths_of_other_crates_in_macros_are_no_uses() {
        let found = circles(&[
            (
                "lib.rs",
                "mod b;\npub use self::b::N;\npub struct Parent;\nfn f() { m!(x.N, x.0.N, ::other::N, X::<u8>::N) }\n",
            ),
            ("b.rs", "use crate::Parent;\npub const N: u32 = 1;\n"),
        ]);
        assert_eq!(found, NONE, "`N` is the constant in none of them");
    }

    #[test]
    fn a_reexport_of_another_crate_defines_nothing() {
        let found = circles(&[
            ("lib.rs", "mod b;\npub use other::Error;\nfn f() { b::g() }\n"),
            ("b.rs", "use crate::Error;\npub fn g() -> Option<Error> { None }\n"),
        ]);
        assert_eq!(found, NONE, "`Error` is not the root's");
    }

    #[test]
    fn a_file_that_does_not_parse_is_reported() {
        let found = circles(&[("lib.rs", "mod b;\n"), ("b.rs", "\nfn fn\n")]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("b.rs:2: does not parse"), "{found:?}");
    }
}
