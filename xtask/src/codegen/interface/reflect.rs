//! Reflection of the WGSL modules with naga: kernels, their bindings, overrides and entry points, and structs in
//! buffers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use anyhow::{Context, Result, anyhow, bail, ensure};
use kvrm_shaders::{Access, FAMILIES, Family, Linked, Substitution, Workgroup, link_modules};
use naga::front::wgsl::{Frontend, Options};
use naga::proc::Layouter;
use naga::valid::Capabilities;
use naga::{AddressSpace, Expression, Handle, Module, ScalarKind, StorageAccess, Type, TypeInner};

use crate::root::root;

/// A buffer declared by a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Buffer {
    pub(super) binding: u32,
    pub(super) name: String,
    pub(super) access: Access,
    pub(super) min_bytes: u64,
    /// Whether the buffer is a runtime-sized array. `min_bytes` is then its stride.
    pub(super) is_array: bool,
    pub(super) doc: Vec<String>,
}

/// The buffers of a bind group that kernels share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// The name in snake case, such as `transfer`.
    pub(super) name: String,
    /// The folder of the modules that declare it.
    pub(super) folder: String,
    pub(super) number: u32,
    pub(super) buffers: Vec<Buffer>,
    /// The first of the numbered buffers, such as `pool_0`, with its name without the number.
    pub(super) numbered: Option<Buffer>,
}

impl Group {
    /// Adds the buffers of the same group in another kernel. A kernel may declare only some of them.
    fn merge(&mut self, other: Self) -> Result<()> {
        let Self { name, number, .. } = self;
        ensure!(*number == other.number, "`{name}` is group {number} and group {}", other.number);
        for buffer in other.buffers {
            match self.buffers.iter().find(|known| known.binding == buffer.binding) {
                None => self.buffers.push(buffer),
                Some(known) => ensure!(*known == buffer, "`{name}` has {known:?} and {buffer:?}"),
            }
        }
        self.buffers.sort_by_key(|buffer| buffer.binding);
        match (&self.numbered, other.numbered) {
            (Some(known), Some(buffer)) => ensure!(*known == buffer, "`{name}` has {known:?} and {buffer:?}"),
            (None, numbered) => self.numbered = numbered,
            (Some(_), None) => {}
        }
        Ok(())
    }
}

/// A member of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) name: String,
    /// The type in Rust.
    pub(super) ty: String,
    pub(super) offset: u32,
    pub(super) doc: Vec<String>,
}

/// A struct in a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Struct {
    pub(super) name: String,
    pub(super) folder: String,
    pub(super) bytes: u32,
    pub(super) members: Vec<Member>,
    pub(super) doc: Vec<String>,
}

/// A module with entry points, the root of a link.
#[derive(Debug)]
pub(super) struct Root {
    /// The module path, such as `machine::decode`.
    pub(super) module: String,
    pub(super) doc: Vec<String>,
    pub(super) families: Vec<&'static Family>,
    pub(super) entries: Vec<(String, Workgroup, Vec<String>)>,
    /// The name of each override and its documentation.
    pub(super) overrides: BTreeMap<String, Vec<String>>,
    /// The names of the groups, and whether all variants have the group.
    pub(super) groups: Vec<(String, bool)>,
}

impl Root {
    pub(super) fn folder(&self) -> &str {
        folder_of(&self.module)
    }

    /// Returns the last part of the module path.
    pub(super) fn stem(&self) -> &str {
        stem(&self.module)
    }
}

/// The whole interface between host and shaders.
#[derive(Debug, Default)]
pub(super) struct Shaders {
    pub(super) roots: Vec<Root>,
    pub(super) groups: Vec<Group>,
    pub(super) structs: Vec<Struct>,
}

/// Returns the paths and texts of all modules as they are on disk, sorted by path.
pub(in crate::codegen) fn module_texts() -> Result<Vec<(String, String)>> {
    fn read(folder: &Path, prefix: &str, texts: &mut Vec<(String, String)>) -> Result<()> {
        for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let entry = entry?;
            let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                read(&entry.path(), &format!("{path}/"), texts)?;
            } else {
                let text = fs::read_to_string(entry.path())
                    .with_context(|| format!("cannot read {}", entry.path().display()))?;
                texts.push((path, text));
            }
        }
        Ok(())
    }
    let mut texts = Vec::new();
    read(&root().join("shaders/wgsl"), "", &mut texts)?;
    texts.sort_unstable();
    Ok(texts)
}

/// Returns the module of a file: `arm64/flags.wgsl` is `arm64::flags`.
fn module_of(path: &str) -> String {
    path.trim_end_matches(".wgsl").replace('/', "::")
}

fn folder_of(module: &str) -> &str {
    module.split("::").next().unwrap_or_default()
}

fn stem(module: &str) -> &str {
    module.rsplit("::").next().unwrap_or_default()
}

impl Shaders {
    /// Reads all modules of the repository; later calls return the same result.
    pub(super) fn read() -> Result<&'static Self> {
        static SHADERS: LazyLock<Result<Shaders, String>> = LazyLock::new(|| {
            Shaders::of(&module_texts().map_err(|error| format!("{error:#}"))?)
                .map_err(|error| format!("{error:#}"))
        });
        SHADERS.as_ref().map_err(|message| anyhow!("{message}"))
    }

    /// Reads modules from paths and texts.
    pub(super) fn of(texts: &[(String, String)]) -> Result<Self> {
        let modules: Vec<(&str, &str)> =
            texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let mut shaders = Self::default();
        for (path, text) in &modules {
            if text.lines().any(|line| line.starts_with("@compute")) {
                Reader { modules: &modules, shaders: &mut shaders }
                    .root(path, text)
                    .with_context(|| format!("in {path}"))?;
            }
        }
        Ok(shaders)
    }
}

/// The reader of modules with entry points.
struct Reader<'a> {
    modules: &'a [(&'a str, &'a str)],
    shaders: &'a mut Shaders,
}

/// The parts of a [`Root`], collected over its variants.
#[derive(Default)]
struct RootParts {
    families: BTreeSet<usize>,
    /// The buffer and the module that declares it, by group and binding.
    buffers: BTreeMap<(u32, u32), (Buffer, String)>,
    /// The groups of each variant.
    groups_of_variants: Vec<BTreeSet<u32>>,
    overrides: BTreeMap<String, Vec<String>>,
    entries: Vec<(String, Workgroup, Vec<String>)>,
    /// The sets of declaring modules that have been read.
    read: BTreeSet<Vec<String>>,
}

impl Reader<'_> {
    fn root(&mut self, path: &str, text: &str) -> Result<()> {
        let module = module_of(path);
        let mut gathered = RootParts::default();
        self.variant(&module, &[], &mut gathered)?;
        let mut groups = Vec::new();
        let numbers: BTreeSet<u32> = gathered.buffers.keys().map(|(group, _)| *group).collect();
        for number in numbers {
            let buffers: Vec<(Buffer, String)> = gathered
                .buffers
                .iter()
                .filter(|((group, _), _)| *group == number)
                .map(|(_, buffer)| buffer.clone())
                .collect();
            let group = group(&module, number, &buffers)?;
            let is_always = gathered.groups_of_variants.iter().all(|groups| groups.contains(&number));
            groups.push((group.name.clone(), is_always));
            match self.shaders.groups.iter_mut().find(|known| known.name == group.name) {
                None => self.shaders.groups.push(group),
                Some(known) => known.merge(group)?,
            }
        }
        let doc = text
            .lines()
            .map_while(|line| line.strip_prefix("//!"))
            .take_while(|line| !line.trim().is_empty())
            .map(str::to_owned)
            .collect();
        self.shaders.roots.push(Root {
            module,
            doc,
            families: gathered.families.iter().map(|index| &FAMILIES[*index]).collect(),
            entries: gathered.entries,
            overrides: gathered.overrides,
            groups,
        });
        Ok(())
    }

    /// Reads a kernel linked with some substitutions, then its variants for each family that the linked modules
    /// include.
    fn variant(
        &mut self,
        module: &str,
        substitutions: &[Substitution],
        gathered: &mut RootParts,
    ) -> Result<()> {
        let linked = link_modules(self.modules, module, substitutions)
            .map_err(|error| anyhow!("with {substitutions:?}: {error}"))?;
        self.declarations(&linked, gathered)?;
        let linked_modules: Vec<String> = linked.modules().map(module_of).collect();
        for (index, family) in FAMILIES.iter().enumerate() {
            let is_reached = family.replaced().any(|from| linked_modules.iter().any(|there| there == from));
            if !is_reached || substitutions.iter().any(|(from, _)| family.replaced().any(|of| of == *from)) {
                continue;
            }
            // The variants of a family are read when the family is first reached, not for every combination of
            // families.
            if gathered.families.insert(index) {
                for (_, variant) in &family.variants[1..] {
                    self.variant(module, &[substitutions, variant].concat(), gathered)?;
                }
            }
        }
        Ok(())
    }

    /// Reads the declarations of a linked kernel that the host needs.
    fn declarations(&mut self, linked: &Linked, gathered: &mut RootParts) -> Result<()> {
        let declares = |path: &&str| {
            let text = self.modules.iter().find(|(there, _)| there == path).map_or("", |(_, text)| text);
            text.lines().any(|line| line.starts_with("@group") || line.starts_with("override "))
        };
        let declaring: Vec<String> = linked.modules().filter(declares).map(str::to_owned).collect();
        if !gathered.read.insert(declaring) {
            return Ok(());
        }
        // naga does not see a doc comment if an ordinary comment precedes it, so those are blanked.
        let is_comment = |line: &str| line.starts_with("//") && !line.starts_with("///");
        let source: String =
            linked.source.lines().flat_map(|line| [if is_comment(line) { "" } else { line }, "\n"]).collect();
        let capabilities =
            Capabilities::SHADER_INT64 | Capabilities::SUBGROUP | Capabilities::STORAGE_BUFFER_BINDING_ARRAY;
        let module = Frontend::new_with_options(Options { parse_doc_comments: true, capabilities })
            .parse(&source)
            .map_err(|error| anyhow!("{}", error.emit_to_string(&source)))?;
        Reflection { linked, source: &source, module: &module, shaders: self.shaders, gathered }.read()
    }
}

/// The reflection of a linked kernel.
struct Reflection<'a> {
    linked: &'a Linked,
    source: &'a str,
    module: &'a Module,
    shaders: &'a mut Shaders,
    gathered: &'a mut RootParts,
}

impl Reflection<'_> {
    fn read(&mut self) -> Result<()> {
        let mut layouter = Layouter::default();
        layouter.update(self.module.to_ctx()).map_err(|error| anyhow!("{error}"))?;
        let mut groups = BTreeSet::new();
        for (handle, variable) in self.module.global_variables.iter() {
            let Some(binding) = variable.binding else { continue };
            let access = match variable.space {
                AddressSpace::Uniform => Access::Uniform,
                AddressSpace::Storage { access } if access.contains(StorageAccess::STORE) => {
                    Access::ReadWrite
                }
                AddressSpace::Storage { .. } => Access::Read,
                space => bail!("{:?} is in {space:?}, and not in a buffer", variable.name),
            };
            let mut name = variable.name.clone().unwrap_or_default();
            let place = self.module_at(self.module.global_variables.get_span(handle))?;
            let docs = self.module.doc_comments.as_ref().and_then(|docs| docs.global_variables.get(&handle));
            // An array of buffers takes the place of numbered ones.
            let mut ty = variable.ty;
            if let TypeInner::BindingArray { base, .. } = self.module.types[ty].inner
                && let TypeInner::Struct { members, .. } = &self.module.types[base].inner
            {
                ty = members[0].ty;
                name += "_0";
            }
            // The minimum size of an array is one element.
            let (min_bytes, is_array) = match self.module.types[ty].inner {
                TypeInner::Array { stride, size: naga::ArraySize::Dynamic, .. } => (stride, true),
                _ => (layouter[ty].size, false),
            };
            self.structs_of(ty).with_context(|| format!("in the type of `{name}`"))?;
            let buffer = Buffer {
                binding: binding.binding,
                name,
                access,
                min_bytes: min_bytes.into(),
                is_array,
                doc: documentation(docs),
            };
            groups.insert(binding.group);
            let key = (binding.group, binding.binding);
            if let Some((known, _)) = self.gathered.buffers.get(&key) {
                ensure!(*known == buffer, "{key:?} is {known:?} in one variant and {buffer:?} in another");
            }
            self.gathered.buffers.insert(key, (buffer, place));
        }
        self.gathered.groups_of_variants.push(groups);
        for (handle, declared) in self.module.overrides.iter() {
            let name = declared.name.clone().unwrap_or_default();
            let line = self.module.overrides.get_span(handle).location(self.source).line_number as usize;
            // naga does not keep the doc comments of overrides.
            let lines: Vec<&str> = self.source.lines().take(line - 1).collect();
            let mut doc: Vec<String> = lines
                .iter()
                .rev()
                .map_while(|line| line.strip_prefix("///"))
                .map(|line| line.trim().to_owned())
                .collect();
            doc.reverse();
            let ty = &self.module.types[declared.ty].inner;
            let is_number = matches!(ty, TypeInner::Scalar(scalar) if scalar.kind == ScalarKind::Uint);
            ensure!(is_number, "the override `{name}` is not a u32");
            self.gathered.overrides.insert(name, doc);
        }
        if self.gathered.entries.is_empty() {
            for (index, entry) in self.module.entry_points.iter().enumerate() {
                let [size, 1, 1] = entry.workgroup_size else {
                    bail!("the workgroups of `{}` have several dimensions", entry.name)
                };
                let overridden = entry.workgroup_size_overrides.as_ref().and_then(|sizes| sizes[0]);
                let workgroup = match overridden.map(|size| &self.module.global_expressions[size]) {
                    None => Workgroup::Fixed(size),
                    Some(Expression::Override(handle)) => {
                        let name = self.module.overrides[*handle].name.clone().unwrap_or_default();
                        Workgroup::Override(name.leak())
                    }
                    Some(_) => bail!("the workgroup size of `{}` is computed", entry.name),
                };
                let docs = self.module.doc_comments.as_ref().and_then(|docs| docs.entry_points.get(&index));
                self.gathered.entries.push((entry.name.clone(), workgroup, documentation(docs)));
            }
        }
        Ok(())
    }

    /// Returns the module that contains a position of the linked source.
    fn module_at(&self, span: naga::Span) -> Result<String> {
        let line = span.location(self.source).line_number as usize;
        let (path, _) = self.linked.locate(line).context("a declaration is outside the source")?;
        Ok(module_of(path))
    }

    /// Adds the structs that a type consists of.
    fn structs_of(&mut self, ty: Handle<Type>) -> Result<()> {
        let definition = &self.module.types[ty];
        match &definition.inner {
            TypeInner::Array { base, .. } => self.structs_of(*base),
            TypeInner::Struct { members, span } => {
                let name = definition.name.clone().unwrap_or_default();
                let folder = folder_of(&self.module_at(self.module.types.get_span(ty))?).to_owned();
                let docs = self.module.doc_comments.as_ref();
                let mut fields = Vec::new();
                for (index, member) in members.iter().enumerate() {
                    self.structs_of(member.ty)?;
                    let name = member.name.clone().unwrap_or_default();
                    fields.push(Member {
                        ty: self.rust_type(member.ty).with_context(|| format!("in the member `{name}`"))?,
                        name,
                        offset: member.offset,
                        doc: documentation(docs.and_then(|docs| docs.struct_members.get(&(ty, index)))),
                    });
                }
                let doc = documentation(docs.and_then(|docs| docs.types.get(&ty)));
                let new = Struct { name, folder, bytes: *span, members: fields, doc };
                let same = |known: &&Struct| known.name == new.name && known.folder == new.folder;
                match self.shaders.structs.iter().find(same) {
                    None => self.shaders.structs.push(new),
                    Some(known) => ensure!(*known == new, "two structs are called `{}`", new.name),
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Returns the Rust type of a WGSL type.
    fn rust_type(&self, ty: Handle<Type>) -> Result<String> {
        let definition = &self.module.types[ty];
        let scalar = |scalar: naga::Scalar| match (scalar.kind, scalar.width) {
            (ScalarKind::Uint, width) => Ok(format!("u{}", 8 * width)),
            (ScalarKind::Sint, width) => Ok(format!("i{}", 8 * width)),
            (ScalarKind::Float, width) => Ok(format!("f{}", 8 * width)),
            (kind, _) => bail!("the host has no {kind:?}"),
        };
        match definition.inner {
            TypeInner::Scalar(of) | TypeInner::Atomic(of) => scalar(of),
            TypeInner::Vector { size, scalar: of } => Ok(format!("[{}; {}]", scalar(of)?, size as u8)),
            TypeInner::Array { base, size: naga::ArraySize::Constant(count), .. } => {
                Ok(format!("[{}; {count}]", self.rust_type(base)?))
            }
            TypeInner::Struct { .. } => Ok(definition.name.clone().unwrap_or_default()),
            ref other => bail!("the host has no {other:?}"),
        }
    }
}

fn documentation(lines: Option<&Vec<String>>) -> Vec<String> {
    let lines = lines.map_or(&[][..], |lines| lines);
    lines.iter().map(|line| line.trim_start_matches("///").trim().to_owned()).collect()
}

/// Builds a kernel's group from its buffers. The name of the group is that of a declaring module.
fn group(root: &str, number: u32, buffers: &[(Buffer, String)]) -> Result<Group> {
    let declaring: Vec<&str> = buffers.iter().map(|(_, module)| module.as_str()).collect();
    let shared = declaring.iter().find(|module| stem(module) == "bindings");
    let (name, folder) = match shared {
        Some(shared) => (stem(shared.trim_end_matches("::bindings")), folder_of(shared)),
        None if declaring.contains(&root) => (stem(root), folder_of(root)),
        None => (stem(declaring[0]), folder_of(declaring[0])),
    };
    let (numbered, single): (Vec<_>, Vec<_>) = buffers
        .iter()
        .map(|(buffer, _)| buffer.clone())
        .partition(|buffer| number_of(&buffer.name).is_some());
    for (index, buffer) in numbered.iter().enumerate() {
        let expected = numbered[0].binding + index as u32;
        ensure!(
            number_of(&buffer.name) == Some((number_of(&numbered[0].name).unwrap_or_default().0, index))
                && buffer.binding == expected
                && buffer.access == numbered[0].access,
            "`{}` must be numbered after `{}`, with the next binding and the same access",
            buffer.name,
            numbered[0].name
        );
    }
    let numbered = numbered.into_iter().next().map(|mut first| {
        first.name = number_of(&first.name).unwrap_or_default().0.to_owned();
        first
    });
    Ok(Group { name: name.to_owned(), folder: folder.to_owned(), number, buffers: single, numbered })
}

/// Returns the stem and the number of a name such as `pool_3`.
fn number_of(name: &str) -> Option<(&str, usize)> {
    let (stem, number) = name.rsplit_once('_')?;
    Some((stem, number.parse().ok()?))
}
