//! The rule about layers: a package depends only on packages below it.

use super::packages::Package;
use super::violation::{Violation, line_where};

/// The packages of the workspace that each package may depend on, lowest layer first. `docs/architecture.md` has the
/// same table.
#[rustfmt::skip] // Keeps a package on a line.
const LAYERS: &[(&str, &[&str])] = &[
    ("kvrm-arm64",   &[]),
    ("kvrm-weights", &[]),
    ("kvrm-guests", &[]),
    ("kvrm-models",  &["kvrm-arm64", "kvrm-weights"]),
    ("kvrm-convert", &["kvrm-models"]),
    ("kvrm-spiking", &[]),
    ("kvrm-spiking-formats", &["kvrm-convert", "kvrm-models", "kvrm-spiking"]),
    ("kvrm-shaders", &[]),
    ("kvrm-records", &[]),
    ("kvrm-loops",   &["kvrm-arm64"]),
    ("kvrm-prefetch", &["kvrm-models"]),
    ("kvrm-learn",   &["kvrm-models", "kvrm-prefetch"]),
    ("kvrm-machine", &["kvrm-arm64", "kvrm-loops"]),
    ("kvrm-environments", &["kvrm-machine"]),
    ("kvrm-jit",     &["kvrm-arm64", "kvrm-machine"]),
    ("kvrm-translate", &["kvrm-arm64"]),
    ("kvrm-gpu",     &["kvrm-arm64", "kvrm-machine", "kvrm-jit", "kvrm-learn", "kvrm-models", "kvrm-prefetch", "kvrm-spiking", "kvrm-shaders", "kvrm-translate", "kvrm-loops"]),
    ("kvrm-train",   &["kvrm-arm64", "kvrm-learn", "kvrm-loops", "kvrm-machine", "kvrm-models", "kvrm-prefetch", "kvrm-spiking"]),
    ("kvrm",         &["kvrm-arm64", "kvrm-environments", "kvrm-learn", "kvrm-machine", "kvrm-models", "kvrm-prefetch", "kvrm-spiking", "kvrm-spiking-formats", "kvrm-translate", "kvrm-gpu"]),
    ("kvrm-cli",     &["kvrm", "kvrm-guests", "kvrm-records"]),
    ("kvrm-python",  &["kvrm", "kvrm-convert"]),
    ("kvrm-testkit", &["kvrm-arm64", "kvrm-machine", "kvrm-spiking", "kvrm-translate"]),
    ("kvrm-gpu-tools", &["kvrm-arm64", "kvrm-shaders", "kvrm-machine", "kvrm-spiking", "kvrm-environments", "kvrm-records", "kvrm-guests", "kvrm-gpu", "kvrm-prefetch", "kvrm-testkit"]),
];

/// The package that is not part of the product and may use all of it.
const UNRESTRICTED: &str = "xtask";

/// Packages that tests, benchmarks and examples of every package may use.
const TEST_ONLY: [&str; 3] = ["kvrm-testkit", "kvrm-records", "kvrm-guests"];

/// The package that has no dependencies at all, inside or outside of the workspace.
const REFERENCE: &str = "kvrm-arm64";

pub(super) fn check(package: &Package) -> Vec<Violation> {
    if package.name == UNRESTRICTED {
        return Vec::new();
    }
    let mut violations = Vec::new();
    let mut report = |key: &str, message: String| {
        let declares =
            |line: &str| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(['.', ' ', '=']));
        let line = line_where(&package.manifest.text, declares);
        violations.push(Violation::new(&package.manifest.path, line, message));
    };
    let Some((name, allowed)) = LAYERS.iter().find(|(name, _)| *name == package.name) else {
        report(
            "name",
            format!("package `{}` has no layer; add it to LAYERS of `cargo xtask tidy`", package.name),
        );
        return violations;
    };
    for dependency in &package.dependencies {
        let other = dependency.name.as_str();
        if *name == REFERENCE && !dependency.is_dev {
            report(other, format!("{name} must not have dependencies; remove {other}"));
        } else if dependency.is_workspace_package
            && !allowed.contains(&other)
            && !(dependency.is_dev && TEST_ONLY.contains(&other))
        {
            let allowed = if allowed.is_empty() {
                "no packages of the workspace".to_owned()
            } else {
                allowed.join(", ")
            };
            report(other, format!("{name} may not depend on {other}; its layer allows {allowed}"));
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::packages::Dependency;

    fn violations(name: &str, dependency: &str, is_dev: bool) -> Vec<Violation> {
        let text = format!("[package]\nname = \"{name}\"\n[dependencies]\n{dependency}.workspace = true\n");
        let is_workspace_package = dependency.starts_with("kvrm");
        check(&Package {
            name: name.to_owned(),
            dependencies: vec![Dependency { name: dependency.to_owned(), is_dev, is_workspace_package }],
            ..Package::of_manifest("Cargo.toml", &text)
        })
    }

    #[test]
    fn edges_that_point_down_pass() {
        for (name, dependency) in [("kvrm", "kvrm-machine"), ("kvrm-cli", "kvrm"), ("xtask", "kvrm-gpu")] {
            assert_eq!(violations(name, dependency, false), [], "{name} uses {dependency}");
        }
        assert_eq!(violations("kvrm-machine", "anyhow", false), [], "third-party crates have no layer");
    }

    #[test]
    fn edges_that_point_up_are_found_where_they_are_declared() {
        for (name, dependency) in [("kvrm-machine", "kvrm"), ("kvrm-cli", "kvrm-arm64"), ("kvrm", "kvrm-cli")]
        {
            let lines: Vec<usize> = violations(name, dependency, false).iter().map(|v| v.line).collect();
            assert_eq!(lines, [4], "{name} uses {dependency}");
        }
    }

    #[test]
    fn some_packages_are_for_tests_and_examples_of_all() {
        for package in TEST_ONLY {
            assert_eq!(violations("kvrm-machine", package, true), [], "tests may use {package}");
            assert_eq!(violations("kvrm-machine", package, false).len(), 1, "the product may not");
        }
    }

    #[test]
    fn the_reference_links_nothing() {
        assert_eq!(violations("kvrm-arm64", "libm", false).len(), 1, "not even third-party crates");
        assert_eq!(violations("kvrm-arm64", "proptest", true), [], "its tests may");
    }

    #[test]
    fn a_package_without_a_layer_is_found() {
        assert_eq!(violations("kvrm-new", "anyhow", false).len(), 1, "the table does not know it");
    }

    #[test]
    fn the_table_itself_points_down() {
        for (index, (name, allowed)) in LAYERS.iter().enumerate() {
            let below = &LAYERS[..index];
            for other in *allowed {
                assert!(below.iter().any(|(lower, _)| lower == other), "{name} stands below {other}");
            }
        }
    }
}
