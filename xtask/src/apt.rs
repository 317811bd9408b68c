//! Downloads of Debian packages for any architecture. The lists and the state of the host's own packages do not change.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::folders::{entries, recreate};

/// A folder with lists of packages for one architecture, in which no package is installed.
#[derive(Debug)]
pub(crate) struct Apt {
    folder: PathBuf,
    architecture: String,
}

impl Apt {
    /// Creates the folder, if it does not exist, with the lists of the sources that the host has.
    pub(crate) fn new(folder: PathBuf, architecture: &str) -> Result<Self> {
        for part in ["lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(folder.join(part))
                .with_context(|| format!("cannot create {}", folder.display()))?;
        }
        fs::write(folder.join("status"), "").with_context(|| format!("cannot write {}", folder.display()))?;
        let apt = Self { folder, architecture: architecture.to_owned() };
        apt.run(&["update"])
            .context("the lists of Debian packages cannot be updated; this needs Debian and a network")?;
        Ok(apt)
    }

    /// Downloads packages, and returns the paths of their files.
    pub(crate) fn download(&self, packages: &[&str]) -> Result<Vec<PathBuf>> {
        let folder = self.folder.join("downloads");
        recreate(&folder)?;
        self.run_in(&folder, &[&["download"], packages].concat())?;
        archives(&folder)
    }

    /// Downloads packages and all packages on which they depend, and returns the paths of their files.
    pub(crate) fn download_with_dependencies(&self, packages: &[&str]) -> Result<Vec<PathBuf>> {
        self.run(&["clean"])?;
        self.run(&[&["install", "--yes", "--download-only", "--no-install-recommends"], packages].concat())?;
        archives(&self.folder.join("cache/archives"))
    }

    fn run(&self, arguments: &[&str]) -> Result<()> {
        self.run_in(&self.folder, arguments)
    }

    fn run_in(&self, folder: &Path, arguments: &[&str]) -> Result<()> {
        let Self { folder: state, architecture } = self;
        let state = state.display();
        let mut command = Command::new("apt-get");
        command.current_dir(folder).arg("--quiet");
        for option in [
            format!("APT::Architecture={architecture}"),
            format!("APT::Architectures={architecture}"),
            format!("Dir::State={state}"),
            format!("Dir::State::status={state}/status"),
            format!("Dir::Cache={state}/cache"),
            // The user that apt-get otherwise becomes may not write here.
            "APT::Sandbox::User=root".to_owned(),
            "Debug::NoLocking=1".to_owned(),
        ] {
            command.arg("-o").arg(option);
        }
        let status = command.args(arguments).status().context("cannot run apt-get, which Debian has")?;
        ensure!(status.success(), "apt-get {} failed", arguments.join(" "));
        Ok(())
    }
}

/// Unpacks a package into a folder, in which directories may be links, without the files that match the patterns `without`.
pub(crate) fn unpack(package: &Path, folder: &Path, without: &[String]) -> Result<()> {
    let mut contents = Command::new("dpkg-deb")
        .arg("--fsys-tarfile")
        .arg(package)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .context("cannot run dpkg-deb, which the package dpkg has")?;
    let pipe = contents.stdout.take().context("dpkg-deb has no output")?;
    let mut tar = Command::new("tar");
    tar.args(["-x", "--keep-directory-symlink", "--no-same-owner", "-C"]).arg(folder);
    tar.args(without.iter().map(|pattern| format!("--exclude={pattern}"))).stdin(pipe);
    let status = tar.status().context("cannot run tar")?;
    ensure!(contents.wait()?.success() && status.success(), "{} cannot be unpacked", package.display());
    Ok(())
}

/// Returns the paths of the packages in a folder, sorted.
fn archives(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = entries(folder)?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "deb"));
    Ok(paths)
}
