//! Pictures in a build without the Cargo feature `plots`, where every request for a plot is an error of the command line.

use anyhow::Result;

use super::Figure;

/// A type without values, because there are no pictures.
#[derive(Clone, Debug)]
pub(crate) enum Picture {}

pub(crate) fn picture(_: &str) -> Result<Picture, String> {
    Err("this kvrm was built without the Cargo feature `plots`; `cargo kvrm-full` builds one with all features"
        .to_owned())
}

impl Figure<'_> {
    pub(crate) fn write(&self, picture: &Picture) -> Result<()> {
        match *picture {}
    }
}
