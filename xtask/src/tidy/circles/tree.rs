//! The module tree of a crate, read from its files.

use std::collections::BTreeMap;

use super::super::files::File;
use super::super::violation::Violation;
use super::syntax::{self, Source};

/// All modules of a crate. The first is the root.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) modules: Vec<Module>,
    /// The paths of the files.
    pub(super) files: Vec<String>,
}

/// A module: a file, or an inline module in a file.
#[derive(Debug)]
pub(super) struct Module {
    /// The index of its file.
    pub(super) file: usize,
    pub(super) parent: Option<usize>,
    pub(super) children: BTreeMap<String, usize>,
    pub(super) source: Source,
}

/// The position of a module in the tree.
#[derive(Clone, Copy)]
struct Place<'a> {
    parent: Option<usize>,
    /// The folder with the files of its children.
    folder: &'a str,
}

impl Tree {
    /// Reads the modules that are reachable from the file `root`.
    pub(super) fn read(root: &str, files: &[File]) -> Result<Self, Violation> {
        let (folder, _) = root.rsplit_once('/').unwrap_or_default();
        let mut tree = Self::default();
        tree.add_file(root, Place { parent: None, folder }, files)?;
        Ok(tree)
    }

    /// Returns a module and its ancestors.
    pub(super) fn above(&self, module: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(module), |&index| self.modules[index].parent)
    }

    /// Adds the module of a file and its descendants. The compiler reports missing files.
    fn add_file(&mut self, path: &str, place: Place<'_>, files: &[File]) -> Result<Option<usize>, Violation> {
        let Some(file) = files.iter().find(|file| file.path == path) else { return Ok(None) };
        let source = syntax::read(&file.text).map_err(|error| {
            Violation::new(path, error.span().start().line, format!("does not parse: {error}"))
        })?;
        self.files.push(path.to_owned());
        self.add(source, self.files.len() - 1, place, files).map(Some)
    }

    fn add(
        &mut self,
        mut source: Source,
        file: usize,
        place: Place<'_>,
        files: &[File],
    ) -> Result<usize, Violation> {
        let children = std::mem::take(&mut source.children);
        let index = self.modules.len();
        self.modules.push(Module { file, parent: place.parent, children: BTreeMap::new(), source });
        for (name, child) in children {
            let folder = format!("{}/{name}", place.folder);
            let place = Place { parent: Some(index), folder: &folder };
            let child = match child {
                Some(source) => Some(self.add(source, file, place, files)?),
                None => self.add_file(&format!("{folder}.rs"), place, files)?,
            };
            self.modules[index].children.extend(child.map(|child| (name, child)));
        }
        Ok(index)
    }
}
