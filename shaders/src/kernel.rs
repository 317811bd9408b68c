//! The types that describe kernels: their modules, entry points, bind groups and overrides, without a GPU API.
//!
//! The descriptions of the actual kernels are in [`interface`](crate::interface), which is generated.

use std::fmt;
use std::marker::PhantomData;

use crate::variants::{FAMILIES, Family, Substitution};
use crate::{LinkError, Linked, link, link_with};

/// The way in which a kernel accesses a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// `var<storage, read>`.
    Read,
    /// `var<storage, read_write>`.
    ReadWrite,
    /// `var<uniform>`.
    Uniform,
}

/// A binding of a buffer in a bind group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The number of the binding in its group.
    pub binding: u32,
    /// The name of the variable. For numbered bindings, such as `pool_0` and `pool_1`, the name without the number.
    pub name: &'static str,
    /// The access that kernels have to the buffer.
    pub access: Access,
    /// The smallest legal size of the buffer: that of the variable's type or, for an array, of one element.
    pub min_bytes: u64,
}

/// The buffers of a bind group.
///
/// Some groups end in *numbered* buffers: one too large for a binding, split over several. Their count depends on the
/// variant of the kernel. They have a binding each, or share the first as the elements of a `binding_array`.
pub trait Group {
    /// The type of a buffer on the host.
    type Buffer;
    /// The number of the group.
    const GROUP: u32;
    /// The name of the group in messages.
    const LABEL: &'static str;
    /// The bindings that are not numbered.
    const BINDINGS: &'static [Binding];
    /// The first numbered binding, if the group has any.
    const NUMBERED: Option<Binding>;

    /// Returns the buffers, in the order of the bindings.
    fn buffers(self) -> Vec<Self::Buffer>;
}

/// Returns all bindings of a group that has `numbered` numbered ones.
pub fn bindings<G: Group>(numbered: usize) -> Vec<Binding> {
    let numbered = G::NUMBERED.into_iter().flat_map(|first| {
        (0..numbered as u32).map(move |number| Binding { binding: first.binding + number, ..first })
    });
    G::BINDINGS.iter().copied().chain(numbered).collect()
}

/// A module with entry points, in one of its variants.
pub trait Root: Copy + fmt::Debug {
    /// The name of the module, such as `machine::interpreter`.
    const MODULE: &'static str;
    /// The values of the module's `override` declarations.
    type Overrides: Overrides;
    /// A value for each bind group of the module, such as a layout.
    type Groups<T>: Groups<T>;

    /// Returns the substitutions of the variant.
    fn substitutions(&self) -> Vec<Substitution>;

    /// Links the module with the substitutions of the variant.
    ///
    /// # Errors
    ///
    /// The errors of [`link`]: each is a mistake in the embedded modules.
    fn link(&self) -> Result<Linked, LinkError> {
        link(Self::MODULE, &self.substitutions())
    }

    /// Links the module with the substitutions of the variant, and with the text of translated regions in place of
    /// `machine::translated`.
    ///
    /// # Errors
    ///
    /// The errors of [`link`]: each is a mistake in the embedded modules or in the text.
    fn link_translated(&self, text: &str) -> Result<Linked, LinkError> {
        const ADDED: &str = "translated_regions";
        let mut substitutions = self.substitutions();
        substitutions.push(("machine::translated", ADDED));
        link_with(Self::MODULE, (ADDED, text), &substitutions)
    }
}

/// The description of a module with entry points as a value, for code that visits all kernels.
#[derive(Clone, Copy, Debug)]
pub struct KernelInfo {
    /// The name of the module.
    pub module: &'static str,
    /// The names of its entry points.
    pub entries: &'static [&'static str],
    /// The names of the families whose variants change the linked module.
    pub families: &'static [&'static str],
}

impl KernelInfo {
    /// Returns the families whose variants change the linked module.
    pub fn families(&self) -> impl Iterator<Item = &'static Family> {
        FAMILIES.iter().filter(|family| self.families.contains(&family.name))
    }
}

/// The values of `override` declarations.
pub trait Overrides {
    /// Returns the names and values.
    fn values(&self) -> Vec<(&'static str, f64)>;
}

/// The values of a module without `override` declarations.
impl Overrides for () {
    fn values(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

/// A value for each bind group of a kernel.
pub trait Groups<T> {
    /// Returns the values, indexed by the number of the group; `None` for numbers that the kernel does not use.
    fn by_number(self) -> Vec<Option<T>>;
}

/// The number of invocations of a workgroup, all in the first dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workgroup {
    /// A constant number.
    Fixed(u32),
    /// The value of the override of this name.
    Override(&'static str),
}

/// An entry point of a module.
#[derive(Debug)]
pub struct Entry<R> {
    /// The name of the function.
    pub name: &'static str,
    /// The size of its workgroups.
    pub workgroup: Workgroup,
    root: PhantomData<R>,
}

impl<R> Clone for Entry<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Entry<R> {}

impl<R> Entry<R> {
    pub(crate) const fn new(name: &'static str, workgroup: Workgroup) -> Self {
        Self { name, workgroup, root: PhantomData }
    }
}
