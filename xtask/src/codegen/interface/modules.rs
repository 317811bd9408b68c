//! `shaders/src/modules.rs`: the list of all WGSL modules.

use anyhow::Result;

use super::super::banner::BANNER;
use super::reflect::module_texts;

pub(super) fn text() -> Result<String> {
    let paths: String = module_texts()?.iter().map(|(path, _)| format!("    {path:?}\n")).collect();
    Ok(format!(
        "//! The text of every module, embedded in the library. {BANNER}; do not edit.

/// Pairs each path with the text of its file.
macro_rules! modules {{ ($($path:literal)*) => {{ &[$(($path, include_str!(concat!(\"../wgsl/\", $path)))),*] }} }}

/// Every file below `wgsl/`: its path there, and its text.
pub const MODULES: &[(&str, &str)] = modules! {{
{paths}}};
"
    ))
}
