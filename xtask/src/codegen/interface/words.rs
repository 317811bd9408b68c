//! Conversion of names and documentation to Rust.

/// Converts a name from snake case to camel case.
pub(super) fn camel(name: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    };
    name.split('_').map(word).collect()
}

/// Returns lines as Rust doc comments.
pub(super) fn documentation(indent: &str, lines: &[String]) -> String {
    let text = |line: &String| format!("{indent}/// {}", line.trim()).trim_end().to_owned() + "\n";
    lines.iter().map(text).collect()
}
