//! 64-bit integers are used only as every translation has them.
//!
//! Naga accepts more, and the code it then writes is wrong or refused by one of the platforms' compilers.

use naga::{BinaryOperator, Expression, MathFunction, Scalar, ScalarKind, UnaryOperator};

use crate::support::{Checked, all};

fn violations(checked: &Checked) -> Vec<String> {
    checked.violations(|expression, type_of| {
        let scalar = |handle| type_of(handle).scalar();
        let is_wide = |handle| {
            scalar(handle).is_some_and(|scalar| {
                scalar.width == 8 && matches!(scalar.kind, ScalarKind::Sint | ScalarKind::Uint)
            })
        };
        match *expression {
            // HLSL leaves the value as it is: what follows compares and shifts with the sign it had.
            Expression::As { expr, convert: None, .. } if is_wide(expr) => {
                Some("a 64-bit `bitcast`; write `i64(x)` or `u64(x)`, which keep the bits")
            }
            // SPIR-V extends as the result is signed, the others as the operand is.
            Expression::As { expr, kind, convert: Some(8) }
                if matches!((scalar(expr), kind), (Some(Scalar::I32), ScalarKind::Uint))
                    || matches!((scalar(expr), kind), (Some(Scalar::U32), ScalarKind::Sint)) =>
            {
                Some("a value becomes longer and of the other sign in one step; convert twice")
            }
            // The check for zero divisors is a Metal call that is ambiguous in 64 bits.
            Expression::Binary { op: BinaryOperator::Divide | BinaryOperator::Modulo, left, .. }
                if is_wide(left) =>
            {
                Some("a 64-bit division; call `quotient` of `wide`")
            }
            // HLSL gets it without the detour through unsigned numbers that makes overflow wrap.
            Expression::Binary {
                op: BinaryOperator::Add | BinaryOperator::Subtract | BinaryOperator::Multiply,
                left,
                ..
            } if scalar(left) == Some(Scalar::I64) => Some("64-bit arithmetic with signs; compute with u64"),
            Expression::Unary { op: UnaryOperator::Negate, expr } if scalar(expr) == Some(Scalar::I64) => {
                Some("a 64-bit number is negated; subtract it from `0lu`")
            }
            // SPIR-V and HLSL have the bit builtins for 32 bits only; naga does not always say so.
            Expression::Math { fun, arg, .. }
                if is_wide(arg) && !matches!(fun, MathFunction::Min | MathFunction::Max) =>
            {
                Some("a builtin of 64 bits; `wide` has those that are needed")
            }
            _ => None,
        }
    })
}

#[test]
fn every_module_is_portable() {
    for (path, checked) in all() {
        assert_eq!(violations(&checked), [""; 0], "in {path} and what it imports");
    }
}

#[test]
fn what_some_platform_lacks_is_found() {
    let bad = [
        "bitcast<u64>(i)",
        "u64(bitcast<i64>(u))",
        "u64(i32(s))",
        "u64(i64(s))",
        "u / 3lu",
        "u % 3lu",
        "u64(i * i)",
        "u64(-i)",
        "u64(abs(i))",
        "reverseBits(u)",
    ];
    for expression in bad {
        let text = format!("fn a(u: u64, i: i64, s: u32) -> u64 {{ return {expression}; }}\n");
        let found = violations(&Checked::of_text(&text));
        assert_eq!(found.len(), 1, "in {expression}: {found:?}");
        assert!(found[0].starts_with("test.wgsl:1: "), "{} names its line", found[0]);
    }
    let good = [
        "u64(i >> s)",
        "u64(i64(i32(s)))",
        "max(u, 3lu) * u",
        "u64(i64(u) < i)",
        "u64(s / 3u)",
        "u64(u32(i))",
    ];
    for expression in good {
        let text = format!("fn a(u: u64, i: i64, s: u32) -> u64 {{ return {expression}; }}\n");
        assert_eq!(violations(&Checked::of_text(&text)), [""; 0], "in {expression}");
    }
}
