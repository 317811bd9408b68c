//! The function that is being generated: its builder, its parameters, and accesses to what they point to.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, AliasRegion, AliasRegionData, Block, InstBuilder, MemFlagsData, SigRef, Signature, Type, Value,
    types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use std::mem::offset_of;

use kvrm_arm64::Cpu;

use crate::context::{Offsets, offsets};

/// The addresses of the functions that translated code calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Helpers {
    /// Reads memory into the buffer: context, site, address, bytes.
    pub(crate) read: u64,
    /// Writes the buffer to memory: context, site, address, bytes.
    pub(crate) write: u64,
    /// Executes one instruction as the reference does: context, site.
    pub(crate) execute: u64,
    /// Computes the flags: context.
    pub(crate) flags: u64,
}

/// The function that is being generated.
pub(crate) struct Frame<'a> {
    pub(crate) b: FunctionBuilder<'a>,
    /// The address of the [`Context`](crate::context::Context).
    pub(crate) context: Value,
    /// The address of the [`Cpu`].
    pub(crate) cpu: Value,
    /// The address of the [`AddressSpace`](kvrm_machine::AddressSpace).
    pub(crate) memory: Value,
    pub(crate) offsets: Offsets,
    pub(crate) helpers: Helpers,
    state: MemFlagsData,
    tlb: MemFlagsData,
    guest: MemFlagsData,
    helper: SigRef,
    region: SigRef,
    /// The blocks in which all paths out of the function meet, see [`Frame::finish`].
    exits: Exits,
}

/// The ways out of a function. The state of the lane is in memory.
#[derive(Clone, Copy, Debug)]
struct Exits {
    /// To the code of a pc, if there is some: pc and fuel.
    onward: Block,
    /// To the runner of the lane: pc and fuel.
    out: Block,
    /// To the runner of the lane, after a helper said so: the fuel at the last check.
    left: Block,
}

/// Returns the signature of translated regions: context, registers, memory and fuel; it returns the fuel that is left.
pub(crate) fn region_signature() -> Signature {
    let mut signature = Signature::new(CallConv::Tail);
    signature.params.extend([AbiParam::new(types::I64); 4]);
    signature.returns.push(AbiParam::new(types::I64));
    signature
}

/// Returns the signature of the functions that call helpers. They keep all registers, so that the rare calls do not
/// make the usual path slower.
pub(crate) fn helper_signature() -> Signature {
    let mut signature = Signature::new(CallConv::PreserveAll);
    signature.params.extend([AbiParam::new(types::I64); 4]);
    signature
}

impl<'a> Frame<'a> {
    /// Begins a function with the signature of regions. Returns it with its fuel.
    pub(crate) fn new(mut b: FunctionBuilder<'a>, helpers: Helpers) -> (Self, Value) {
        let start = b.create_block();
        b.append_block_params_for_function_params(start);
        b.switch_to_block(start);
        b.seal_block(start);
        let [context, cpu, memory, fuel] = *b.block_params(start) else {
            unreachable!("regions have four parameters")
        };
        let mut alias = |user_id, description: &'static str| -> Option<AliasRegion> {
            let data = AliasRegionData { user_id, description: description.into() };
            Some(b.func.dfg.alias_regions.insert(data))
        };
        let trusted = MemFlagsData::trusted();
        let state = trusted.with_alias_region(alias(0, "state"));
        let tlb = trusted.with_alias_region(alias(1, "tlb"));
        let guest = MemFlagsData::new().with_notrap().with_alias_region(alias(2, "guest"));
        let helper = b.import_signature(helper_signature());
        let region = b.import_signature(region_signature());
        let offsets = offsets();
        let [onward, out, left] = [2, 2, 1].map(|parameters| {
            let block = b.create_block();
            for _ in 0..parameters {
                b.append_block_param(block, types::I64);
            }
            block
        });
        let exits = Exits { onward, out, left };
        (Self { b, context, cpu, memory, offsets, helpers, state, tlb, guest, helper, region, exits }, fuel)
    }

    /// Returns a constant of 64 bits.
    pub(crate) fn constant(&mut self, value: u64) -> Value {
        self.b.ins().iconst(types::I64, value.cast_signed())
    }

    /// Returns a constant of a type, or a vector of it.
    pub(crate) fn constant_of(&mut self, of: Type, value: u64) -> Value {
        if of.is_vector() {
            let element = self.constant_of(of.lane_type(), value);
            return self.b.ins().splat(of, element);
        }
        let value = if of == types::I32 { i64::from(value as u32) } else { value.cast_signed() };
        self.b.ins().iconst(of, value)
    }

    pub(crate) fn load_context(&mut self, offset: i32) -> Value {
        self.b.ins().load(types::I64, self.state, self.context, offset)
    }

    pub(crate) fn store_context(&mut self, value: Value, offset: i32) {
        self.b.ins().store(self.state, value, self.context, offset);
    }

    pub(crate) fn load_cpu(&mut self, of: Type, offset: usize) -> Value {
        self.b.ins().load(of, self.state, self.cpu, offset as i32)
    }

    pub(crate) fn store_cpu(&mut self, value: Value, offset: usize) {
        self.b.ins().store(self.state, value, self.cpu, offset as i32);
    }

    /// Loads a field of a TLB entry.
    pub(crate) fn load_tlb(&mut self, entry: Value, offset: usize) -> Value {
        self.b.ins().load(types::I64, self.tlb, entry, offset as i32)
    }

    /// Returns the flags for accesses to memory of the guest.
    pub(crate) const fn guest(&self) -> MemFlagsData {
        self.guest
    }

    /// Returns the flags of the lane as a number of 64 bits, after they have been stored.
    pub(crate) fn stored_nzcv(&mut self) -> Value {
        let kind = self.load_context(self.offsets.flags);
        let [compute, done] = [self.b.create_block(), self.b.create_block()];
        self.b.ins().brif(kind, compute, &[], done, &[]);
        self.b.set_cold_block(compute);
        self.begin(compute);
        let zero = self.constant(0);
        self.call(self.helpers.flags, [zero; 3]);
        self.b.ins().jump(done, &[]);
        self.begin(done);
        let nzcv = self.load_cpu(types::I32, offset_of!(Cpu, nzcv));
        self.b.ins().uextend(types::I64, nzcv)
    }

    /// Goes on in a block all of whose predecessors are known.
    pub(crate) fn begin(&mut self, block: Block) {
        self.b.seal_block(block);
        self.b.switch_to_block(block);
    }

    /// Calls a helper.
    pub(crate) fn call(&mut self, helper: u64, [a, b, c]: [Value; 3]) {
        let helper = self.constant(helper);
        self.b.ins().call_indirect(self.helper, helper, &[self.context, a, b, c]);
    }

    /// Returns whether two values are related.
    pub(crate) fn compare(&mut self, relation: IntCC, a: Value, b: Value) -> Value {
        self.b.ins().icmp(relation, a, b)
    }

    /// Leaves the function for the code of `pc`, if there is some, else returns. The state of the lane is in memory.
    pub(crate) fn go_to(&mut self, pc: Value, fuel: Value) {
        self.b.ins().jump(self.exits.onward, &[pc.into(), fuel.into()]);
    }

    /// Returns from the function at an instruction. The state of the lane is in memory, except for the pc.
    pub(crate) fn return_at(&mut self, pc: Value, fuel: Value) {
        self.b.ins().jump(self.exits.out, &[pc.into(), fuel.into()]);
    }

    /// Goes on in `next` with the answer of the helper that was called last, if it takes one, unless that says that the
    /// code has to be left. `fuel` is that at the last check.
    pub(crate) fn go_on_if_told(&mut self, next: Block, takes_answer: bool, fuel: Value) {
        let answer = self.load_context(self.offsets.answer);
        let arguments = [answer.into()];
        let arguments = if takes_answer { &arguments[..] } else { &[] };
        self.b.ins().brif(answer, next, arguments, self.exits.left, &[fuel.into()]);
    }

    /// Leaves the code because the helper that was called last said so. `fuel` is that at the last check.
    pub(crate) fn leave_as_told(&mut self, fuel: Value) {
        self.b.ins().jump(self.exits.left, &[fuel.into()]);
    }

    /// Generates the exits. Each is generated once, because they would be most of the code otherwise.
    pub(crate) fn finish(&mut self) {
        let Exits { onward, out, left } = self.exits;
        self.b.switch_to_block(onward);
        let [pc, fuel] = *self.b.block_params(onward) else { unreachable!("it has two parameters") };
        let (table, mask) = (self.load_context(self.offsets.table), self.load_context(self.offsets.mask));
        let number = self.b.ins().ushr_imm_u(pc, 2);
        let number = self.b.ins().band(number, mask);
        let offset = self.b.ins().ishl_imm_u(number, 3);
        let slot = self.b.ins().iadd(table, offset);
        let entry = self.b.ins().load(types::I64, self.tlb, slot, 0);
        let found = self.b.ins().load(types::I64, self.tlb, entry, 0);
        let is_there = self.compare(IntCC::Equal, found, pc);
        let there = self.b.create_block();
        self.b.ins().brif(is_there, there, &[], out, &[pc.into(), fuel.into()]);
        self.begin(there);
        let code = self.b.ins().load(types::I64, self.tlb, entry, 8);
        let arguments = [self.context, self.cpu, self.memory, fuel];
        self.b.ins().return_call_indirect(self.region, code, &arguments);

        self.b.switch_to_block(out);
        self.b.set_cold_block(out);
        let [pc, fuel] = *self.b.block_params(out) else { unreachable!("it has two parameters") };
        self.store_cpu(pc, offset_of!(Cpu, pc));
        self.b.ins().return_(&[fuel]);

        self.b.switch_to_block(left);
        self.b.set_cold_block(left);
        let fuel = self.b.block_params(left)[0];
        let retired = self.load_context(self.offsets.retired);
        let fuel = self.b.ins().isub(fuel, retired);
        self.b.ins().return_(&[fuel]);
    }
}
