//! The rule against dead shader code: each declaration, module and fragment is part of a kernel, and each shared
//! constant is used by a kernel or by Rust.

mod declarations;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use kvrm_shaders::interface::kernels;
use kvrm_shaders::kernel::KernelInfo;
use kvrm_shaders::{Linked, MODULES, Substitution, layout, link, link_source};
use kvrm_translate::IMPORTS;

use self::declarations::{declarations, reachable};
use super::files::File;
use super::violation::{Violation, line_where};

/// The folder of the modules.
const FOLDER: &str = "shaders/wgsl/";
/// Constants: names, values and documentation.
type Constants = &'static [(&'static str, u32, &'static str)];
/// The files that declare constants for shaders and Rust, with these constants.
const SHARED: [(&str, Constants); 2] =
    [("shaders/src/layout.rs", layout::ALL), ("shaders/src/layout/spiking.rs", layout::spiking::ALL)];

pub(super) fn check(files: &[File]) -> Result<Vec<Violation>> {
    let usage = Usage::of(&variants()?);
    let mut violations = usage.unreached_declarations();
    violations.extend(unlinked_modules(MODULES, &usage));
    violations.extend(uninserted_fragments(MODULES));
    for (path, constants) in SHARED {
        violations.extend(unused_constants(path, constants.iter().map(|(name, ..)| *name), &usage, files));
    }
    Ok(violations)
}

/// Returns all kernels, linked with each variant of each family: alone, and with the last variants of the other
/// families.
fn variants() -> Result<Vec<Linked>> {
    let mut variants = BTreeMap::new();
    for kernel in kernels() {
        for substitutions in substitutions(kernel) {
            let linked = link(kernel.module, &substitutions)
                .with_context(|| format!("cannot link {}", kernel.module))?;
            variants.insert(linked.source.clone(), linked);
        }
    }
    let translated = translated();
    let linked = link_source("translated", &translated, &[]).context("cannot link translated text")?;
    variants.insert(translated, linked);
    Ok(variants.into_values().collect())
}

/// Returns a module that uses all that translated regions may use.
fn translated() -> String {
    let imports: String = IMPORTS
        .iter()
        .map(|(module, items)| format!("import package::{module}::{{{}}};\n", items.join(", ")))
        .collect();
    let uses: String =
        IMPORTS.iter().flat_map(|(_, items)| *items).map(|item| format!("    _ = {item}();\n")).collect();
    format!(
        "//! All that translated regions may use.\n\n{imports}\n@compute @workgroup_size(1)\nfn run() {{\n{uses}}}\n"
    )
}

fn substitutions(kernel: &KernelInfo) -> Vec<Vec<Substitution>> {
    let mut all = vec![Vec::new()];
    for family in kernel.families() {
        let others = kernel.families().filter(|other| other.name != family.name);
        let lasts: Vec<Substitution> =
            others.filter_map(|other| other.variants.last()).flat_map(|(_, last)| *last).copied().collect();
        for (_, variant) in family.variants {
            all.extend([variant.to_vec(), [*variant, &lasts].concat()]);
        }
    }
    all
}

/// The modules and declarations that kernels use.
#[derive(Debug, Default)]
struct Usage {
    /// The paths of the modules that are part of a kernel.
    modules: BTreeSet<String>,
    /// All declarations in these modules: by path and name, the line and whether a kernel needs the declaration.
    declarations: BTreeMap<(String, String), (usize, bool)>,
}

impl Usage {
    fn of(variants: &[Linked]) -> Self {
        let mut usage = Self::default();
        for linked in variants {
            usage.modules.extend(linked.modules().map(str::to_owned));
            let declarations = declarations(&linked.source);
            let reached = reachable(&declarations);
            for (index, declaration) in declarations.iter().enumerate() {
                let Some((path, line)) = linked.locate(declaration.line) else { continue };
                let key = (path.to_owned(), declaration.name.to_owned());
                usage.declarations.entry(key).or_insert((line, false)).1 |= reached.contains(&index);
            }
        }
        usage
    }

    /// Returns a violation for each declaration that no kernel needs.
    fn unreached_declarations(&self) -> Vec<Violation> {
        let unreached = self.declarations.iter().filter(|(_, (_, is_reached))| !is_reached);
        unreached
            .map(|((path, name), (line, _))| {
                let message =
                    format!("no kernel uses `{name}`; use or delete it, with its twin if it has one");
                Violation::new(&format!("{FOLDER}{path}"), *line, message)
            })
            .collect()
    }

    fn uses(&self, name: &str) -> bool {
        self.declarations.iter().any(|((_, known), (_, is_reached))| known == name && *is_reached)
    }
}

/// Returns a violation for each module that is part of no kernel.
fn unlinked_modules(modules: &[(&str, &str)], usage: &Usage) -> Vec<Violation> {
    let unlinked = modules.iter().filter(|(path, _)| !usage.modules.contains(*path));
    unlinked
        .map(|(path, _)| {
            Violation::new(&format!("{FOLDER}{path}"), 1, "no kernel includes this module; use or delete it")
        })
        .collect()
}

/// Returns a violation for each fragment that no module inserts.
fn uninserted_fragments(modules: &[(&str, &str)]) -> Vec<Violation> {
    let inserted: BTreeSet<&str> = modules
        .iter()
        .flat_map(|(_, text)| text.lines())
        .filter_map(|line| line.trim_start().strip_prefix("insert ")?.split(';').next())
        .collect();
    let mut violations = Vec::new();
    for (path, text) in modules {
        for (index, line) in text.lines().enumerate() {
            let name = line.strip_prefix("fragment ").and_then(|rest| rest.split(' ').next());
            if let Some(name) = name.filter(|name| !inserted.contains(name)) {
                let message = format!("no module inserts the fragment `{name}`; insert or delete it");
                violations.push(Violation::new(&format!("{FOLDER}{path}"), index + 1, message));
            }
        }
    }
    violations
}

/// Returns a violation for each constant of a file that neither a kernel nor Rust uses.
fn unused_constants<'a>(
    path: &str,
    names: impl Iterator<Item = &'a str>,
    usage: &Usage,
    files: &[File],
) -> Vec<Violation> {
    let is_rust = |file: &&File| file.path.ends_with(".rs") && file.path != path;
    let words: BTreeSet<&str> = files
        .iter()
        .filter(is_rust)
        .flat_map(|file| file.text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')))
        .collect();
    let declared = files.iter().find(|file| file.path == path).map_or("", |file| &file.text);
    names
        .filter(|name| !words.contains(name) && !usage.uses(name))
        .map(|name| {
            let line = line_where(declared, |line| line.trim_start().starts_with(&format!("{name} =")));
            Violation::new(path, line, format!("neither a kernel nor Rust uses `{name}`; delete it"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use kvrm_shaders::link_source;

    use super::*;

    fn usage(text: &str) -> Usage {
        Usage::of(&[link_source("test", text, &[]).expect("it links")])
    }

    const KERNEL: &str = "@compute @workgroup_size(1)\nfn run() {\n    used(COLUMN);\n}\n";

    #[test]
    fn a_twin_without_a_caller_is_found() {
        let text = format!(
            "import package::arm64::bitmask::{{ones}};\n\nfn used(a: u32) -> u64 {{ return ones(a); }}\n\
             /// Twin: `kvrm_arm64::semantics::x::idle`.\nfn idle() {{ ones(1u); }}\nconst COLUMN = 1u;\n{KERNEL}"
        );
        let violations = usage(&text).unreached_declarations();
        let found: Vec<(&str, usize)> =
            violations.iter().map(|violation| (violation.path.as_str(), violation.line)).collect();
        let expected = [
            ("shaders/wgsl/arm64/bitmask.wgsl", "BitMasks"),
            ("shaders/wgsl/arm64/bitmask.wgsl", "decode_bit_masks"),
            ("shaders/wgsl/arm64/bitmask.wgsl", "replicate"),
            ("shaders/wgsl/test.wgsl", "idle"),
        ];
        assert_eq!(found.len(), expected.len(), "{violations:?}");
        for ((violation, (path, name)), (found, _)) in violations.iter().zip(expected).zip(&found) {
            assert_eq!(*found, path, "of {name}");
            assert!(violation.message.contains(&format!("`{name}`")), "{violation} is about {name}");
        }
        assert_eq!(found[3].1, 5, "the line of the function");
        assert_eq!(
            usage(&text.replace("used(COLUMN)", "used(COLUMN); idle()")).unreached_declarations().len(),
            3,
            "it is called"
        );
    }

    #[test]
    fn a_module_of_no_kernel_is_found() {
        let usage = usage("fn used(a: u32) {}\nconst COLUMN = 1u;\n");
        let paths: Vec<String> = unlinked_modules(&[("test.wgsl", ""), ("idle.wgsl", "")], &usage)
            .into_iter()
            .map(|violation| violation.path)
            .collect();
        assert_eq!(paths, ["shaders/wgsl/idle.wgsl"], "the other one is linked");
    }

    #[test]
    fn a_fragment_that_nobody_inserts_is_found() {
        let declaring = ("a.wgsl", "fragment b {\n}\n\nfragment c {\n}\n");
        let inserting = ("d.wgsl", "fn d() {\n    insert b; // c\n}\n");
        let found = uninserted_fragments(&[declaring, inserting]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].path.as_str(), found[0].line), ("shaders/wgsl/a.wgsl", 4), "of `c`");
    }

    #[test]
    fn a_constant_that_nobody_uses_is_found() {
        let usage = usage(&format!("fn used(a: u32) {{}}\nconst COLUMN = 1u;\nconst IDLE = 2u;\n{KERNEL}"));
        let files = [
            File::new("layout.rs", "constants! {\n    COLUMN = 1;\n    IDLE = 2;\n    HOST = 3;\n}\n"),
            File::new("crates/gpu/src/a.rs", "let a = HOST;\n"),
            File::new("a.md", "IDLE\n"),
        ];
        let found = unused_constants("layout.rs", ["COLUMN", "IDLE", "HOST"].into_iter(), &usage, &files);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].path.as_str(), found[0].line), ("layout.rs", 3), "of `IDLE`");
    }
}
