//! Shaders and compute pipelines, with errors that name the module and the line.

pub use kvrm_shaders::Access;
use kvrm_shaders::kernel::Binding;

use super::buffer::Buffer;
use super::error::Error;
use super::logical::Device;

/// A function that maps a line of the linked text to a module and a line of that module. Lines count from 1.
pub type Locate<'a> = &'a dyn Fn(usize) -> (String, usize);

/// A compiled shader, from which pipelines are made.
///
/// ```no_run
/// use kvrm_gpu::Device;
/// use kvrm_gpu::pipeline::{Access, Shader, storage_layout};
///
/// let device = Device::open(None)?;
/// let source = "
///     @group(0) @binding(0) var<storage, read_write> numbers: array<u32>;
///     @compute @workgroup_size(64)
///     fn double(@builtin(global_invocation_id) id: vec3u) { numbers[id.x] *= 2u; }
/// ";
/// let shader = Shader::compile(&device, source, &|line| ("double.wgsl".to_owned(), line))?;
/// let layout = storage_layout(&device, "double", &[Access::ReadWrite])?;
/// let pipeline = shader.pipeline("double", &[&layout], &[])?;
/// # Ok::<(), kvrm_gpu::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Shader {
    device: Device,
    raw: wgpu::ShaderModule,
    zeroes: bool,
}

impl Shader {
    /// Compiles WGSL.
    ///
    /// # Errors
    ///
    /// The source has an error; `locate` gives its module and line. Or the device is lost.
    pub fn compile(device: &Device, source: &str, locate: Locate<'_>) -> Result<Self, Error> {
        Self::create(device, source, locate, wgpu::Device::create_shader_module)
    }

    /// Compiles WGSL. `create_module` is the function of wgpu that compiles it.
    ///
    /// # Errors
    ///
    /// The errors of [`Shader::compile`].
    pub(super) fn create(
        device: &Device,
        source: &str,
        locate: Locate<'_>,
        create_module: fn(&wgpu::Device, wgpu::ShaderModuleDescriptor<'_>) -> wgpu::ShaderModule,
    ) -> Result<Self, Error> {
        let ((raw, info), outcome) = device.attempt("compiling a shader", || {
            let source = wgpu::ShaderSource::Wgsl(source.into());
            let raw = create_module(device.raw(), wgpu::ShaderModuleDescriptor { label: None, source });
            let info = pollster::block_on(raw.get_compilation_info());
            (raw, info)
        });
        let wrong =
            |message: &&wgpu::CompilationMessage| message.message_type == wgpu::CompilationMessageType::Error;
        match info.messages.iter().find(wrong) {
            Some(message) => Err(shader_error(message, locate)),
            None => outcome.map(|()| Self { device: device.clone(), raw, zeroes: true }),
        }
    }

    /// Leaves workgroup memory undefined at the beginning of its pipelines. This is for shaders that write workgroup
    /// memory before they read it: otherwise one invocation sets all of it to zero while the others wait.
    #[must_use]
    pub fn without_zeroes(self) -> Self {
        Self { zeroes: false, ..self }
    }

    /// Makes a pipeline of an entry point. `layouts` are the layouts of its bind groups, numbered from 0; `constants`
    /// are the values of `override` declarations, such as the workgroup size.
    ///
    /// # Errors
    ///
    /// The entry point does not exist, or it does not match `layouts`, `constants` or the limits of the device.
    pub fn pipeline(
        &self,
        entry: &str,
        layouts: &[&wgpu::BindGroupLayout],
        constants: &[(&str, f64)],
    ) -> Result<wgpu::ComputePipeline, Error> {
        let layouts: Vec<_> = layouts.iter().copied().map(Some).collect();
        self.pipeline_at(entry, &layouts, constants)
    }

    /// Makes a pipeline as [`Shader::pipeline`] does. `None` stands for a bind group that the shader does not use.
    ///
    /// # Errors
    ///
    /// The errors of [`Shader::pipeline`].
    pub fn pipeline_at(
        &self,
        entry: &str,
        layouts: &[Option<&wgpu::BindGroupLayout>],
        constants: &[(&str, f64)],
    ) -> Result<wgpu::ComputePipeline, Error> {
        let raw = self.device.raw();
        let pipeline = self.device.catch("making a pipeline", || {
            let layout = raw.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(entry),
                bind_group_layouts: layouts,
                immediate_size: 0,
            });
            raw.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(entry),
                layout: Some(&layout),
                module: &self.raw,
                entry_point: Some(entry),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants,
                    zero_initialize_workgroup_memory: self.zeroes,
                },
                cache: None,
            })
        });
        pipeline.map_err(|error| match error {
            Error::Refused { message, .. } => Error::Pipeline { entry: entry.to_owned(), message },
            other => other,
        })
    }
}

/// Returns the error for a message of the compiler, with lines of the modules instead of lines of the linked text.
fn shader_error(message: &wgpu::CompilationMessage, locate: Locate<'_>) -> Error {
    // The text before "error: " is the stage of compilation.
    let text = message.message.split_once("error: ").map_or(message.message.as_str(), |(_, text)| text);
    let Some(location) = message.location else {
        return Error::Shader { location: None, message: text.trim().to_owned() };
    };
    // The location may be a whole function; the excerpt marks the error in it.
    let line = marked_line(text).unwrap_or(location.line_number as usize);
    let (module, line) = locate(line);
    let message = located_excerpt(text.trim(), &module, locate);
    Error::Shader { location: Some((module, line)), message }
}

/// Returns the number of the first line of an excerpt that is marked with `^^^`.
fn marked_line(text: &str) -> Option<usize> {
    let mut marked = None;
    for line in text.lines() {
        match excerpt_line(line) {
            Some((number, _)) => marked = Some(number),
            // `╰` is the end of a bracket around several lines; a mark there belongs to all of these.
            None if line.contains('^') && !line.contains('╰') => return marked,
            None => {}
        }
    }
    None
}

/// Returns a message whose excerpt has the line numbers of the modules.
fn located_excerpt(text: &str, module: &str, locate: Locate<'_>) -> String {
    let lines = text.lines().map(|line| {
        if let Some((number, rest)) = excerpt_line(line) {
            let (of, number) = locate(number);
            let place = if of == module { number.to_string() } else { format!("{of}:{number}") };
            let width = line.find('│').unwrap_or_default().saturating_sub(1);
            format!("{place:>width$} │{rest}")
        } else if let Some((indent, _)) = line.split_once('┌') {
            format!("{indent}┌─ {module}")
        } else {
            line.to_owned()
        }
    });
    lines.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// Splits a line of an excerpt into its number and its text, as in `12 │ let a = b;`. Returns `None` for other lines.
fn excerpt_line(line: &str) -> Option<(usize, &str)> {
    let (number, rest) = line.split_once('│')?;
    Some((number.trim().parse().ok()?, rest))
}

/// Makes the layout of a bind group of storage buffers, with bindings from 0 on in the order of `accesses`. This is for
/// shaders that are not in the table of kernels.
///
/// # Errors
///
/// The device refuses the layout or is lost.
pub fn storage_layout(
    device: &Device,
    label: &str,
    accesses: &[Access],
) -> Result<wgpu::BindGroupLayout, Error> {
    let entries: Vec<_> = (0..)
        .zip(accesses)
        .map(|(binding, access)| layout_entry(&Binding { binding, name: "", access: *access, min_bytes: 0 }))
        .collect();
    device.catch("laying out a bind group", || {
        device.raw().create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some(label),
            entries: &entries,
        })
    })
}

/// Makes a bind group of whole buffers, with bindings from 0 on in the order of `buffers`.
///
/// # Errors
///
/// The buffers do not match `layout`.
pub fn bind(
    device: &Device,
    label: &str,
    layout: &wgpu::BindGroupLayout,
    buffers: &[&Buffer],
) -> Result<wgpu::BindGroup, Error> {
    let entries: Vec<_> = (0..)
        .zip(buffers)
        .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.raw().as_entire_binding() })
        .collect();
    device.catch("binding buffers", || {
        device.raw().create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(label),
            layout,
            entries: &entries,
        })
    })
}

pub(super) fn layout_entry(binding: &Binding) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding: binding.binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: match binding.access {
                Access::Uniform => wgpu::BufferBindingType::Uniform,
                access => wgpu::BufferBindingType::Storage { read_only: access == Access::Read },
            },
            has_dynamic_offset: false,
            min_binding_size: wgpu::BufferSize::new(binding.min_bytes),
        },
        count: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_numbered_as_in_their_modules() {
        let locate = |line: usize| {
            if line <= 100 { ("a.wgsl".to_owned(), line) } else { ("b.wgsl".to_owned(), line - 100) }
        };
        let text = "\
redefinition of `f`
    ┌─ wgsl:102:4
    │
 99 │ fn f() {}
    │    ^ previous definition of `f`
102 │ fn f() {}
    │    ^ redefinition of `f`";
        let expected = "\
redefinition of `f`
    ┌─ b.wgsl
    │
a.wgsl:99 │ fn f() {}
    │    ^ previous definition of `f`
  2 │ fn f() {}
    │    ^ redefinition of `f`";
        assert_eq!(located_excerpt(text, "b.wgsl", &locate), expected, "line 102 is line 2 of b.wgsl");
    }

    #[test]
    fn the_line_marked_inside_a_bracket_is_the_location() {
        let text = "\
function is invalid
  ┌─ wgsl:7:1
  │
7 │ ╭ fn a() -> u32 {
8 │ │     return 1lu;
  │ │            ^^^ expression
9 │ │ }
  │ ╰─^ function";
        assert_eq!(marked_line(text), Some(8), "not the first line of the function");
        assert_eq!(marked_line("a message without an excerpt"), None, "no line is marked");
    }
}
