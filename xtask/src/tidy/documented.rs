//! The rule that the documentation of each library and of its main types shows an example.

use super::files::File;
use super::packages::Package;
use super::violation::Violation;

/// The main types of each package: those that a user meets first.
#[rustfmt::skip] // Keeps a package on a line where it fits.
const MAIN_TYPES: &[(&str, &[&str])] = &[
    ("kvrm-arm64",   &["Assembler", "Cpu", "Disassembly", "Encoding", "Memory", "MicroOp", "Stop", "Word"]),
    ("kvrm-convert", &["Archive", "Array", "NameMap"]),
    ("kvrm-gpu",     &["AdapterInfo", "BurstExecutor", "BurstKernels", "ClassSelection", "Device", "Engine", "EngineChoice",
                       "GpuEngine", "Options"]),
    ("kvrm-jit",     &["JitEngine"]),
    ("kvrm-loops",   &["Loop"]),
    ("kvrm-machine", &["Builder", "Image", "LaneResult", "Machine", "Permissions", "Program", "ProgramBuilder", "Report",
                       "Vector"]),
    ("kvrm-models",  &["Architecture", "Certificate", "DispatchNetwork", "IterationPredictor", "LoopDetector", "Manifest",
                       "MemoryOracle", "Models", "PatternRecogniser", "SmallDispatchNetwork", "TensorFile", "Tuple",
                       "Weights"]),
    ("kvrm-prefetch", &["AccessStream", "BestOffset", "Candidates", "Markov", "Policy", "Prefetcher", "Stride",
                        "StreamBuilder"]),
    ("kvrm-records", &["Commit", "Figure", "Log", "Record", "RecordArgs"]),
    ("kvrm-shaders", &["Linked"]),
    ("kvrm-spiking", &["Builder", "ConnectionRule", "Executor", "Input", "Model", "Network", "Parallel", "Projection",
                       "Recorder", "Reference", "Simulation", "State", "Statistics"]),
    ("kvrm-translate", &["Region"]),
];

pub(super) fn check(package: &Package, files: &[File]) -> Vec<Violation> {
    let main_types =
        MAIN_TYPES.iter().find(|(name, _)| *name == package.name).map_or(&[][..], |(_, types)| types);
    check_types(package, files, main_types)
}

fn check_types(package: &Package, files: &[File], main_types: &[&str]) -> Vec<Violation> {
    let sources = package.sources(files);
    let mut violations = Vec::new();
    let root = sources.iter().find(|file| file.path == format!("{}src/lib.rs", package.folder()));
    if let Some(root) = root.filter(|_| package.is_published())
        && !root.text.lines().any(|line| line.starts_with("//! ```"))
    {
        violations.push(Violation::new(&root.path, 1, "the documentation of the crate has no example"));
    }
    for name in main_types {
        match sources.iter().find_map(|file| declaration(&file.text, name).map(|found| (file, found))) {
            None => {
                let message = format!("`{name}` is not declared; correct MAIN_TYPES of `cargo xtask tidy`");
                violations.push(Violation::new(&package.manifest.path, 1, message));
            }
            Some((file, Declaration { line, has_example: false })) => {
                let message = format!("the documentation of `{name}` has no example");
                violations.push(Violation::new(&file.path, line, message));
            }
            Some(_) => {}
        }
    }
    violations
}

/// The declaration of a public type.
struct Declaration {
    line: usize,
    /// Whether the comment above it has a block of code.
    has_example: bool,
}

/// Finds the declaration of the public type `name`, if `text` has it at the left margin.
fn declaration(text: &str, name: &str) -> Option<Declaration> {
    let lines: Vec<&str> = text.lines().collect();
    let index = lines.iter().position(|line| declares(line, name))?;
    let above = lines[..index].iter().rev().take_while(|line| !line.is_empty() && **line != "}");
    let has_example = above.clone().any(|line| line.starts_with("/// ```"));
    Some(Declaration { line: index + 1, has_example })
}

/// Returns whether a line begins the declaration of the public type `name`.
fn declares(line: &str, name: &str) -> bool {
    let Some(item) = line.strip_prefix("pub ") else { return false };
    let rest = ["struct ", "enum ", "trait ", "type "].iter().find_map(|kind| item.strip_prefix(kind));
    let after = rest.and_then(|rest| rest.strip_prefix(name));
    after.is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(manifest: &str, source: &str, main_types: &[&str]) -> Vec<String> {
        let package = Package::of_manifest("crates/a/Cargo.toml", manifest);
        let files = [
            File::new("crates/a/src/lib.rs", source),
            File::new("crates/b/src/lib.rs", "pub struct Other;\n"),
        ];
        check_types(&package, &files, main_types).iter().map(ToString::to_string).collect()
    }

    const ROOT: &str = "//! A.\n//!\n//! ```\n//! ```\n\n";

    #[test]
    fn documentation_with_examples_passes() {
        let source = format!(
            "{ROOT}/// A type.\n///\n/// ```\n/// let a = A;\n/// ```\n#[derive(Debug)]\npub struct A;\n"
        );
        assert_eq!(messages("", &source, &["A"]), [""; 0], "both have examples");
    }

    #[test]
    fn a_crate_without_an_example_is_found() {
        let found = messages("", "//! A.\n", &[]);
        assert_eq!(
            found,
            ["crates/a/src/lib.rs:1: the documentation of the crate has no example"],
            "no block"
        );
        assert_eq!(messages("[package]\npublish = false\n", "//! A.\n", &[]), [""; 0], "nobody reads it");
    }

    #[test]
    fn a_type_without_an_example_is_found() {
        let source = format!("{ROOT}/// ```\n/// ```\npub struct First;\n\n/// A type.\npub enum A {{}}\n");
        let expected = ["crates/a/src/lib.rs:11: the documentation of `A` has no example"];
        assert_eq!(messages("", &source, &["First", "A"]), expected, "the example above is of another type");
    }

    #[test]
    fn a_type_that_does_not_exist_is_found() {
        let source = format!("{ROOT}pub struct Otherwise;\npub(crate) struct Other;\n");
        let expected =
            ["crates/a/Cargo.toml:1: `Other` is not declared; correct MAIN_TYPES of `cargo xtask tidy`"];
        assert_eq!(
            messages("", &source, &["Other"]),
            expected,
            "neither a longer name nor another crate counts"
        );
    }

    #[test]
    fn every_package_of_the_table_exists_once() {
        let names: std::collections::BTreeSet<&str> = MAIN_TYPES.iter().map(|(name, _)| *name).collect();
        assert_eq!(names.len(), MAIN_TYPES.len(), "no package is listed twice");
    }
}
