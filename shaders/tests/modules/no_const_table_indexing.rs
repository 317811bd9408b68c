//! No module indexes an array that is a value by a variable.
//!
//! The SPIR-V that naga writes copies the whole array into a variable of the function at each such index. So tables are
//! read-only storage buffers.

use naga::{Expression, TypeInner};

use crate::support::{Checked, all};

fn violations(checked: &Checked) -> Vec<String> {
    checked.violations(|expression, type_of| match expression {
        Expression::Access { base, .. } if matches!(type_of(*base), TypeInner::Array { .. }) => {
            Some("an array that is a value is indexed by a variable; put the table into a storage buffer")
        }
        _ => None,
    })
}

#[test]
fn no_module_indexes_a_table() {
    for (path, checked) in all() {
        assert_eq!(violations(&checked), [""; 0], "in {path} and what it imports");
    }
}

#[test]
fn an_indexed_table_is_found() {
    let table = "const TABLE = array<u32, 2>(1u, 2u);\n";
    let dynamic = Checked::of_text(&format!("{table}fn a(i: u32) -> u32 {{ return TABLE[i]; }}\n"));
    assert_eq!(violations(&dynamic).len(), 1, "of {:?}", violations(&dynamic));
    let constant = Checked::of_text(&format!("{table}fn a() -> u32 {{ return TABLE[1]; }}\n"));
    assert_eq!(violations(&constant), [""; 0], "a constant index is allowed");
    let variable = Checked::of_text("var<private> t: array<u32, 2>;\nfn a(i: u32) -> u32 { return t[i]; }\n");
    assert_eq!(violations(&variable), [""; 0], "a variable is in memory");
}
