//! In the place of `transfers.wgsl`, where programs use no SIMD registers: nothing of this is ever called.

/// How many bytes are accessed.
fn transferred_bytes(op: vec4<u32>) -> u32 {
    return 1u;
}

/// Loads registers from an offset in the frame `first` on, which goes on in the frame `second`.
fn load_registers(op: vec4<u32>, first: u32, second: u32, offset: u32) {}

/// Stores registers there.
fn store_registers(op: vec4<u32>, first: u32, second: u32, offset: u32) {}
