//! Modules use only those operations on 64-bit integers that work in every translation.
//!
//! Naga accepts more operations, but the code it writes for them is wrong, or the compiler of a platform refuses it.

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
            // In HLSL it has no effect: later comparisons and shifts use the signedness of the operand.
            Expression::As { expr, convert: None, .. } if is_wide(expr) => {
                Some("a 64-bit `bitcast`; write `i64(x)` or `u64(x)`, which keep the bits")
            }
            // SPIR-V extends by the signedness of the result, the other languages by that of the operand.
            Expression::As { expr, kind, convert: Some(8) }
                if matches!((scalar(expr), kind), (Some(Scalar::I32), ScalarKind::Uint))
                    || matches!((scalar(expr), kind), (Some(Scalar::U32), ScalarKind::Sint)) =>
            {
                Some("one conversion changes both size and signedness; convert in two steps")
            }
            // The check for zero divisors is a Metal call that is ambiguous in 64 bits.
            Expression::Binary { op: BinaryOperator::Divide | BinaryOperator::Modulo, left, .. }
                if is_wide(left) =>
            {
                Some("a 64-bit division; call `quotient` of `wide`")
            }
            // Naga's HLSL lacks the conversion to unsigned numbers that makes overflow wrap.
            Expression::Binary {
                op: BinaryOperator::Add | BinaryOperator::Subtract | BinaryOperator::Multiply,
                left,
                ..
            } if scalar(left) == Some(Scalar::I64) => Some("signed 64-bit arithmetic; compute with u64"),
            Expression::Unary { op: UnaryOperator::Negate, expr } if scalar(expr) == Some(Scalar::I64) => {
                Some("the negation of a 64-bit number; subtract it from `0lu`")
            }
            // SPIR-V and HLSL have bit builtins for 32 bits only, and naga does not always report it.
            Expression::Math { fun, arg, .. }
                if is_wide(arg) && !matches!(fun, MathFunction::Min | MathFunction::Max) =>
            {
                Some("a 64-bit builtin; call a function of `wide`")
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
fn operations_that_are_not_portable_are_found() {
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
