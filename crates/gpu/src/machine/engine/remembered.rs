//! Choices of earlier processes, in files. A choice says which code was hot, and not what the code is, so a wrong one can
//! only make a run slower.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use kvrm_machine::{Image, Region};
use kvrm_shaders::MODULES;
use kvrm_translate::Samples;

use crate::stored;

/// How names of files begin.
const PREFIX: &str = "translation-";
/// The largest number of files. The oldest are removed.
const FILES_MAX: usize = 64;
/// The largest number of addresses in a file. Others have hardly any samples.
const ADDRESSES_MAX: usize = 4096;

/// The regions and the size of workgroups that a tuner has chosen.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Choice {
    /// The largest number of instructions of the regions.
    pub(super) instructions: usize,
    /// The largest number of edges between hot blocks and others.
    pub(super) distance: usize,
    /// The number of lanes in a workgroup.
    pub(super) workgroup: u32,
    /// The steps per second of the interpreter, and with the regions, for people who ask why it was chosen.
    pub(super) speeds: [f64; 2],
    /// The samples from which the regions are selected.
    pub(super) samples: Samples,
}

impl Choice {
    fn text(&self, key: &str) -> String {
        let Self { instructions, distance, workgroup, speeds: [interpreter, regions], samples } = self;
        let mut hottest: Vec<(u64, u64)> = samples.iter().collect();
        hottest.sort_unstable_by_key(|(pc, count)| (u64::MAX - count, *pc));
        hottest.truncate(ADDRESSES_MAX);
        let samples: String = hottest.iter().map(|(pc, count)| format!("{pc:x} {count}\n")).collect();
        let body =
            format!("{key}\n{instructions} {distance} {workgroup}\n{interpreter} {regions}\n{samples}");
        format!("{:016x}\n{body}", hash(&body))
    }

    /// Reads a text, unless it is damaged or of another key.
    fn parse(text: &str, key: &str) -> Option<Self> {
        let (sum, body) = text.split_once('\n')?;
        let mut lines = body.lines();
        if sum != format!("{:016x}", hash(body)) || lines.next()? != key {
            return None;
        }
        let [instructions, distance, workgroup] = words(lines.next()?)?;
        let speed = |word: &str| word.parse().ok().filter(|speed: &f64| *speed > 0.0 && speed.is_finite());
        let [interpreter, regions] = words(lines.next()?)?;
        let sample = |line| {
            let [pc, count] = words(line)?;
            Some((u64::from_str_radix(pc, 16).ok()?, count.parse::<u32>().ok()?.into()))
        };
        Some(Self {
            instructions: instructions.parse().ok()?,
            distance: distance.parse().ok()?,
            workgroup: workgroup.parse().ok().filter(|lanes: &u32| lanes.is_power_of_two())?,
            speeds: [speed(interpreter)?, speed(regions)?],
            samples: lines.map(sample).collect::<Option<_>>()?,
        })
    }
}

/// The file with the choice for a program, a number of lanes and an adapter.
#[derive(Debug)]
pub(super) struct ChoiceFile {
    folder: PathBuf,
    path: PathBuf,
    /// What the choice is for.
    key: String,
}

impl ChoiceFile {
    /// Names the file of a program in a folder. Numbers of lanes with as many binary digits share a file.
    pub(super) fn new(folder: &Path, adapter: &str, lanes: usize, image: &Image) -> Self {
        let digits = usize::BITS - lanes.leading_zeros();
        let (version, modules, program) = (env!("CARGO_PKG_VERSION"), hash(MODULES), hash_of_code(image));
        let key =
            format!("{adapter}, {version} {modules:x}, {program:x}, lanes 2^{digits}").replace('\n', " ");
        Self { path: folder.join(format!("{PREFIX}{:016x}", hash(&key))), folder: folder.to_owned(), key }
    }

    /// Returns the choice, if there is one.
    pub(super) fn read(&self) -> Option<Choice> {
        Choice::parse(&fs::read_to_string(&self.path).ok()?, &self.key)
    }

    /// Writes a choice, or removes the file. If that fails, the next process has to choose for itself.
    pub(super) fn write(&self, choice: Option<&Choice>) {
        let Some(choice) = choice else {
            let _ = fs::remove_file(&self.path);
            return;
        };
        if stored::write(&self.path, &choice.text(&self.key)).is_ok() {
            remove_oldest(&self.folder, &self.path);
        }
    }
}

/// Removes the oldest choices of a folder if there are too many, but not the new one.
fn remove_oldest(folder: &Path, new: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut files: Vec<(SystemTime, PathBuf)> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX) && entry.path() != new)
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    files.sort_unstable();
    let excess = files.len().saturating_sub(FILES_MAX - 1);
    for (_, path) in &files[..excess] {
        let _ = fs::remove_file(path);
    }
}

/// Returns a hash of the pages of code with data.
fn hash_of_code(image: &Image) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{:?}", image.features()).hash(&mut hasher);
    let is_code = |region: &&Region| region.permissions.execute && region.first_frame.is_some();
    for page in image.regions().iter().filter(is_code).flat_map(|region| region.first_page..region.end_page) {
        let contents = image.page(page).map(|page| &image.frames()[page.frame as usize]);
        (page, contents).hash(&mut hasher);
    }
    hasher.finish()
}

fn hash<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns the words of a line if it has so many.
fn words<const COUNT: usize>(line: &str) -> Option<[&str; COUNT]> {
    line.split(' ').collect::<Vec<_>>().try_into().ok()
}

#[cfg(test)]
mod tests {
    use kvrm_machine::{Features, Permissions, Segment};

    use super::*;

    fn choice() -> Choice {
        let samples = [(0x40_0100, 7), (0x40_0104, 3)].into_iter().collect();
        Choice { instructions: 300, distance: 3, workgroup: 4, speeds: [1.5e6, 3.1e7], samples }
    }

    fn image(word: u32, data: u8) -> Image {
        let segment =
            |address, data: Vec<u8>, permissions| Segment { address, bytes: 8192, data, permissions };
        let code = segment(0x1000, word.to_le_bytes().to_vec(), Permissions::RX);
        let data = segment(0x4000, vec![data], Permissions::RW);
        Image::new(&[code, data], Features::BASE).expect("the segments fit")
    }

    #[test]
    fn a_choice_is_read_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("new");
        let file = ChoiceFile::new(&path, "a GPU", 100, &image(1, 1));
        assert_eq!(file.read(), None, "nothing is stored yet");
        file.write(Some(&choice()));
        let same = ChoiceFile::new(&path, "a GPU", 127, &image(1, 2));
        assert_eq!(same.read(), Some(choice()), "the same code, and about as many lanes");
        let others = [("a GPU", 100, 2), ("a GPU", 128, 1), ("another GPU", 100, 1)];
        for (adapter, lanes, word) in others {
            let other = ChoiceFile::new(&path, adapter, lanes, &image(word, 1));
            assert_eq!(other.read(), None, "{lanes} lanes of program {word} on {adapter}");
        }
        file.write(None);
        assert_eq!(same.read(), None, "the choice is removed");
    }

    #[test]
    fn damaged_and_foreign_files_are_ignored_and_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = ChoiceFile::new(folder.path(), "a GPU", 1, &image(1, 1));
        let text = choice().text(&file.key);
        for place in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[place] ^= 1;
            for damaged in [&bytes[..], &bytes[..place]] {
                fs::write(&file.path, damaged).expect("the file can be written");
                assert_eq!(file.read(), None, "damaged at byte {place}");
            }
        }
        let of = |body: &str| {
            let body = format!("{}\n{body}", file.key);
            fs::write(&file.path, format!("{:016x}\n{body}", hash(&body))).expect("the file can be written");
            file.read()
        };
        assert!(of("9 9 4\n1 1\n0 1\n").is_some(), "files of this form are read");
        for body in [
            "",
            "1 2",
            "0 0 0\n1 1\n",
            "9 9 3\n1 1\n",
            "9 9 4\n0 1\n",
            "9 9 4\nnan 1\n",
            "9 9 4\n1 1\n0 -1\n",
        ] {
            assert_eq!(of(body), None, "{body}");
        }
        file.write(Some(&choice()));
        assert_eq!(file.read(), Some(choice()), "the file is replaced");
    }

    #[test]
    fn failures_to_write_are_ignored() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        fs::write(&path, "not a folder").expect("the file can be written");
        let file = ChoiceFile::new(&path, "a GPU", 1, &image(1, 1));
        file.write(Some(&choice()));
        assert_eq!(file.read(), None, "there is no folder");
    }

    #[test]
    fn the_number_of_files_is_bounded() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("spiking-a-gpu.txt"), "").expect("the file can be written");
        for word in 0..FILES_MAX as u32 + 3 {
            let file = ChoiceFile::new(folder.path(), "a GPU", 1, &image(word, 1));
            file.write(Some(&choice()));
            assert!(file.read().is_some(), "the newest file is kept");
        }
        let count = fs::read_dir(folder.path()).expect("the folder exists").count();
        assert_eq!(count, FILES_MAX + 1, "and the file of another part of KVRM");
    }

    #[test]
    fn only_the_hottest_code_is_stored() {
        let samples = (0..2 * ADDRESSES_MAX as u64).map(|place| (4 * place, 1 + place)).collect();
        let text = Choice { samples, ..choice() }.text("key");
        let read = Choice::parse(&text, "key").expect("it is complete");
        let expected: Vec<u64> =
            (ADDRESSES_MAX as u64..2 * ADDRESSES_MAX as u64).map(|place| 4 * place).collect();
        assert_eq!(
            read.samples.iter().map(|(pc, _)| pc).collect::<Vec<_>>(),
            expected,
            "half of the addresses"
        );
    }
}
