//! The GPUs of this host, and the choice of one.

use std::cmp::Reverse;
use std::env;
use std::fmt;
use std::sync::Mutex;

use super::error::Error;
use super::lock::lock;

pub use super::error::ADAPTER_VARIABLE;

/// The features of adapters on which shaders can select a storage buffer by an index that differs between invocations.
pub(super) const BUFFER_ARRAYS: wgpu::Features = wgpu::Features::BUFFER_BINDING_ARRAY
    .union(wgpu::Features::STORAGE_RESOURCE_BINDING_ARRAY)
    .union(wgpu::Features::SAMPLED_TEXTURE_AND_STORAGE_BUFFER_ARRAY_NON_UNIFORM_INDEXING);
/// The number of elements that arrays of buffers must be allowed to have to be of use.
pub(crate) const BUFFER_ARRAY_ELEMENTS: u32 = 128;

/// The kind of an adapter, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
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
#[non_exhaustive]
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
///
/// ```no_run
/// use kvrm_gpu::adapter;
///
/// for adapter in adapter::adapters() {
///     println!("{}: 64-bit integers: {}", adapter.info.name, adapter.info.has_int64);
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
    /// Whether shaders can select a storage buffer by an index that differs between invocations.
    pub has_buffer_arrays: bool,
    /// The minimum and the maximum number of invocations in a subgroup.
    pub subgroup_sizes: (u32, u32),
    /// The limits of the adapter.
    pub limits: Limits,
    /// The PCI address of the adapter, such as `0000:01:00.0`; empty if it is not known.
    pub bus: String,
    /// The number of adapters with the same name, backend and PCI address that the driver lists before this one.
    pub(crate) namesakes: usize,
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
            // naga does not translate them for DirectX 12, and nobody has tried them on Metal.
            has_buffer_arrays: info.backend == wgpu::Backend::Vulkan
                && features.contains(BUFFER_ARRAYS)
                && adapter.limits().max_binding_array_elements_per_shader_stage >= BUFFER_ARRAY_ELEMENTS,
            subgroup_sizes: (info.subgroup_min_size, info.subgroup_max_size),
            limits: Limits::from(&adapter.limits()),
            // wgpu finds an address by the model of the GPU there, so all GPUs of a model would have the same one.
            bus: if info.backend == wgpu::Backend::Dx12 { String::new() } else { info.device_pci_bus_id },
            namesakes: 0,
        }
    }

    /// Returns whether the two have the same name, backend and PCI address. They may be two GPUs if the address is not known.
    fn is_namesake(&self, other: &Self) -> bool {
        self.name == other.name && self.backend == other.backend && self.bus == other.bus
    }

    /// Returns whether both describe the same adapter. If the PCI addresses are not known, the order in which the driver lists
    /// adapters of the same name tells them apart.
    pub(crate) fn is_same_adapter(&self, other: &Self) -> bool {
        self.is_namesake(other)
            && (self.is_software() || !self.bus.is_empty() || self.namesakes == other.namesakes)
    }

    /// Returns whether both are the same GPU, perhaps with different drivers. If a PCI address is not known, adapters of
    /// the same name with different backends count as the same GPU.
    pub(crate) fn is_same_gpu(&self, other: &Self) -> bool {
        if self.bus.is_empty() || other.bus.is_empty() {
            return self.is_same_adapter(other) || self.name == other.name && self.backend != other.backend;
        }
        self.bus == other.bus
    }

    /// Returns whether both adapters are of the same model, with the same driver, and so equally fast.
    pub(crate) fn is_same_model(&self, other: &Self) -> bool {
        let Self { name, backend, driver, .. } = self;
        *name == other.name && *backend == other.backend && *driver == other.driver
    }

    /// Returns whether it makes no difference which of the two adapters is used: they are the same GPU, which the driver
    /// lists twice, or the same software.
    fn is_interchangeable(&self, other: &Self) -> bool {
        let is_one = self.is_software() || !self.bus.is_empty();
        self.is_same_adapter(other) && self.driver == other.driver && is_one
    }

    /// Returns a line with the index of the adapter, its description and its PCI address.
    pub(crate) fn line(&self, index: usize) -> String {
        match &*self.bus {
            "" => format!("{index}: {self}"),
            bus => format!("{index}: {self} at PCI {bus}"),
        }
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
    let mut adapters: Vec<_> =
        found.into_iter().map(|raw| Adapter { info: AdapterInfo::new(&raw), raw }).collect();
    number_namesakes(adapters.iter_mut().map(|adapter| &mut adapter.info));
    adapters
}

/// Numbers the adapters that have the same name, backend and PCI address.
fn number_namesakes<'a>(adapters: impl Iterator<Item = &'a mut AdapterInfo>) {
    let mut before: Vec<&AdapterInfo> = Vec::new();
    for info in adapters {
        info.namesakes = before.iter().filter(|other| info.is_namesake(other)).count();
        before.push(info);
    }
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

/// Chooses one of `adapters`. `wanted` is one of
///
/// - a part of its name, upper or lower case, such as `nvidia`;
/// - its backend and a part of its name, such as `vulkan:nvidia`;
/// - its index in `adapters`, such as `1`. A number that is no index is a part of a name.
///
/// Without `wanted`, the environment variable [`ADAPTER_VARIABLE`] is used; without both, any adapter may be chosen.
///
/// Of several adapters, the best one is chosen. It has 64-bit integers and the first [`Kind`]; among equals it is the
/// first in the list.
///
/// # Errors
///
/// There is no adapter, none is `wanted`, none of these has 64-bit integers, or the best of them has the same name as
/// another one ([`Error::SameName`]).
pub fn choose<'a>(adapters: &'a [Adapter], wanted: Option<&str>) -> Result<&'a Adapter, Error> {
    choose_index(adapters, wanted).map(|index| &adapters[index])
}

/// Returns the index of the adapter that [`choose`] chooses.
pub(super) fn choose_index(adapters: &[Adapter], wanted: Option<&str>) -> Result<usize, Error> {
    let variable = env::var(ADAPTER_VARIABLE).ok();
    let infos: Vec<&AdapterInfo> = adapters.iter().map(|adapter| &adapter.info).collect();
    choose_info(&infos, wanted.or(variable.as_deref()))
}

/// Returns the index of the adapter that [`choose`] chooses.
pub(super) fn choose_info(available: &[&AdapterInfo], wanted: Option<&str>) -> Result<usize, Error> {
    if available.is_empty() {
        return Err(Error::NoAdapter);
    }
    let wanted = wanted.unwrap_or_default().trim();
    let part = wanted.to_lowercase();
    let index: Option<usize> = part.parse().ok().filter(|index| *index < available.len());
    let is_backend = |backend: &str| available.iter().any(|info| info.backend == backend);
    let (backend, name) = match part.split_once(':') {
        Some((backend, name)) if is_backend(backend.trim()) => (Some(backend.trim()), name.trim()),
        _ => (None, &*part),
    };
    let is_wanted = |(place, info): &(usize, &&AdapterInfo)| match index {
        Some(index) => *place == index,
        None => {
            backend.is_none_or(|backend| info.backend == backend) && info.name.to_lowercase().contains(name)
        }
    };
    let named: Vec<(usize, &&AdapterInfo)> = available.iter().enumerate().filter(is_wanted).collect();
    // Among equals this takes the first one, which the driver prefers.
    let Some(&(index, best)) = named.iter().min_by_key(|(_, info)| (Reverse(info.has_int64), info.kind))
    else {
        let available = available.iter().map(ToString::to_string).collect();
        return Err(Error::NoSuchAdapter { wanted: wanted.to_owned(), available });
    };
    if !best.has_int64 {
        return Err(Error::NoInt64 { adapter: best.to_string() });
    }
    let same: Vec<_> = named
        .iter()
        .filter(|(_, info)| info.has_int64 && info.name.eq_ignore_ascii_case(&best.name))
        .collect();
    if name.is_empty() || same.iter().all(|(place, info)| *place == index || best.is_interchangeable(info)) {
        return Ok(index);
    }
    let mut instead = vec![format!("the index {index}")];
    if same.iter().any(|(_, info)| info.backend != best.backend) {
        instead.push(format!("the backend and the name, {}:{}", best.backend, best.name));
    }
    let available = same.iter().map(|(place, info)| info.line(*place)).collect();
    Err(Error::SameName { wanted: wanted.to_owned(), available, instead })
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
            has_buffer_arrays: false,
            subgroup_sizes: (8, 32),
            limits: Limits::from(&wgpu::Limits::defaults()),
            bus: String::new(),
            namesakes: 0,
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

    /// Returns two GPUs of one name on one host, one of which has two drivers, and software.
    fn same_names() -> [AdapterInfo; 4] {
        let gpu = |backend, bus: &str| AdapterInfo {
            backend,
            bus: bus.to_owned(),
            ..AdapterInfo::example("GPU", Kind::Discrete, true)
        };
        let software = AdapterInfo::example("software", Kind::Software, true);
        [software, gpu("vulkan", "0000:01:00.0"), gpu("vulkan", "0000:02:00.0"), gpu("dx12", "")]
    }

    /// Returns the index of the chosen adapter.
    fn index(there: &[AdapterInfo], wanted: Option<&str>) -> Result<usize, Error> {
        choose_info(&there.iter().collect::<Vec<_>>(), wanted)
    }

    #[test]
    fn a_name_of_several_adapters_is_an_error_that_says_how_to_choose() {
        let there = same_names();
        let text = index(&there, Some("gpu")).expect_err("three have this name").to_string();
        let expected = "3 adapters have the name that \"gpu\" chooses, which KVRM_ADAPTER or an argument asks for: \
                        1: GPU (discrete GPU, vulkan, driver 1.0) at PCI 0000:01:00.0; \
                        2: GPU (discrete GPU, vulkan, driver 1.0) at PCI 0000:02:00.0; \
                        3: GPU (discrete GPU, dx12, driver 1.0); give the index 1 or the backend and the name, \
                        vulkan:GPU instead";
        assert_eq!(text, expected, "all of them, and two ways to choose");
        let text = index(&there, Some("vulkan:GPU")).expect_err("two have this name").to_string();
        assert!(text.contains("1: GPU") && text.contains("2: GPU") && !text.contains("3: GPU"), "{text}");
        assert!(text.ends_with("give the index 1 instead"), "the backend does not tell them apart: {text}");
        for (wanted, chosen) in [("1", 1), ("2", 2), (" 3 ", 3), ("0", 0), ("dx12:gpu", 3), ("DX12: GPU", 3)]
        {
            assert_eq!(index(&there, Some(wanted)), Ok(chosen), "{wanted}");
        }
        for wanted in [None, Some(""), Some("vulkan:")] {
            assert_eq!(index(&there, wanted), Ok(1), "{wanted:?}: without a name, the first of the best");
        }
        assert_eq!(index(&there, Some("soft")), Ok(0), "a name that one adapter has");
    }

    #[test]
    fn an_index_and_a_backend_have_to_exist() {
        let there = same_names();
        for wanted in ["4", "metal:GPU", "vulkan:software 2", "-1"] {
            let error = index(&there, Some(wanted)).expect_err("there is none");
            assert!(matches!(error, Error::NoSuchAdapter { .. }), "{wanted}: {error}");
        }
        let numbered = [AdapterInfo::example("RTX 4090", Kind::Discrete, true)];
        assert_eq!(index(&numbered, Some("4090")), Ok(0), "no index, but a part of a name");
        let old = [AdapterInfo::example("Old GPU", Kind::Discrete, false)];
        assert!(matches!(index(&old, Some("0")), Err(Error::NoInt64 { .. })), "the index of an unusable one");
    }

    #[test]
    fn an_adapter_that_is_listed_twice_is_one() {
        let [_, gpu, other, _] = same_names();
        assert_eq!(index(&[gpu.clone(), gpu.clone()], Some("gpu")), Ok(0), "the same GPU");
        assert!(index(&[gpu.clone(), other], Some("gpu")).is_err(), "another GPU");
        let unknown = AdapterInfo { bus: String::new(), ..gpu.clone() };
        assert!(index(&[unknown.clone(), unknown], Some("gpu")).is_err(), "perhaps another GPU");
        let software = AdapterInfo::example("software", Kind::Software, true);
        assert_eq!(index(&[software.clone(), software], Some("software")), Ok(0), "the same software");
        let old = AdapterInfo { has_int64: false, ..gpu.clone() };
        assert_eq!(index(&[old, gpu], Some("gpu")), Ok(1), "the other one cannot be used");
    }

    #[test]
    fn a_lost_adapter_is_found_again_among_its_namesakes() {
        let unknown = AdapterInfo::example("GPU", Kind::Discrete, true);
        let other = AdapterInfo::example("Other GPU", Kind::Discrete, true);
        let software = AdapterInfo::example("software", Kind::Software, true);
        let mut list = [&unknown, &other, &unknown, &software, &unknown, &software].map(AdapterInfo::clone);
        number_namesakes(list.iter_mut());
        let again = |lost: &AdapterInfo| list.iter().position(|info| info.is_same_adapter(lost));
        let places = [0, 1, 2, 3, 4, 5].map(|index: usize| again(&list[index]));
        let expected = [0, 1, 2, 3, 4, 3].map(Some);
        assert_eq!(places, expected, "GPUs by their order; any of the equal software");
        // With PCI addresses, the order of the list does not matter.
        let [_, first, second, _] = same_names();
        let mut list = [second.clone(), first.clone(), second.clone()];
        number_namesakes(list.iter_mut());
        assert!(list[1].is_same_adapter(&first) && !list[0].is_same_adapter(&first), "by the address");
        assert!(list[2].is_same_adapter(&list[0]), "the second one is listed twice");
    }

    #[test]
    fn a_gpu_with_two_drivers_is_one_gpu() {
        let [software, first, second, dx12] = same_names();
        assert!(!first.is_same_gpu(&second), "different addresses");
        assert!(first.is_same_gpu(&dx12), "the same name with another backend");
        assert!(!first.is_same_gpu(&software), "different names");
        let driver = AdapterInfo { name: "GPU (open driver)".to_owned(), ..first.clone() };
        assert!(first.is_same_gpu(&driver) && !first.is_same_model(&driver), "the same address");
        let mut twins = [
            AdapterInfo { bus: String::new(), ..first.clone() },
            AdapterInfo { bus: String::new(), ..first },
        ];
        number_namesakes(twins.iter_mut());
        assert!(!twins[0].is_same_gpu(&twins[1]), "listed twice by one driver that knows no addresses");
        assert!(twins[0].is_same_model(&twins[1]), "they are equally fast");
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
