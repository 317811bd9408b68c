//! The Vulkan driver for tests that need a GPU. Installs a software driver if there is none.

mod debian;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::system;

/// The Debian package of Mesa's drivers, including the software driver.
const MESA: &str = "mesa-vulkan-drivers";
/// The Debian package of the Vulkan loader, with which programs find drivers.
const LOADER: &str = "libvulkan1";

/// Environment variables that list driver files. They replace the folders.
const FILE_VARIABLES: &[&str] = &["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];

/// The folders in which the Vulkan loader looks for driver files.
const FOLDERS: &[&str] = &[
    "/etc/vulkan/icd.d",
    "/usr/share/vulkan/icd.d",
    "/usr/local/etc/vulkan/icd.d",
    "/usr/local/share/vulkan/icd.d",
    "/run/opengl-driver/share/vulkan/icd.d",
];

/// Makes sure that the tests find a Vulkan driver, unless `KVRM_GPU=skip` skips the tests that need one. Does nothing
/// on other systems than Linux, where this task cannot install a driver; the tests then report a missing one.
pub(super) fn ensure() -> Result<()> {
    if !cfg!(target_os = "linux") || env::var_os("KVRM_GPU").is_some_and(|value| value == "skip") {
        return Ok(());
    }
    if has_driver(|name| env::var_os(name), Path::new("/")) {
        if let Some(version) = system::installed_version(MESA)
            && is_old(&version)
        {
            println!(
                "Mesa {version} works, but Mesa 24 or later is about four times as fast in the tests of shaders"
            );
        }
        return Ok(());
    }
    println!("the tests of shaders need a Vulkan driver, and there is none; KVRM_GPU=skip skips them");
    if debian::is_bookworm() && system::can_install() && debian::install_backports(&[MESA, LOADER])? {
        return Ok(());
    }
    system::ensure_packages(&[MESA]).context("KVRM_GPU=skip skips the tests that need a GPU")
}

/// Returns whether the Vulkan loader would find a driver file: in the variables, else in the folders below `root`.
fn has_driver(variable: impl Fn(&str) -> Option<OsString>, root: &Path) -> bool {
    let listed: Vec<PathBuf> = FILE_VARIABLES
        .iter()
        .filter_map(|name| variable(name))
        .flat_map(|value| env::split_paths(&value).collect::<Vec<_>>())
        .filter(|path| !path.as_os_str().is_empty())
        .collect();
    if !listed.is_empty() {
        return listed.iter().any(|path| if path.is_dir() { holds_driver(path) } else { path.is_file() });
    }
    FOLDERS.iter().any(|folder| holds_driver(&root.join(folder.trim_start_matches('/'))))
}

fn holds_driver(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|entries| {
        entries.flatten().any(|entry| entry.path().extension().is_some_and(|extension| extension == "json"))
    })
}

/// Returns whether a version of Mesa, as Debian writes it, is before 24. Such versions also end long loops early.
fn is_old(version: &str) -> bool {
    // An epoch may precede the version, with a colon after it.
    let version = version.rsplit_once(':').map_or(version, |(_, version)| version);
    version.split('.').next().and_then(|major| major.parse::<u32>().ok()).is_some_and(|major| major < 24)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_variable(_: &str) -> Option<OsString> {
        None
    }

    #[test]
    fn drivers_are_found_in_folders() {
        let root = env::temp_dir().join(format!("kvrm-drivers-{}", std::process::id()));
        let folder = root.join("usr/share/vulkan/icd.d");
        fs::create_dir_all(&folder).expect("temporary files can be made");
        assert!(!has_driver(no_variable, &root), "an empty folder");
        fs::write(folder.join("README"), "").expect("temporary files can be made");
        assert!(!has_driver(no_variable, &root), "a file of another kind");
        let file = folder.join("lvp_icd.x86_64.json");
        fs::write(&file, "{}").expect("temporary files can be made");
        assert!(has_driver(no_variable, &root), "a driver file");

        // Variables that name files replace the folders.
        let none = Path::new("/no/such/folder");
        for name in FILE_VARIABLES {
            let named = |value: &'static str| move |asked: &str| (asked == *name).then(|| value.into());
            assert!(
                has_driver(|asked| (asked == *name).then(|| file.clone().into()), none),
                "{name} names it"
            );
            assert!(!has_driver(named("/no/such.json"), &root), "{name} hides it");
            assert!(has_driver(named(""), &root), "an empty {name} says nothing");
        }
        fs::remove_dir_all(&root).expect("they were made here");
    }

    #[test]
    fn versions_before_24_are_old() {
        for (version, old) in [
            ("22.3.6-1+deb12u1", true),
            ("23.2.1-1ubuntu3.1~22.04.3", true),
            ("24.0.9-0ubuntu0.3", false),
            ("25.0.7-2~bpo12+1", false),
            ("1:22.3.6-1", true),
            ("", false),
            ("unknown", false),
        ] {
            assert_eq!(is_old(version), old, "of {version:?}");
        }
    }
}
