//! The diagnosis that `kvrm doctor` prints: the GPUs of the host, the chosen one, whether it computes correctly, and
//! what to install if something is missing.

use std::fmt;

use super::adapter::{self, AdapterInfo};
use super::error::Error;
use super::gpu_selection::usable;
use super::logical::Device;
use super::self_tests::{LoopLimit, int64_test, loop_limit};

/// A diagnosis of the GPUs of this host.
///
/// ```no_run
/// let diagnosis = kvrm_gpu::doctor::examine(None);
/// println!("{diagnosis}");
/// if !diagnosis.is_healthy() {
///     println!("programs run on the CPU");
/// }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Diagnosis {
    /// All adapters of the host.
    pub adapters: Vec<AdapterInfo>,
    /// The chosen adapter with the results of its tests, or the reason why none can be used.
    pub chosen: Result<AdapterReport, Error>,
}

/// An adapter that was opened and tested.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AdapterReport {
    /// The index of the adapter in [`Diagnosis::adapters`].
    pub index: usize,
    /// The adapter.
    pub adapter: AdapterInfo,
    /// The result of the test of 64-bit integers.
    pub int64: Result<(), Error>,
    /// The measured limit of loops; `None` if loops may have any number of iterations.
    pub loop_limit: Result<Option<LoopLimit>, Error>,
}

/// Lists all adapters, and tests the one that [`adapter::choose`] chooses for `wanted`.
#[must_use]
pub fn examine(wanted: Option<&str>) -> Diagnosis {
    let adapters = adapter::adapters();
    let chosen = adapter::choose_index(&adapters, wanted).and_then(|index| {
        let adapter = &adapters[index];
        let device = Device::open_adapter(adapter)?;
        Ok(AdapterReport {
            index,
            adapter: adapter.info.clone(),
            int64: int64_test(&device),
            loop_limit: loop_limit(&device),
        })
    });
    Diagnosis { adapters: adapters.into_iter().map(|adapter| adapter.info).collect(), chosen }
}

impl Diagnosis {
    /// Returns whether KVRM can use a GPU on this host.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.chosen.as_ref().is_ok_and(|chosen| chosen.int64.is_ok() && chosen.loop_limit.is_ok())
    }

    /// Returns advice for the user: what to install or change so that a GPU works, or works faster.
    #[must_use]
    pub fn advice(&self) -> Vec<String> {
        let mut advice = Vec::new();
        let chosen = match &self.chosen {
            Ok(chosen) => chosen,
            // The text of the error has its own advice.
            Err(_) => return advice,
        };
        if let Ok(Some(LoopLimit { iterations, .. })) = chosen.loop_limit {
            advice.push(format!(
                "This driver ends loops after {iterations} iterations. KVRM works around that, which is slow. Mesa 24 \
                 and later have no such limit and are several times faster. On Debian 12, install it from \
                 bookworm-backports: apt-get install -t bookworm-backports mesa-vulkan-drivers"
            ));
        }
        let gpus = usable(&self.adapters.iter().collect::<Vec<_>>());
        if gpus.len() > 1 {
            let gpus: Vec<String> = gpus.iter().map(ToString::to_string).collect();
            advice.push(format!(
                "The {} GPUs {} can run the lanes of a machine together: `--gpus all`, or `--gpus {}` for two of \
                 them.",
                gpus.len(),
                gpus.join(", "),
                gpus[..2].join(",")
            ));
        }
        let real = self.adapters.iter().find(|adapter| !adapter.is_software());
        match real {
            _ if !chosen.adapter.is_software() => {}
            Some(real) if real.has_int64 => advice.push(format!(
                "Shaders run on the CPU, because that adapter was asked for; there is a GPU: {}",
                real.name
            )),
            Some(real) => advice.push(format!(
                "Shaders run on the CPU, because {} has no 64-bit integers; a newer driver may have them.",
                real.name
            )),
            None => advice.push(
                "Shaders run on the CPU. If this host has a GPU, install its Vulkan driver. In a container, give it \
                 access to the GPU with the capability `graphics` (NVIDIA_DRIVER_CAPABILITIES=all)."
                    .to_owned(),
            ),
        }
        advice
    }
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "adapters")?;
        for (index, adapter) in self.adapters.iter().enumerate() {
            let is_chosen = self.chosen.as_ref().is_ok_and(|chosen| chosen.index == index);
            writeln!(f, "{} {index}: {adapter}", if is_chosen { "*" } else { "-" })?;
            let limits = &adapter.limits;
            if !adapter.is_software() {
                row(f, "PCI address", if adapter.bus.is_empty() { "unknown" } else { &adapter.bus })?;
            }
            row(f, "64-bit integers", yes_no(adapter.has_int64))?;
            row(f, "time measurement", yes_no(adapter.has_timestamps))?;
            row(f, "storage buffer", format_args!("{} at most", Bytes(limits.storage_bytes())))?;
            row(f, "buffer", format_args!("{} at most", Bytes(limits.buffer_bytes)))?;
            let arrays = if adapter.has_buffer_arrays { ", and arrays of them" } else { "" };
            row(f, "storage buffers", format_args!("{} a shader{arrays}", limits.storage_buffers))?;
            row(
                f,
                "workgroup",
                format_args!(
                    "{} invocations, {} of memory",
                    limits.workgroup_invocations,
                    Bytes(limits.workgroup_bytes.into())
                ),
            )?;
            let (min, max) = adapter.subgroup_sizes;
            let operations = if adapter.has_subgroups { "" } else { ", without operations" };
            if min == max {
                row(f, "subgroup", format_args!("{min} invocations{operations}"))?;
            } else {
                row(f, "subgroup", format_args!("{min} to {max} invocations{operations}"))?;
            }
        }
        if self.adapters.is_empty() {
            writeln!(f, "  none")?;
        }
        match &self.chosen {
            Ok(chosen) => {
                writeln!(f, "tests of {}", chosen.adapter.name)?;
                match &chosen.int64 {
                    Ok(()) => row(f, "64-bit integers", "right")?,
                    Err(error) => row(f, "64-bit integers", error)?,
                }
                match &chosen.loop_limit {
                    Ok(None) => row(f, "loops", "of any length")?,
                    Ok(Some(LoopLimit { iterations, sharers: 1 })) => {
                        row(f, "loops", format_args!("end after {iterations} iterations"))?;
                    }
                    Ok(Some(LoopLimit { iterations, sharers })) => row(
                        f,
                        "loops",
                        format_args!("end after {iterations} iterations of {sharers} invocations together"),
                    )?,
                    Err(error) => row(f, "loops", error)?,
                }
            }
            Err(error) => writeln!(f, "none can be used: {error}")?,
        }
        for line in self.advice() {
            writeln!(f, "{line}")?;
        }
        write!(f, "{}", if self.is_healthy() { "KVRM can use a GPU." } else { "KVRM can only use the CPU." })
    }
}

fn row(f: &mut fmt::Formatter<'_>, name: &str, value: impl fmt::Display) -> fmt::Result {
    writeln!(f, "    {name:18}{value}")
}

fn yes_no(value: bool) -> &'static str {
    if value { "yes" } else { "no" }
}

/// A size in bytes that is displayed in KiB, MiB or GiB.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes if bytes >= 1 << 30 => write!(f, "{:.1} GiB", bytes as f64 / (1u64 << 30) as f64),
            bytes if bytes >= 1 << 20 => write!(f, "{} MiB", bytes >> 20),
            bytes => write!(f, "{} KiB", bytes >> 10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::adapter::Kind;
    use super::*;

    /// Returns a diagnosis whose chosen adapter is the first of `adapters` and has passed its tests.
    fn diagnosis(adapters: Vec<AdapterInfo>, loop_limit: Option<LoopLimit>) -> Diagnosis {
        let chosen = AdapterReport {
            index: 0,
            adapter: adapters[0].clone(),
            int64: Ok(()),
            loop_limit: Ok(loop_limit),
        };
        Diagnosis { adapters, chosen: Ok(chosen) }
    }

    #[test]
    fn a_gpu_without_limits_needs_no_advice() {
        let diagnosis = diagnosis(vec![AdapterInfo::example("GPU", Kind::Discrete, true)], None);
        assert_eq!(diagnosis.advice(), [""; 0], "nothing has to be changed");
        assert!(diagnosis.to_string().contains("8 to 32 invocations"), "{diagnosis}");
    }

    #[test]
    fn of_adapters_with_the_same_name_one_is_marked() {
        let gpu = AdapterInfo::example("GPU", Kind::Discrete, true);
        let text = diagnosis(vec![gpu.clone(), gpu], None).to_string();
        assert!(text.contains("\n* 0: GPU (") && text.contains("\n- 1: GPU ("), "{text}");
    }

    #[test]
    fn several_gpus_are_told_apart_by_their_addresses_and_can_run_lanes_together() {
        let gpu = |bus: &str| AdapterInfo {
            bus: bus.to_owned(),
            ..AdapterInfo::example("GPU", Kind::Discrete, true)
        };
        let software = AdapterInfo::example("llvmpipe", Kind::Software, true);
        let diagnosis = diagnosis(vec![gpu("0000:01:00.0"), software, gpu("0000:02:00.0")], None);
        let text = diagnosis.to_string();
        assert_eq!(text.matches("PCI address").count(), 2, "software has none: {text}");
        assert!(text.contains("0000:01:00.0\n") && text.contains("0000:02:00.0\n"), "{text}");
        let advice = diagnosis.advice();
        assert!(advice.len() == 1 && advice[0].contains("The 2 GPUs 0, 2 can run"), "{advice:?}");
        assert!(advice[0].contains("`--gpus 0,2`"), "{advice:?}");
    }

    #[test]
    fn a_driver_that_ends_loops_is_healthy_but_should_be_replaced() {
        for (sharers, expected) in [
            (1, "end after 65535 iterations\n"),
            (8, "end after 65535 iterations of 8 invocations together\n"),
        ] {
            let limit = LoopLimit { iterations: 65_535, sharers };
            let adapters = vec![AdapterInfo::example("GPU", Kind::Discrete, true)];
            let diagnosis = diagnosis(adapters, Some(limit));
            assert!(diagnosis.is_healthy(), "KVRM works around the limit");
            let text = diagnosis.to_string();
            assert!(text.contains(expected), "{text}");
            assert!(text.contains("bookworm-backports"), "the source of a newer driver: {text}");
        }
    }

    #[test]
    fn advice_for_software_says_what_a_gpu_needs() {
        let software = || AdapterInfo::example("llvmpipe", Kind::Software, true);
        let cases = [
            (vec![software()], "install its Vulkan driver"),
            (
                vec![software(), AdapterInfo::example("Old GPU", Kind::Discrete, false)],
                "Old GPU has no 64-bit integers",
            ),
            (vec![software(), AdapterInfo::example("GPU", Kind::Discrete, true)], "there is a GPU: GPU"),
        ];
        for (adapters, expected) in cases {
            let advice = diagnosis(adapters, None).advice();
            assert!(advice.len() == 1 && advice[0].contains(expected), "{expected:?} is not in {advice:?}");
        }
    }

    #[test]
    fn a_gpu_with_wrong_results_is_not_healthy() {
        let mut diagnosis = diagnosis(vec![AdapterInfo::example("GPU", Kind::Discrete, true)], None);
        let chosen = diagnosis.chosen.as_mut().expect("the diagnosis has a chosen adapter");
        chosen.int64 = Err(Error::WrongResult { message: "1 + 1 is 3".to_owned() });
        assert!(!diagnosis.is_healthy(), "a GPU that computes wrongly cannot be used");
        assert!(diagnosis.to_string().contains("1 + 1 is 3"), "{diagnosis}");
    }
}
