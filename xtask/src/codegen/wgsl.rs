//! WGSL modules of constants, and the names that modules import.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter, Write as _};
use std::sync::OnceLock;

use anyhow::Result;

use super::banner::BANNER;
use super::interface::module_texts;

/// A constant of a WGSL module.
#[derive(Clone, Debug)]
pub(super) struct Constant {
    pub(super) name: String,
    pub(super) value: Value,
    /// The documentation: one line, without the final full stop.
    pub(super) comment: String,
}

/// The value of a constant.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    U32(u32),
    U64(u64),
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Self::U32(value)
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::U64(value)
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::U32(value @ 0..0x1_0000) => write!(f, "{value}u"),
            // Large numbers are masks, so they are hexadecimal.
            Self::U32(value) => write!(f, "{value:#010x}u"),
            Self::U64(value) => write!(f, "{value:#018x}lu"),
        }
    }
}

impl Constant {
    pub(super) fn new(name: impl Into<String>, value: impl Into<Value>, comment: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into(), comment: comment.into() }
    }
}

/// Returns whether a module imports a name. Lists from Rust also have names that only Rust needs.
pub(super) fn is_imported(name: &str) -> Result<bool> {
    static IMPORTED: OnceLock<BTreeSet<String>> = OnceLock::new();
    let imported = match IMPORTED.get() {
        Some(names) => names,
        None => {
            // The files on disk, because the modules in `kvrm_shaders` are outdated if a module was just added.
            let texts = module_texts()?;
            let names = texts.iter().flat_map(|(_, text)| imported(text)).map(str::to_owned).collect();
            IMPORTED.get_or_init(|| names)
        }
    };
    Ok(imported.contains(name))
}

/// Returns the words in the import statements of a module.
fn imported(text: &str) -> impl Iterator<Item = &str> {
    let statements = text.split_inclusive(';').map(str::trim_start);
    let imports = statements.filter_map(|statement| {
        // A title may precede the first statement.
        let start = if statement.starts_with("import ") { 0 } else { statement.find("\nimport ")? + 1 };
        statement[start..].strip_prefix("import ")
    });
    imports.flat_map(|import| import.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')))
}

/// Returns the text of a module: the title, the banner, and the constants.
pub(super) fn module(title: &str, constants: &[Constant]) -> String {
    let mut text = format!("//! {title}\n//!\n//! {BANNER}; do not edit.\n");
    for Constant { name, value, comment } in constants {
        write!(text, "\n/// {comment}.\nconst {name} = {value};\n")
            .expect("writing to a String does not fail");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_imported_in_one_line_or_several() {
        let text =
            "//! A; b.\n\nimport package::a::{b, c};\nimport package::d::{\n    e,\n};\n\nconst f = b;\n";
        let words: BTreeSet<&str> = imported(text).filter(|word| word.len() == 1).collect();
        assert_eq!(words, BTreeSet::from(["a", "b", "c", "d", "e"]), "and not `f`");
    }

    #[test]
    fn a_module_has_a_title_the_banner_and_its_constants() {
        let constants = [
            Constant::new("A", 1_u32, "One"),
            Constant::new("B", 0xfff9_fc00_u32, "Many"),
            Constant::new("C", 1_u64 << 63, "Wide"),
        ];
        let expected = format!(
            "//! Letters.\n//!\n//! {BANNER}; do not edit.\n\n\
             /// One.\nconst A = 1u;\n\n/// Many.\nconst B = 0xfff9fc00u;\n\n\
             /// Wide.\nconst C = 0x8000000000000000lu;\n"
        );
        assert_eq!(module("Letters.", &constants), expected, "small numbers decimal, masks hexadecimal");
    }
}
