//! A module imports every name that it uses, even if another module that it imports does so, too. A module that
//! declares a fragment imports the names that the fragment uses, even if all modules that insert it do so, too.

use std::collections::BTreeSet;

use kvrm_shaders::MODULES;
use naga::Expression;

use crate::support::{Checked, all};

fn violations(checked: &Checked, text_of: impl Fn(&str) -> String) -> BTreeSet<String> {
    let module = &checked.module;
    let mut violations = BTreeSet::new();
    for (_, caller, function) in checked.functions() {
        for (handle, expression) in function.expressions.iter() {
            let (span, name) = match *expression {
                Expression::CallResult(callee) => {
                    (module.functions.get_span(callee), &module.functions[callee].name)
                }
                Expression::Constant(constant) => {
                    (module.constants.get_span(constant), &module.constants[constant].name)
                }
                Expression::GlobalVariable(variable) => {
                    (module.global_variables.get_span(variable), &module.global_variables[variable].name)
                }
                _ => continue,
            };
            let (Some(name), true) = (name, span.is_defined()) else { continue };
            let (user, _) = checked.place(function.expressions.get_span(handle));
            let (owner, _) = checked.place(span);
            let imported = || {
                let text = format!("\n{}", text_of(&user));
                let imports =
                    text.split("\nimport ").skip(1).map(|rest| rest.split(';').next().unwrap_or(rest));
                imports
                    .flat_map(|import| import.split(|c: char| !(c.is_alphanumeric() || c == '_')))
                    .any(|word| word == name)
            };
            if user != owner && !imported() {
                violations
                    .insert(format!("{user}: `{caller}` uses `{name}` of {owner} and does not import it"));
            }
        }
    }
    violations
}

fn embedded(path: &str) -> String {
    MODULES.iter().find(|(known, _)| *known == path).expect("the module is in the table").1.to_owned()
}

#[test]
fn every_module_imports_what_it_uses() {
    for (path, checked) in all() {
        assert_eq!(violations(&checked, embedded), BTreeSet::new(), "in {path}");
    }
}

#[test]
fn a_name_that_another_module_imports_is_found() {
    let import = "import package::arm64::operand::{shift_reg};\n";
    let text =
        format!("{import}fn a(x: u64) -> u64 {{ return truncate(shift_reg(x, 0u, 1u, 64u), 32u); }}\n");
    let direct = format!("{import}import package::arm64::numbers::{{truncate}};\n");
    let text_of = |path: &str| if path == "test.wgsl" { text.clone() } else { embedded(path) };
    // The module of `shift_reg` imports `truncate`.
    assert_eq!(violations(&Checked::of_text(&text), text_of).len(), 1, "`truncate` is not imported");
    let text = text.replace(import, &direct);
    let text_of = |path: &str| if path == "test.wgsl" { text.clone() } else { embedded(path) };
    assert_eq!(violations(&Checked::of_text(&text), text_of), BTreeSet::new(), "both names are imported");
}

#[test]
fn a_name_that_only_the_interpreter_imports_is_found_in_a_fragment() {
    let checked =
        Checked::new(kvrm_shaders::link("machine::interpreter", &[]).expect("the interpreter links"));
    let import = "import package::arm64::bitfield::{window};\n";
    let text_of = |path: &str| match path {
        "machine/step.wgsl" => embedded(path).replace(import, ""),
        "machine/interpreter.wgsl" => format!("{import}{}", embedded(path)),
        _ => embedded(path),
    };
    let expected = "machine/step.wgsl: `run` uses `window` of arm64/bitfield.wgsl and does not import it";
    assert_eq!(
        violations(&checked, text_of),
        BTreeSet::from([expected.to_owned()]),
        "the module of the fragment uses the name"
    );
}
