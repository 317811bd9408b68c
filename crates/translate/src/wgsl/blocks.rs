//! The blocks of a region as a function: nested loops and conditions, and the ways between blocks.

use std::fmt::Write as _;

use kvrm_arm64::micro_op::{Handler, MicroOp};

use crate::block::{Edge, End, PAGE};
use crate::checks::Checks;
use crate::effects::{Effects, Flow, condition_of, handler};
use crate::liveness::Liveness;
use crate::region::Region;
use crate::structure::{Item, Structure};

use super::instruction::{Surroundings, statements};
use super::operand::{condition, extracted, register, target};
use super::operation::Flags;
use super::pending::Pending;
use super::places::Places;
use super::vector::has_loops;

/// The largest number of items whose labels are compared one after the other.
const ITEMS_MAX: usize = 3;

/// The number of bits of the addresses that the TLBs of the interpreter hold: `TLB_ADDRESS_BITS`.
const ADDRESS_BITS: u32 = 44;

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

/// The blocks of a region, and their code so far.
pub(super) struct Blocks<'a> {
    region: &'a Region,
    checks: &'a Checks,
    liveness: &'a Liveness,
    structure: &'a Structure,
    /// The number of the entry at each block.
    numbers: Vec<Option<u32>>,
    /// The addresses of the pages.
    pages: Vec<u64>,
    /// The number of places of accesses so far.
    places: usize,
    text: Text,
}

impl<'a> Blocks<'a> {
    /// Returns the function that executes the blocks of region number `number`. `numbers` are those of the entries.
    pub(super) fn function(
        region: &'a Region,
        number: usize,
        checks: &'a Checks,
        liveness: &'a Liveness,
        numbers: Vec<Option<u32>>,
    ) -> String {
        let structure = &Structure::of(region);
        let pages = region.pages();
        let mut blocks =
            Blocks { region, checks, liveness, structure, numbers, pages, places: 0, text: Text::default() };
        blocks.write(number);
        blocks.text.lines
    }

    /// Writes the function that executes the blocks.
    fn write(&mut self, number: usize) {
        self.text.line("");
        self.text.line(&format!(
            "/// Executes the blocks of region {number}. Returns the address at which the lane leaves."
        ));
        self.text.open(&format!("fn region_{number}(entry: u32, pc: u64) -> u64 {{"));
        self.text.line("var next = 0u;");
        self.text.open("switch entry {");
        for (block, of) in self.region.blocks.iter().enumerate() {
            if let (Some(label), Some(entry)) = (self.structure.labels[block], self.numbers[block]) {
                self.text.open(&format!("case {entry}u: {{"));
                // The frame of the code may be mapped at other addresses, too.
                self.text.open(&format!("if pc != {:#x}lu {{", of.pc));
                self.text.line("return pc;");
                self.text.close("}");
                self.text.line(&format!("next = {label}u;"));
                self.text.line(&format!("pages = {}u;", self.page_bit(of.pc)));
                self.text.close("}");
            }
        }
        self.text.open("default: {");
        self.text.line("return pc;");
        self.text.close("}");
        self.text.close("}");
        self.items(&self.structure.items);
        self.text.line("return pc;");
        self.text.close("}");
    }

    /// Returns the bit of the page of an address, or 0 if the region has too many pages.
    fn page_bit(&self, pc: u64) -> u32 {
        let place = self.pages.iter().position(|page| pc & !PAGE == *page);
        place.and_then(|place| 1u32.checked_shl(place as u32)).unwrap_or(0)
    }

    /// Writes items in their order. Many items are divided into halves, so that few labels are compared on the way to one.
    fn items(&mut self, items: &[Item]) {
        let labelled: Vec<&Item> = items.iter().filter(|item| self.labels(item).is_some()).collect();
        self.halves(&labelled);
    }

    fn halves(&mut self, items: &[&Item]) {
        let (before, behind) = items.split_at(items.len() / 2);
        let [first, last] =
            [behind.first(), behind.last()].map(|item| item.and_then(|item| self.labels(item)));
        if let (Some((first, _)), Some((_, last))) = (first, last)
            && items.len() > ITEMS_MAX
        {
            self.text.open(&format!("if next < {first}u {{"));
            self.halves(before);
            self.text.close("}");
            self.text.open(&format!("if next - {first}u <= {}u {{", last - first));
            self.halves(behind);
            self.text.close("}");
            return;
        }
        for item in items {
            self.item(item);
        }
    }

    /// Returns the lowest and the highest label of an item, or `None` if it is nested in another block.
    fn labels(&self, item: &Item) -> Option<(u32, u32)> {
        match item {
            Item::Block(block) => self.structure.labels[*block].map(|label| (label, label)),
            Item::Loop { first, last, .. } => Some((*first, *last)),
        }
    }

    fn item(&mut self, item: &Item) {
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

    /// Writes a block and those that are nested in it.
    fn block(&mut self, number: usize) {
        let block = &self.region.blocks[number];
        if let Some(steps) = self.checks.steps[number] {
            let has_loops = self.region.blocks.iter().flat_map(|block| &block.ops).any(|op| has_loops(*op));
            // Some drivers cut off long loops. There the lane leaves in time.
            let exhausted = if has_loops { " || is_exhausted()" } else { "" };
            self.text.open(&format!("if budget < {steps}u{exhausted} {{"));
            self.text.line(&format!("return {:#x}lu;", block.pc));
            self.text.close("}");
        }
        let count = block.ops.len();
        self.text.line(&format!("budget -= {count}u;"));
        let places = Places::of(&block.ops, block.pc, self.places);
        self.places += places.count;
        let mut pending: Option<Pending> = None;
        for (index, &op) in block.ops.iter().enumerate() {
            let pc = block.pc.wrapping_add(4 * index as u64);
            let exit = format!("budget += {}u;\nreturn {pc:#x}lu;", count - index);
            let cond = condition_of(op).unwrap_or_default();
            let holds = pending.and_then(|of| of.condition(cond)).unwrap_or_else(|| condition(cond));
            let flags = self.flags(number, index);
            if let Some((look_ups, is_missing)) = places.look_ups.get(&index) {
                self.lines(look_ups);
                self.text.open(&format!("if {is_missing} {{"));
                self.lines(&exit);
                self.text.close("}");
            }
            self.text.open("{");
            let goes_on = if Flow::of(pc, op) == Flow::Next {
                let access = places.access(index);
                let lines = statements(op, &Surroundings { pc, flags, holds: &holds, access });
                self.lines(lines.as_deref().unwrap_or_default());
                lines.is_some()
            } else {
                self.branch(number, pc, op, &holds);
                true
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
            self.go(block.last_pc(), &edge);
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
            let is_told = condition_of(*op).is_some_and(|cond| pending.condition(cond).is_some());
            if effects.reads_flags != 0 && !is_told {
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
            End::Register(_) => self.text.line(&format!("let destination = {};", register(op.a()))),
            End::Either { .. } | End::Always(_) => {}
        }
        if let Some(link) = target(op.dst()) {
            self.text.line(&format!("{link} = {:#x}lu;", pc.wrapping_add(4)));
        }
        match end {
            End::Always(edge) => self.go(pc, edge),
            End::Either { taken, next } => {
                let holds = match handler(op) {
                    Some(Handler::TEST_BRANCH) => {
                        let comparison = if op.operation() == 1 { "!=" } else { "==" };
                        format!("{} {comparison} 0lu", extracted(op))
                    }
                    _ => condition.to_owned(),
                };
                self.text.open(&format!("if {holds} {{"));
                self.go(pc, taken);
                self.text.close("} else {");
                self.text.depth += 1;
                self.go(pc, next);
                self.text.close("}");
            }
            End::Register(candidates) => self.compare(pc, candidates),
        }
    }

    /// Writes how execution goes on at the address `destination`, from the instruction at `pc`.
    fn compare(&mut self, pc: u64, candidates: &[usize]) {
        let known: Vec<(u64, u32, Way)> = candidates
            .iter()
            .filter_map(|to| {
                Some((self.region.blocks[*to].pc, self.structure.labels[*to]?, self.way(pc, *to)?))
            })
            .collect();
        let high = known.first().map_or(0, |(target, ..)| target >> 32);
        // A region has no code so far apart in practice. If it has, lanes leave it there.
        let near = known.iter().filter(|(target, ..)| target >> 32 == high);
        if known.is_empty() {
            self.text.line("return destination;");
            return;
        }
        self.text.open(&format!("if u32(destination >> 32u) != {high:#x}u {{"));
        self.text.line("return destination;");
        self.text.close("}");
        self.text.open("switch u32(destination) {");
        for (target, label, way) in near {
            self.text.open(&format!("case {:#x}u: {{", *target as u32));
            self.unless(way, "return destination;");
            self.text.line(&format!("next = {label}u;"));
            self.text.close("}");
        }
        self.text.open("default: {");
        self.text.line("return destination;");
        self.text.close("}");
        self.text.close("}");
    }

    /// Writes the statements on a way, or those that leave the region if the lane has other code there.
    fn unless(&mut self, way: &Way, leave: &str) {
        if !way.holds.is_empty() {
            self.text.open(&format!("if !{} {{", way.holds));
            self.text.line(leave);
            self.text.close("}");
            self.lines(&way.then);
        }
    }

    /// Writes how execution goes on at an edge from the instruction at `pc`.
    fn go(&mut self, pc: u64, edge: &Edge) {
        let Some((block, way)) = edge.block.and_then(|block| Some((block, self.way(pc, block)?))) else {
            self.text.line(&format!("return {:#x}lu;", edge.pc));
            return;
        };
        self.unless(&way, &format!("return {:#x}lu;", edge.pc));
        match self.structure.labels[block] {
            Some(label) => self.text.line(&format!("next = {label}u;")),
            None => self.block(block),
        }
    }

    /// Returns the way from the instruction at `pc` to a block, or `None` if lanes have to leave the region.
    fn way(&self, pc: u64, to: usize) -> Option<Way> {
        let target = self.region.blocks[to].pc;
        if target & !PAGE == pc & !PAGE {
            return Some(Way::default());
        }
        let number = self.numbers[to].filter(|_| target >> ADDRESS_BITS == 0)?;
        let bit = Some(self.page_bit(target)).filter(|bit| *bit != 0)?;
        let holds = format!("((pages & {bit}u) != 0u || is_at_hand({target:#x}lu, {number}u))");
        Some(Way { holds, then: format!("pages |= {bit}u;") })
    }
}

/// A way to a block. In another page, the lane may have other code.
#[derive(Debug, Default)]
struct Way {
    /// The condition under which the lane has the code; empty if it has.
    holds: String,
    /// The statements on the way.
    then: String,
}
