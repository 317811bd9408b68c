//! Only modules with an entry point, and the modules in `SHARED`, declare resources. All others get values as
//! parameters, or import the resources that they need.

use kvrm_shaders::MODULES;
use naga::AddressSpace;

use crate::support::{Checked, all, is_kernel};

/// The prefixes of the paths of modules that declare resources for several kernels, and of their substitutes.
const SHARED: &[&str] = &[
    "machine/bindings",
    "machine/decisions",
    "machine/decode_table",
    "machine/frames",
    "machine/hooks",
    "machine/loop_cells",
    "networks/bindings",
    "networks/layers/bindings",
    "spiking/bindings",
    "spiking/synapses",
];

fn violations(checked: &Checked, is_kernel: impl Fn(&str) -> bool) -> Vec<String> {
    let mut violations = Vec::new();
    for (handle, variable) in checked.module.global_variables.iter() {
        let (path, line) = checked.place(checked.module.global_variables.get_span(handle));
        let is_resource = !matches!(variable.space, AddressSpace::Private | AddressSpace::WorkGroup);
        if is_resource && !is_kernel(&path) && !SHARED.iter().any(|start| path.starts_with(start)) {
            let name = variable.name.as_deref().unwrap_or_default();
            violations.push(format!("{path}:{line}: the helper binds `{name}`; take a parameter instead"));
        }
    }
    violations
}

#[test]
fn no_helper_owns_a_binding() {
    let kernels: Vec<&str> =
        MODULES.iter().filter(|(_, text)| is_kernel(text)).map(|(path, _)| *path).collect();
    for (path, checked) in all() {
        assert_eq!(violations(&checked, |path| kernels.contains(&path)), [""; 0], "in {path}");
    }
}

#[test]
fn a_binding_in_a_helper_is_found() {
    let text = "@group(0) @binding(0) var<storage> a: array<u32>;\nvar<private> b: u32;\n";
    let checked = Checked::of_text(text);
    assert_eq!(violations(&checked, |_| false).len(), 1, "only `a` is a resource");
    assert_eq!(violations(&checked, |_| true), [""; 0], "a kernel may declare resources");
}
