//! Every leaf function names the Rust function it is the twin of, and that function exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::{Checked, all};

/// Returns the path in ``Twin: `path`.`` or, for a helper, in ``Twin: a part of `path`.``
fn twin(documentation: &[String]) -> Option<&str> {
    let named = documentation.iter().find_map(|line| {
        let line = line.trim_start_matches('/').trim().strip_prefix("Twin: ")?;
        Some(line.strip_prefix("a part of ").unwrap_or(line))
    })?;
    named.strip_prefix('`')?.strip_suffix("`.")
}

/// The prefixes of the paths of modules whose functions are leaves: they take values and return values.
const LEAVES: &[&str] =
    &["arm64/", "networks/elementary.wgsl", "spiking/fixed.wgsl", "spiking/random.wgsl", "wide.wgsl"];

/// Whether the package that a path begins with declares the item of the path. Methods of integers are known to exist.
fn exists(twin: &str) -> bool {
    let path: Vec<&str> = twin.split("::").collect();
    let [package, modules @ .., item] = path.as_slice() else { return false };
    if ["i64", "u32", "u64"].contains(package) {
        return modules.is_empty();
    }
    // `Word` in `word::Word::bits` is a type.
    let modules: Vec<&str> =
        modules.iter().copied().filter(|name| name.starts_with(|c: char| c.is_lowercase())).collect();
    let Some(folder) = package.strip_prefix("kvrm_") else { return false };
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates").join(folder).join("src");
    let Ok(text) = fs::read_to_string(sources.join(format!("{}.rs", modules.join("/")))) else {
        return false;
    };
    let declares = |start: &str, end: &str| text.contains(&format!("{start}{item}{end}"));
    declares("fn ", "(") || declares("fn ", "<") || declares("struct ", " {")
}

/// Returns the leaves without an existing twin, as `path:line: message`.
fn violations(checked: &Checked) -> Vec<String> {
    let documentation = checked.module.doc_comments.as_deref();
    let functions = checked.module.functions.iter().map(|(handle, function)| {
        let span = checked.module.functions.get_span(handle);
        (span, function.name.as_deref(), documentation.and_then(|all| all.functions.get(&handle)))
    });
    let structs = checked.module.types.iter().filter_map(|(handle, ty)| {
        let span = checked.module.types.get_span(handle);
        let is_struct = matches!(ty.inner, naga::TypeInner::Struct { .. });
        is_struct.then(|| (span, ty.name.as_deref(), documentation.and_then(|all| all.types.get(&handle))))
    });
    let mut violations = Vec::new();
    for (span, name, lines) in functions.chain(structs) {
        let ((path, line), name) = (checked.place(span), name.unwrap_or_default());
        match lines.and_then(|lines| twin(lines)) {
            None => violations.push(format!("{path}:{line}: `{name}` has no line ``Twin: `path`.``")),
            Some(twin) if !exists(twin) => {
                violations
                    .push(format!("{path}:{line}: `{name}` is the twin of `{twin}`, which does not exist"));
            }
            Some(_) => {}
        }
    }
    violations
}

#[test]
fn every_leaf_has_a_twin() {
    // A set, because a module is also part of those that import it.
    let modules = all().filter(|(path, _)| LEAVES.iter().any(|leaf| path.starts_with(leaf)));
    let violations: BTreeSet<String> = modules.flat_map(|(_, checked)| violations(&checked)).collect();
    assert_eq!(violations, BTreeSet::new(), "all leaves have twins");
}

#[test]
fn a_function_without_a_twin_is_found() {
    let checked = Checked::of_text("/// A.\nfn a() -> u32 { return 1u; }\n");
    assert_eq!(violations(&checked), ["test.wgsl:2: `a` has no line ``Twin: `path`.``"], "of line 2");
}

#[test]
fn a_twin_that_does_not_exist_is_found() {
    for twin in ["kvrm_arm64::semantics::flags::a", "kvrm_arm64::a::b", "other::semantics::flags::nz", "nz"] {
        let checked =
            Checked::of_text(&format!("/// A.\n///\n/// Twin: `{twin}`.\nfn a() -> u32 {{ return 1u; }}\n"));
        assert_eq!(violations(&checked).len(), 1, "there is no {twin}");
    }
}

#[test]
fn functions_methods_and_structs_are_twins() {
    let twins = ["kvrm_arm64::semantics::flags::nz", "kvrm_arm64::word::Word::bits", "u64::swap_bytes"];
    for twin in twins {
        assert!(exists(twin), "{twin} exists");
    }
    assert!(exists("kvrm_arm64::semantics::bitmask::BitMasks"), "a struct");
    assert!(exists("kvrm_spiking::fixed::leak"), "a function of another package");
}
