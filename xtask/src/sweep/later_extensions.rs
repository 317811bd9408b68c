//! The expected classes of class bits that no encoding of the table has.

use kvrm_arm64::pattern::Pattern;
use kvrm_arm64::{CLASS_BITS, Class, Word};

/// Encodings of later extensions whose class `kvrm_arm64::class_of` already knows: DDI 0487, C4.1.
const LATER: &[(&str, Class)] = &[
    // Add/subtract (immediate, with tags): ADDG, SUBG.
    ("1.01000110......00..............", Class::Arithmetic),
    // Min/max (immediate): SMAX, UMAX, SMIN, UMIN.
    (".00100011100....................", Class::Arithmetic),
    // Min/max (register).
    (".0011010110.....0110............", Class::Arithmetic),
    // SUBP, SUBPS.
    ("10.11010110.....000000..........", Class::Arithmetic),
    // RMIF.
    ("10111010000......00001.....0....", Class::Arithmetic),
    // SETF8, SETF16.
    ("00111010000000000.0010.....01101", Class::Arithmetic),
    // CTZ, CNT, ABS.
    (".101101011000000000110..........", Class::ExtendShift),
    (".101101011000000000111..........", Class::ExtendShift),
    (".101101011000000001000..........", Class::ExtendShift),
    // Pointer authentication: PACIA to AUTDZB, then XPACI and XPACD.
    ("110110101100000100..............", Class::ExtendShift),
    ("110110101100000101000...........", Class::ExtendShift),
];

/// Returns the expected class of the words with the class bits of `tuple`, none of which the table allocates. Returns
/// `None` for the floating-point and SIMD groups, where the class map may return any class.
pub(super) fn class(tuple: u32) -> Option<Class> {
    // DDI 0487, C4.1: bits 28 to 25 select the group.
    match Word(tuple).bits(25, 4) {
        0b0100 | 0b0110 | 0b1100 | 0b1110 => Some(Class::LoadStore),
        0b0111 | 0b1111 => None,
        _ => {
            let group = LATER.iter().find(|(diagram, _)| has_some(&Pattern::parse(diagram), tuple));
            Some(group.map_or(Class::System, |(_, class)| *class))
        }
    }
}

/// Returns whether a word with the class bits of `tuple` matches `pattern`.
fn has_some(pattern: &Pattern, tuple: u32) -> bool {
    (tuple ^ pattern.value) & pattern.mask & CLASS_BITS == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_extensions_have_the_class_of_their_operation() {
        let cases = [
            (0x11cc_0000, Some(Class::Arithmetic), "UMIN (immediate)"),
            (0x11d0_0000, Some(Class::System), "beyond it"),
            (0xdac1_4400, Some(Class::ExtendShift), "XPACD"),
            (0xdac1_4800, Some(Class::System), "beyond it"),
            (0x0000_0000, Some(Class::System), "reserved"),
            (0x4800_0000, Some(Class::LoadStore), "a load or store"),
            (0x1e00_0000, None, "floating point"),
        ];
        for (word, expected, what) in cases {
            assert_eq!(class(word & CLASS_BITS), expected, "{word:#010x} is {what}");
        }
    }
}
