//! Puts a module behind those it imports.
//!
//! WGSL allows declarations in any order, so linking is concatenation: dependencies first, each module once.
//! The files are WESL, too; a WESL linker can replace this one.

use crate::module::{declares, imports, is_import, path};
use crate::{LinkError, MODULES};

/// A source made of modules.
#[derive(Clone, Debug)]
pub struct Linked {
    /// The text to compile.
    pub source: String,
    /// The path of each module and the line, counted from 0, where it begins in `source`.
    segments: Vec<(String, usize)>,
}

impl Linked {
    /// The path of the module that a line of the source comes from, and the line there. Lines count from 1.
    #[must_use]
    pub fn locate(&self, line: usize) -> Option<(&str, usize)> {
        let index = line.checked_sub(1).filter(|index| *index < self.source.lines().count())?;
        let (path, start) = self.segments.iter().rev().find(|(_, start)| *start <= index)?;
        Some((path, line - start))
    }

    /// The paths of the modules, in the order they stand in the source.
    pub fn modules(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().map(|(path, _)| path.as_str())
    }
}

/// Links a module of [`MODULES`] with all it needs.
///
/// A substitution is a pair of modules: wherever the first is asked for, the second is taken. It has to
/// declare what is imported from the first.
///
/// ```
/// let linked = kvrm_shaders::link("arm64::bits", &[])?;
/// let line = 1 + linked.source.lines().position(|line| line.starts_with("fn reverse_bits(")).unwrap();
/// assert_eq!(linked.locate(line).unwrap().0, "arm64/bits.wgsl", "the file the line comes from");
/// # Ok::<(), kvrm_shaders::LinkError>(())
/// ```
///
/// # Errors
///
/// If `root` or a substitution names no module, or an import is wrong; see [`LinkError`].
pub fn link(root: &str, substitutions: &[(&str, &str)]) -> Result<Linked, LinkError> {
    Linker::new(MODULES, None, substitutions)?.link(root)
}

/// Links a module of the given name and text, which is not in [`MODULES`], with all it needs.
///
/// ```
/// let text = "import package::arm64::bits::{reverse_bits};\n\nconst NONE = 0lu;\n\n\
///             fn reversed() -> u64 { return reverse_bits(NONE); }\n";
/// let linked = kvrm_shaders::link_source("example", text, &[])?;
/// assert!(linked.modules().eq(["wide.wgsl", "arm64/bits.wgsl", "example.wgsl"]), "dependencies first");
/// # Ok::<(), kvrm_shaders::LinkError>(())
/// ```
///
/// # Errors
///
/// As [`link`].
pub fn link_source(name: &str, text: &str, substitutions: &[(&str, &str)]) -> Result<Linked, LinkError> {
    Linker::new(MODULES, Some((name, text)), substitutions)?.link(name)
}

#[derive(Debug)]
pub(crate) struct Linker<'a> {
    modules: &'a [(&'a str, &'a str)],
    added: Option<(&'a str, &'a str)>,
    substitutions: &'a [(&'a str, &'a str)],
    linked: Linked,
    /// Modules whose imports are being followed.
    open: Vec<&'a str>,
}

impl<'a> Linker<'a> {
    pub(crate) fn new(
        modules: &'a [(&'a str, &'a str)],
        added: Option<(&'a str, &'a str)>,
        substitutions: &'a [(&'a str, &'a str)],
    ) -> Result<Self, LinkError> {
        let linked = Linked { source: String::new(), segments: Vec::new() };
        let linker = Self { modules, added, substitutions, linked, open: Vec::new() };
        let names = substitutions.iter().flat_map(|(from, to)| [from, to]);
        match names.into_iter().find(|name| linker.text(name).is_none()) {
            Some(name) => Err(LinkError::NoSuchModule { module: (*name).to_owned() }),
            None => Ok(linker),
        }
    }

    pub(crate) fn link(mut self, root: &'a str) -> Result<Linked, LinkError> {
        let root = self.substitute(root);
        let text = self.text(root).ok_or_else(|| LinkError::NoSuchModule { module: root.to_owned() })?;
        self.visit(root, text)?;
        Ok(self.linked)
    }

    /// Appends a module, behind those it imports.
    fn visit(&mut self, module: &'a str, text: &'a str) -> Result<(), LinkError> {
        self.open.push(module);
        for import in imports(module, text)? {
            let place = import.place;
            let name = self.substitute(import.module);
            let unknown = || LinkError::UnknownModule { place: place.clone(), module: name.to_owned() };
            let imported = self.text(name).ok_or_else(unknown)?;
            if let Some(item) = import.items.iter().find(|item| !declares(imported, item)) {
                return Err(LinkError::UnknownItem {
                    place,
                    module: name.to_owned(),
                    item: (*item).to_owned(),
                });
            }
            if let Some(start) = self.open.iter().position(|open| *open == name) {
                let circle = self.open[start..].iter().chain([&name]);
                return Err(LinkError::Cycle {
                    place,
                    modules: circle.map(|&name| name.to_owned()).collect(),
                });
            }
            if !self.linked.modules().any(|path| path == self::path(name)) {
                self.visit(name, imported)?;
            }
        }
        self.open.pop();

        let start = self.linked.source.lines().count();
        self.linked.segments.push((path(module), start));
        for line in text.lines() {
            self.linked.source.push_str(if is_import(line) { "" } else { line });
            self.linked.source.push('\n');
        }
        Ok(())
    }

    fn substitute(&self, module: &'a str) -> &'a str {
        self.substitutions.iter().find(|(from, _)| *from == module).map_or(module, |(_, to)| to)
    }

    fn text(&self, module: &str) -> Option<&'a str> {
        if let Some((_, text)) = self.added.filter(|(name, _)| *name == module) {
            return Some(text);
        }
        let path = path(module);
        self.modules.iter().find(|(known, _)| *known == path).map(|(_, text)| *text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Place;

    /// Links the first of some modules.
    fn linked(modules: &[(&str, &str)], substitutions: &[(&str, &str)]) -> Result<Linked, LinkError> {
        let root = modules[0].0.strip_suffix(".wgsl").expect("paths are of files").replace('/', "::");
        Linker::new(modules, None, substitutions)?.link(&root)
    }

    fn place(path: &str, line: usize) -> Place {
        Place { path: path.to_owned(), line }
    }

    const USES_B: (&str, &str) = ("a.wgsl", "import package::x::b::{b};\n\nconst a = b;\n");

    #[test]
    fn each_module_is_there_once_and_behind_what_it_imports() {
        let modules = [
            ("a.wgsl", "//! A.\n\nimport package::x::b::{b};\nimport package::c::{c};\n\nconst a = b + c;\n"),
            ("x/b.wgsl", "import package::c::{c};\nconst b = c;\n"),
            ("c.wgsl", "/// C.\nconst c = 1u;\n"),
            ("unused.wgsl", "const unused = 1u;\n"),
        ];
        let linked = linked(&modules, &[]).expect("nothing is wrong");
        assert_eq!(
            linked.source, "/// C.\nconst c = 1u;\n\nconst b = c;\n//! A.\n\n\n\n\nconst a = b + c;\n",
            "imports are empty lines"
        );
        assert!(linked.modules().eq(["c.wgsl", "x/b.wgsl", "a.wgsl"]), "{:?}", linked.segments);

        let lines = ["c.wgsl", "c.wgsl", "x/b.wgsl", "x/b.wgsl", "a.wgsl", "a.wgsl"];
        let numbers = [1, 2, 1, 2, 1, 2];
        for (index, (path, number)) in lines.into_iter().zip(numbers).enumerate() {
            assert_eq!(linked.locate(index + 1), Some((path, number)), "of line {}", index + 1);
        }
        assert_eq!(linked.locate(10), Some(("a.wgsl", 6)), "the last line");
        assert_eq!(linked.locate(0), None, "lines count from 1");
        assert_eq!(linked.locate(11), None, "there is no such line");
    }

    #[test]
    fn every_kind_of_declaration_can_be_imported() {
        let declarations = "\
            const a: u32 = 1u;\nalias b = u32;\nstruct c {\n    not: u32,\n}\nfn d() {}\noverride e = 1u;\n\
            @group(0) @binding(1) var<storage, read_write> f: u32;\nvar<private> g: u32;\n@id(7) override h: u32;\n\
            @must_use fn i() -> u32 { return 1u; }\n";
        for item in ["a", "b", "c", "d", "e", "f", "g", "h", "i"] {
            let text = format!("import package::b::{{{item}}};\nconst use_of = {item};\n");
            linked(&[("a.wgsl", &text), ("b.wgsl", declarations)], &[]).expect("it is declared");
        }
        for item in ["not", "u32", "storage"] {
            let text = format!("import package::b::{{{item}}};\nconst use_of = {item};\n");
            let error =
                linked(&[("a.wgsl", &text), ("b.wgsl", declarations)], &[]).expect_err("not of the module");
            assert!(matches!(error, LinkError::UnknownItem { .. }), "{error}");
        }
    }

    #[test]
    fn a_substitute_takes_the_place_of_a_module() {
        let modules = [USES_B, ("x/b.wgsl", "const b = 1u;\n"), ("x/c.wgsl", "const b = 2u;\n")];
        let linked = linked(&modules, &[("x::b", "x::c")]).expect("both declare it");
        assert!(linked.modules().eq(["x/c.wgsl", "a.wgsl"]), "{:?}", linked.segments);
    }

    #[test]
    fn what_is_no_module_is_found() {
        let module = "x::b".to_owned();
        let error = linked(&[USES_B], &[]).expect_err("there is no x::b");
        assert_eq!(
            error,
            LinkError::UnknownModule { place: place("a.wgsl", 1), module: module.clone() },
            "imported"
        );
        let error = linked(&[USES_B], &[("a", "x::b")]).expect_err("there is no x::b");
        assert_eq!(error, LinkError::NoSuchModule { module: module.clone() }, "as a substitute");
        let error = link("x::b", &[]).expect_err("there is no x::b");
        assert_eq!(error, LinkError::NoSuchModule { module }, "as the root");
    }

    #[test]
    fn an_item_that_is_not_declared_is_found() {
        let error =
            linked(&[USES_B, ("x/b.wgsl", "const c = 1u; // const b\n")], &[]).expect_err("it has only c");
        let (module, item) = ("x::b".to_owned(), "b".to_owned());
        assert_eq!(error, LinkError::UnknownItem { place: place("a.wgsl", 1), module, item }, "of line 1");
    }

    #[test]
    fn an_import_that_is_not_used_is_found() {
        let texts = [
            "import package::x::b::{b};\nconst a = bb; // b\n",
            "import package::x::b::{b, b};\nconst a = b;\n",
        ];
        for text in texts {
            let error =
                linked(&[("a.wgsl", text), ("x/b.wgsl", "const b = 1u;\n")], &[]).expect_err("a useless one");
            let expected = LinkError::UnusedImport { place: place("a.wgsl", 1), item: "b".to_owned() };
            assert_eq!(error, expected, "in {text:?}");
        }
    }

    #[test]
    fn an_import_of_another_form_is_found() {
        let imports = [
            "import package::b;",
            "import package::b::b;",
            "import package::b::{b}",
            "import package::b::{b,c};",
            "import package::b::{};",
            "import package::::{b};",
            "import super::b::{b};",
        ];
        for import in imports {
            let text = format!("//! A.\n{import}\nconst a = b;\n");
            let error = linked(&[("a.wgsl", &text)], &[]).expect_err("the form is wrong");
            assert_eq!(error, LinkError::MalformedImport { place: place("a.wgsl", 2) }, "{import}");
        }
    }

    #[test]
    fn an_import_below_a_declaration_is_found() {
        let text = "const a = b;\nimport package::b::{b};\n";
        let error =
            linked(&[("a.wgsl", text), ("b.wgsl", "const b = 1u;\n")], &[]).expect_err("it comes late");
        assert_eq!(error, LinkError::LateImport { place: place("a.wgsl", 2) }, "of line 2");
    }

    #[test]
    fn a_circle_of_imports_is_found() {
        let modules = [
            ("a.wgsl", "import package::b::{b};\nconst a = b;\n"),
            ("b.wgsl", "import package::c::{c};\nconst b = c;\n"),
            ("c.wgsl", "\nimport package::b::{b};\nconst c = b;\n"),
        ];
        let error = linked(&modules, &[]).expect_err("b needs c, and c needs b");
        let circle = ["b", "c", "b"].map(str::to_owned).to_vec();
        assert_eq!(error, LinkError::Cycle { place: place("c.wgsl", 2), modules: circle }, "without a");
        assert_eq!(error.to_string(), "c.wgsl:2: modules import each other: b -> c -> b", "as a sentence");
    }

    #[test]
    fn a_text_can_be_linked_that_is_in_no_table() {
        let text = "import package::arm64::flags::{nz};\nfn a() -> u32 { return nz(0lu, 64u); }\n";
        let linked = link_source("tests::a", text, &[]).expect("nothing is wrong");
        let last = linked.source.lines().count();
        assert_eq!(linked.locate(last), Some(("tests/a.wgsl", 2)), "its last line");
    }
}
