//! `shaders/src/interface/`: what host and shaders share, read off the modules by naga.
//!
//! A struct that buffers hold becomes a struct in Rust, the buffers of a bind group a struct with a field each, and a
//! module with entry points a struct with its variants, entry points, overrides and bind groups. So what the host fills
//! does not compile if it is not what the shader declares.

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

/// The folders of modules, each of which becomes a file.
const ROOMS: [&str; 3] = ["machine", "networks", "spiking"];

/// `shaders/src/interface/machine.rs`.
pub(super) fn machine() -> Result<String> {
    room(ROOMS[0])
}

/// `shaders/src/interface/networks.rs`.
pub(super) fn networks() -> Result<String> {
    room(ROOMS[1])
}

/// `shaders/src/interface/spiking.rs`.
pub(super) fn spiking() -> Result<String> {
    room(ROOMS[2])
}

/// `shaders/src/modules.rs`.
pub(super) fn modules() -> Result<String> {
    modules::text()
}

fn room(room: &str) -> Result<String> {
    let shaders = Shaders::read()?;
    let mut text =
        format!("//! What the host shares with the modules of `{room}`. {BANNER}; do not edit.\n\n");
    let kernels = kernels::text(shaders, room);
    let groups = groups::text(shaders, room);
    text += &kernels::imports(shaders, room);
    for part in [structs::text(shaders, room), groups, kernels] {
        text += &part;
    }
    Ok(text.trim_end().to_owned() + "\n")
}
