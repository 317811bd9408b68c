//! Kernels as data: their modules, entry points, bind groups and overrides. Knows no GPU API.
//!
//! The kernels themselves are in [`interface`](crate::interface), which is generated.

use std::fmt;
use std::marker::PhantomData;

use crate::variants::{FAMILIES, Family, Substitution};
use crate::{LinkError, Linked, link};

/// What a kernel does with a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// `var<storage, read>`.
    Read,
    /// `var<storage, read_write>`.
    ReadWrite,
    /// `var<uniform>`.
    Uniform,
}

/// A buffer that a kernel is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Its number in the group.
    pub binding: u32,
    /// The name of its variable; of several that are numbered, without the number.
    pub name: &'static str,
    /// What kernels do with it.
    pub access: Access,
    /// The fewest bytes: those of the variable's type, or of one element of it.
    pub min_bytes: u64,
}

/// The buffers of a bind group.
pub trait Group {
    /// What a buffer is on the host.
    type Buffer;
    /// The number of the group.
    const GROUP: u32;
    /// Its name in messages.
    const LABEL: &'static str;
    /// Its bindings, but for those that are numbered.
    const BINDINGS: &'static [Binding];
    /// The first of those that are numbered, of which there are as many as a variant of the kernel says.
    const NUMBERED: Option<Binding>;

    /// The buffers, in the order of the bindings.
    fn buffers(self) -> Vec<Self::Buffer>;
}

/// All bindings of a group, `numbered` of which are numbered.
pub fn bindings<G: Group>(numbered: usize) -> Vec<Binding> {
    let numbered = G::NUMBERED.into_iter().flat_map(|first| {
        (0..numbered as u32).map(move |number| Binding { binding: first.binding + number, ..first })
    });
    G::BINDINGS.iter().copied().chain(numbered).collect()
}

/// A module with entry points, and what is linked with it.
pub trait Root: Copy + fmt::Debug {
    /// The module.
    const MODULE: &'static str;
    /// The values of what it declares with `override`.
    type Overrides: Overrides;
    /// A value for each of its bind groups, such as a layout.
    type Groups<T>: Groups<T>;

    /// What is linked in place of what.
    fn substitutions(&self) -> Vec<Substitution>;

    /// Links it.
    ///
    /// # Errors
    ///
    /// The modules do not fit; a mistake in them.
    fn link(&self) -> Result<Linked, LinkError> {
        link(Self::MODULE, &self.substitutions())
    }
}

/// A module with entry points, as data, for code that visits all kernels.
#[derive(Clone, Copy, Debug)]
pub struct KernelInfo {
    /// The module.
    pub module: &'static str,
    /// The names of its entry points.
    pub entries: &'static [&'static str],
    /// The names of the families that it has variants of.
    pub families: &'static [&'static str],
}

impl KernelInfo {
    /// Its families.
    pub fn families(&self) -> impl Iterator<Item = &'static Family> {
        FAMILIES.iter().filter(|family| self.families.contains(&family.name))
    }
}

/// Values of `override` declarations.
pub trait Overrides {
    /// Names and values.
    fn values(&self) -> Vec<(&'static str, f64)>;
}

/// There are none.
impl Overrides for () {
    fn values(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

/// A value for each bind group of a kernel.
pub trait Groups<T> {
    /// By the number of the group.
    fn by_number(self) -> Vec<Option<T>>;
}

/// The invocations of a workgroup, all in the first dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workgroup {
    /// So many.
    Fixed(u32),
    /// As many as an override says.
    Override(&'static str),
}

/// An entry point of a module.
#[derive(Debug)]
pub struct Entry<R> {
    /// Its name.
    pub name: &'static str,
    /// Its invocations.
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
