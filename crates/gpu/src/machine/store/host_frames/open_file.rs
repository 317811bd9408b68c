//! An open file without a name, or one that disappears when it is closed.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::machine::host_faults::{HostFault, HostFaults};

/// The number of names that are tried.
const NAMES: u32 = 1000;

/// A file of this process only.
#[derive(Debug)]
pub(super) struct OpenFile {
    file: File,
    path: PathBuf,
    faults: HostFaults,
}

impl OpenFile {
    /// Creates a file with a name, or with a number added to it if there is such a file.
    pub(super) fn create(path: &Path, faults: HostFaults) -> io::Result<Self> {
        let mut free = path.to_owned();
        for number in 1..NAMES {
            match create(&free) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    let mut name = path.as_os_str().to_owned();
                    name.push(format!(".{number}"));
                    free = name.into();
                }
                created => return created.map(|file| Self { file, path: free, faults }),
            }
        }
        Err(io::Error::new(ErrorKind::AlreadyExists, format!("{NAMES} files with this name exist")))
    }

    /// Returns the name that the file has, or had when it was created.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes all bytes from a position on.
    pub(super) fn write_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        if self.faults.strikes(HostFault::WriteFails) {
            return Err(injected());
        }
        if self.faults.strikes(HostFault::WriteEnds) {
            write_all_at(&self.file, &bytes[..bytes.len() / 2], position)?;
            return Err(ErrorKind::WriteZero.into());
        }
        write_all_at(&self.file, bytes, position)
    }

    /// Reads bytes from a position on until `bytes` is full.
    pub(super) fn read_at(&self, bytes: &mut [u8], position: u64) -> io::Result<()> {
        if self.faults.strikes(HostFault::ReadFails) {
            return Err(injected());
        }
        if self.faults.strikes(HostFault::ReadEnds) {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        read_exact_at(&self.file, bytes, position)?;
        if self.faults.strikes(HostFault::ReadDamages)
            && let Some(byte) = bytes.get_mut(1)
        {
            *byte ^= 0x10;
        }
        Ok(())
    }
}

fn injected() -> io::Error {
    io::Error::other("a failure that a test has injected")
}

/// Creates a file that only this user can read, and removes its name.
#[cfg(unix)]
fn create(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;

    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?;
    std::fs::remove_file(path)?;
    Ok(file)
}

/// Creates a file that is removed when it is closed.
#[cfg(windows)]
fn create(path: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt as _;

    const FILE_FLAG_DELETE_ON_CLOSE: u32 = 0x0400_0000;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).custom_flags(FILE_FLAG_DELETE_ON_CLOSE);
    options.open(path)
}

#[cfg(unix)]
fn write_all_at(file: &File, bytes: &[u8], position: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, position)
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], position: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, position)
}

#[cfg(windows)]
fn write_all_at(file: &File, mut bytes: &[u8], mut position: u64) -> io::Result<()> {
    use std::os::windows::fs::FileExt as _;

    while !bytes.is_empty() {
        match file.seek_write(bytes, position) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => (bytes, position) = (&bytes[written..], position + written as u64),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut bytes: &mut [u8], mut position: u64) -> io::Result<()> {
    use std::os::windows::fs::FileExt as _;

    while !bytes.is_empty() {
        match file.seek_read(bytes, position) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(read) => (bytes, position) = (&mut bytes[read..], position + read as u64),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_exist_are_not_changed_and_nothing_is_left() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("frames");
        std::fs::write(&path, "mine").expect("the folder is writable");
        let files = [(); 2].map(|()| OpenFile::create(&path, HostFaults::NONE).expect("a file"));
        for (byte, file) in (1..).zip(&files) {
            assert_ne!(file.path(), path, "the name is taken");
            file.write_at(&[byte; 100], 50).expect("there is space");
        }
        for (byte, file) in (1..).zip(&files) {
            let mut bytes = [9; 20];
            file.read_at(&mut bytes, 45).expect("it was written");
            assert_eq!((bytes[4], bytes[5]), (0, byte), "zeros before the first byte");
            assert!(file.read_at(&mut bytes, 140).is_err(), "the file ends there");
        }
        drop(files);
        let left: Vec<_> = std::fs::read_dir(folder.path()).expect("it exists").collect();
        assert_eq!(left.len(), 1, "only the file of the user: {left:?}");
        assert_eq!(std::fs::read(&path).expect("it exists"), b"mine", "unchanged");
    }
}
