//! The linker counts loops correctly. The host needs the counts for drivers that limit loop iterations.

use kvrm_shaders::Linked;
use naga::{Block, Module, Statement};

use crate::support::Checked;

/// Returns the number of loops in a block if every function is inlined.
fn loops_of(module: &Module, block: &Block) -> u32 {
    let of = |block: &Block| loops_of(module, block);
    let of_statement = |statement: &Statement| match statement {
        Statement::Block(block) => of(block),
        Statement::If { accept, reject, .. } => of(accept) + of(reject),
        Statement::Switch { cases, .. } => cases.iter().map(|case| of(&case.body)).sum(),
        Statement::Loop { body, continuing, .. } => 1 + of(body) + of(continuing),
        Statement::Call { function, .. } => of(&module.functions[*function].body),
        _ => 0,
    };
    block.iter().map(of_statement).sum()
}

/// Asserts that the linker counts as many loops in each entry point as naga.
pub(crate) fn assert_counts(what: &str, linked: &Linked, checked: &Checked) {
    for entry in &checked.module.entry_points {
        let expected = loops_of(&checked.module, &entry.function.body);
        assert_eq!(linked.loops(&entry.name), expected, "loops of `{}` of {what}", entry.name);
    }
}
