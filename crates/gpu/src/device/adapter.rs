//! The GPUs of this host, and the choice of one.

use std::cmp::Reverse;
use std::env;
use std::fmt;
use std::sync::Mutex;

use super::error::Error;
use super::lock::lock;

pub use super::error::ADAPTER_VARIABLE;

/// The kind of an adapter, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A GPU with memory of its own.
    Discrete,
    /// A GPU that shares the memory of the host.
    Integrated,
    /// A GPU that a virtual machine offers.
    Virtual,
    /// An adapter whose driver does not say what it is.
    Unknown,
    /// A driver that runs shaders on the CPU.
    Software,
}

impl From<wgpu::DeviceType> for Kind {
    fn from(kind: wgpu::DeviceType) -> Self {
        match kind {
            wgpu::DeviceType::DiscreteGpu => Self::Discrete,
            wgpu::DeviceType::IntegratedGpu => Self::Integrated,
            wgpu::DeviceType::VirtualGpu => Self::Virtual,
            wgpu::DeviceType::Other => Self::Unknown,
            wgpu::DeviceType::Cpu => Self::Software,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Discrete => "discrete GPU",
            Self::Integrated => "integrated GPU",
            Self::Virtual => "virtual GPU",
            Self::Unknown => "unknown kind",
            Self::Software => "software",
        })
    }
}

/// The limits of an adapter or device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum size of a storage binding in bytes: the part of a buffer that a shader can access.
    pub binding_bytes: u64,
    /// The maximum size of a buffer in bytes.
    pub buffer_bytes: u64,
    /// The maximum number of storage buffers of a shader.
    pub storage_buffers: u32,
    /// The maximum number of invocations in a workgroup.
    pub workgroup_invocations: u32,
    /// The maximum number of invocations in the first dimension of a workgroup.
    pub workgroup_size: u32,
    /// The maximum size of workgroup memory in bytes.
    pub workgroup_bytes: u32,
    /// The maximum number of workgroups of a dispatch in each dimension.
    pub workgroups: u32,
}

impl Limits {
    /// Returns the maximum size in bytes of a storage buffer that a shader can access as a whole.
    #[must_use]
    pub fn storage_bytes(&self) -> u64 {
        self.binding_bytes.min(self.buffer_bytes)
    }
}

impl From<&wgpu::Limits> for Limits {
    fn from(limits: &wgpu::Limits) -> Self {
        Self {
            binding_bytes: limits.max_storage_buffer_binding_size,
            buffer_bytes: limits.max_buffer_size,
            storage_buffers: limits.max_storage_buffers_per_shader_stage,
            workgroup_invocations: limits.max_compute_invocations_per_workgroup,
            workgroup_size: limits.max_compute_workgroup_size_x,
            workgroup_bytes: limits.max_compute_workgroup_storage_size,
            workgroups: limits.max_compute_workgroups_per_dimension,
        }
    }
}

/// The properties of an adapter, which are known before it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterInfo {
    /// The name that the driver gives the adapter.
    pub name: String,
    /// The graphics API of the adapter: `vulkan`, `metal` or `dx12`.
    pub backend: &'static str,
    /// The name and the version of the driver.
    pub driver: String,
    /// The kind of the adapter.
    pub kind: Kind,
    /// Whether shaders can compute with 64-bit integers.
    pub has_int64: bool,
    /// Whether the adapter can measure how long shaders run.
    pub has_timestamps: bool,
    /// Whether shaders can use subgroup operations.
    pub has_subgroups: bool,
    /// The minimum and the maximum number of invocations in a subgroup.
    pub subgroup_sizes: (u32, u32),
    /// The limits of the adapter.
    pub limits: Limits,
    /// The PCI address of the adapter; empty if the driver does not say.
    pub bus: String,
}

impl AdapterInfo {
    fn new(adapter: &wgpu::Adapter) -> Self {
        let info = adapter.get_info();
        let features = adapter.features();
        Self {
            name: info.name,
            backend: info.backend.to_str(),
            driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
            kind: info.device_type.into(),
            has_int64: features.contains(wgpu::Features::SHADER_INT64),
            has_timestamps: features.contains(wgpu::Features::TIMESTAMP_QUERY),
            has_subgroups: features.contains(wgpu::Features::SUBGROUP),
            subgroup_sizes: (info.subgroup_min_size, info.subgroup_max_size),
            limits: Limits::from(&adapter.limits()),
            bus: info.device_pci_bus_id,
        }
    }

    /// Returns whether both describe the same adapter.
    pub(crate) fn is_same_adapter(&self, other: &Self) -> bool {
        self.name == other.name && self.backend == other.backend && self.bus == other.bus
    }

    /// Returns whether shaders run on the CPU.
    #[must_use]
    pub fn is_software(&self) -> bool {
        self.kind == Kind::Software
    }
}

/// Describes the adapter in one line.
impl fmt::Display for AdapterInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {}", self.name, self.kind, self.backend)?;
        if !self.driver.is_empty() {
            write!(f, ", {}", self.driver)?;
        }
        write!(f, ")")
    }
}

/// An adapter that can be opened.
#[derive(Clone, Debug)]
pub struct Adapter {
    pub(crate) raw: wgpu::Adapter,
    /// The properties of the adapter.
    pub info: AdapterInfo,
}

const BACKENDS: wgpu::Backends =
    wgpu::Backends::VULKAN.union(wgpu::Backends::METAL).union(wgpu::Backends::DX12);

/// The wgpu instance of this process. There is only one, because NVIDIA's driver 580 finds no adapter after a process
/// has made 30 instances.
static INSTANCE: Mutex<Option<wgpu::Instance>> = Mutex::new(None);

/// Returns all adapters of this host. The wgpu instance that lists them is made at the first call and reused later.
///
/// ```no_run
/// for adapter in kvrm_gpu::adapter::adapters() {
///     println!("{}", adapter.info);
/// }
/// ```
#[must_use]
pub fn adapters() -> Vec<Adapter> {
    if wgpu::Instance::enabled_backend_features().is_empty() {
        return Vec::new();
    }
    let instance = lock(&INSTANCE).get_or_insert_with(instance).clone();
    let found = pollster::block_on(instance.enumerate_adapters(BACKENDS));
    found.into_iter().map(|raw| Adapter { info: AdapterInfo::new(&raw), raw }).collect()
}

/// Returns all adapters of this host from a new wgpu instance, which later calls of [`adapters`] use, too.
pub(super) fn adapters_now() -> Vec<Adapter> {
    *lock(&INSTANCE) = None;
    adapters()
}

fn instance() -> wgpu::Instance {
    // KVRM has no indirect dispatches, and their validation would cost time and limit the size of buffers. Validation
    // layers are slow and therefore off; WGPU_VALIDATION=1 and WGPU_DEBUG=1 turn them on.
    let flags =
        wgpu::InstanceFlags::empty().with_env().difference(wgpu::InstanceFlags::VALIDATION_INDIRECT_CALL);
    wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: BACKENDS,
        flags,
        ..wgpu::InstanceDescriptor::new_without_display_handle().with_env()
    })
}

/// Chooses the best of `adapters` whose name contains `wanted`, upper or lower case. Without `wanted`, the environment
/// variable [`ADAPTER_VARIABLE`] gives the name; without both, any adapter may be chosen.
///
/// The best adapter has 64-bit integers and the first [`Kind`]; among equals it is the first in the list.
///
/// # Errors
///
/// There is no adapter, no name contains `wanted`, or no such adapter has 64-bit integers.
pub fn choose<'a>(adapters: &'a [Adapter], wanted: Option<&str>) -> Result<&'a Adapter, Error> {
    let variable = env::var(ADAPTER_VARIABLE).ok();
    let infos: Vec<&AdapterInfo> = adapters.iter().map(|adapter| &adapter.info).collect();
    Ok(&adapters[choose_info(&infos, wanted.or(variable.as_deref()))?])
}

/// Returns the index of the best adapter whose name contains `wanted`.
fn choose_info(available: &[&AdapterInfo], wanted: Option<&str>) -> Result<usize, Error> {
    if available.is_empty() {
        return Err(Error::NoAdapter);
    }
    let wanted = wanted.unwrap_or_default().trim();
    let part = wanted.to_lowercase();
    let named = available.iter().enumerate().filter(|(_, info)| info.name.to_lowercase().contains(&part));
    // Among equals this takes the first one, which the driver prefers.
    let Some((index, best)) = named.min_by_key(|(_, info)| (Reverse(info.has_int64), info.kind)) else {
        let available = available.iter().map(ToString::to_string).collect();
        return Err(Error::NoSuchAdapter { wanted: wanted.to_owned(), available });
    };
    if !best.has_int64 {
        return Err(Error::NoInt64 { adapter: best.to_string() });
    }
    Ok(index)
}

#[cfg(test)]
impl AdapterInfo {
    /// Returns an adapter for tests.
    pub(crate) fn example(name: &str, kind: Kind, has_int64: bool) -> Self {
        Self {
            name: name.to_owned(),
            backend: "vulkan",
            driver: "driver 1.0".to_owned(),
            kind,
            has_int64,
            has_timestamps: true,
            has_subgroups: true,
            subgroup_sizes: (8, 32),
            limits: Limits::from(&wgpu::Limits::defaults()),
            bus: String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the name of the chosen adapter.
    fn choose(available: &[AdapterInfo], wanted: Option<&str>) -> Result<String, Error> {
        let available: Vec<&AdapterInfo> = available.iter().collect();
        choose_info(&available, wanted).map(|index| available[index].name.clone())
    }

    fn five_adapters() -> [AdapterInfo; 5] {
        [
            AdapterInfo::example("llvmpipe", Kind::Software, true),
            AdapterInfo::example("Small GPU", Kind::Integrated, true),
            AdapterInfo::example("Big GPU 1", Kind::Discrete, true),
            AdapterInfo::example("Big GPU 2", Kind::Discrete, true),
            AdapterInfo::example("Old GPU", Kind::Discrete, false),
        ]
    }

    #[test]
    fn the_first_of_the_best_adapters_is_chosen() {
        assert_eq!(choose(&five_adapters(), None), Ok("Big GPU 1".to_owned()), "discrete before integrated");
        assert_eq!(choose(&five_adapters()[..2], None), Ok("Small GPU".to_owned()), "real before software");
        assert_eq!(
            choose(&five_adapters()[..1], None),
            Ok("llvmpipe".to_owned()),
            "software rather than none"
        );
    }

    #[test]
    fn a_name_chooses_among_matching_adapters_in_upper_or_lower_case() {
        assert_eq!(
            choose(&five_adapters(), Some("LLVM")),
            Ok("llvmpipe".to_owned()),
            "software when asked for"
        );
        assert_eq!(choose(&five_adapters(), Some("gpu")), Ok("Big GPU 1".to_owned()), "the best that match");
        assert_eq!(
            choose(&five_adapters(), Some("big gpu 2")),
            Ok("Big GPU 2".to_owned()),
            "only one matches"
        );
        assert_eq!(
            choose(&five_adapters(), Some("")),
            Ok("Big GPU 1".to_owned()),
            "an empty name matches all"
        );
    }

    #[test]
    fn an_unknown_name_is_an_error_with_the_available_names() {
        let error = choose(&five_adapters()[..2], Some("Voodoo")).expect_err("none has that name");
        let text = error.to_string();
        assert!(text.contains("\"Voodoo\""), "the wanted name: {text}");
        assert!(
            text.contains("llvmpipe (software, vulkan, driver 1.0); Small GPU"),
            "the available adapters: {text}"
        );
    }

    #[test]
    fn an_adapter_without_64_bit_integers_is_never_chosen() {
        let available = [
            AdapterInfo::example("Old GPU", Kind::Discrete, false),
            AdapterInfo::example("llvmpipe", Kind::Software, true),
        ];
        assert_eq!(
            choose(&available, None),
            Ok("llvmpipe".to_owned()),
            "software that works before a GPU that cannot"
        );
        let error = choose(&available, Some("old")).expect_err("the adapter has no 64-bit integers");
        assert_eq!(
            error,
            Error::NoInt64 { adapter: available[0].to_string() },
            "the error names the adapter"
        );
    }

    #[test]
    fn without_adapters_the_error_says_what_to_install() {
        let error = choose(&[], Some("any")).expect_err("the list is empty");
        assert_eq!(error, Error::NoAdapter, "for any name");
        assert!(error.to_string().contains("mesa-vulkan-drivers"), "a package: {error}");
    }
}
