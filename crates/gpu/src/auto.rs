//! The GPU that automatic choices of an engine take, or the reason why there is none.

use std::env;
use std::sync::OnceLock;

use crate::device::adapter::{self, ADAPTER_VARIABLE, AdapterInfo};
use crate::device::error::Error;
use crate::device::registry;

/// The reason why an automatic choice takes no GPU.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoGpu {
    /// The host has no driver of a supported graphics API.
    #[error("no Vulkan, Metal or DX12 driver is installed (`kvrm doctor` says more)")]
    NoDriver,
    /// Shaders of the only real GPUs have no 64-bit integers, which KVRM needs.
    #[error("{name} has no 64-bit integers in shaders")]
    NoInt64 {
        /// The name of a GPU.
        name: String,
    },
    /// The only adapter is software that runs shaders on the CPU, which is slower than the engines for the CPU.
    #[error("{name} is software")]
    Software {
        /// The name of the adapter.
        name: String,
    },
    /// The GPU cannot be chosen or opened.
    #[error("{}", one_line(.0))]
    Unusable(Error),
}

/// Returns whether automatic choices take the GPU that [`adapter::choose`] chooses, or the reason why not. The GPU is
/// open then.
///
/// A GPU is taken if it is not software, has 64-bit integers in shaders, and can be opened. Software is taken only if
/// the variable [`ADAPTER_VARIABLE`] names it. The decision is made once in a process.
pub(crate) fn gpu() -> Result<(), NoGpu> {
    static DECISION: OnceLock<Result<(), NoGpu>> = OnceLock::new();
    DECISION.get_or_init(open_gpu).clone()
}

fn open_gpu() -> Result<(), NoGpu> {
    let variable = env::var(ADAPTER_VARIABLE).ok().filter(|name| !name.trim().is_empty());
    let adapters = adapter::adapters();
    let chosen = adapter::choose(&adapters, None).map(|adapter| &adapter.info);
    check_adapter(chosen, adapters.iter().map(|adapter| &adapter.info), variable.is_some())?;
    registry::open(None).map(drop).map_err(NoGpu::Unusable)
}

/// Checks that an automatic choice may take the `chosen` one of the `available` adapters. Software may be taken only if
/// it `was_named`.
fn check_adapter<'a>(
    chosen: Result<&AdapterInfo, Error>,
    mut available: impl Iterator<Item = &'a AdapterInfo>,
    was_named: bool,
) -> Result<(), NoGpu> {
    match chosen {
        Err(Error::NoAdapter) => Err(NoGpu::NoDriver),
        Err(error) => Err(NoGpu::Unusable(error)),
        Ok(info) if info.is_software() && !was_named => {
            Err(match available.find(|info| !info.is_software()) {
                Some(real) => NoGpu::NoInt64 { name: real.name.clone() },
                None => NoGpu::Software { name: info.name.clone() },
            })
        }
        Ok(_) => Ok(()),
    }
}

fn one_line(error: &Error) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::adapter::Kind;

    #[test]
    fn a_real_gpu_is_taken() {
        for kind in [Kind::Discrete, Kind::Integrated, Kind::Virtual, Kind::Unknown] {
            let gpu = AdapterInfo::example("GPU", kind, true);
            assert_eq!(check_adapter(Ok(&gpu), [&gpu].into_iter(), false), Ok(()), "{kind}");
        }
    }

    #[test]
    fn software_is_taken_only_if_it_is_named() {
        let software = AdapterInfo::example("llvmpipe", Kind::Software, true);
        let available = || [&software].into_iter();
        let reason = check_adapter(Ok(&software), available(), false).expect_err("unasked");
        assert_eq!(reason, NoGpu::Software { name: "llvmpipe".to_owned() }, "unasked");
        assert_eq!(reason.to_string(), "llvmpipe is software", "in words");
        assert_eq!(check_adapter(Ok(&software), available(), true), Ok(()), "asked for");
    }

    #[test]
    fn a_gpu_that_cannot_run_lanes_is_the_reason() {
        let (software, old) = (
            AdapterInfo::example("llvmpipe", Kind::Software, true),
            AdapterInfo::example("Old GPU", Kind::Discrete, false),
        );
        let reason = check_adapter(Ok(&software), [&old, &software].into_iter(), false)
            .expect_err("it cannot run lanes");
        assert_eq!(
            reason.to_string(),
            "Old GPU has no 64-bit integers in shaders",
            "the reason is the GPU, not the software"
        );
        let error = Error::NoInt64 { adapter: old.to_string() };
        let reason = check_adapter(Err(error), [&old].into_iter(), false).expect_err("it cannot run lanes");
        let text = reason.to_string();
        assert!(text.contains("Old GPU") && text.contains("64-bit integers"), "{text}");
    }

    #[test]
    fn a_reason_is_one_line() {
        let reasons = [
            check_adapter(Err(Error::NoAdapter), [].into_iter(), false).expect_err("none is installed"),
            NoGpu::Unusable(Error::RequestDevice {
                adapter: "GPU".to_owned(),
                reason: "it does not answer:\n  because\n".to_owned(),
            }),
        ];
        for reason in reasons {
            assert_eq!(reason.to_string().lines().count(), 1, "{reason}");
        }
    }
}
