//! Counts the loops that an entry point executes, for drivers that limit loop iterations.

use std::collections::BTreeMap;

use crate::module::{code, is_word_character};

/// The loop keywords and called names of each function, by its name.
type Functions<'a> = BTreeMap<&'a str, Vec<&'a str>>;

/// Returns the number of loops in a function of a linked source, plus those of the functions it calls, for each call.
///
/// llvmpipe before Mesa 24 executes both sides of every branch, so each of these loops costs at least one iteration,
/// even if no invocation enters it.
pub(crate) fn count(source: &str, function: &str) -> u32 {
    of_function(&functions(source), function)
}

fn of_function(functions: &Functions<'_>, name: &str) -> u32 {
    let words = functions.get(name).map_or(&[][..], Vec::as_slice);
    let of_word = |word: &&str| match *word {
        "loop" | "for" | "while" => 1,
        // WGSL has no recursion.
        called => of_function(functions, called),
    };
    words.iter().map(of_word).sum()
}

/// Collects the loops and calls of all functions. Only the first and last lines of declarations are not indented.
fn functions(source: &str) -> Functions<'_> {
    let mut functions = Functions::new();
    let mut name = "";
    for line in source.lines().map(code) {
        // Each word includes the character after it.
        let mut words = line.split_inclusive(|c| !is_word_character(c));
        if line.starts_with("fn ") {
            name = words.nth(1).and_then(|word| word.strip_suffix('(')).unwrap_or_default();
        } else if line.starts_with(' ') {
            let found = words.filter_map(|word| match word.trim_end() {
                keyword @ ("loop" | "for" | "while") => Some(keyword),
                word => word.strip_suffix('('),
            });
            functions.entry(name).or_default().extend(found);
        }
    }
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_of_functions_count_once_for_each_call() {
        let source = "\
const LIMIT = 3u;

fn inner(limit: u32) -> u32 {
    // for nothing
    for (var i = 0u; i < limit; i += 1u) {
        while true {
        }
    }
    return limit;
}

@compute @workgroup_size(1)
fn run() {
    loop {
        if inner(LIMIT) + inner(1u) == 2u {
            break;
        }
    }
}
";
        assert_eq!(count(source, "inner"), 2, "a loop in a loop");
        assert_eq!(count(source, "run"), 5, "its own loop, and those of two calls");
        assert_eq!(count(source, "no_such"), 0, "an unknown function has no loops");
    }
}
