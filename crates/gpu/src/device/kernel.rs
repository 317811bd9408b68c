//! Compilation of the kernels in the table `kvrm_shaders::interface`, and bind groups as their modules declare them.

use std::marker::PhantomData;
use std::num::NonZeroU32;

use kvrm_shaders::kernel::{Access, Binding, Entry, Group, Groups as _, Overrides as _, Root, bindings};
use kvrm_shaders::{LinkError, Linked};

use super::buffer::Buffer;
use super::error::Error;
use super::logical::Device;
use super::pipeline::{Shader, layout_entry};
use super::unbounded::compile;

/// The layout of a bind group.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    raw: wgpu::BindGroupLayout,
    label: String,
    bindings: Vec<Binding>,
    /// The binding whose buffers are the numbered ones of the group.
    array: Option<Binding>,
}

impl Layout {
    /// Makes the layout of a group with these bindings.
    ///
    /// # Errors
    ///
    /// The group has more storage buffers than the device allows.
    pub(crate) fn new(device: &Device, label: &str, bindings: Vec<Binding>) -> Result<Self, Error> {
        Self::with_array(device, label, bindings, None)
    }

    fn with_array(
        device: &Device,
        label: &str,
        bindings: Vec<Binding>,
        array: Option<(Binding, NonZeroU32)>,
    ) -> Result<Self, Error> {
        let most = device.limits().storage_buffers as usize;
        let buffers = bindings.iter().filter(|binding| binding.access != Access::Uniform).count();
        if buffers > most {
            let message = format!("it needs {buffers} storage buffers, and this GPU allows {most}");
            return Err(Error::Pipeline { entry: label.to_owned(), message });
        }
        let mut entries: Vec<_> = bindings.iter().map(layout_entry).collect();
        entries.extend(
            array.map(|(first, count)| wgpu::BindGroupLayoutEntry {
                count: Some(count),
                ..layout_entry(&first)
            }),
        );
        let raw = device.catch("laying out a bind group", || {
            device.raw().create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some(label),
                entries: &entries,
            })
        })?;
        Ok(Self { raw, label: label.to_owned(), bindings, array: array.map(|(first, _)| first) })
    }

    /// Makes the layout of a group with all its bindings, and one for each of `numbered` numbered buffers.
    ///
    /// # Errors
    ///
    /// The errors of [`Layout::new`].
    pub(crate) fn of<G: Group>(device: &Device, numbered: usize) -> Result<Self, Error> {
        Self::new(device, G::LABEL, bindings::<G>(numbered))
    }

    /// Makes the layout of a group with all its bindings, and one for an array of `numbered` numbered buffers.
    ///
    /// # Errors
    ///
    /// The errors of [`Layout::new`].
    pub(crate) fn of_array<G: Group>(device: &Device, numbered: NonZeroU32) -> Result<Self, Error> {
        let array = G::NUMBERED.map(|first| (first, numbered));
        Self::with_array(device, G::LABEL, bindings::<G>(0), array)
    }

    /// Returns the wgpu layout.
    #[must_use]
    pub(crate) const fn raw(&self) -> &wgpu::BindGroupLayout {
        &self.raw
    }

    /// Makes a bind group of those buffers of a group that the layout contains.
    ///
    /// # Errors
    ///
    /// The buffers do not match the layout.
    pub(crate) fn bind<'a, G: Group<Buffer = &'a Buffer>>(
        &self,
        device: &Device,
        group: G,
    ) -> Result<wgpu::BindGroup, Error> {
        let buffers = group.buffers();
        let numbered = buffers.len().saturating_sub(G::BINDINGS.len());
        let elements: Vec<_> = buffers[G::BINDINGS.len()..]
            .iter()
            .map(|buffer| buffer.raw().as_entire_buffer_binding())
            .collect();
        let array = self.array.map(|first| wgpu::BindGroupEntry {
            binding: first.binding,
            resource: wgpu::BindingResource::BufferArray(&elements),
        });
        let entries: Vec<_> = bindings::<G>(numbered)
            .into_iter()
            .zip(buffers)
            .filter(|(binding, _)| self.bindings.iter().any(|of| of.binding == binding.binding))
            .map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding: binding.binding,
                resource: buffer.raw().as_entire_binding(),
            })
            .chain(array)
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

/// A linked and compiled kernel, from which pipelines are made.
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
    /// The modules of the kernel do not link or compile. An error of the compiler has module and line.
    pub(crate) fn compile(device: &Device, root: R) -> Result<Self, Error> {
        Self::of(device, root.link())
    }

    /// Links and compiles a kernel with the text of translated regions.
    ///
    /// # Errors
    ///
    /// The errors of [`Kernel::compile`].
    pub(crate) fn compile_translated(device: &Device, root: R, text: &str) -> Result<Self, Error> {
        Self::of(device, root.link_translated(text))
    }

    fn of(device: &Device, linked: Result<Linked, LinkError>) -> Result<Self, Error> {
        let linked = linked.map_err(|error| Error::Shader { location: None, message: error.to_string() })?;
        let shader = compile::<R>(device, &linked)?;
        Ok(Self { root: PhantomData, linked, shader })
    }

    /// Leaves workgroup memory undefined at the beginning of its pipelines; see [`Shader::without_zeroes`].
    #[must_use]
    pub(crate) fn without_zeroes(self) -> Self {
        Self { shader: self.shader.without_zeroes(), ..self }
    }

    /// Returns the bindings of a group that the code uses. `numbered` is the number of numbered bindings of the group.
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

    /// Returns the number of loops of an entry point and of the functions that it calls.
    #[must_use]
    pub(crate) fn loops(&self, entry: Entry<R>) -> u32 {
        self.linked.loops(entry.name)
    }

    /// Makes a pipeline of an entry point.
    ///
    /// # Errors
    ///
    /// The device refuses the pipeline.
    pub(crate) fn pipeline(
        &self,
        entry: Entry<R>,
        layouts: R::Groups<&Layout>,
        overrides: R::Overrides,
    ) -> Result<wgpu::ComputePipeline, Error> {
        let layouts: Vec<_> = layouts.by_number().into_iter().map(|layout| layout.map(Layout::raw)).collect();
        // Only some variants of the kernel declare all overrides.
        let mut values = overrides.values();
        values.retain(|(name, _)| self.linked.has_override(name));
        self.shader.pipeline_at(entry.name, &layouts, &values)
    }
}
