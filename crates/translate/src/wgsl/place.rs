//! What loads and stores of all registers share: the place of an access, and the bytes there.

use std::fmt::Write as _;

/// An access to consecutive bytes at `address`.
pub(super) struct Place<'a> {
    pub(super) bytes: u32,
    pub(super) must_align: bool,
    /// The statements that leave the region, if the lane cannot execute the access here.
    pub(super) exit: &'a str,
}

impl Place<'_> {
    /// Appends the statements of an access: those of an aligned one in a page that is easily found, or those of any other
    /// one.
    fn either(&self, text: &mut String, needed: &str, aligned: &str, unaligned: &str) {
        let Self { bytes, must_align, exit } = self;
        let mask = bytes - 1;
        let misaligned = if *must_align { format!(" | (u32(address) & {mask}u)") } else { String::new() };
        let _ = writeln!(text, "let near = near_place(address, {bytes}u, {needed});");
        let _ = writeln!(text, "if near.missing != 0u {{");
        let _ = writeln!(text, "let far = far_place(address, {bytes}u, {needed});");
        let _ = writeln!(text, "if (far.missing{misaligned}) != 0u {{\n{exit}\n}}\n{unaligned}");
        let _ = writeln!(text, "}} else {{\n{aligned}\n}}");
    }

    /// Appends the statements that load the bytes to `word_0`, `word_1`, and so on.
    pub(super) fn load(&self, text: &mut String) {
        let bytes = self.bytes;
        for index in 0..bytes.div_ceil(8) {
            let _ = writeln!(text, "var word_{index}: u64;");
        }
        let (aligned, unaligned) = if bytes <= 8 {
            let load =
                |kind: &str, place: &str| format!("word_0 = load_{kind}({place}.word, address, {bytes}u);");
            (load("aligned", "near"), load("unaligned", "far"))
        } else {
            let words = bytes / 8;
            let lines = (0..words).map(|index| format!("word_{index} = frame_load(near.word + {index}u);"));
            (lines.collect::<Vec<_>>().join("\n"), load_unaligned_words(words))
        };
        self.either(text, "TLB_READ", &aligned, &unaligned);
    }

    /// Appends the statements that store words, or the low bytes of one.
    pub(super) fn store(&self, text: &mut String, words: &[String]) {
        let bytes = self.bytes;
        let (aligned, unaligned) = if let [word] = words {
            let store =
                |kind: &str, place: &str| format!("store_{kind}({place}.word, address, {bytes}u, {word});");
            (store("aligned", "near"), store("unaligned", "far"))
        } else {
            let lines = words
                .iter()
                .enumerate()
                .map(|(index, word)| format!("frame_store(near.word + {index}u, {word});"));
            (lines.collect::<Vec<_>>().join("\n"), store_unaligned_words(words))
        };
        self.either(text, "TLB_WRITE", &aligned, &unaligned);
    }
}

/// Returns the statements that load several words from any address.
fn load_unaligned_words(count: u32) -> String {
    let mut text = String::from("let shift = (u32(address) & 7u) * 8u;\n");
    let _ = writeln!(text, "var below = frame_load(far.word);");
    for index in 0..count {
        let next = index + 1;
        // The word behind an aligned access may be that of another page.
        let place = if next == count {
            format!("select({index}u, {next}u, shift != 0u)")
        } else {
            format!("{next}u")
        };
        let _ = writeln!(text, "let above_{index} = frame_load(far.word + {place});");
        let _ = writeln!(text, "word_{index} = (below >> shift) | ((above_{index} << 1u) << (63u - shift));");
        let _ = writeln!(text, "below = above_{index};");
    }
    text
}

/// Returns the statements that store several words at any address.
fn store_unaligned_words(words: &[String]) -> String {
    let mut text = String::from("let shift = (u32(address) & 7u) * 8u;\nlet kept = (1lu << shift) - 1lu;\n");
    let mut before = "frame_load(far.word) & kept".to_owned();
    for (index, word) in words.iter().enumerate() {
        let _ = writeln!(text, "frame_store(far.word + {index}u, ({before}) | ({word} << shift));");
        before = format!("(({word} >> 1u) >> (63u - shift))");
    }
    let last = format!("far.word + {}u", words.len());
    let _ = writeln!(text, "if shift != 0u {{");
    let _ = writeln!(text, "frame_store({last}, (frame_load({last}) & ~kept) | {before});\n}}");
    text
}
