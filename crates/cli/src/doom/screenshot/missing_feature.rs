//! Screenshots in a build without the Cargo feature `screenshots`, where every request for one is an error of
//! the command line.

use anyhow::Result;

use crate::doom::frame::Frame;

/// A type without values, because there are no screenshots.
#[derive(Clone, Debug)]
pub(in crate::doom) enum Screenshot {}

pub(in crate::doom) fn screenshot(_: &str) -> Result<Screenshot, String> {
    Err("this kvrm was built without the Cargo feature `screenshots`; `cargo kvrm-full doom` runs one with \
         all features"
        .to_owned())
}

impl Screenshot {
    pub(in crate::doom) fn write(&self, _: &Frame, _: usize) -> Result<()> {
        match *self {}
    }
}
