//! The selection of several GPUs of a host.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use super::adapter::{Adapter, AdapterInfo, adapters, choose_info};
use super::error::Error;

/// A selection of the GPUs of a host.
///
/// ```
/// use kvrm_gpu::GpuSelection;
///
/// assert_eq!("all".parse(), Ok(GpuSelection::All));
/// assert_eq!("2".parse(), Ok(GpuSelection::First(2.try_into()?)));
/// assert_eq!("0,nvidia".parse(), Ok(GpuSelection::Listed(vec!["0".to_owned(), "nvidia".to_owned()])));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GpuSelection {
    /// All GPUs that can run lanes, without software. A GPU with several drivers counts once.
    #[default]
    All,
    /// The best GPUs of these: so many.
    First(NonZeroUsize),
    /// The adapters that [`adapter::choose`](crate::adapter::choose) chooses for these names or indices.
    Listed(Vec<String>),
}

impl FromStr for GpuSelection {
    type Err = Error;

    /// Reads `all`, a number of GPUs, or a list with commas. A list of one entry may end with a comma, so that `1,` is the
    /// adapter with index 1, while `1` is one GPU. A name without a comma is a list, too.
    fn from_str(selection: &str) -> Result<Self, Error> {
        let invalid = || Error::InvalidGpuSelection { selection: selection.to_owned() };
        let text = selection.trim();
        if text.eq_ignore_ascii_case("all") {
            return Ok(Self::All);
        }
        if let Ok(count) = text.parse() {
            return NonZeroUsize::new(count).map(Self::First).ok_or_else(invalid);
        }
        let entries: Vec<String> = text.split_terminator(',').map(|entry| entry.trim().to_owned()).collect();
        let is_valid = !entries.is_empty() && entries.iter().all(|entry| !entry.is_empty());
        if is_valid { Ok(Self::Listed(entries)) } else { Err(invalid()) }
    }
}

/// Writes the form that [`FromStr`] reads.
impl fmt::Display for GpuSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::First(count) => count.fmt(f),
            Self::Listed(entries) => match &entries[..] {
                [entry] => write!(f, "{entry},"),
                entries => f.write_str(&entries.join(",")),
            },
        }
    }
}

impl GpuSelection {
    /// Returns the indices of the selected adapters in [`adapter::adapters`](crate::adapter::adapters), the best one first unless
    /// they are listed.
    ///
    /// # Errors
    ///
    /// [`Error::TooFewGpus`], [`Error::SameGpu`] and the errors of [`adapter::choose`](crate::adapter::choose): the host has no
    /// such GPUs.
    pub fn indices(&self) -> Result<Vec<usize>, Error> {
        let adapters = adapters();
        self.choose_infos(&adapters.iter().map(|adapter| &adapter.info).collect::<Vec<_>>())
    }

    /// Returns the selected adapters, the best one first unless they are listed.
    pub(crate) fn choose<'a>(&self, adapters: &'a [Adapter]) -> Result<Vec<&'a Adapter>, Error> {
        let infos: Vec<&AdapterInfo> = adapters.iter().map(|adapter| &adapter.info).collect();
        Ok(self.choose_infos(&infos)?.into_iter().map(|index| &adapters[index]).collect())
    }

    /// Returns the indices of the selected adapters.
    fn choose_infos(&self, available: &[&AdapterInfo]) -> Result<Vec<usize>, Error> {
        if available.is_empty() {
            return Err(Error::NoAdapter);
        }
        let wanted = match self {
            Self::All => None,
            Self::First(count) => Some(count.get()),
            Self::Listed(entries) => return choose_listed(entries, available),
        };
        let mut gpus = usable(available);
        if gpus.len() < wanted.unwrap_or(1) {
            let available = available.iter().enumerate().map(|(index, info)| line(index, info)).collect();
            return Err(Error::TooFewGpus { wanted, usable: gpus.len(), available });
        }
        gpus.truncate(wanted.unwrap_or(usize::MAX));
        Ok(gpus)
    }
}

/// Returns the indices of the GPUs that can run lanes, the best kind first.
pub(super) fn usable(available: &[&AdapterInfo]) -> Vec<usize> {
    let mut gpus: Vec<usize> = Vec::new();
    for (index, info) in available.iter().enumerate() {
        let is_known = gpus.iter().any(|other| available[*other].is_same_gpu(info));
        if info.has_int64 && !info.is_software() && !is_known {
            gpus.push(index);
        }
    }
    gpus.sort_by_key(|index| available[*index].kind);
    gpus
}

/// Returns the indices of listed adapters.
fn choose_listed(entries: &[String], available: &[&AdapterInfo]) -> Result<Vec<usize>, Error> {
    let mut chosen: Vec<usize> = Vec::new();
    for second in entries {
        let index = choose_info(available, Some(second))?;
        let is_same = |other: &usize| *other == index || available[*other].is_same_gpu(available[index]);
        if let Some(first) = chosen.iter().position(is_same) {
            let (first, second) = (entries[first].clone(), second.clone());
            return Err(Error::SameGpu { first, second, adapter: available[index].line(index) });
        }
        chosen.push(index);
    }
    Ok(chosen)
}

/// Returns a line about an adapter, which says why it cannot run lanes.
fn line(index: usize, info: &AdapterInfo) -> String {
    let line = info.line(index);
    if info.has_int64 { line } else { format!("{line}, without 64-bit integers in shaders") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::adapter::Kind;

    /// Returns the adapters of a host: software, an integrated GPU, two equal ones of which the second has another driver, too,
    /// and one that cannot run lanes.
    fn adapters() -> [AdapterInfo; 6] {
        let gpu = |bus: &str, driver: &str| AdapterInfo {
            bus: bus.to_owned(),
            driver: driver.to_owned(),
            ..AdapterInfo::example("Big GPU", Kind::Discrete, true)
        };
        [
            AdapterInfo::example("llvmpipe", Kind::Software, true),
            AdapterInfo::example("Small GPU", Kind::Integrated, true),
            gpu("0000:01:00.0", "driver"),
            gpu("0000:02:00.0", "driver"),
            gpu("0000:02:00.0", "other driver"),
            AdapterInfo::example("Old GPU", Kind::Discrete, false),
        ]
    }

    /// Returns the indices of the adapters that a selection chooses.
    fn choose(selection: &str) -> Result<Vec<usize>, Error> {
        let selection: GpuSelection = selection.parse()?;
        selection.choose_infos(&adapters().iter().collect::<Vec<_>>())
    }

    #[test]
    fn all_gpus_are_those_that_can_run_lanes_once_each() {
        assert_eq!(choose("all"), Ok(vec![2, 3, 1]), "discrete GPUs before others, and no software");
        assert_eq!(choose("2"), Ok(vec![2, 3]), "the two best");
        assert_eq!(choose("1"), Ok(vec![2]), "the best");
    }

    #[test]
    fn listed_adapters_are_taken_in_the_order_of_the_list() {
        assert_eq!(choose("3,2"), Ok(vec![3, 2]), "by index");
        assert_eq!(choose("small, llvmpipe"), Ok(vec![1, 0]), "by name, software included");
        assert_eq!(choose("0,"), Ok(vec![0]), "a single index");
        assert_eq!(choose("llvmpipe"), Ok(vec![0]), "a single name");
    }

    #[test]
    fn errors_name_the_selection_and_the_adapters() {
        let text = |selection| choose(selection).expect_err("it cannot be satisfied").to_string();
        let too_few = text("4");
        assert!(too_few.starts_with("3 GPUs can run lanes, but 4 are asked for; "), "{too_few}");
        assert!(
            too_few.contains("3: Big GPU (discrete GPU, vulkan, driver) at PCI 0000:02:00.0; 4: "),
            "{too_few}"
        );
        assert!(too_few.ends_with("without 64-bit integers in shaders"), "{too_few}");
        let twice = "\"2\" and \"2\" are the same GPU, 2: Big GPU (discrete GPU, vulkan, driver) at PCI 0000:01:00.0; \
                     list each GPU once";
        assert_eq!(text("2,2"), twice, "an index that is listed twice");
        assert!(text("3,4").starts_with("\"3\" and \"4\" are the same GPU"), "{}", text("3,4"));
        assert!(text("5,2").contains("Old GPU") && text("5,2").contains("64-bit"), "{}", text("5,2"));
        assert!(text("0,9").contains("\"9\""), "{}", text("0,9"));
        for invalid in ["0", "", ",", "0,,1", "-1,"] {
            assert!(choose(invalid).is_err(), "{invalid:?} selects nothing");
        }
        assert!(text("0").starts_with("\"0\" selects no GPUs; expected `all`"), "{}", text("0"));
    }

    #[test]
    fn without_gpus_the_error_lists_what_there_is() {
        let software = AdapterInfo::example("llvmpipe", Kind::Software, true);
        let error =
            GpuSelection::All.choose_infos(&[&software]).expect_err("there is only software").to_string();
        assert!(error.starts_with("no GPU can run lanes, but all are asked for; software"), "{error}");
        assert!(error.ends_with("adapters: 0: llvmpipe (software, vulkan, driver 1.0)"), "{error}");
        assert_eq!(GpuSelection::All.choose_infos(&[]), Err(Error::NoAdapter), "nothing at all");
    }

    #[test]
    fn a_selection_that_was_written_is_read_unchanged() {
        for text in ["all", "3", "0,2", "1,", "nvidia,0"] {
            let selection: GpuSelection = text.parse().expect("it is valid");
            assert_eq!(selection.to_string(), text, "{selection:?}");
        }
    }
}
