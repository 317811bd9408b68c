//! `shaders/src/interface/`: the Rust side of the interface between host and shaders, generated from the WGSL modules
//! with naga.
//!
//! A struct in a buffer becomes a Rust struct. The buffers of a bind group become a struct with a field for each. A
//! module with entry points becomes a struct with its variants, entry points, overrides and bind groups. So host code
//! does not compile if it does not match the declarations of the shader.

mod groups;
mod kernels;
mod modules;
mod reflect;
mod structs;
mod words;

use anyhow::Result;

use super::banner::BANNER;
use reflect::Shaders;

pub(super) use reflect::module_texts;

/// The folders of modules. Each becomes a file.
const FOLDERS: [&str; 3] = ["machine", "networks", "spiking"];

/// Returns `shaders/src/interface/machine.rs`.
pub(super) fn machine() -> Result<String> {
    folder(FOLDERS[0])
}

/// Returns `shaders/src/interface/networks.rs`.
pub(super) fn networks() -> Result<String> {
    folder(FOLDERS[1])
}

/// Returns `shaders/src/interface/spiking.rs`.
pub(super) fn spiking() -> Result<String> {
    folder(FOLDERS[2])
}

/// Returns `shaders/src/modules.rs`.
pub(super) fn modules() -> Result<String> {
    modules::text()
}

fn folder(folder: &str) -> Result<String> {
    let shaders = Shaders::read()?;
    let mut text = format!(
        "//! The interface between the host and the modules of `{folder}`. {BANNER}; do not edit.\n\n"
    );
    let kernels = kernels::text(shaders, folder);
    let groups = groups::text(shaders, folder);
    text += &kernels::imports(shaders, folder);
    for part in [structs::text(shaders, folder), groups, kernels] {
        text += &part;
    }
    Ok(text.trim_end().to_owned() + "\n")
}
