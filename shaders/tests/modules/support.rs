//! Links and validates modules for the other tests.

use kvrm_shaders::{Linked, MODULES};
use naga::front::wgsl::{Frontend, Options};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{Function, Handle, Module, SourceLocation, Span, TypeInner};

/// The modules that are linked only for devices with subgroups.
const SUBGROUPS: [&str; 2] = ["machine/stage_votes.wgsl", "networks/dispatch_subgroups.wgsl"];
/// The module that is linked only for devices with arrays of buffers.
const ARRAY: &str = "machine/frames_array.wgsl";

/// Returns the capabilities of a device beyond basic WGSL: 64-bit integers (`wgpu::Features::SHADER_INT64`), `unpack2x16float`,
/// which Vulkan, Metal and DX12 always have, subgroups (`wgpu::Features::SUBGROUP`) if one of [`SUBGROUPS`] is linked, and arrays of storage buffers if [`ARRAY`] is linked.
///
/// Devices are created with exactly these, so a shader that needs more fails here, and not on the one backend that
/// lacks it.
fn capabilities(linked: &Linked) -> Capabilities {
    let has = |module| linked.modules().any(|path| path == module);
    let mut capabilities = Capabilities::SHADER_INT64 | Capabilities::SHADER_FLOAT16_IN_FLOAT32;
    capabilities.set(Capabilities::SUBGROUP, SUBGROUPS.into_iter().any(has));
    let arrays = Capabilities::STORAGE_BUFFER_BINDING_ARRAY
        | Capabilities::STORAGE_BUFFER_BINDING_ARRAY_NON_UNIFORM_INDEXING;
    capabilities.set(arrays, has(ARRAY));
    capabilities
}

/// A linked source, parsed and validated by naga.
pub(crate) struct Checked {
    linked: Linked,
    /// The source without comments other than `///`: one in front of a `///` hides it from naga.
    source: String,
    pub(crate) module: Module,
    pub(crate) info: ModuleInfo,
}

impl Checked {
    /// Parses and validates a source. Panics with the place in the module if naga refuses it.
    pub(crate) fn new(linked: Linked) -> Self {
        let is_comment = |line: &str| line.starts_with("//") && !line.starts_with("///");
        let lines = linked.source.lines().map(|line| if is_comment(line) { "" } else { line });
        let source = lines.flat_map(|line| [line, "\n"]).collect::<String>();

        let refused = |location: Option<SourceLocation>, message: String| -> ! {
            let place = location.and_then(|location| linked.locate(location.line_number as usize));
            panic!("naga refuses {place:?}: {message}")
        };
        let capabilities = capabilities(&linked);
        let options = Options { parse_doc_comments: true, capabilities };
        let module = Frontend::new_with_options(options)
            .parse(&source)
            .unwrap_or_else(|error| refused(error.location(&source), error.emit_to_string(&source)));
        let info = Validator::new(ValidationFlags::all(), capabilities)
            .validate(&module)
            .unwrap_or_else(|error| refused(error.location(&source), error.emit_to_string(&source)));
        Self { linked, source, module, info }
    }

    /// Links, parses and validates a module that only a test has.
    pub(crate) fn of_text(text: &str) -> Self {
        Self::new(kvrm_shaders::link_source("test", text, &[]).expect("the imports of the test are correct"))
    }

    /// Returns the file and line that a part of the source comes from.
    pub(crate) fn place(&self, span: Span) -> (String, usize) {
        let line = span.location(&self.source).line_number as usize;
        let (path, line) = self.linked.locate(line).expect("a span is in the source");
        (path.to_owned(), line)
    }

    /// Returns all functions with their names and handles, and the entry points, which have no handles.
    pub(crate) fn functions(&self) -> impl Iterator<Item = (Option<Handle<Function>>, &str, &Function)> {
        let functions = self.module.functions.iter().map(|(handle, function)| {
            (Some(handle), function.name.as_deref().expect("WGSL functions have names"), function)
        });
        let entry_points = self.module.entry_points.iter();
        functions.chain(entry_points.map(|entry| (None, entry.name.as_str(), &entry.function)))
    }

    /// Returns the messages of `check` about the expressions of all functions, as `path:line: message`.
    ///
    /// `check` gets the expression, and a function that returns the types of expressions of the same function.
    pub(crate) fn violations(
        &self,
        check: impl Fn(&naga::Expression, &dyn Fn(Handle<naga::Expression>) -> TypeInner) -> Option<&'static str>,
    ) -> Vec<String> {
        let mut violations = Vec::new();
        for (handle, name, function) in self.functions() {
            let info = match handle {
                Some(handle) => &self.info[handle],
                None => {
                    let entry = |entry: &naga::EntryPoint| entry.name == name;
                    self.info.get_entry_point(
                        self.module
                            .entry_points
                            .iter()
                            .position(entry)
                            .expect("a function without a handle is an entry point"),
                    )
                }
            };
            let type_of =
                |handle: Handle<naga::Expression>| info[handle].ty.inner_with(&self.module.types).clone();
            for (handle, expression) in function.expressions.iter() {
                if let Some(message) = check(expression, &type_of) {
                    let (path, line) = self.place(function.expressions.get_span(handle));
                    violations.push(format!("{path}:{line}: {message}"));
                }
            }
        }
        violations
    }
}

/// Whether a module has an entry point, which makes it a kernel and not a helper.
pub(crate) fn is_kernel(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("@compute"))
}

/// Returns the module of a path: `arm64::flags` for `arm64/flags.wgsl`.
pub(crate) fn name(path: &str) -> String {
    path.strip_suffix(".wgsl").expect("modules are WGSL files").replace('/', "::")
}

/// Returns every module, each linked on its own with everything it imports.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, Checked)> {
    MODULES.iter().map(|(path, _)| {
        let linked = kvrm_shaders::link(&name(path), &[]);
        (*path, Checked::new(linked.unwrap_or_else(|error| panic!("{path} does not link: {error}"))))
    })
}
