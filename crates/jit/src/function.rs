//! Translates a region to a function.

use std::collections::BTreeMap;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as HostBlock, InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;
use kvrm_arm64::micro_op::{Handler, MicroOp, SP, ZERO};
use kvrm_arm64::vector_op::{
    ARRANGED_JAVASCRIPT, FLOAT_CONDITIONAL_FLAGS, FLOAT_FLAGS, FLOAT_TO_GENERAL, MOVE_SELECT, MOVE_SMOV,
    MOVE_TO_GENERAL, MOVE_TO_GENERAL_HALF, MOVE_TO_GENERAL_HIGH, MOVE_UMOV,
};

use crate::emitter::{Emitter, Place};
use crate::flags::Flags;
use crate::frame::{Frame, Helpers};
use crate::region::{Block, End, Region};
use crate::{access, elements, float, integer, vector};

/// Generates the function of a region.
pub(crate) fn translate<'a>(builder: FunctionBuilder<'a>, helpers: Helpers, region: &Region) -> Frame<'a> {
    let (frame, fuel) = Frame::new(builder, helpers);
    let emitter = Emitter::new(frame, fuel, region.entry);
    let mut translation = Translation { e: emitter, region, roots: BTreeMap::new(), left: Vec::new() };
    translation.edge(region.entry);
    while let Some((place, block)) = translation.left.pop() {
        translation.e.frame.b.switch_to_block(block);
        translation.e.at = place;
        translation.block();
    }
    translation.e.frame.finish();
    translation.e.frame.b.seal_all_blocks();
    translation.e.frame
}

struct Translation<'a, 'r> {
    e: Emitter<'a>,
    region: &'r Region,
    /// The host's blocks of the roots that have been reached.
    roots: BTreeMap<u64, HostBlock>,
    /// The blocks that are reached but not translated yet.
    left: Vec<(Place, HostBlock)>,
}

impl Translation<'_, '_> {
    /// Translates the block at the place of the emitter.
    fn block(&mut self) {
        let block = &self.region.blocks[&self.e.at.pc];
        let (last, before) =
            block.ops.split_last().unwrap_or_else(|| unreachable!("blocks have instructions"));
        for op in before {
            instruction(&mut self.e, *op);
            self.advance();
        }
        let handler = Handler::of(*last);
        match (block.end, handler) {
            (End::Fork { taken, next }, _) => self.fork(*last, handler, taken, next),
            (End::Indirect, _) => {
                let target = self.e.register(last.a());
                self.link(*last);
                self.e.store_state();
                let fuel = self.e.fuel(1);
                self.e.frame.go_to(target, fuel);
            }
            (End::Next(next), Handler::BRANCH) => {
                self.link(*last);
                self.e.at.steps += 1;
                self.edge(next);
            }
            (End::Next(next), _) => {
                instruction(&mut self.e, *last);
                self.e.at.steps += 1;
                self.edge(next);
            }
        }
    }

    /// Goes to the next instruction of the block.
    const fn advance(&mut self) {
        self.e.at.pc = self.e.at.pc.wrapping_add(4);
        self.e.at.steps += 1;
    }

    /// Writes the return address of a call.
    fn link(&mut self, op: MicroOp) {
        let address = self.e.frame.constant(self.e.at.pc.wrapping_add(4));
        self.e.set_register(op.dst(), address);
    }

    /// Translates a conditional branch.
    fn fork(&mut self, op: MicroOp, handler: Handler, taken: u64, next: u64) {
        let holds = if handler == Handler::BRANCH {
            self.e.flags().condition(&mut self.e.frame, op.cond())
        } else {
            self.test(op)
        };
        let [then, otherwise] = [self.e.frame.b.create_block(), self.e.frame.b.create_block()];
        self.e.frame.b.ins().brif(holds, then, &[], otherwise, &[]);
        self.e.at.steps += 1;
        let place = self.e.at;
        for (block, target) in [(then, taken), (otherwise, next)] {
            self.e.frame.begin(block);
            self.e.at = place;
            self.edge(target);
        }
    }

    /// Returns whether a test-and-branch instruction branches.
    fn test(&mut self, op: MicroOp) -> Value {
        let relation = if op.operation() == 1 { IntCC::NotEqual } else { IntCC::Equal };
        // The extraction is of the low word, of one bit, or of everything.
        let value = match (op.left(), op.right()) {
            (32, 32) => self.e.register_as(op.b(), types::I32),
            (left, 63) => {
                let value = self.e.register(op.b());
                self.e.frame.b.ins().band_imm_u(value, (1_u64 << (63 - left)).cast_signed())
            }
            _ => self.e.register(op.b()),
        };
        self.e.frame.b.ins().icmp_imm_s(relation, value, 0)
    }

    /// Goes on at an instruction, in this region or in another. Ends the host's block.
    fn edge(&mut self, pc: u64) {
        let Some(block) = self.region.blocks.get(&pc) else {
            self.e.store_state();
            let (fuel, pc) = (self.e.fuel(0), self.e.frame.constant(pc));
            self.e.frame.go_to(pc, fuel);
            return;
        };
        self.e.at.pc = pc;
        if !block.is_root {
            let inner = self.e.frame.b.create_block();
            self.e.frame.b.ins().jump(inner, &[]);
            self.e.frame.b.seal_block(inner);
            self.left.push((self.e.at, inner));
            return;
        }
        self.e.store_registers();
        let flags = if sets_flags_first(block) {
            Flags::Unneeded
        } else {
            self.e.store_flags();
            Flags::Stored
        };
        let fuel = self.e.fuel(0);
        if let Some(need) = block.check {
            let short = self.e.frame.b.ins().icmp_imm_s(IntCC::SignedLessThan, fuel, need.cast_signed());
            self.e.leave_if(short);
        }
        self.e.set_fuel(fuel);
        self.e.read_registers(block.loop_registers);
        let root = match self.roots.get(&pc) {
            Some(root) => *root,
            None => {
                let root = self.e.frame.b.create_block();
                self.roots.insert(pc, root);
                self.left.push((Place::root(pc, flags, block.loop_registers), root));
                root
            }
        };
        self.e.frame.b.ins().jump(root, &[]);
    }
}

/// Returns whether a block sets the flags before anything can need them.
fn sets_flags_first(block: &Block) -> bool {
    for op in &block.ops {
        match Handler::of(*op) {
            Handler::ADD if op.carry() == 2 => return false,
            Handler::ADD | Handler::AND if op.flags() == 1 => return true,
            Handler::ADD
            | Handler::AND
            | Handler::ORR
            | Handler::EOR
            | Handler::BIT_FIELD_INSERT
            | Handler::EXTRACT
            | Handler::SHIFT
            | Handler::MULTIPLY_ADD
            | Handler::MULTIPLY_ADD_LONG
            | Handler::MULTIPLY_HIGH
            | Handler::PC_RELATIVE
            | Handler::NOP => {}
            _ => return false,
        }
    }
    false
}

/// Translates an instruction that is not a branch.
fn instruction(e: &mut Emitter<'_>, op: MicroOp) {
    let handler = Handler::of(op);
    let is_done = match handler {
        Handler::VECTOR_MOVE => vector::emit_move(e, op),
        Handler::VECTOR_PERMUTE => elements::emit_permutation(e, op),
        Handler::VECTOR_INTEGER => elements::emit(e, op) || float::change_sign(e, op),
        Handler::VECTOR_FLOAT => float::emit(e, op),
        _ => integer::emit(e, handler, op) || access::emit(e, handler, op),
    };
    if is_done {
        return;
    }
    let flags = match handler {
        Handler::WRITE_SYSTEM => op.operation() == 0,
        Handler::MANIPULATE_FLAGS => true,
        Handler::VECTOR_MOVE => op.operation() == MOVE_SELECT,
        Handler::VECTOR_FLOAT => {
            [FLOAT_FLAGS, FLOAT_CONDITIONAL_FLAGS].contains(&op.form())
                || op.arrangement() == ARRANGED_JAVASCRIPT
        }
        _ => false,
    };
    e.interpret(flags, &changed(handler, op));
}

/// Returns the general registers that an instruction may change which has no translation of its own. More do no harm.
fn changed(handler: Handler, op: MicroOp) -> Vec<u32> {
    let (base, dst) = (op.a(), op.dst());
    match handler {
        Handler::VECTOR_MOVE => {
            let to_general =
                [MOVE_UMOV, MOVE_SMOV, MOVE_TO_GENERAL, MOVE_TO_GENERAL_HALF, MOVE_TO_GENERAL_HIGH];
            if to_general.contains(&op.operation()) { vec![dst] } else { Vec::new() }
        }
        Handler::VECTOR_FLOAT if op.form() == FLOAT_TO_GENERAL => vec![dst],
        Handler::VECTOR_FLOAT
        | Handler::VECTOR_PERMUTE
        | Handler::VECTOR_INTEGER
        | Handler::VECTOR_CRYPTO => Vec::new(),
        Handler::VECTOR_LOAD_STRUCTURES | Handler::VECTOR_STORE_STRUCTURES => {
            vec![if base == ZERO { SP } else { base }]
        }
        // Pairs are in consecutive registers, or in the third one.
        _ if dst < ZERO => vec![dst, dst + 1, op.c()],
        _ => vec![dst, op.c()],
    }
}
