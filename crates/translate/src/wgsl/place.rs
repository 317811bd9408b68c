//! Loads and stores of all registers at a place that was looked up.

use std::fmt::Write as _;

use super::address::Address;
use super::places::Placed;

/// The place of an access.
#[derive(Clone, Debug)]
pub(super) struct Place {
    frame: String,
    offset: String,
    bytes: u32,
    element: u32,
    alignment: u32,
}

impl Place {
    pub(super) fn new(address: &Address, placed: Placed) -> Self {
        let Placed { number, distance, alignment } = placed;
        Self {
            frame: format!("place_{number}.frame"),
            offset: format!("place_{number}.offset + {distance}u"),
            bytes: address.bytes,
            element: address.element,
            alignment,
        }
    }

    /// Returns the kind of access that fits the alignment.
    const fn kind(&self) -> &'static str {
        if self.alignment >= self.bytes || self.alignment == 8 {
            "aligned"
        } else if self.bytes == 8 && self.element == 4 && self.alignment == 4 {
            "pair"
        } else {
            "any"
        }
    }

    /// Returns the statements that load the bytes to `word_0`, `word_1`, and so on.
    pub(super) fn load(&self) -> String {
        let Self { frame, offset, bytes, .. } = self;
        if *bytes <= 8 {
            let size = if self.kind() == "pair" { String::new() } else { format!(", {bytes}u") };
            return format!("let word_0 = load_{}({frame}, {offset}{size});\n", self.kind());
        }
        let mut text = format!("let offset = {offset};\nlet first = offset >> 3u;\n");
        let count = bytes / 8;
        for index in 0..count {
            let _ = writeln!(text, "var word_{index} = frame_load({frame}, first + {index}u);");
        }
        if self.alignment < 8 {
            let _ = writeln!(text, "if (offset & 7u) != 0u {{\nlet shift = (offset & 7u) * 8u;");
            for index in 0..count {
                let next = index + 1;
                let above = if next < count {
                    format!("word_{next}")
                } else {
                    format!("frame_load({frame}, first + {count}u)")
                };
                let _ =
                    writeln!(text, "word_{index} = (word_{index} >> shift) | ({above} << (64u - shift));");
            }
            let _ = writeln!(text, "}}");
        }
        text
    }

    /// Returns the statements that store words, or the low bytes of one.
    pub(super) fn store(&self, words: &[String]) -> String {
        let Self { frame, offset, bytes, .. } = self;
        if let [word] = words {
            let size = if self.kind() == "pair" { String::new() } else { format!(", {bytes}u") };
            return format!("store_{}({frame}, {offset}{size}, {word});\n", self.kind());
        }
        let mut text = format!("let offset = {offset};\nlet first = offset >> 3u;\n");
        let aligned: String = words
            .iter()
            .enumerate()
            .map(|(index, word)| format!("frame_store({frame}, first + {index}u, {word});\n"))
            .collect();
        if self.alignment >= 8 {
            return text + &aligned;
        }
        let _ = writeln!(text, "if (offset & 7u) == 0u {{\n{aligned}}} else {{");
        let _ = writeln!(text, "let shift = (offset & 7u) * 8u;\nlet kept = (1lu << shift) - 1lu;");
        let mut before = format!("frame_load({frame}, first) & kept");
        for (index, word) in words.iter().enumerate() {
            let _ = writeln!(text, "frame_store({frame}, first + {index}u, ({before}) | ({word} << shift));");
            before = format!("{word} >> (64u - shift)");
        }
        let last = format!("first + {}u", words.len());
        let _ = writeln!(
            text,
            "frame_store({frame}, {last}, (frame_load({frame}, {last}) & ~kept) | ({before}));\n}}"
        );
        text
    }
}
