//! The Rust structs of bind groups, with a field for each buffer.

use std::fmt::Write as _;

use super::reflect::{Buffer, Group, Shaders};
use super::words::{camel, documentation};

pub(super) fn text(shaders: &Shaders, folder: &str) -> String {
    shaders.groups.iter().filter(|group| group.folder == folder).map(definition).collect()
}

/// Returns the name of a group's Rust type.
pub(super) fn type_name(group: &str) -> String {
    format!("{}Group", camel(group))
}

fn binding(buffer: &Buffer) -> String {
    let Buffer { binding, name, access, min_bytes, .. } = buffer;
    format!(
        "Binding {{ binding: {binding}, name: {name:?}, access: Access::{access:?}, min_bytes: {min_bytes} }}"
    )
}

fn definition(group: &Group) -> String {
    let Group { name, number, buffers, numbered, .. } = group;
    let ty = type_name(name);
    let mut text = format!("/// The buffers of group {number} of kernels that have `{name}`.\n");
    let _ = write!(text, "#[derive(Clone, Debug)]\npub struct {ty}<B> {{\n");
    for buffer in buffers {
        let _ = writeln!(text, "{}    pub {}: B,", documentation("    ", &buffer.doc), buffer.name);
    }
    if let Some(buffer) = numbered {
        let _ = writeln!(text, "{}    pub {}: Vec<B>,", documentation("    ", &buffer.doc), buffer.name);
    }
    let strides: Vec<&Buffer> = buffers.iter().chain(numbered).filter(|buffer| buffer.is_array).collect();
    text += "}\n\n";
    if !strides.is_empty() {
        let _ = writeln!(text, "impl {ty}<()> {{");
        for Buffer { name, min_bytes, .. } in strides {
            let _ = writeln!(
                text,
                "    /// Bytes of an element of `{name}`.\n    pub const {}_STRIDE: u64 = {min_bytes};",
                name.to_uppercase()
            );
        }
        text += "}\n\n";
    }
    let _ = write!(
        text,
        "impl<B> {ty}<B> {{\n    /// Returns references to the buffers.\n    pub fn as_ref(&self) -> {ty}<&B> {{\n        {ty} {{\n"
    );
    for buffer in buffers {
        let _ = writeln!(text, "            {0}: &self.{0},", buffer.name);
    }
    if let Some(buffer) = numbered {
        let _ = writeln!(text, "            {0}: self.{0}.iter().collect(),", buffer.name);
    }
    text += "        }\n    }\n}\n\n";
    let _ = write!(
        text,
        "impl<B> Group for {ty}<B> {{\n    type Buffer = B;\n    const GROUP: u32 = {number};\n"
    );
    let _ = write!(
        text,
        "    const LABEL: &'static str = {name:?};\n    const BINDINGS: &'static [Binding] = &[\n"
    );
    for buffer in buffers {
        let _ = writeln!(text, "        {},", binding(buffer));
    }
    let numbered_binding =
        numbered.as_ref().map_or_else(|| "None".to_owned(), |first| format!("Some({})", binding(first)));
    let _ = write!(
        text,
        "    ];\n    const NUMBERED: Option<Binding> = {numbered_binding};\n\n    fn buffers(self) -> Vec<B> {{\n"
    );
    let fields: Vec<String> = buffers.iter().map(|buffer| format!("self.{}", buffer.name)).collect();
    match numbered {
        None => {
            let _ = writeln!(text, "        vec![{}]", fields.join(", "));
        }
        Some(buffer) => {
            let _ = writeln!(text, "        let mut buffers = vec![{}];", fields.join(", "));
            let _ = writeln!(text, "        buffers.extend(self.{});\n        buffers", buffer.name);
        }
    }
    text += "    }\n}\n\n";
    text
}
