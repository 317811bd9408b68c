//! WGSL modules that hold nothing but constants.

use std::fmt::Write as _;

use super::BANNER;

/// A constant of type `u32`.
#[derive(Clone, Debug)]
pub(super) struct Constant {
    pub(super) name: String,
    pub(super) value: u32,
    /// One line, without the final full stop.
    pub(super) comment: String,
}

impl Constant {
    pub(super) fn new(name: impl Into<String>, value: u32, comment: impl Into<String>) -> Self {
        Self { name: name.into(), value, comment: comment.into() }
    }
}

/// The text of a module: what it is, in one line, and its constants.
pub(super) fn module(title: &str, constants: &[Constant]) -> String {
    let mut text = format!("//! {title}\n//!\n//! {BANNER}; do not edit.\n");
    for Constant { name, value, comment } in constants {
        // Large numbers are masks.
        let value = if *value < 0x1_0000 { format!("{value}u") } else { format!("{value:#010x}u") };
        write!(text, "\n/// {comment}.\nconst {name} = {value};\n").expect("a String takes any text");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_has_a_title_the_banner_and_its_constants() {
        let constants = [Constant::new("A", 1, "One"), Constant::new("B", 0xfff9_fc00, "Many")];
        let expected = format!(
            "//! Letters.\n//!\n//! {BANNER}; do not edit.\n\n\
             /// One.\nconst A = 1u;\n\n/// Many.\nconst B = 0xfff9fc00u;\n"
        );
        assert_eq!(module("Letters.", &constants), expected, "small numbers decimal, masks hexadecimal");
    }
}
