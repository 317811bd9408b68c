//! Flags that are computed when they are needed.
//!
//! Most flags are read by one branch behind the instruction that sets them, and by exits. Then the operands are kept
//! instead of the flags: the branch compares these, and the flags are computed if the lane leaves before others are set.

use kvrm_arm64::micro_op::{CARRY_FLAG, Handler, MicroOp};

use crate::effects::handler;

/// The variables, and the function that computes flags from them.
pub(super) const PRELUDE: &str = "
/// How flags follow from the operands: 0 if they are in `flags`; 1 to 4 for a sum, 1 and 2 of 64 bits, 2 and 4 with a
/// carry; 5 and 6 for a logical operation, 5 of 64 bits.
var<private> pending: u32;
var<private> pending_a: u64;
var<private> pending_b: u64;

/// Computes the flags if they are pending.
fn settle_flags() {
    if pending >= 5u {
        flags = nz(pending_a, pending == 5u);
    } else if pending != 0u {
        let wide = pending <= 2u;
        let carry = (pending - 1u) & 1u;
        let sum = pending_a + pending_b + u64(carry);
        let value = select(sum & 0xfffffffflu, sum, wide);
        flags = nz(value, wide) | cv(pending_a, pending_b, sum, wide);
    }
    pending = 0u;
}
";

/// How flags follow from operands that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pending {
    is_logical: bool,
    carry: u32,
    wide: bool,
}

impl Pending {
    /// Returns how the flags of a micro-op that sets them follow from its operands; `None` if they follow from other
    /// flags, too.
    pub(super) fn of(op: MicroOp) -> Option<Self> {
        let is_logical = match handler(op) {
            Some(Handler::ADD) if op.carry() != CARRY_FLAG => false,
            Some(Handler::AND | Handler::ORR | Handler::EOR) => true,
            _ => return None,
        };
        (op.flags() == 1).then_some(Self { is_logical, carry: op.carry(), wide: op.wide() == 1 })
    }

    /// Returns the statements that keep the operands, which are in `value`, or in `a` and `b`.
    pub(super) fn keep(self) -> String {
        let narrow = u32::from(!self.wide);
        if self.is_logical {
            return format!("pending_a = value;\npending = {}u;\n", 5 + narrow);
        }
        format!("pending_a = a;\npending_b = b;\npending = {}u;\n", 1 + self.carry + 2 * narrow)
    }

    /// Returns whether a condition holds, from the operands; `None` if only the flags tell.
    pub(super) fn condition(self, cond: u32) -> Option<String> {
        let (number, signed) = if self.wide { ("", "i64") } else { ("u32", "i32") };
        let of = |value: &str| format!("{signed}({number}({value}))");
        let holds = if self.is_logical {
            match cond >> 1 {
                0 => "pending_a == 0lu".to_owned(),
                2 => format!("{} < 0", of("pending_a")),
                5 => format!("{} >= 0", of("pending_a")),
                6 => format!("{} > 0", of("pending_a")),
                _ => return None,
            }
        } else if self.carry == 1 {
            // A subtraction: `b` is the complement of what is subtracted.
            let b = if self.wide { "~pending_b" } else { "(~pending_b & 0xfffffffflu)" };
            match cond >> 1 {
                0 => format!("pending_a == {b}"),
                1 => format!("pending_a >= {b}"),
                4 => format!("pending_a > {b}"),
                5 => format!("{} >= {}", of("pending_a"), of("~pending_b")),
                6 => format!("{} > {}", of("pending_a"), of("~pending_b")),
                _ => return None,
            }
        } else {
            return None;
        };
        Some(if cond & 1 == 1 { format!("!({holds})") } else { format!("({holds})") })
    }
}
