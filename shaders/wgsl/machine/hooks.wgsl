//! Hooks: the addresses and system calls at which lanes stop for the host.
//!
//! Pages with hooks stay out of the TLBs, so every access to them takes the slow path, which looks for the hook.

import package::machine::layout::{ACCESS_EXECUTE, ACCESS_READ, ACCESS_WRITE, HOOK_KIND, TLB_READ, TLB_WRITE};
import package::machine::memory::{
    NO_OPS, PAGE_MASK, code_page, data_set, effort, near_ops, replace_code_set, replace_data_set,
};

/// The ranges of hooks, disjoint and in ascending order: the first key of each, and the key after its last. A key is an
/// address or a call number, with the kind of the hook from bit `HOOK_KIND` on. The last range is above all keys.
@group(1) @binding(0) var<storage, read> hooks: array<u64>;

/// Whether this module has hooks.
const HAS_HOOKS = true;
/// Result of `find_hook`: there is no hook.
const NOT_HOOKED = 0xfffffffffffffffflu;

/// Returns the first hooked address or call number among the `count` from `first` on, or `NOT_HOOKED`. `kind` is
/// `ACCESS_*` or `HOOK_CALL`.
fn find_hook(kind: u32, first: u64, count: u32) -> u64 {
    let base = u64(kind) << HOOK_KIND;
    // Search for the first range that ends after `first`.
    var low = 0u;
    var high = arrayLength(&hooks) / 2u - 1u;
    while low < high {
        let middle = (low + high) / 2u;
        if hooks[2u * middle + 1u] > base + first {
            high = middle;
        } else {
            low = middle + 1u;
        }
        effort += 1u;
    }
    let start = hooks[2u * low];
    if start >= base + first + u64(count) {
        return NOT_HOOKED;
    }
    return max(start, base + first) - base;
}

/// Removes the page of an address from the TLBs for the kinds of access that have hooks in the page.
///
/// Without `near_ops`, `code_ops` still leads to the next micro-op, and the step after it translates again.
fn forget_hooked(address: u64) {
    let page = address & ~PAGE_MASK;
    let number = u32(address >> 12u);
    // The page that was translated last is in the first entry.
    var entries = data_set(number);
    if find_hook(ACCESS_READ, page, 4096u) != NOT_HOOKED {
        entries.x &= ~TLB_READ;
    }
    if find_hook(ACCESS_WRITE, page, 4096u) != NOT_HOOKED {
        entries.x &= ~TLB_WRITE;
    }
    replace_data_set(number, entries);
    if code_page == page && find_hook(ACCESS_EXECUTE, page, 4096u) != NOT_HOOKED {
        replace_code_set(number, vec4<u32>());
        near_ops = NO_OPS;
    }
}
