//! The rule that `unsafe` stays in a few small modules. The lint is `deny` and not `forbid`, so that these can allow it.

use super::files::File;
use super::violation::Violation;

/// The modules with `unsafe`. docs/architecture.md names them.
const ALLOWED: [&str; 2] = ["crates/gpu/src/device/unbounded.rs", "crates/jit/src/native.rs"];

/// The name of the lint, in parts, so that this file does not break its own rule.
const LINT: &str = concat!("unsafe", "_code");

pub(super) fn check(file: &File) -> Vec<Violation> {
    if !file.path.ends_with(".rs") || ALLOWED.contains(&file.path.as_str()) {
        return Vec::new();
    }
    let lines = file.text.lines().enumerate().filter(|(_, line)| line.contains(LINT));
    let message = format!("this module allows `unsafe`; only {} may", ALLOWED.join(" and "));
    lines.map(|(index, _)| Violation::new(&file.path, index + 1, &*message)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_listed_modules_may_allow_unsafe() {
        let text = format!("//! A module.\n#![allow({LINT}, reason = \"speed\")]\n");
        let lines = |path| check(&File::new(path, &text)).iter().map(|found| found.line).collect::<Vec<_>>();
        assert_eq!(lines("crates/gpu/src/machine.rs"), [2], "it is not listed");
        assert_eq!(lines(ALLOWED[0]), [0; 0], "it is listed");
        assert_eq!(lines("Cargo.toml"), [0; 0], "manifests set the lint");
    }
}
