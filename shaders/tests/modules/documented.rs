//! Every function, fragment, struct, member and variable has a comment with `///`.

use kvrm_shaders::MODULES;
use naga::TypeInner;

use crate::support::{Checked, all};

fn violations(checked: &Checked) -> Vec<String> {
    let module = &checked.module;
    let Some(documentation) = &module.doc_comments else {
        return vec!["the source has no `///` at all".to_owned()];
    };
    let mut violations = Vec::new();
    let mut report = |span, name: &str| {
        let (path, line) = checked.place(span);
        violations.push(format!("{path}:{line}: `{name}` has no `///`"));
    };
    for (handle, function) in module.functions.iter() {
        if !documentation.functions.contains_key(&handle) {
            report(module.functions.get_span(handle), function.name.as_deref().unwrap_or_default());
        }
    }
    for (handle, ty) in module.types.iter() {
        let (TypeInner::Struct { members, .. }, Some(name)) = (&ty.inner, &ty.name) else { continue };
        let span = module.types.get_span(handle);
        if !documentation.types.contains_key(&handle) {
            report(span, name);
        }
        for (index, member) in members.iter().enumerate() {
            if !documentation.struct_members.contains_key(&(handle, index)) {
                report(span, &format!("{name}.{}", member.name.as_deref().unwrap_or_default()));
            }
        }
    }
    for (handle, variable) in module.global_variables.iter() {
        if !documentation.global_variables.contains_key(&handle) {
            report(module.global_variables.get_span(handle), variable.name.as_deref().unwrap_or_default());
        }
    }
    for (index, entry) in module.entry_points.iter().enumerate() {
        if !documentation.entry_points.contains_key(&index) {
            violations.push(format!("the entry point `{}` has no `///`", entry.name));
        }
    }
    violations
}

/// Returns the first lines of the fragments that have no comment. Naga sees neither fragments nor their comments.
fn undocumented_fragments(text: &str) -> Vec<&str> {
    let mut before = "";
    let mut found = Vec::new();
    for line in text.lines() {
        if line.starts_with("fragment ") && !before.starts_with("///") {
            found.push(line);
        }
        before = line;
    }
    found
}

#[test]
fn every_fragment_is_documented() {
    for (path, text) in MODULES {
        assert_eq!(undocumented_fragments(text), [""; 0], "in {path}");
    }
}

#[test]
fn a_fragment_without_a_comment_is_found() {
    let text = "/// A.\nfragment a {\n}\n\nfragment b {\n}\n";
    assert_eq!(undocumented_fragments(text), ["fragment b {"], "only `a` has a comment");
}

#[test]
fn every_module_is_documented() {
    for (path, checked) in all() {
        assert_eq!(violations(&checked), [""; 0], "in {path} and what it imports");
    }
}

#[test]
fn items_without_comments_are_found() {
    let text = "\
        /// A.\nstruct A {\n    /// B.\n    b: u32,\n    c: u32,\n}\nstruct D {\n    /// E.\n    e: A,\n}\n\
        // F.\nfn f() {}\nvar<private> g: D;\n@compute @workgroup_size(1)\nfn h() {}\n";
    let names = ["`f`", "`A.c`", "`D`", "`g`", "`h`"];
    let violations = violations(&Checked::of_text(text));
    assert_eq!(violations.len(), names.len(), "{violations:?}");
    for (violation, name) in violations.iter().zip(names) {
        assert!(violation.contains(name), "{violation} is about {name}");
    }
}
