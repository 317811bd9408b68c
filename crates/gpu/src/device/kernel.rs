//! Kernels of the table `kvrm_shaders::interface`: compiled, laid out and bound as their modules declare.

use std::marker::PhantomData;

use kvrm_shaders::Linked;
use kvrm_shaders::kernel::{Access, Binding, Entry, Group, Groups as _, Overrides as _, Root, bindings};

use super::buffer::Buffer;
use super::error::Error;
use super::logical::Device;
use super::pipeline::{Shader, layout_entry};

/// The layout of a bind group.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    raw: wgpu::BindGroupLayout,
    label: String,
    bindings: Vec<Binding>,
}

impl Layout {
    /// The layout of a group with these bindings.
    ///
    /// # Errors
    ///
    /// There are more than the device allows.
    pub(crate) fn new(device: &Device, label: &str, bindings: Vec<Binding>) -> Result<Self, Error> {
        let most = device.limits().storage_buffers as usize;
        let buffers = bindings.iter().filter(|binding| binding.access != Access::Uniform).count();
        if buffers > most {
            let message = format!("it needs {buffers} buffers, and this GPU has room for {most}");
            return Err(Error::Pipeline { entry: label.to_owned(), message });
        }
        let entries: Vec<_> = bindings.iter().map(layout_entry).collect();
        let raw = device.catch("laying out a bind group", || {
            device.raw().create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some(label),
                entries: &entries,
            })
        })?;
        Ok(Self { raw, label: label.to_owned(), bindings })
    }

    /// The layout of a group with all its bindings, of which `numbered` are numbered.
    ///
    /// # Errors
    ///
    /// Those of [`Layout::new`].
    pub(crate) fn of<G: Group>(device: &Device, numbered: usize) -> Result<Self, Error> {
        Self::new(device, G::LABEL, bindings::<G>(numbered))
    }

    /// wgpu's own layout.
    #[must_use]
    pub(crate) const fn raw(&self) -> &wgpu::BindGroupLayout {
        &self.raw
    }

    /// Binds those buffers of a group that the layout has.
    ///
    /// # Errors
    ///
    /// They are not what the layout says.
    pub(crate) fn bind<'a, G: Group<Buffer = &'a Buffer>>(
        &self,
        device: &Device,
        group: G,
    ) -> Result<wgpu::BindGroup, Error> {
        let buffers = group.buffers();
        let numbered = buffers.len().saturating_sub(G::BINDINGS.len());
        let all: Vec<(Binding, &Buffer)> = bindings::<G>(numbered).into_iter().zip(buffers).collect();
        let entries: Vec<_> = all
            .iter()
            .filter(|(binding, _)| self.bindings.iter().any(|of| of.binding == binding.binding))
            .map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding: binding.binding,
                resource: buffer.raw().as_entire_binding(),
            })
            .collect();
        device.catch("binding buffers", || {
            device.raw().create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(&self.label),
                layout: &self.raw,
                entries: &entries,
            })
        })
    }
}

/// A kernel that was linked and compiled, of which pipelines are made.
#[derive(Clone, Debug)]
pub(crate) struct Kernel<R> {
    root: PhantomData<R>,
    linked: Linked,
    shader: Shader,
}

impl<R: Root> Kernel<R> {
    /// Links and compiles a kernel.
    ///
    /// # Errors
    ///
    /// Its modules are wrong; the error has module and line.
    pub(crate) fn compile(device: &Device, root: R) -> Result<Self, Error> {
        let linked =
            root.link().map_err(|error| Error::Shader { location: None, message: error.to_string() })?;
        let shader = Shader::compile(device, &linked.source, &|line| {
            let place = linked.locate(line).map(|(path, line)| (path.to_owned(), line));
            place.unwrap_or_else(|| (R::MODULE.to_owned(), line))
        })?;
        Ok(Self { root: PhantomData, linked, shader })
    }

    /// The same with undefined workgroup memory; see [`Shader::without_zeroes`].
    #[must_use]
    pub(crate) fn without_zeroes(self) -> Self {
        Self { shader: self.shader.without_zeroes(), ..self }
    }

    /// Those bindings of a group, `numbered` of which are numbered, that its code uses.
    #[must_use]
    pub(crate) fn bindings_used<G: Group>(&self, numbered: usize) -> Vec<Binding> {
        let name = |binding: &Binding| match G::NUMBERED {
            Some(first) if binding.name == first.name => {
                format!("{}_{}", first.name, binding.binding - first.binding)
            }
            _ => binding.name.to_owned(),
        };
        bindings::<G>(numbered).into_iter().filter(|binding| self.linked.uses(&name(binding))).collect()
    }

    /// How many loops an entry point has, with those of the functions it calls.
    #[must_use]
    pub(crate) fn loops(&self, entry: Entry<R>) -> u32 {
        self.linked.loops(entry.name)
    }

    /// Makes a pipeline of an entry point.
    ///
    /// # Errors
    ///
    /// The device refuses it.
    pub(crate) fn pipeline(
        &self,
        entry: Entry<R>,
        layouts: R::Groups<&Layout>,
        overrides: R::Overrides,
    ) -> Result<wgpu::ComputePipeline, Error> {
        let layouts: Vec<_> = layouts.by_number().into_iter().map(|layout| layout.map(Layout::raw)).collect();
        // Some are declared by one variant of the kernel only.
        let mut values = overrides.values();
        values.retain(|(name, _)| self.linked.has_override(name));
        self.shader.pipeline_at(entry.name, &layouts, &values)
    }
}
