//! The Rust definitions of structs in buffers.

use std::fmt::Write as _;

use super::reflect::{Shaders, Struct};
use super::words::documentation;

/// The length of the longest array for which Rust implements `Default`.
const DEFAULT_MAX: u32 = 32;

pub(super) fn text(shaders: &Shaders, folder: &str) -> String {
    shaders.structs.iter().filter(|of| of.folder == folder).map(definition).collect()
}

fn definition(of: &Struct) -> String {
    let Struct { name, bytes, members, doc, .. } = of;
    let is_long = |ty: &str| {
        let length = ty.rsplit_once("; ").and_then(|(_, length)| length.trim_end_matches(']').parse().ok());
        length.is_some_and(|length: u32| length > DEFAULT_MAX)
    };
    let default = if members.iter().any(|member| is_long(&member.ty)) { "" } else { "Default, " };
    let mut text = documentation("", doc);
    let _ = write!(
        text,
        "#[derive(Clone, Copy, Debug, {default}PartialEq, Pod, Zeroable)]\n#[repr(C)]\npub struct {name} {{\n"
    );
    for member in members {
        text += &documentation("    ", &member.doc);
        let _ = writeln!(text, "    pub {}: {},", member.name, member.ty);
    }
    text += "}\n\n";
    let _ = writeln!(
        text,
        "const _: () = assert!(size_of::<{name}>() == {bytes}, \"the struct has the size that it has in WGSL\");"
    );
    for member in members {
        let _ = writeln!(
            text,
            "const _: () = assert!(offset_of!({name}, {}) == {}, \"the member is where it is in WGSL\");",
            member.name, member.offset
        );
    }
    text.push('\n');
    text
}
