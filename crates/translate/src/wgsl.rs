//! Regions as functions in WGSL.
//!
//! The text is a module for the linker of `kvrm-shaders`. It declares `run_region`, which takes the address at which a
//! lane enters, the flags and the budget, and returns the address at which the lane leaves, the flags, and the rest of
//! the budget. Registers are private variables. They are loaded from the registers of the interpreter, and stored there
//! when the lane leaves. So code anywhere in the region leaves it with `return`.
//!
//! Loads and stores use the TLB of the interpreter. If it does not have the page, the page does not permit the access,
//! or the access is not within a word, the lane leaves the region before the instruction, and the interpreter executes
//! it.

mod operand;
mod operation;
mod pending;
mod transfer;

use std::fmt::Write as _;

use kvrm_arm64::micro_op::{Handler, MicroOp, ZERO};

use crate::block::{Edge, End};
use crate::checks::Checks;
use crate::effects::{Effects, Flow, handler};
use crate::liveness::Liveness;
use crate::region::Region;
use crate::registers::Registers;
use crate::structure::{Item, Structure};

use operand::{condition, extracted, register, target};
use operation::Flags;
use pending::Pending;

/// The items that the text may import, by module.
const IMPORTS: &[(&str, &[&str])] = &[
    ("arm64::bitfield", &["window"]),
    ("arm64::bits", &["count_leading_sign_bits", "count_leading_zero_bits", "reverse_bits", "reverse_bytes"]),
    ("arm64::constants", &["CRC32C_POLYNOMIAL", "CRC32_POLYNOMIAL"]),
    ("arm64::crc", &["checksum"]),
    ("arm64::divide", &["divide"]),
    ("arm64::flags", &["cv", "nz"]),
    ("arm64::load_store", &["extend_loaded"]),
    ("arm64::multiply", &["long_product", "multiply_high"]),
    ("arm64::numbers", &["sign_extend"]),
    ("arm64::operand", &["rotate_right", "shift_reg"]),
    ("machine::frames", &["frame_load", "frame_store"]),
    (
        "machine::memory",
        &["TLB_ADDRESS_BITS", "TLB_ENTRIES", "TLB_READ", "TLB_WORD", "TLB_WRITE", "halves", "joined", "tlb"],
    ),
    ("machine::registers", &["x"]),
];

/// The way out of a region, and the access to memory.
const PRELUDE: &str = "
/// A lane that has left a region.
struct LeftRegion {
    pc: u64,
    flags: u32,
    budget: u32,
}

/// The value of `word_of` if the lane has to leave the region.
const NO_WORD = 0xffffffffu;

/// The flags and the budget of the lane in a region.
var<private> flags: u32;
var<private> budget: u32;
/// The zero register. It is a variable because compilers refuse sums of constants that overflow.
var<private> r31: u64;

/// Returns the word of an access, or `NO_WORD`.
fn word_of(address: u64, bytes: u32, needed: u32, must_align: bool) -> u32 {
    let offset = u32(address) & 4095u;
    let number = u32(address >> 12u);
    let translation = halves(tlb[number % TLB_ENTRIES]);
    let within = (offset & 7u) + bytes <= 8u || (bytes == 16u && (offset & 7u) == 0u && offset <= 4080u);
    let aligned = !must_align || (offset & (bytes - 1u)) == 0u;
    let at_hand = translation.y == number && (translation.x & needed) != 0u && (address >> TLB_ADDRESS_BITS) == 0lu;
    return select(NO_WORD, (translation.x & TLB_WORD) | (offset >> 3u), within && aligned && at_hand);
}
";

/// Whether translated code executes a micro-op. A region to translate should have no others.
#[must_use]
pub fn is_translatable(op: MicroOp) -> bool {
    match (Flow::of(0, op), handler(op)) {
        (Flow::Stop, _) | (_, None) => false,
        (Flow::Next, Some(Handler::LOAD | Handler::STORE)) => true,
        (Flow::Next, Some(handler)) => operation::is_translatable(handler),
        _ => true,
    }
}

/// Whether the lane may leave before a micro-op.
fn may_exit(op: MicroOp) -> bool {
    matches!(handler(op), Some(Handler::LOAD | Handler::STORE)) || !is_translatable(op)
}

/// Returns a region as a module in WGSL.
///
/// ```
/// use kvrm_arm64::Features;
/// use kvrm_arm64::lowering::lower;
/// use kvrm_translate::{Limits, Region, to_wgsl};
///
/// let words = [0xf100_0400, 0x54ff_ffe1]; // subs x0, x0, #1; b.ne to it
/// let fetch = |pc: u64| Some(lower(*words.get(pc as usize / 4)?, Features::BASE));
/// let region = Region::find(&[0], &Limits { instructions: 100, pages: 1, distance: 8 }, fetch);
/// assert!(to_wgsl(&region).contains("fn run_region("));
/// ```
#[must_use]
pub fn to_wgsl(region: &Region) -> String {
    let checks = Checks::of(region);
    let liveness = Liveness::of(region, &checks, may_exit);
    let structure = Structure::of(region);
    let mut code =
        Code { region, checks: &checks, liveness: &liveness, structure: &structure, text: Text::default() };
    code.body();
    let body = code.text.lines;
    let text =
        format!("{PRELUDE}{}{}{body}{}", pending::PRELUDE, declarations(region), entry(region, &liveness));
    format!("{}{text}", imports(&text))
}

/// Returns the imports of what a text uses.
fn imports(text: &str) -> String {
    let mut words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    words.sort_unstable();
    let mut imports = String::from("//! A region of a guest, translated.\n\n");
    for (module, items) in IMPORTS {
        let used: Vec<&str> =
            items.iter().copied().filter(|item| words.binary_search(item).is_ok()).collect();
        if !used.is_empty() {
            let _ = writeln!(imports, "import package::{module}::{{{}}};", used.join(", "));
        }
    }
    imports
}

/// Returns the registers of the region's code.
fn used(region: &Region) -> Registers {
    let ops = region.blocks.iter().flat_map(|block| &block.ops);
    ops.fold(Registers::NONE, |all, op| all.with(Effects::of(*op).reads).with(Effects::of(*op).may_write))
}

fn declarations(region: &Region) -> String {
    let mut text = String::new();
    for number in used(region).iter().filter(|number| *number != ZERO) {
        let _ = writeln!(text, "var<private> r{number}: u64;");
    }
    text
}

/// Returns the function that a caller calls.
fn entry(region: &Region, liveness: &Liveness) -> String {
    let entries = region.blocks.iter().zip(&liveness.before).filter(|(block, _)| block.is_entry);
    let loaded = entries.fold(Registers::NONE, |all, (_, live)| all.with(live.registers));
    let stored = region
        .blocks
        .iter()
        .flat_map(|block| &block.ops)
        .fold(Registers::NONE, |all, op| all.with(Effects::of(*op).may_write));
    let mut text = String::from(
        "\n/// Runs a lane from the address `pc` until it leaves the region.\n\
         fn run_region(pc: u64, flags_before: u32, budget_before: u32) -> LeftRegion {\n    \
         flags = flags_before;\n    budget = budget_before;\n    pending = 0u;\n",
    );
    // A register that one way through the region changes is stored after every other way, too.
    for number in loaded.with(stored).iter() {
        let _ = writeln!(text, "    r{number} = x[{number}u];");
    }
    text.push_str("    let left = region(pc);\n    settle_flags();\n");
    for number in stored.iter() {
        let _ = writeln!(text, "    x[{number}u] = r{number};");
    }
    text.push_str("    return LeftRegion(left, flags, budget);\n}\n");
    text
}

/// Lines of code.
#[derive(Debug, Default)]
struct Text {
    lines: String,
    depth: usize,
}

impl Text {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.lines, "{:1$}{line}", "", 4 * self.depth);
    }

    fn open(&mut self, line: &str) {
        self.line(line);
        self.depth += 1;
    }

    fn close(&mut self, line: &str) {
        self.depth -= 1;
        self.line(line);
    }
}

/// The code of a region.
struct Code<'a> {
    region: &'a Region,
    checks: &'a Checks,
    liveness: &'a Liveness,
    structure: &'a Structure,
    text: Text,
}

impl Code<'_> {
    /// Writes the function that executes the blocks.
    fn body(&mut self) {
        self.text.line("");
        self.text
            .line("/// Executes the blocks of the region. Returns the address at which the lane leaves.");
        self.text.open("fn region(pc: u64) -> u64 {");
        self.text.line("var next = 0u;");
        let mut condition = String::new();
        for (number, block) in self.region.blocks.iter().enumerate().filter(|(_, block)| block.is_entry) {
            if let Some(label) = self.structure.labels[number] {
                self.text.open(&format!("{condition}if pc == {:#x}lu {{", block.pc));
                self.text.line(&format!("next = {label}u;"));
                self.text.depth -= 1;
                "} else ".clone_into(&mut condition);
            }
        }
        self.text.open(&format!("{condition}{{"));
        self.text.line("return pc;");
        self.text.close("}");
        self.items(&self.structure.items);
        self.text.line("return pc;");
        self.text.close("}");
    }

    fn items(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Block(block) => {
                    if let Some(label) = self.structure.labels[*block] {
                        self.text.open(&format!("if next == {label}u {{"));
                        self.block(*block);
                        self.text.close("}");
                    }
                }
                Item::Loop { first, last, items } => {
                    let is_inside = format!("next - {first}u <= {}u", last - first);
                    self.text.open(&format!("if {is_inside} {{"));
                    self.text.open("loop {");
                    self.items(items);
                    self.text.open(&format!("if !({is_inside}) {{"));
                    self.text.line("break;");
                    self.text.close("}");
                    self.text.close("}");
                    self.text.close("}");
                }
            }
        }
    }

    /// Writes a block and those that are nested in it.
    fn block(&mut self, number: usize) {
        let block = &self.region.blocks[number];
        if let Some(steps) = self.checks.steps[number] {
            self.text.open(&format!("if budget < {steps}u {{"));
            self.text.line(&format!("return {:#x}lu;", block.pc));
            self.text.close("}");
        }
        let count = block.ops.len();
        self.text.line(&format!("budget -= {count}u;"));
        let mut pending: Option<Pending> = None;
        for (index, &op) in block.ops.iter().enumerate() {
            let pc = block.pc.wrapping_add(4 * index as u64);
            let exit = format!("budget += {}u;\nreturn {pc:#x}lu;", count - index);
            let holds =
                pending.and_then(|of| of.condition(op.cond())).unwrap_or_else(|| condition(op.cond()));
            let flags = self.flags(number, index);
            self.text.open("{");
            let goes_on = match handler(op) {
                _ if Flow::of(pc, op) != Flow::Next => {
                    self.branch(number, pc, op, &holds);
                    true
                }
                Some(Handler::LOAD | Handler::STORE) => {
                    self.lines(&transfer::lines(op, &exit));
                    true
                }
                Some(handler) => operation::lines(handler, op, pc, flags, &holds).is_some_and(|lines| {
                    self.lines(&lines);
                    true
                }),
                None => false,
            };
            if !goes_on {
                self.lines(&exit);
            }
            self.text.close("}");
            if !goes_on {
                return;
            }
            if Effects::of(op).sets_flags != 0 {
                pending = if let Flags::Pending(of) = flags { Some(of) } else { None };
            }
        }
        if let End::Always(edge) = block.end
            && Flow::of(block.last_pc(), block.ops[count - 1]) == Flow::Next
        {
            self.go(&edge);
        }
    }

    /// Returns what to do with the flags that a micro-op sets. They can be pending if all instructions that read them
    /// are in the same block and can read the operands instead.
    fn flags(&self, number: usize, index: usize) -> Flags {
        let block = &self.region.blocks[number];
        let live = self.liveness.after[number][index];
        if live.flags | live.flags_at_exits == 0 {
            return Flags::Dead;
        }
        let Some(pending) = Pending::of(block.ops[index]) else { return Flags::Computed };
        for op in &block.ops[index + 1..] {
            let effects = Effects::of(*op);
            let reads_condition = matches!(
                handler(*op),
                Some(Handler::SELECT | Handler::BRANCH | Handler::CONDITIONAL_COMPARE)
            );
            let is_read = effects.reads_flags != 0;
            if is_read && !(reads_condition && pending.condition(op.cond()).is_some()) {
                return Flags::Computed;
            }
            if effects.sets_flags != 0 {
                return Flags::Pending(pending);
            }
        }
        let is_read_later = block.successors().any(|to| self.liveness.before[to].flags != 0);
        if is_read_later { Flags::Computed } else { Flags::Pending(pending) }
    }

    fn lines(&mut self, lines: &str) {
        for line in lines.lines() {
            self.text.line(line);
        }
    }

    /// Writes the branch at the end of a block.
    fn branch(&mut self, number: usize, pc: u64, op: MicroOp, condition: &str) {
        let end = &self.region.blocks[number].end;
        match end {
            End::Register(_) => self.text.line(&format!("let target = {};", register(op.a()))),
            End::Either { .. } | End::Always(_) => {}
        }
        if let Some(link) = target(op.dst()) {
            self.text.line(&format!("{link} = {:#x}lu;", pc.wrapping_add(4)));
        }
        match end {
            End::Always(edge) => self.go(edge),
            End::Either { taken, next } => {
                let holds = match handler(op) {
                    Some(Handler::TEST_BRANCH) => {
                        let comparison = if op.operation() == 1 { "!=" } else { "==" };
                        format!("{} {comparison} 0lu", extracted(op))
                    }
                    _ => condition.to_owned(),
                };
                self.text.open(&format!("if {holds} {{"));
                self.go(taken);
                self.text.close("} else {");
                self.text.depth += 1;
                self.go(next);
                self.text.close("}");
            }
            End::Register(candidates) => {
                for &candidate in candidates {
                    let block = &self.region.blocks[candidate];
                    let is_near = block.pc >> 12 == pc >> 12;
                    if let Some(label) = self.structure.labels[candidate].filter(|_| is_near) {
                        self.text.open(&format!("if target == {:#x}lu {{", block.pc));
                        self.text.line(&format!("next = {label}u;"));
                        self.text.close("} else");
                    }
                }
                self.text.open("{");
                self.text.line("return target;");
                self.text.close("}");
            }
        }
    }

    /// Writes how execution goes on at an edge. In another page, the interpreter looks up the code.
    fn go(&mut self, edge: &Edge) {
        let Some(block) = edge.block.filter(|_| !edge.leaves_page) else {
            self.text.line(&format!("return {:#x}lu;", edge.pc));
            return;
        };
        match self.structure.labels[block] {
            Some(label) => self.text.line(&format!("next = {label}u;")),
            None => self.block(block),
        }
    }
}
