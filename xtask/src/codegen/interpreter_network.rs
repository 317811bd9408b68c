//! The interpreters that ask a network in each step: the same text with a question behind each fetch.
//!
//! As modules of their own they leave the plain interpreter alone, whose speed hangs on each register it needs.

use anyhow::Result;

use super::BANNER;
use super::interpreter_few::{SOURCE, only};
use crate::root;

/// The loop.
const LOOP: &str = "    while done != count {\n";
/// The end of a step.
const FETCH: &str = "        done += 1u;
        pc = next;
        op = micro_ops[code_ops + ((u32(pc) >> 2u) & (PAGE_OPS - 1u))];
    }
";
/// How the kernel begins.
const ENTRY: &str = "@compute @workgroup_size(WORKGROUP_SIZE)
fn run(@builtin(global_invocation_id) invocation: vec3<u32>) {
    lane = invocation.x;
";
/// After the last step.
const REPORT: &str = "    var counter = COUNTER_STOPPED;\n";
/// The last import of the source.
const IMPORTS: &str = "\n/// Lanes of a workgroup.\n";

/// What is known of the micro-op that comes next.
const FETCHED: &str =
    "    // The word of the next micro-op and the class that is right; the class the network chooses.
    var fetched = vec2<u32>(0u, CLASSES);
    var chosen = CLASSES;
";

/// `shaders/wgsl/machine/interpreter_network.wgsl`.
pub(super) fn text() -> Result<String> {
    let source = with_network(
        "that asks a network in each step",
        "import package::networks::dispatch::{decide, load_weights};\n",
    )?;
    replaced(
        source,
        &[
            (
                ENTRY,
                "@compute @workgroup_size(WORKGROUP_SIZE)
fn run(@builtin(global_invocation_id) invocation: vec3<u32>) {
    load_weights(invocation.x % WORKGROUP_SIZE, WORKGROUP_SIZE);
    workgroupBarrier();
    lane = invocation.x;
",
            ),
            (LOOP, &format!("{FETCHED}{LOOP}")),
            (
                FETCH,
                "        count_step(fetched.y, chosen);
        done += 1u;
        pc = next;
        let place = code_ops + ((u32(pc) >> 2u) & (PAGE_OPS - 1u));
        fetched = words[place];
        chosen = decide(tuple_of(fetched.x));
        op = settled(micro_ops[place], fetched, chosen, done != count);
    }
",
            ),
        ],
    )
}

/// `shaders/wgsl/machine/interpreter_network_few.wgsl`.
pub(super) fn few_text() -> Result<String> {
    let source = with_network(
        "that asks a network in each step, where lanes are each a workgroup of its own",
        "import package::networks::dispatch_together::{MEMBERS, evaluate_together, load_together};\n\
         import package::networks::logits::{greatest};\n",
    )?;
    let (before, rest) = source.split_at(only(&source, LOOP)?);
    let (body, behind) = rest.split_at(only(rest, FETCH)?);
    let mut out = replaced(
        before.to_owned(),
        &[
            (
                "/// Lanes of a workgroup.\noverride WORKGROUP_SIZE: u32 = 64u;\n",
                "/// The tuple of the next word that is asked about.
var<workgroup> question: u32;
/// Nothing is asked any more.
const NO_QUESTION = 0xffffffffu;
",
            ),
            (
                ENTRY,
                "@compute @workgroup_size(MEMBERS)
fn run(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) member: u32) {
    load_together(member);
    lane = workgroup.x;
",
            ),
        ],
    )?;
    out += FETCHED;
    out += "    // All invocations have seen that the lane has no stop before it can get one.
    workgroupBarrier();
    loop {
        // Only the first invocation takes steps; all of them find the answer to what it asks.
        if member == 0u {
            question = NO_QUESTION;
            // Once; a step that does not retire leaves it early.
";
    for line in body.lines() {
        out += &format!("{}{line}\n", if line.is_empty() { "" } else { "        " });
    }
    out += "                count_step(fetched.y, chosen);
                done += 1u;
                pc = next;
                let place = code_ops + ((u32(pc) >> 2u) & (PAGE_OPS - 1u));
                fetched = words[place];
                op = micro_ops[place];
                question = tuple_of(fetched.x);
                break;
            }
        }
        let tuple = workgroupUniformLoad(&question);
        if tuple == NO_QUESTION {
            break;
        }
        chosen = greatest(evaluate_together(tuple, member));
        if member == 0u {
            op = settled(op, fetched, chosen, done != count);
        }
    }
    if member != 0u {
        return;
    }
";
    out += &behind[FETCH.len()..];
    Ok(out)
}

/// The source with what both have in common.
fn with_network(what: &str, imports: &str) -> Result<String> {
    let source = std::fs::read_to_string(root().join(SOURCE))?;
    let first = source.find("\nimport").unwrap_or(0);
    let source = format!(
        "//! The interpreter {what}. {BANNER}; do not edit.\n//!\n\
         //! Source: `{SOURCE}`, with a question behind each fetch.\n{}",
        &source[first..]
    );
    replaced(
        source,
        &[
            ("import package::machine::layout::{", "import package::machine::layout::{CLASSES, "),
            (
                "import package::machine::bindings::",
                "import package::machine::asked::{count_step, report_steps, settled};\nimport package::machine::bindings::",
            ),
            (
                "import package::machine::frames::",
                "import package::machine::decisions::{words};\nimport package::machine::frames::",
            ),
            (IMPORTS, &format!("{imports}import package::networks::tuple::{{tuple_of}};\n{IMPORTS}")),
            (REPORT, &format!("    report_steps();\n{REPORT}")),
        ],
    )
}

/// A text with pieces replaced, each of which is there once.
fn replaced(mut text: String, pieces: &[(&str, &str)]) -> Result<String> {
    for (there, instead) in pieces {
        only(&text, there)?;
        text = text.replace(there, instead);
    }
    Ok(text)
}
