//! The demos of a WAD.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};

/// Returns the names of the demos that the title shows, such as `demo1`, in their order.
pub(super) fn demos(path: &Path) -> Result<Vec<String>> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut demos: Vec<_> = lumps(&bytes)
        .with_context(|| path.display().to_string())?
        .into_iter()
        .map(|name| name.to_ascii_lowercase())
        .filter(|name| name.strip_prefix("demo").is_some_and(|number| number.parse::<u8>().is_ok()))
        .collect();
    demos.sort_unstable();
    Ok(demos)
}

/// Returns the names of the lumps of a WAD. Its header has the number of lumps and the place of their directory, which has 16
/// bytes a lump: place, size, and a name that zeros fill up.
fn lumps(wad: &[u8]) -> Result<Vec<String>> {
    let start = wad.get(..4).unwrap_or_default();
    ensure!(
        [b"IWAD", b"PWAD"].contains(&start.try_into().unwrap_or(&[0; 4])),
        "the file begins with {:?}: expected \"IWAD\" or \"PWAD\"",
        String::from_utf8_lossy(start)
    );
    let word =
        |at: usize| wad.get(at..at + 4).and_then(|bytes| Some(u32::from_le_bytes(bytes.try_into().ok()?)));
    let (Some(count), Some(begin)) = (word(4), word(8)) else { anyhow::bail!("the header is cut off") };
    let (count, begin) = (count as usize, begin as usize);
    let directory = wad.get(begin..).and_then(|rest| rest.get(..count.checked_mul(16)?));
    let directory = directory
        .with_context(|| format!("{} bytes: expected a directory of {count} lumps at {begin}", wad.len()))?;
    let name = |entry: &[u8]| String::from_utf8_lossy(&entry[8..]).trim_end_matches('\0').to_owned();
    Ok(directory.chunks_exact(16).map(name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wad(names: &[&str]) -> Vec<u8> {
        let mut bytes = [&b"IWAD"[..], &(names.len() as u32).to_le_bytes(), &12_u32.to_le_bytes()].concat();
        for name in names {
            bytes.extend([0; 8]);
            bytes.extend(name.bytes());
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            bytes.resize(12 + (bytes.len() - 12).next_multiple_of(16), 0);
        }
        bytes
    }

    #[test]
    fn demos_are_found_among_the_lumps() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("wad");
        std::fs::write(&path, wad(&["DEMO2", "DEMO1", "E1M1", "DEMOS", "PLAYPAL1"])).expect("a file");
        assert_eq!(demos(&path).expect("it is a WAD"), ["demo1", "demo2"]);
    }

    #[test]
    fn broken_files_are_refused() {
        let refused = |bytes: &[u8]| lumps(bytes).expect_err("it is broken").to_string();
        assert_eq!(refused(b"ELF!"), "the file begins with \"ELF!\": expected \"IWAD\" or \"PWAD\"");
        assert_eq!(refused(b"IWAD\x01"), "the header is cut off");
        let mut cut = wad(&["DEMO1"]);
        cut.pop();
        assert_eq!(refused(&cut), "27 bytes: expected a directory of 1 lumps at 12");
    }
}
