//! The rule that facts shared by host and shaders are written once: structs and constants are declared in the WGSL
//! modules, Rust is generated from them, and `crates/gpu` does not repeat them.

use kvrm_shaders::FAMILIES;
use kvrm_shaders::interface::kernels;

use super::files::File;
use super::violation::Violation;
use crate::codegen;

/// The folder of the host code that fills the buffers of shaders.
const HOST: &str = "crates/gpu/src/";
/// A file with shaders of its own, which test the assumptions behind the table of kernels.
const OWN_SHADERS: &str = "crates/gpu/src/device/self_tests.rs";
/// The folder of the modules.
const MODULES: &str = "shaders/wgsl/";

pub(super) fn check(files: &[File]) -> Vec<Violation> {
    let wgsl: Vec<&File> =
        files.iter().filter(|file| file.path.starts_with(MODULES) && file.path.ends_with(".wgsl")).collect();
    let constants: Vec<Constant<'_>> = wgsl.iter().flat_map(|file| constants_of(file)).collect();
    // A constant may be in two generated modules, because its source is written once.
    let is_generated = |path: &str| codegen::paths().contains(&path);
    let mut violations = repeated_constants(&constants);
    violations.retain(|violation| !is_generated(&violation.path));
    for file in files.iter().filter(|file| file.path.starts_with(HOST) && file.path != OWN_SHADERS) {
        violations.extend(check_host_file(file, &constants));
    }
    violations
}

/// A constant of a module.
#[derive(Debug)]
struct Constant<'a> {
    path: &'a str,
    line: usize,
    name: &'a str,
    value: &'a str,
}

fn constants_of(file: &File) -> Vec<Constant<'_>> {
    let mut constants = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        if let Some((name, value)) =
            line.strip_prefix("const ").and_then(|declaration| declaration.split_once('='))
        {
            let name = name.split(':').next().unwrap_or_default().trim();
            let value = value.trim().trim_end_matches(';');
            constants.push(Constant { path: &file.path, line: index + 1, name, value });
        }
    }
    constants
}

/// Returns the constants that two modules declare with the same value, unless the modules are variants of a family.
fn repeated_constants(constants: &[Constant<'_>]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (index, constant) in constants.iter().enumerate() {
        let first = constants[..index].iter().find(|other| {
            other.name == constant.name
                && other.value == constant.value
                && !are_variants(other.path, constant.path)
        });
        if let Some(first) = first {
            let message = format!("`{}` is declared in {}, too; import it", constant.name, first.path);
            violations.push(Violation::new(constant.path, constant.line, message));
        }
    }
    violations
}

/// Returns whether both modules belong to the same family.
fn are_variants(a: &str, b: &str) -> bool {
    let module = |path: &str| path.trim_start_matches(MODULES).trim_end_matches(".wgsl").replace('/', "::");
    let (a, b) = (module(a), module(b));
    FAMILIES.iter().any(|family| {
        let all = || family.variants.iter().flat_map(|(_, all)| *all);
        let has = |module: &str| all().any(|(from, to)| *from == module || *to == module);
        has(&a) && has(&b)
    })
}

/// Returns the facts that a file of the host repeats.
fn check_host_file(file: &File, constants: &[Constant<'_>]) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut report = |index: usize, message: String| {
        violations.push(Violation::new(&file.path, index + 1, message));
    };
    // Tests may repeat names.
    let code = file.text.lines().take_while(|line| !line.starts_with("#[cfg(test)]"));
    for (index, line) in code.enumerate() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        if line.contains("repr(C)") {
            let message =
                "a struct that kernels read is declared in WGSL; `kvrm_shaders::interface` has it in Rust";
            report(index, message.to_owned());
        }
        for literal in line.split('"').skip(1).step_by(2) {
            let is_kernel =
                kernels().any(|kernel| kernel.module == literal || kernel.entries.contains(&literal));
            if is_kernel {
                report(index, format!("{literal:?} names a kernel; `kvrm_shaders::interface` has its type"));
            }
        }
        if let Some(name) = number_constant(line)
            && let Some(constant) = constants.iter().find(|constant| constant.name == name)
        {
            report(index, format!("`{name}` is a constant of {}, too; declare it once", constant.path));
        }
    }
    violations
}

/// Returns the name of the constant that a line declares, if its value is a plain number.
fn number_constant(line: &str) -> Option<&str> {
    let (_, declaration) = line.split_once("const ")?;
    let (name, rest) = declaration.split_once(':')?;
    let (_, value) = rest.split_once('=')?;
    value.trim().starts_with(|c: char| c.is_ascii_digit()).then(|| name.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<File> = files.iter().map(|(path, text)| File::new(path, text)).collect();
        check(&files).iter().map(ToString::to_string).collect()
    }

    fn one(files: &[(&str, &str)], part: &str) {
        let found = messages(files);
        assert!(found.len() == 1 && found[0].contains(part), "{found:?}");
    }

    #[test]
    fn a_struct_of_the_host_that_kernels_read_is_found() {
        one(&[("crates/gpu/src/a.rs", "#[repr(C)]\nstruct A;\n")], "a.rs:1: a struct");
        assert_eq!(messages(&[("crates/spiking/src/a.rs", "#[repr(C)]\n")]), [""; 0], "another crate");
    }

    #[test]
    fn the_name_of_a_kernel_is_found() {
        one(&[("crates/gpu/src/a.rs", "f(\"machine::decode\");\n")], "a.rs:1: \"machine::decode\"");
        one(&[("crates/gpu/src/a.rs", "f(\"read_pieces\");\n")], "\"read_pieces\" names a kernel");
        assert_eq!(messages(&[("crates/gpu/src/a.rs", "f(\"reading pieces\");\n")]), [""; 0], "a label");
    }

    #[test]
    fn a_number_of_a_module_that_the_host_repeats_is_found() {
        let module = ("shaders/wgsl/a.wgsl", "const A = 5u;\n");
        one(&[module, ("crates/gpu/src/a.rs", "pub(crate) const A: u32 = 5;\n")], "`A` is a constant of");
        let others = "const B: u32 = 5;\nconst A: u32 = kvrm_shaders::layout::A;\n";
        assert_eq!(messages(&[module, ("crates/gpu/src/a.rs", others)]), [""; 0], "others");
    }

    #[test]
    fn a_constant_of_two_modules_is_found() {
        let a = ("shaders/wgsl/a.wgsl", "const A = 5u;\n");
        one(&[a, ("shaders/wgsl/b.wgsl", "/// A.\nconst A: u32 = 5u;\n")], "b.wgsl:2: `A` is declared in");
        assert_eq!(messages(&[a, ("shaders/wgsl/b.wgsl", "const A = 6u;\n")]), [""; 0], "another value");
        let variants = [
            ("shaders/wgsl/spiking/synapses_2.wgsl", "const A = 5u;\n"),
            ("shaders/wgsl/spiking/synapses_4.wgsl", "const A = 5u;\n"),
        ];
        assert_eq!(messages(&variants), [""; 0], "one is linked in the place of the other");
    }
}
