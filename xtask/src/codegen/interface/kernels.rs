//! The Rust structs of modules with entry points: their variants, overrides, bind groups and entry points.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use kvrm_shaders::{Family, Workgroup};

use super::reflect::{Root, Shaders};
use super::words::{camel, documentation};

pub(super) fn text(shaders: &Shaders, folder: &str) -> String {
    let roots = || shaders.roots.iter().filter(|root| root.folder() == folder);
    let mut text: String = roots().map(|root| definition(shaders, root)).collect();
    text += "/// The kernels of this folder, as data.\npub const KERNELS: &[KernelInfo] = &[\n";
    for root in roots() {
        let entries: Vec<&str> = root.entries.iter().map(|(name, ..)| name.as_str()).collect();
        let families: Vec<&str> = root.families.iter().map(|family| family.name).collect();
        let _ = writeln!(
            text,
            "    KernelInfo {{ module: {:?}, entries: &{entries:?}, families: &{families:?} }},",
            root.module
        );
    }
    text += "];\n";
    text
}

/// Returns the imports of a folder's file.
pub(super) fn imports(shaders: &Shaders, folder: &str) -> String {
    let roots = || shaders.roots.iter().filter(|root| root.folder() == folder);
    let families: BTreeSet<&str> =
        roots().flat_map(|root| root.families.iter().map(|family| family.name)).collect();
    let mut text = String::new();
    if shaders.structs.iter().any(|of| of.folder == folder) {
        text += "use std::mem::offset_of;\n\nuse bytemuck::{Pod, Zeroable};\n\n";
    }
    text += "use crate::kernel::{Access, Binding, Entry, Group, Groups, KernelInfo, Overrides, Root, Workgroup};\nuse crate::variants::{";
    text += &families.into_iter().chain(["Substitution"]).collect::<Vec<_>>().join(", ");
    text += "};\n\n";
    text
}

/// Returns the field name of a family: its name in snake case.
fn field(family: &Family) -> String {
    let mut name = String::new();
    for (index, letter) in family.name.chars().enumerate() {
        if letter.is_uppercase() && index > 0 {
            name.push('_');
        }
        name.extend(letter.to_lowercase());
    }
    name
}

fn definition(shaders: &Shaders, root: &Root) -> String {
    let name = camel(root.stem());
    let mut text = variants(root, &name);
    text += &entries(root, &name);
    text += &overrides(root, &name);
    text += &groups(shaders, root, &name);
    let overrides = if root.overrides.is_empty() { "()".to_owned() } else { format!("{name}Overrides") };
    let _ = write!(
        text,
        "impl Root for {name} {{
    const MODULE: &'static str = {:?};
    type Overrides = {overrides};
    type Groups<T> = {name}Groups<T>;

    fn substitutions(&self) -> Vec<Substitution> {{
        ",
        root.module
    );
    let substitutions: Vec<String> =
        root.families.iter().map(|family| format!("self.{}.substitutions()", field(family))).collect();
    match &substitutions[..] {
        [] => text += "Vec::new()\n",
        [one] => {
            let _ = writeln!(text, "{one}.to_vec()");
        }
        many => {
            let _ = writeln!(text, "[{}].concat()", many.join(", "));
        }
    }
    text += "    }\n}\n\n";
    text
}

fn variants(root: &Root, name: &str) -> String {
    let mut text = documentation("", &root.doc);
    text += "#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]\n";
    if root.families.is_empty() {
        let _ = write!(text, "pub struct {name};\n\n");
        return text;
    }
    let _ = writeln!(text, "pub struct {name} {{");
    for family in &root.families {
        let _ = write!(
            text,
            "    /// The variant of this family.\n    pub {}: {},\n",
            field(family),
            family.name
        );
    }
    text += "}\n\n";
    text
}

fn entries(root: &Root, name: &str) -> String {
    let mut text = format!("impl {name} {{\n");
    for (entry, workgroup, doc) in &root.entries {
        let workgroup = match workgroup {
            Workgroup::Fixed(size) => format!("Workgroup::Fixed({size})"),
            Workgroup::Override(name) => format!("Workgroup::Override({name:?})"),
        };
        let _ = writeln!(
            text,
            "{}    pub const {}: Entry<Self> = Entry::new({entry:?}, {workgroup});",
            documentation("    ", doc),
            entry.to_uppercase()
        );
    }
    text += "}\n\n";
    text
}

fn overrides(root: &Root, name: &str) -> String {
    if root.overrides.is_empty() {
        return String::new();
    }
    let mut text =
        format!("/// The overrides of [`{name}`].\n#[derive(Clone, Copy, Debug, PartialEq, Eq)]\n");
    let _ = writeln!(text, "pub struct {name}Overrides {{");
    for (of, doc) in &root.overrides {
        let _ = writeln!(text, "{}    pub {}: u32,", documentation("    ", doc), of.to_lowercase());
    }
    let _ = write!(
        text,
        "}}\n\nimpl Overrides for {name}Overrides {{\n    fn values(&self) -> Vec<(&'static str, f64)> {{\n        vec!["
    );
    let values: Vec<String> =
        root.overrides.keys().map(|of| format!("({of:?}, self.{}.into())", of.to_lowercase())).collect();
    let _ = write!(text, "{}]\n    }}\n}}\n\n", values.join(", "));
    text
}

fn groups(shaders: &Shaders, root: &Root, name: &str) -> String {
    let number =
        |of: &str| shaders.groups.iter().find(|group| group.name == of).map_or(0, |group| group.number);
    let mut text = format!(
        "/// A value for each bind group of [`{name}`], such as its layout.\n#[derive(Clone, Copy, Debug)]\n"
    );
    let _ = writeln!(text, "pub struct {name}Groups<T> {{");
    for (group, is_always) in &root.groups {
        let ty = if *is_always { "T" } else { "Option<T>" };
        let note = if *is_always { "" } else { ", which some variants have" };
        let _ = write!(text, "    /// Group {}{note}.\n    pub {group}: {ty},\n", number(group));
    }
    let _ = write!(
        text,
        "}}\n\nimpl<T> Groups<T> for {name}Groups<T> {{\n    fn by_number(self) -> Vec<Option<T>> {{\n        vec!["
    );
    let count = root.groups.iter().map(|(group, _)| number(group) + 1).max().unwrap_or(0);
    let values: Vec<String> = (0..count)
        .map(|index| match root.groups.iter().find(|(group, _)| number(group) == index) {
            None => "None".to_owned(),
            Some((group, true)) => format!("Some(self.{group})"),
            Some((group, false)) => format!("self.{group}"),
        })
        .collect();
    let _ = write!(text, "{}]\n    }}\n}}\n\n", values.join(", "));
    text
}
