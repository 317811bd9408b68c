//! Renaming of tensors, from another program's names to KVRM's.

use std::collections::{BTreeMap, BTreeSet};

use kvrm_models::{Error, TensorFile};

/// A map from old names of tensors to new ones.
///
/// ```
/// use kvrm_convert::NameMap;
///
/// let mut names = NameMap::default();
/// names.add("--rename", "linear1.weight=fc1.weight")?;
/// assert!(names.add("--rename", "linear1.weight=fc2.weight").is_err());
/// # Ok::<(), kvrm_models::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NameMap {
    map: BTreeMap<String, String>,
}

impl NameMap {
    /// Adds a pair `OLD=NEW`. `origin` is the name used in messages.
    ///
    /// # Errors
    ///
    /// If `pair` does not have this form, or the old name already has a new name.
    pub fn add(&mut self, origin: &str, pair: &str) -> Result<(), Error> {
        let names = pair.split_once('=').map(|(old, new)| (old.trim(), new.trim()));
        let Some((old, new)) = names.filter(|(old, new)| !old.is_empty() && !new.is_empty()) else {
            return Err(Error::file(origin, "OLD=NEW", format!("`{pair}`")));
        };
        self.insert(origin, old, new)
    }

    /// Adds a new name for an old one. `origin` is the name used in messages.
    ///
    /// # Errors
    ///
    /// If the old name already has a new name.
    pub fn insert(&mut self, origin: &str, old: &str, new: &str) -> Result<(), Error> {
        match self.map.insert(old.to_owned(), new.to_owned()) {
            None => Ok(()),
            Some(other) => {
                Err(Error::tensor(origin, old, "one new name", format!("two: `{other}` and `{new}`")))
            }
        }
    }

    /// Adds the pairs of a file with one `OLD=NEW` per line. Empty lines and lines that begin with `#` are skipped.
    ///
    /// # Errors
    ///
    /// As for [`NameMap::add`].
    pub fn add_lines(&mut self, file: &str, text: &str) -> Result<(), Error> {
        for line in text.lines().map(str::trim) {
            if !line.is_empty() && !line.starts_with('#') {
                self.add(file, line)?;
            }
        }
        Ok(())
    }

    /// Renames the tensors of `content`. `file` is the name used in messages.
    ///
    /// # Errors
    ///
    /// If no tensor has an old name of the map, or two tensors would have the same name.
    pub fn apply(&self, file: &str, content: &mut TensorFile) -> Result<(), Error> {
        for old in self.map.keys() {
            if !content.tensors.iter().any(|tensor| tensor.name == *old) {
                let names: Vec<_> =
                    content.tensors.iter().take(64).map(|tensor| tensor.name.as_str()).collect();
                return Err(Error::tensor(
                    file,
                    old,
                    "a tensor to rename",
                    format!("only {}", names.join(", ")),
                ));
            }
        }
        let mut taken = BTreeSet::new();
        for tensor in &mut content.tensors {
            if let Some(new) = self.map.get(&tensor.name) {
                tensor.name.clone_from(new);
            }
            if !taken.insert(tensor.name.clone()) {
                return Err(Error::tensor(
                    file,
                    &tensor.name,
                    "one tensor of this name",
                    "two after renaming",
                ));
            }
        }
        Ok(())
    }
}
