//! The substitute for `hooks.wgsl` in interpreters of machines without hooks.

/// Whether this module has hooks.
const HAS_HOOKS = false;
/// Result of `find_hook`: there is no hook.
const NOT_HOOKED = 0xfffffffffffffffflu;

/// Finds nothing.
fn find_hook(kind: u32, first: u64, count: u32) -> u64 {
    return NOT_HOOKED;
}

/// Changes nothing.
fn forget_hooked(address: u64) {
}
