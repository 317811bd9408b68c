//! Other names for tensors: what another program calls them, and what we call them.

use std::collections::{BTreeMap, BTreeSet};

use kvrm_models::{Error, TensorFile};

/// Old names and new ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NameMap {
    map: BTreeMap<String, String>,
}

impl NameMap {
    /// Adds `OLD=NEW`; `origin` is for messages.
    ///
    /// # Errors
    ///
    /// If it is no such pair, or the old name has a new one already.
    pub fn add(&mut self, origin: &str, pair: &str) -> Result<(), Error> {
        let names = pair.split_once('=').map(|(old, new)| (old.trim(), new.trim()));
        let Some((old, new)) = names.filter(|(old, new)| !old.is_empty() && !new.is_empty()) else {
            return Err(Error::file(origin, "OLD=NEW", format!("`{pair}`")));
        };
        match self.map.insert(old.to_owned(), new.to_owned()) {
            None => Ok(()),
            Some(other) => {
                Err(Error::tensor(origin, old, "one new name", format!("two: `{other}` and `{new}`")))
            }
        }
    }

    /// Adds the lines of a file, `OLD=NEW` each; those that are empty or begin with `#` do not count.
    ///
    /// # Errors
    ///
    /// As [`NameMap::add`].
    pub fn add_lines(&mut self, file: &str, text: &str) -> Result<(), Error> {
        for line in text.lines().map(str::trim) {
            if !line.is_empty() && !line.starts_with('#') {
                self.add(file, line)?;
            }
        }
        Ok(())
    }

    /// Renames the tensors of `content`; `file` is for messages.
    ///
    /// # Errors
    ///
    /// If there is no tensor of an old name, or two tensors would have the same name.
    pub fn apply(&self, file: &str, content: &mut TensorFile) -> Result<(), Error> {
        for old in self.map.keys() {
            if !content.tensors.iter().any(|tensor| tensor.name == *old) {
                let names: Vec<_> =
                    content.tensors.iter().take(64).map(|tensor| tensor.name.as_str()).collect();
                return Err(Error::tensor(file, old, "one to rename", format!("only {}", names.join(", "))));
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
