//! Loads and stores: through the TLB of the lane, or by helpers.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, MemFlagsData, Type, Value, types};
use kvrm_arm64::Cpu;
use kvrm_arm64::micro_op::{Handler, INDEX_LITERAL, INDEX_OFFSET, INDEX_POST, MicroOp};
use kvrm_machine::AddressSpace;
use std::mem::offset_of;

use crate::emitter::{Emitter, offset};
use crate::frame::Frame;
use crate::integer::second;

/// Translates a load or store, and returns whether the instruction is one.
pub(crate) fn emit(e: &mut Emitter<'_>, handler: Handler, op: MicroOp) -> bool {
    match handler {
        Handler::LOAD | Handler::LOAD_LITERAL => load(e, handler, op),
        Handler::STORE => store(e, op),
        Handler::VECTOR_LOAD => load_vectors(e, op),
        Handler::VECTOR_STORE => store_vectors(e, op),
        _ => return false,
    }
    true
}

/// The address of an access, and the new value of the base register if it changes.
struct Target {
    address: Value,
    base: Option<Value>,
    /// The bytes of one register.
    size: u64,
    /// The bytes of the access.
    bytes: u64,
}

fn target(e: &mut Emitter<'_>, op: MicroOp, is_literal: bool) -> Target {
    let size = 1 << op.size();
    let bytes = size << op.pair();
    if is_literal {
        let address = e.frame.constant(e.at.pc.wrapping_add(op.imm));
        return Target { address, base: None, size, bytes };
    }
    let (a, b) = (e.register(op.a()), second(e, op, types::I64));
    let sum = e.frame.b.ins().iadd(a, b);
    match op.index() {
        INDEX_OFFSET => Target { address: sum, base: None, size, bytes },
        INDEX_POST => Target { address: a, base: Some(sum), size, bytes },
        _ => Target { address: sum, base: Some(sum), size, bytes },
    }
}

/// Leaves the region before this instruction if it needs another alignment.
fn check_alignment(e: &mut Emitter<'_>, op: MicroOp, target: &Target) {
    if op.aligned() == 1 && target.bytes > 1 {
        let low = e.frame.b.ins().band_imm_u(target.address, (target.bytes - 1).cast_signed());
        e.leave_if(low);
    }
}

/// Returns the entry of the TLB for an address, and whether it serves all bytes. `field` is the offset of the page number
/// of the kind of access.
fn look_up(frame: &mut Frame<'_>, target: &Target, field: usize) -> (Value, Value) {
    let layout = AddressSpace::TLB;
    let shift = 12 - layout.entry_bytes.trailing_zeros();
    let mask = (layout.entries - 1) * layout.entry_bytes;
    let number = frame.b.ins().ushr_imm_u(target.address, i64::from(shift));
    let number = frame.b.ins().band_imm_u(number, mask as i64);
    let entry = frame.b.ins().iadd(frame.memory, number);
    // If the last byte is in another page, that page has another entry, so this one does not match.
    let last = match target.bytes {
        1 => target.address,
        bytes => frame.b.ins().iadd_imm_u(target.address, bytes.cast_signed() - 1),
    };
    let page = frame.b.ins().ushr_imm_u(last, 12);
    let known = frame.load_tlb(entry, layout.offset + field);
    let hit = frame.compare(IntCC::Equal, known, page);
    (entry, hit)
}

/// Returns the host's address of a byte whose page is in an entry of the TLB.
fn host_address(frame: &mut Frame<'_>, entry: Value, address: Value) -> Value {
    let addend = frame.load_tlb(entry, AddressSpace::TLB.offset + AddressSpace::TLB.addend);
    frame.b.ins().iadd(address, addend)
}

/// Returns the host's address of the bytes to load, which is that of the buffer if the TLB does not have the page.
fn source(e: &mut Emitter<'_>, op: MicroOp, target: &Target) -> Value {
    e.store_state();
    check_alignment(e, op, target);
    let (entry, hit) = look_up(&mut e.frame, target, AddressSpace::TLB.read);
    // If the TLB does not have the page, this is not the address of anything, and not used.
    let address = host_address(&mut e.frame, entry, target.address);
    let [slow, done] = [(); 2].map(|()| e.frame.b.create_block());
    let host = e.frame.b.append_block_param(done, types::I64);
    e.frame.b.ins().brif(hit, done, &[BlockArg::Value(address)], slow, &[]);
    e.frame.b.set_cold_block(slow);
    e.frame.begin(slow);
    let bytes = e.frame.constant(target.bytes);
    e.call(e.frame.helpers.read, target.address, bytes);
    e.go_on_if_told(done, true);
    e.frame.begin(done);
    host
}

/// Stores values to memory of the guest. They follow each other there.
fn store_values(e: &mut Emitter<'_>, op: MicroOp, target: &Target, values: &[Value]) {
    e.store_state();
    check_alignment(e, op, target);
    let (entry, hit) = look_up(&mut e.frame, target, AddressSpace::TLB.write);
    let [fast, slow, done] = [(); 3].map(|()| e.frame.b.create_block());
    e.frame.b.ins().brif(hit, fast, &[], slow, &[]);
    e.frame.b.set_cold_block(slow);
    e.frame.begin(slow);
    let flags = e.frame.guest();
    let to = |e: &mut Emitter<'_>, address: Value, offset: i32| {
        let mut offset = offset;
        for value in values {
            e.frame.b.ins().store(flags, *value, address, offset);
            offset += crate::flags::type_of(&e.frame, *value).bytes().cast_signed();
        }
    };
    to(e, e.frame.context, e.frame.offsets.buffer);
    let bytes = e.frame.constant(target.bytes);
    e.call(e.frame.helpers.write, target.address, bytes);
    match target.base {
        Some(base) => leave_or_write_back(e, op, base, done),
        None => e.go_on_if_told(done, false),
    }
    e.frame.begin(fast);
    let address = host_address(&mut e.frame, entry, target.address);
    to(e, address, 0);
    e.frame.b.ins().jump(done, &[]);
    e.frame.begin(done);
    if let Some(base) = target.base {
        e.set_register(op.a(), base);
    }
}

/// Goes on in `done` after the helper that stores, or leaves the code. If the instruction has retired then, it has
/// changed its base register, too.
fn leave_or_write_back(e: &mut Emitter<'_>, op: MicroOp, base: Value, done: Block) {
    let leave = e.frame.b.create_block();
    let answer = e.frame.load_context(e.frame.offsets.answer);
    e.frame.b.ins().brif(answer, done, &[], leave, &[]);
    e.frame.b.set_cold_block(leave);
    e.frame.begin(leave);
    let retired = e.frame.load_context(e.frame.offsets.retired);
    let is_complete = e.frame.b.ins().icmp_imm_u(IntCC::NotEqual, retired, e.at.steps.cast_signed());
    let old = e.register(op.a());
    let base = e.frame.b.ins().select(is_complete, base, old);
    e.frame.store_cpu(base, offset(op.a()));
    let fuel = e.fuel_at_check();
    e.frame.leave_as_told(fuel);
}

/// Loads a value of `size` bytes and extends it as the instruction says.
fn load_value(e: &mut Emitter<'_>, op: MicroOp, host: Value, offset: i32) -> Value {
    let flags = e.frame.guest();
    let ins = e.frame.b.ins();
    let narrow = types::I32;
    match (op.size(), op.extend()) {
        (0, 0) => ins.uload8(types::I64, flags, host, offset),
        (0, 1) => ins.sload8(narrow, flags, host, offset),
        (0, _) => ins.sload8(types::I64, flags, host, offset),
        (1, 0) => ins.uload16(types::I64, flags, host, offset),
        (1, 1) => ins.sload16(narrow, flags, host, offset),
        (1, _) => ins.sload16(types::I64, flags, host, offset),
        (2, 0 | 1) => ins.uload32(flags, host, offset),
        (2, _) => ins.sload32(flags, host, offset),
        _ => ins.load(types::I64, flags, host, offset),
    }
}

fn load(e: &mut Emitter<'_>, handler: Handler, op: MicroOp) {
    let target = target(e, op, handler == Handler::LOAD_LITERAL);
    let host = source(e, op, &target);
    let first = load_value(e, op, host, 0);
    // The last write to a register wins: the base, then the first register, then the second.
    if op.pair() == 1 {
        let second = load_value(e, op, host, target.size as i32);
        e.set_register(op.c(), second);
    }
    e.set_register(op.dst(), first);
    if let Some(base) = target.base {
        e.set_register(op.a(), base);
    }
}

fn store(e: &mut Emitter<'_>, op: MicroOp) {
    let target = target(e, op, false);
    let of = match target.size {
        1 => types::I8,
        2 => types::I16,
        4 => types::I32,
        _ => types::I64,
    };
    let first = e.register_as(op.c(), of);
    if op.pair() == 1 {
        let second = e.register_as(op.dst(), of);
        store_values(e, op, &target, &[first, second]);
    } else {
        store_values(e, op, &target, &[first]);
    }
}

/// Returns the types of the parts of a vector register that an access transfers.
const fn parts(size: u64) -> &'static [Type] {
    match size {
        1 => &[types::I8],
        2 => &[types::I16],
        4 => &[types::I32],
        8 => &[types::I64],
        _ => &[types::I8X16],
    }
}

/// Returns the offset of a vector register in [`Cpu`].
pub(crate) const fn vector_offset(register: u32) -> usize {
    offset_of!(Cpu, v) + 16 * register as usize
}

fn load_vectors(e: &mut Emitter<'_>, op: MicroOp) {
    let target = target(e, op, op.index() == INDEX_LITERAL);
    let host = source(e, op, &target);
    // If both registers of a pair are the same, the second value wins, unlike that of general registers.
    let registers: &[(u32, u64)] =
        if op.pair() == 1 { &[(op.dst(), 0), (op.c(), 1)] } else { &[(op.dst(), 0)] };
    let flags: MemFlagsData = e.frame.guest();
    for (register, place) in registers {
        let at = (place * target.size) as i32;
        let to = vector_offset(*register);
        let part = parts(target.size)[0];
        let value = e.frame.b.ins().load(part, flags, host, at);
        if part == types::I8X16 {
            e.frame.store_cpu(value, to);
        } else {
            let value = if part == types::I64 { value } else { e.frame.b.ins().uextend(types::I64, value) };
            let zero = e.frame.constant(0);
            e.frame.store_cpu(value, to);
            e.frame.store_cpu(zero, to + 8);
        }
    }
    if let Some(base) = target.base {
        e.set_register(op.a(), base);
    }
}

fn store_vectors(e: &mut Emitter<'_>, op: MicroOp) {
    let target = target(e, op, false);
    let part = parts(target.size)[0];
    let first = e.frame.load_cpu(part, vector_offset(op.c()));
    if op.pair() == 1 {
        let second = e.frame.load_cpu(part, vector_offset(op.dst()));
        store_values(e, op, &target, &[first, second]);
    } else {
        store_values(e, op, &target, &[first]);
    }
}
