//! The rule that every guest program has its compiled form in the repository, so that tests need no compiler.

use std::path::Path;

use anyhow::Result;

use super::violation::Violation;
use crate::guests;

pub(super) fn check(root: &Path) -> Result<Vec<Violation>> {
    Ok(missing(&guests::files()?, |path| root.join(path).is_file()))
}

fn missing(paths: &[String], exists: impl Fn(&str) -> bool) -> Vec<Violation> {
    let absent = paths.iter().filter(|path| !exists(path));
    absent.map(|path| Violation::new(path, 1, "missing; run `cargo xtask guests`")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_that_is_not_compiled_is_found() {
        let paths = ["guests/bin/life.elf".to_owned(), "guests/bin/lz.elf".to_owned()];
        let paths: Vec<String> = missing(&paths, |path| path == "guests/bin/lz.elf")
            .into_iter()
            .map(|violation| violation.path)
            .collect();
        assert_eq!(paths, ["guests/bin/life.elf"], "only one exists");
    }
}
