//! Regions as functions in WGSL.
//!
//! The text is a module for the linker of `kvrm-shaders`. It declares `run_region`, which takes the entry at which a lane
//! enters, its address, the flags and the budget, and returns the address at which the lane leaves, the flags, and the
//! rest of the budget. Registers are private variables. They are loaded from the registers of the interpreter, and stored
//! there when the lane leaves. So code anywhere in the region leaves it with `return`.
//!
//! Loads and stores use the TLB of the interpreter. A lane leaves the region before an access that the TLB does not
//! permit, that crosses pages, or that is less aligned than the text has code for. The interpreter executes it.

mod address;
mod blocks;
mod imports;
mod instruction;
mod operand;
mod operation;
mod packed;
mod pending;
mod place;
mod places;
mod system;
mod transfer;
mod vector;
mod vector_transfer;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use kvrm_arm64::micro_op::{MicroOp, ZERO};

use crate::block::{Block, PAGE};
use crate::checks::Checks;
use crate::effects::Effects;
use crate::liveness::Liveness;
use crate::region::Region;
use crate::registers::Registers;

use blocks::Blocks;
pub use imports::IMPORTS;
use imports::imports;
use instruction::may_exit;
pub use instruction::{is_costly, is_translatable};
use operand::variable;

/// The variables that all regions share.
const PRELUDE: &str = "
/// The flags and the budget of the lane in a region.
var<private> flags: u32;
var<private> budget: u32;
/// The pages of the region whose code the lane is known to have, a bit each.
var<private> pages: u32;
/// The zero register. It is a variable because compilers refuse sums of constants that overflow.
var<private> r31: u64;
";

/// Regions in WGSL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Translation {
    /// The text of the module.
    pub text: String,
    /// The entries, by their numbers less one.
    pub entries: Vec<Entry>,
    /// The code of each page of each region.
    pub pages: Vec<Vec<PlacedOp>>,
}

/// A micro-op of a region, and its place in the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedOp {
    /// The number of instructions in the page before it.
    pub place: u32,
    /// The micro-op.
    pub op: MicroOp,
    /// The number of the entry, if lanes may enter here.
    pub entry: Option<u32>,
}

/// A place at which lanes enter a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The address.
    pub pc: u64,
    /// The number of the region.
    pub region: usize,
    /// The micro-op at the address.
    pub op: MicroOp,
}

/// Returns regions as a module in WGSL, which takes the place of `machine::translated`.
///
/// ```
/// use kvrm_arm64::Features;
/// use kvrm_arm64::lowering::lower;
/// use kvrm_translate::{Limits, Region, to_wgsl};
///
/// let words = [0xf100_0400, 0x54ff_ffe1]; // subs x0, x0, #1; b.ne to it
/// let fetch = |pc: u64| Some(lower(*words.get(pc as usize / 4)?, Features::BASE));
/// let region = Region::find(&[0], &Limits { instructions: 100, pages: 1, distance: 8 }, fetch);
/// let translation = to_wgsl(&[region]);
/// assert!(translation.text.contains("fn run_region("));
/// assert_eq!(translation.entries[0].pc, 0, "the entry with number 1");
/// ```
#[must_use]
pub fn to_wgsl(regions: &[Region]) -> Translation {
    let mut text = format!("{PRELUDE}{}{}", pending::PRELUDE, declarations(regions));
    let (mut entries, mut pages) = (Vec::new(), Vec::new());
    for (number, region) in regions.iter().enumerate() {
        let checks = Checks::of(region);
        let liveness = Liveness::of(region, &checks, may_exit);
        let numbers = numbers(region, &mut entries, number);
        pages.extend(placed(region, &numbers));
        text.push_str(&Blocks::function(region, number, &checks, &liveness, numbers));
        text.push_str(&run(number, region, &liveness));
    }
    text.push_str(&dispatch(&entries));
    Translation { text: format!("{}{text}", imports(&text)), entries, pages }
}

/// Adds the entries of a region. Returns the number of the entry at each of its blocks.
fn numbers(region: &Region, entries: &mut Vec<Entry>, number: usize) -> Vec<Option<u32>> {
    let add = |block: &Block| {
        block.is_entry.then(|| {
            entries.push(Entry { pc: block.pc, region: number, op: block.ops[0] });
            entries.len() as u32
        })
    };
    region.blocks.iter().map(add).collect()
}

/// Returns the code of each page of a region.
fn placed(region: &Region, numbers: &[Option<u32>]) -> Vec<Vec<PlacedOp>> {
    let mut pages: BTreeMap<u64, Vec<PlacedOp>> = BTreeMap::new();
    for (block, number) in region.blocks.iter().zip(numbers) {
        let first = (block.pc & PAGE) as u32 / 4;
        let entries = std::iter::once(*number).chain(std::iter::repeat(None));
        let ops = (first..).zip(&block.ops).zip(entries);
        let page = pages.entry(block.pc & !PAGE).or_default();
        page.extend(ops.map(|((place, op), entry)| PlacedOp { place, op: *op, entry }));
    }
    pages.into_values().collect()
}

/// Returns the functions that the interpreter calls.
fn dispatch(entries: &[Entry]) -> String {
    let mut text = String::from(
        "\n/// Runs a lane from an entry at the address `pc` until it leaves the region.\n\
         fn run_region(entry: u32, pc: u64, flags_before: u32, budget_before: u32) -> LeftRegion {\n    \
         flags = flags_before;\n    budget = budget_before;\n    pending = 0u;\n    var left = pc;\n",
    );
    let (mut condition, mut behind) = ("", 1);
    for (number, of) in entries.chunk_by(|a, b| a.region == b.region).enumerate() {
        behind += of.len();
        let _ = writeln!(text, "    {condition}if entry < {behind}u {{");
        let _ = writeln!(text, "        left = run_{number}(entry, pc);");
        condition = "} else ";
    }
    if !entries.is_empty() {
        text.push_str("    }\n");
    }
    text.push_str("    return LeftRegion(left, flags, budget);\n}\n");
    text.push_str(
        "\n/// Returns the micro-op that the marker of an entry has replaced.\n\
         fn replaced(entry: u32) -> vec4<u32> {\n    switch entry {\n",
    );
    for (number, entry) in (1..).zip(entries) {
        let [control, parameters, low, high] = entry.op.words();
        let _ = writeln!(
            text,
            "        case {number}u: {{ return vec4<u32>({control:#x}u, {parameters:#x}u, {low:#x}u, {high:#x}u); }}"
        );
    }
    text.push_str("        default: { return vec4<u32>(); }\n    }\n}\n");
    text
}

/// Returns the registers of the region's code.
fn used(region: &Region) -> Registers {
    let ops = region.blocks.iter().flat_map(|block| &block.ops);
    ops.fold(Registers::NONE, |all, op| all.with(Effects::of(*op).reads).with(Effects::of(*op).may_write))
}

fn declarations(regions: &[Region]) -> String {
    let mut text = String::new();
    let all = regions.iter().fold(Registers::NONE, |all, region| all.with(used(region)));
    for number in all.iter().filter(|number| *number != ZERO) {
        let [declaration, ..] = variable(number);
        let _ = writeln!(text, "{declaration}");
    }
    text
}

/// Returns the function that loads the registers of a region, runs it, and stores them.
fn run(number: usize, region: &Region, liveness: &Liveness) -> String {
    let entries = region.blocks.iter().zip(&liveness.before).filter(|(block, _)| block.is_entry);
    let loaded = entries.fold(Registers::NONE, |all, (_, live)| all.with(live.registers));
    let stored = region
        .blocks
        .iter()
        .flat_map(|block| &block.ops)
        .fold(Registers::NONE, |all, op| all.with(Effects::of(*op).may_write));
    let mut text = format!(
        "\n/// Runs a lane in region {number}. Returns the address at which it leaves.\n\
         fn run_{number}(entry: u32, pc: u64) -> u64 {{\n"
    );
    // A register that one way through the region changes is stored after every other way, too.
    for register in loaded.with(stored).iter() {
        let [_, load, _] = variable(register);
        let _ = writeln!(text, "    {load}");
    }
    let _ = writeln!(text, "    let left = region_{number}(entry, pc);");
    let _ = writeln!(text, "    settle_flags();");
    for register in stored.iter() {
        let [.., store] = variable(register);
        let _ = writeln!(text, "    {store}");
    }
    text.push_str("    return left;\n}\n");
    text
}
