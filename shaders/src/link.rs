//! The linker: concatenates a module with those it imports, and inserts fragments.
//!
//! WGSL allows declarations in any order, so linking is concatenation: dependencies first, each module once.
//! Imports have the syntax of WESL. Fragments are our own extension; WESL has no equivalent.

use std::mem;

use crate::module::{Fragment, Import, Line, Module, declares, has_word, path};
use crate::{LinkError, MODULES, loops};

/// A WGSL source that was linked from modules.
///
/// ```
/// let linked = kvrm_shaders::link("arm64::flags", &[])?;
/// println!("{}", linked.source); // the WGSL of the module and of all modules that it imports
/// # Ok::<(), kvrm_shaders::LinkError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Linked {
    /// The text to compile.
    pub source: String,
    /// The paths of the modules, in their order in `source`.
    paths: Vec<String>,
    /// The origins of the lines of `source`, in their order.
    segments: Vec<Segment>,
    /// The number of lines of `source`.
    lines: usize,
}

/// A range of lines of the source that are consecutive lines of one file. It ends where the next segment starts.
#[derive(Clone, Copy, Debug)]
struct Segment {
    /// The index of the first line in the source.
    start: usize,
    /// The index of the file in `paths`.
    path: usize,
    /// The index of the first line in the file.
    line: usize,
}

impl Linked {
    /// Returns the path of the file that a line of the source comes from, and its line there. Lines count from 1.
    ///
    /// The result is `None` if the source has no such line.
    #[must_use]
    pub fn locate(&self, line: usize) -> Option<(&str, usize)> {
        let index = line.checked_sub(1).filter(|index| *index < self.lines)?;
        let segment = self.segments.iter().rev().find(|segment| segment.start <= index)?;
        Some((&self.paths[segment.path], segment.line + index - segment.start + 1))
    }

    /// Whether the code, apart from declarations of variables, contains a name.
    #[must_use]
    pub fn uses(&self, name: &str) -> bool {
        let code = |line: &&str| !line.starts_with('@') && !line.starts_with("override ");
        self.source.lines().filter(code).any(|line| has_word(line, name))
    }

    /// Returns the number of loops in a function, plus those of the functions it calls, for each call.
    #[must_use]
    pub fn loops(&self, function: &str) -> u32 {
        loops::count(&self.source, function)
    }

    /// Whether the source declares an override of this name.
    #[must_use]
    pub fn has_override(&self, name: &str) -> bool {
        self.source.lines().any(|line| line.starts_with("override ") && declares(line, name))
    }

    /// Returns the paths of the modules, in their order in the source.
    pub fn modules(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }
}

/// Links a module of [`MODULES`] with everything it imports.
///
/// A substitution is a pair of modules: the second takes the place of the first in all imports. It has to declare every
/// name that is imported from the first.
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
/// Fails if `root` or a substitution does not name a module, or if an import or a fragment is wrong: see [`LinkError`].
pub fn link(root: &str, substitutions: &[(&str, &str)]) -> Result<Linked, LinkError> {
    Linker::new(MODULES, None, substitutions)?.link(root)
}

/// Links a module that is not in [`MODULES`], given by name and text, with everything it imports.
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
/// The errors of [`link`].
pub fn link_source(name: &str, text: &str, substitutions: &[(&str, &str)]) -> Result<Linked, LinkError> {
    Linker::new(MODULES, Some((name, text)), substitutions)?.link(name)
}

/// Links a module of [`MODULES`] as [`link`] does. Substitutions may name the module `added`, given by name and text.
///
/// # Errors
///
/// The errors of [`link`].
pub fn link_with(
    root: &str,
    added: (&str, &str),
    substitutions: &[(&str, &str)],
) -> Result<Linked, LinkError> {
    Linker::new(MODULES, Some(added), substitutions)?.link(root)
}

/// Links a module of `modules`, given as paths and texts like [`MODULES`], with everything it imports.
///
/// # Errors
///
/// The errors of [`link`].
pub fn link_modules(
    modules: &[(&str, &str)],
    root: &str,
    substitutions: &[(&str, &str)],
) -> Result<Linked, LinkError> {
    Linker::new(modules, None, substitutions)?.link(root)
}

/// The state of linking one source.
#[derive(Debug)]
pub(crate) struct Linker<'a> {
    /// Paths and texts of the modules that can be imported.
    texts: &'a [(&'a str, &'a str)],
    /// The name and text of one more module.
    added: Option<(&'a str, &'a str)>,
    substitutions: &'a [(&'a str, &'a str)],
    linked: Linked,
    /// The modules of the source so far, in the order of its paths.
    modules: Vec<Module<'a>>,
    /// The indices of the modules that each module's imports name.
    sources: Vec<Vec<usize>>,
    /// The modules whose imports are being followed.
    open: Vec<&'a str>,
}

impl<'a> Linker<'a> {
    pub(crate) fn new(
        texts: &'a [(&'a str, &'a str)],
        added: Option<(&'a str, &'a str)>,
        substitutions: &'a [(&'a str, &'a str)],
    ) -> Result<Self, LinkError> {
        let linked = Linked { source: String::new(), paths: Vec::new(), segments: Vec::new(), lines: 0 };
        let (modules, sources, open) = (Vec::new(), Vec::new(), Vec::new());
        let linker = Self { texts, added, substitutions, linked, modules, sources, open };
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
        self.move_directives();
        Ok(self.linked)
    }

    /// Moves the directives of all modules to the beginning of the source, where WGSL requires them.
    fn move_directives(&mut self) {
        let mut directives: Vec<&str> =
            self.modules.iter().flat_map(|module| module.directives.iter().copied()).collect();
        directives.sort_unstable();
        directives.dedup();
        for directive in directives.iter().rev() {
            self.linked.source.insert_str(0, &format!("{directive}\n"));
        }
        for segment in &mut self.linked.segments {
            segment.start += directives.len();
        }
        self.linked.lines += directives.len();
    }

    /// Appends the modules that a module imports, then the module itself. Returns its index in the paths.
    fn visit(&mut self, name: &'a str, text: &'a str) -> Result<usize, LinkError> {
        let module = Module::parse(name, text)?;
        self.open.push(name);
        let sources: Vec<usize> =
            module.imports.iter().map(|import| self.follow(import, &module)).collect::<Result<_, _>>()?;
        self.open.pop();

        self.linked.paths.push(path(name));
        let index = self.linked.paths.len() - 1;
        self.modules.push(module);
        self.sources.push(sources);
        let lines = mem::take(&mut self.modules[index].lines);
        self.insert(index, 0, &lines, 0)?;
        self.modules[index].lines = lines;
        Ok(index)
    }

    /// Appends lines of a module, which begin with the line `start`. They may insert the fragments that the module imports,
    /// and the first `above` of its own.
    fn insert(
        &mut self,
        module: usize,
        start: usize,
        lines: &[Line<'a>],
        above: usize,
    ) -> Result<(), LinkError> {
        self.begin_segment(module, start);
        for (row, line) in lines.iter().enumerate() {
            match line {
                Line::Text(text) => self.push(text),
                Line::Blank => self.push(""),
                Line::Insert(name) => {
                    let Some((owner, fragment)) = self.find_fragment(module, name, above) else {
                        let (place, fragment) = (self.modules[module].place(start + row), (*name).to_owned());
                        return Err(LinkError::UnknownFragment { place, fragment });
                    };
                    let Fragment { start: first, ref body, .. } = self.modules[owner].fragments[fragment];
                    self.insert(owner, first, &body.clone(), fragment)?;
                    self.begin_segment(module, start + row + 1);
                }
            }
        }
        Ok(())
    }

    /// Returns the module and the index there of the fragment `name` that a module imports, or that is one of the first
    /// `above` of its own.
    fn find_fragment(&self, module: usize, name: &str, above: usize) -> Option<(usize, usize)> {
        if let Some(own) = self.modules[module].fragment(name).filter(|own| *own < above) {
            return Some((module, own));
        }
        let imports = self.modules[module].imports.iter().zip(&self.sources[module]);
        let (_, owner) = imports.into_iter().find(|(import, _)| import.has(name))?;
        Some((*owner, self.modules[*owner].fragment(name)?))
    }

    /// Appends the module that an import names, unless the source has it already. Returns its index in the paths.
    fn follow(&mut self, import: &Import<'a>, importer: &Module<'_>) -> Result<usize, LinkError> {
        let place = || import.place.clone();
        let name = self.substitute(import.module);
        let text = self
            .text(name)
            .ok_or_else(|| LinkError::UnknownModule { place: place(), module: name.to_owned() })?;
        if let Some(start) = self.open.iter().position(|open| *open == name) {
            let circle = self.open[start..].iter().chain([&name]);
            let modules = circle.map(|&name| name.to_owned()).collect();
            return Err(LinkError::Cycle { place: place(), modules });
        }
        let path = path(name);
        let index = match self.linked.paths.iter().position(|known| *known == path) {
            Some(index) => index,
            None => self.visit(name, text)?,
        };
        let module = &self.modules[index];
        for item in &import.items {
            let (place, item) = (item.place.clone(), item.name);
            if !module.declares(item) {
                let (module, item) = (name.to_owned(), item.to_owned());
                return Err(LinkError::UnknownItem { place, module, item });
            }
            if module.fragment(item).is_some() && !importer.inserts(item) {
                return Err(LinkError::UnusedImport { place, item: item.to_owned() });
            }
        }
        Ok(index)
    }

    fn begin_segment(&mut self, path: usize, line: usize) {
        self.linked.segments.push(Segment { start: self.linked.lines, path, line });
    }

    fn push(&mut self, line: &str) {
        self.linked.source.push_str(line);
        self.linked.source.push('\n');
        self.linked.lines += 1;
    }

    fn substitute(&self, module: &'a str) -> &'a str {
        self.substitutions.iter().find(|(from, _)| *from == module).map_or(module, |(_, to)| to)
    }

    fn text(&self, module: &str) -> Option<&'a str> {
        if let Some((_, text)) = self.added.filter(|(name, _)| *name == module) {
            return Some(text);
        }
        let path = path(module);
        self.texts.iter().find(|(known, _)| *known == path).map(|(_, text)| *text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Place;

    /// Links the first of the given modules.
    fn linked(modules: &[(&str, &str)], substitutions: &[(&str, &str)]) -> Result<Linked, LinkError> {
        let root = modules[0].0.strip_suffix(".wgsl").expect("paths end in .wgsl").replace('/', "::");
        Linker::new(modules, None, substitutions)?.link(&root)
    }

    fn place(path: &str, line: usize) -> Place {
        Place { path: path.to_owned(), line }
    }

    const USES_B: (&str, &str) = ("a.wgsl", "import package::x::b::{b};\n\nconst a = b;\n");

    #[test]
    fn each_module_is_linked_once_and_after_its_imports() {
        let modules = [
            ("a.wgsl", "//! A.\n\nimport package::x::b::{b};\nimport package::c::{c};\n\nconst a = b + c;\n"),
            ("x/b.wgsl", "import package::c::{c};\nconst b = c;\n"),
            ("c.wgsl", "/// C.\nconst c = 1u;\n"),
            ("unused.wgsl", "const unused = 1u;\n"),
        ];
        let linked = linked(&modules, &[]).expect("the modules are correct");
        assert_eq!(
            linked.source, "/// C.\nconst c = 1u;\n\nconst b = c;\n//! A.\n\n\n\n\nconst a = b + c;\n",
            "imports are empty lines"
        );
        assert!(linked.modules().eq(["c.wgsl", "x/b.wgsl", "a.wgsl"]), "{:?}", linked.paths);

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
    fn directives_come_first_and_once() {
        let modules = [
            ("a.wgsl", "enable q;\nenable p; // P.\nimport package::x::b::{b};\nconst a = b;\n"),
            ("x/b.wgsl", "//! B.\n\nenable p;\nconst b = 1u;\n"),
        ];
        let linked = linked(&modules, &[]).expect("the modules are correct");
        assert_eq!(
            linked.source, "enable p;\nenable q;\n//! B.\n\n\nconst b = 1u;\n\n\n\nconst a = b;\n",
            "directives are empty lines where they were"
        );
        let places = [(1, None), (2, None), (3, Some(("x/b.wgsl", 1))), (6, Some(("x/b.wgsl", 4)))];
        for (line, place) in places {
            assert_eq!(linked.locate(line), place, "of line {line}");
        }
        assert_eq!(linked.locate(10), Some(("a.wgsl", 4)), "the last line");
    }

    #[test]
    fn every_kind_of_declaration_can_be_imported() {
        let declarations = "\
            const a: u32 = 1u;\nalias b = u32;\nstruct c {\n    not: u32,\n}\nfn d() {}\noverride e = 1u;\n\
            @group(0) @binding(1) var<storage, read_write> f: u32;\nvar<private> g: u32;\n@id(7) override h: u32;\n\
            @must_use fn i() -> u32 { return 1u; }\n";
        for item in ["a", "b", "c", "d", "e", "f", "g", "h", "i"] {
            let text = format!("import package::b::{{{item}}};\nconst use_of = {item};\n");
            linked(&[("a.wgsl", &text), ("b.wgsl", declarations)], &[]).expect("the item is declared");
        }
        for item in ["not", "u32", "storage"] {
            let text = format!("import package::b::{{{item}}};\nconst use_of = {item};\n");
            let error = linked(&[("a.wgsl", &text), ("b.wgsl", declarations)], &[])
                .expect_err("the module does not declare it");
            assert!(matches!(error, LinkError::UnknownItem { .. }), "{error}");
        }
    }

    #[test]
    fn a_substitute_takes_the_place_of_a_module() {
        let modules = [USES_B, ("x/b.wgsl", "const b = 1u;\n"), ("x/c.wgsl", "const b = 2u;\n")];
        let linked = linked(&modules, &[("x::b", "x::c")]).expect("both modules declare b");
        assert!(linked.modules().eq(["x/c.wgsl", "a.wgsl"]), "{:?}", linked.paths);
    }

    #[test]
    fn a_fragment_replaces_the_line_that_inserts_it() {
        let modules = [
            (
                "a.wgsl",
                "import package::x::b::{\n    b, c,\n};\n\nfn a() {\n    let d = 1u;\n    insert b; // Uses d.\n    \
                 if e {\n        insert c;\n    }\n}\n",
            ),
            (
                "x/b.wgsl",
                "import package::f::{f};\n\n/// C.\n///\n/// Of c.\nfragment c {\n    return;\n}\n\n// B.\nfragment b { // b\n    \
                 let e = d + f; // f\n\n    g();\n}\n\n/// G.\nfn g() {}\n",
            ),
            ("f.wgsl", "const f = 2u;\n"),
        ];
        let linked = linked(&modules, &[]).expect("the modules are correct");
        let expected = "const f = 2u;\n\
             \n\n\n\n\n\n\n\n\n// B.\n\n\n\n\n\n\n/// G.\nfn g() {}\n\
             \n\n\n\nfn a() {\n    let d = 1u;\n    let e = d + f; // f\n\n    g();\n    if e {\n    return;\n    }\n}\n";
        assert_eq!(
            linked.source, expected,
            "fragments and their documentation are empty lines where they are declared"
        );
        assert!(linked.modules().eq(["f.wgsl", "x/b.wgsl", "a.wgsl"]), "each once: {:?}", linked.paths);

        let line_of = |text: &str| 1 + linked.source.lines().position(|line| line == text).expect(text);
        let places = [
            ("/// G.", ("x/b.wgsl", 17)),
            ("    let d = 1u;", ("a.wgsl", 6)),
            ("    let e = d + f; // f", ("x/b.wgsl", 12)),
            ("    g();", ("x/b.wgsl", 14)),
            ("    if e {", ("a.wgsl", 8)),
            ("    return;", ("x/b.wgsl", 7)),
            ("    }", ("a.wgsl", 10)),
        ];
        for (text, place) in places {
            assert_eq!(linked.locate(line_of(text)), Some(place), "of {text:?}");
        }
        assert_eq!(linked.locate(linked.source.lines().count()), Some(("a.wgsl", 11)), "the last line");
    }

    #[test]
    fn a_substitute_can_bring_another_fragment() {
        let modules = [
            ("a.wgsl", "import package::b::{b};\nfn a() {\n    insert b;\n}\n"),
            ("b.wgsl", "fragment b {\n    one();\n}\n"),
            ("c.wgsl", "fragment b {\n    two();\n}\n"),
        ];
        let linked = linked(&modules, &[("b", "c")]).expect("both modules declare b");
        assert!(linked.source.contains("    two();\n}\n"), "{}", linked.source);
        assert!(!linked.source.contains("one"), "{}", linked.source);
    }

    /// Links a module that inserts fragments with `b`, which has the fragment `b` and the function `f`.
    fn error_of(text: &str) -> LinkError {
        let b = "fragment b {\n    f();\n}\n\nfn f() {}\n";
        linked(&[("a.wgsl", text), ("b.wgsl", b)], &[]).expect_err("the text has a mistake")
    }

    #[test]
    fn an_insertion_of_another_form_is_found() {
        let insertions = [
            "insert b;",
            "    insert b",
            "    insert b, c;",
            "    insert;",
            "    insert b(1u);",
            "    insert = b;",
        ];
        for insertion in insertions {
            let error = error_of(&format!("import package::b::{{b}};\nfn a() {{\n{insertion}\n}}\n"));
            assert_eq!(error, LinkError::MalformedInsert { place: place("a.wgsl", 3) }, "{insertion}");
        }
    }

    #[test]
    fn an_insertion_of_no_fragment_is_found() {
        let texts = [
            ("import package::b::{b, f};\nfn a() {\n    insert b;\n    insert f;\n}\n", "f"),
            ("import package::b::{b};\nfn a() {\n    insert b;\n    insert c;\n}\n", "c"),
            ("fragment d {\n    a();\n}\nfn a() {\n    insert d;\n}\n", "d"),
        ];
        for (text, fragment) in texts {
            let line = 1 + text
                .lines()
                .position(|line| line.ends_with(&format!("insert {fragment};")))
                .expect("the text inserts the fragment");
            let expected =
                LinkError::UnknownFragment { place: place("a.wgsl", line), fragment: fragment.to_owned() };
            assert_eq!(error_of(text), expected, "in {text:?}");
        }
    }

    #[test]
    fn a_fragment_can_be_inserted_twice() {
        let modules = [
            ("a.wgsl", "import package::b::{b};\nfn a() {\n    insert b;\n    c();\n    insert b;\n}\n"),
            ("b.wgsl", "fragment b {\n    one();\n}\n"),
        ];
        let linked = linked(&modules, &[]).expect("the modules are correct");
        assert!(
            linked.source.ends_with("fn a() {\n    one();\n    c();\n    one();\n}\n"),
            "{}",
            linked.source
        );
    }

    #[test]
    fn a_fragment_that_is_imported_and_not_inserted_is_found() {
        for text in
            ["import package::b::{b};\nfn a() {}\n", "import package::b::{b};\nfn a() {\n    b();\n}\n"]
        {
            let expected = LinkError::UnusedImport { place: place("a.wgsl", 1), item: "b".to_owned() };
            assert_eq!(error_of(text), expected, "in {text:?}");
        }
        let wrapped = "import package::b::{\n    b,\n    f,\n};\nfn a() {\n    insert b;\n}\n";
        let expected = LinkError::UnusedImport { place: place("a.wgsl", 3), item: "f".to_owned() };
        assert_eq!(error_of(wrapped), expected, "the place is the line of the item");
    }

    #[test]
    fn a_fragment_can_insert_others() {
        let modules = [
            ("a.wgsl", "import package::b::{c};\nfn a() {\n    insert c;\n}\n"),
            (
                "b.wgsl",
                "import package::d::{d};\nfragment b {\n    one();\n}\nfragment c {\n    insert b;\n    two();\n    \
                 insert d;\n}\n",
            ),
            ("d.wgsl", "fragment d {\n    three();\n}\n"),
        ];
        let linked = linked(&modules, &[]).expect("the modules are correct");
        assert!(
            linked.source.ends_with("fn a() {\n    one();\n    two();\n    three();\n}\n"),
            "{}",
            linked.source
        );
        let line_of = |text: &str| 1 + linked.source.lines().position(|line| line == text).expect(text);
        for (text, place) in
            [("    one();", ("b.wgsl", 3)), ("    two();", ("b.wgsl", 7)), ("    three();", ("d.wgsl", 2))]
        {
            assert_eq!(linked.locate(line_of(text)), Some(place), "of {text:?}");
        }
    }

    #[test]
    fn a_fragment_inserts_only_those_above_it() {
        for b in [
            "fragment b {\n    insert b;\n}\n",
            "fragment b {\n    insert c;\n}\nfragment c {\n    f();\n}\n",
        ] {
            let modules =
                [("a.wgsl", "import package::b::{b};\nfn a() {\n    insert b;\n}\n"), ("b.wgsl", b)];
            let error = linked(&modules, &[]).expect_err("the fragment is not above");
            assert!(
                matches!(&error, LinkError::UnknownFragment { place: found, .. } if *found == place("b.wgsl", 2)),
                "{error}"
            );
        }
    }

    #[test]
    fn a_fragment_of_another_form_is_found() {
        let fragments = [
            "fragment a() {\n    f();\n}\n",
            "fragment a\n{\n    f();\n}\n",
            "fragment {\n    f();\n}\n",
            "fragment a { f(); }\n",
            "fragment a {\n    f();\n",
            "fragment a {\n    f();\nfn g() {}\n}\n",
            "fragment a {\n    f();\n};\n",
        ];
        for fragment in fragments {
            let error = error_of(&format!("import package::b::{{f}};\n{fragment}"));
            assert_eq!(error, LinkError::MalformedFragment { place: place("a.wgsl", 2) }, "{fragment}");
        }
    }

    #[test]
    fn a_fragment_with_the_name_of_another_declaration_is_found() {
        for other in ["fragment a {\n}\n", "const a = 1u;\n"] {
            for text in [format!("{other}fragment a {{\n}}\n"), format!("fragment a {{\n}}\n{other}")] {
                let error = error_of(&text);
                assert!(
                    matches!(&error, LinkError::DeclaredTwice { name, .. } if name == "a"),
                    "{error} in {text:?}"
                );
            }
        }
    }

    #[test]
    fn a_circle_of_fragments_is_found() {
        let modules = [
            ("a.wgsl", "import package::b::{b};\nfragment a {\n    f();\n}\nfn f() {\n    insert b;\n}\n"),
            ("b.wgsl", "import package::a::{a};\nfragment b {\n    g();\n}\nfn g() {\n    insert a;\n}\n"),
        ];
        let error = linked(&modules, &[]).expect_err("a needs b, and b needs a");
        let circle = ["a", "b", "a"].map(str::to_owned).to_vec();
        assert_eq!(
            error,
            LinkError::Cycle { place: place("b.wgsl", 1), modules: circle },
            "imports of fragments form cycles, too"
        );
    }

    #[test]
    fn an_unknown_module_is_found() {
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
        let error = linked(&[USES_B, ("x/b.wgsl", "const c = 1u; // const b\n")], &[])
            .expect_err("x::b declares only c");
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
            let error = linked(&[("a.wgsl", text), ("x/b.wgsl", "const b = 1u;\n")], &[])
                .expect_err("an import is not used");
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
            "import package::b::{\nb,\n};",
            "import package::b::{\n    b\n};",
            "import package::b::{\n};",
            "import package::b::{\n    b,\n",
            "import package::b::{ b,\n};",
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
        let error = linked(&[("a.wgsl", text), ("b.wgsl", "const b = 1u;\n")], &[])
            .expect_err("the import follows a declaration");
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
        assert_eq!(
            error,
            LinkError::Cycle { place: place("c.wgsl", 2), modules: circle },
            "a is not part of the cycle"
        );
        assert_eq!(error.to_string(), "c.wgsl:2: modules import each other: b -> c -> b", "the message");
    }

    #[test]
    fn a_text_outside_of_the_table_can_be_linked() {
        let text = "import package::arm64::flags::{nz};\nfn a() -> u32 { return nz(0lu, true); }\n";
        let linked = link_source("tests::a", text, &[]).expect("the modules are correct");
        let last = linked.source.lines().count();
        assert_eq!(linked.locate(last), Some(("tests/a.wgsl", 2)), "its last line");
    }
}
