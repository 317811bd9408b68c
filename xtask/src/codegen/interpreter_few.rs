//! The interpreter for few lanes: the same text with a loop in the loop.
//!
//! Neither an `override` nor a function shared by two entry points gives GPU compilers the same text for many
//! lanes, and both cost many lanes a tenth of their speed or more.

use anyhow::{Result, ensure};

use super::BANNER;
use crate::root;

pub(super) const SOURCE: &str = "shaders/wgsl/machine/interpreter.wgsl";

/// What begins and what ends the part that gets a loop of its own.
const INNER: (&str, &str) = (
    "        // Operands.\n",
    "        // The next instruction is fetched from the page at hand, if there will be one.\n",
);

/// Before the inner loop. What is needed behind it is declared here.
const BEFORE: &str = "        var next = 0lu;
        var slow = false;
        var elsewhere = false;
        // A lane stays in this loop until something unusual happens: it is small, and the GPU has all of it at hand.
        loop {
";

/// The end of the inner loop.
const BEHIND: &str = "            elsewhere = (next & ~0xffclu) != code_page;
            if slow || elsewhere || stop != STOP_NONE || done + 1u == count {
                break;
            }
            done += 1u;
            pc = next;
            op = micro_ops[code_ops + ((u32(pc) >> 2u) & (PAGE_OPS - 1u))];
        }

";

/// What is declared before the inner loop already.
const DECLARED: [(&str, &str); 3] = [
    ("        var next = value;\n", "        next = value;\n"),
    ("        var slow = false;\n", "        slow = false;\n"),
    ("        let elsewhere = (next & ~0xffclu) != code_page;\n", ""),
];

/// `shaders/wgsl/machine/interpreter_few.wgsl`.
pub(super) fn text() -> Result<String> {
    let mut source = std::fs::read_to_string(root().join(SOURCE))?;
    for (there, instead) in DECLARED {
        only(&source, there)?;
        source = source.replace(there, instead);
    }
    let (begin, end) = (only(&source, INNER.0)?, only(&source, INNER.1)?);
    let (before, rest) = source.split_at(begin);
    let (inner, behind) = rest.split_at(end - begin);
    let first = before.find("\nimport").unwrap_or(0);
    let mut out = format!(
        "//! The interpreter for lanes that are each a workgroup of its own. {BANNER}; do not edit.\n//!\n\
         //! Source: `{SOURCE}`, with a loop in the loop.\n\
         //! Lanes that share a workgroup would wait at its end for the last of them.\n{}{BEFORE}",
        &before[first..]
    );
    for line in inner.trim_end().lines() {
        if !line.is_empty() {
            out += "    ";
        }
        out += line;
        out.push('\n');
    }
    Ok(out + BEHIND + behind)
}

/// Where a piece of the source is, which has to be there once.
pub(super) fn only(source: &str, piece: &str) -> Result<usize> {
    let mut places = source.match_indices(piece);
    let place = places.next();
    ensure!(
        place.is_some() && places.next().is_none(),
        "{SOURCE} should have this line once: {:?}; {} changes it",
        piece.trim(),
        file!()
    );
    Ok(place.map_or(0, |(place, _)| place))
}
