//! The substitute for `transfers.wgsl` in interpreters without instructions on SIMD registers. Its functions are never
//! called.

/// Returns the number of bytes that an instruction accesses.
fn transferred_bytes(op: vec4<u32>) -> u32 {
    return 1u;
}

/// Loads registers from memory that begins at an offset in the frame `first` and continues in the frame `second`.
fn load_registers(op: vec4<u32>, first: u32, second: u32, offset: u32) {}

/// Stores registers to memory that begins at an offset in the frame `first` and continues in the frame `second`.
fn store_registers(op: vec4<u32>, first: u32, second: u32, offset: u32) {}

/// Executes a load or store of one register or a pair, at the address `pc`, if the TLB has the page. Returns whether it
/// did.
fn transfer_at_hand(op: vec4<u32>, pc: u64) -> bool {
    return false;
}
