//! Random operations on two address spaces of one image, compared with the simple model.

use std::sync::Arc;

use kvrm_arm64::{Instruction, Memory};
use kvrm_machine::{Access, AddressSpace, Fault, Features, Image, MemorySnapshot, PAGE_BYTES, Segment, Stop};
use proptest::prelude::*;

use crate::images::{address, bytes, segments};
use crate::model::Model;

/// The access sizes of guests; 64 is that of DC ZVA.
const SIZES: [usize; 6] = [1, 2, 4, 8, 16, 64];

#[derive(Clone, Debug)]
enum Operation {
    /// A load by the guest, of one of the sizes.
    Read(u64, usize),
    /// A store by the guest, of one of the sizes, with bytes that follow from a seed.
    Write(u64, usize, u64),
    Fetch(u64),
    CheckRead(u64),
    CheckWrite(u64, usize),
    HostRead(u64, usize, Option<Access>),
    HostWrite(u64, usize, Option<Access>, u64),
    FramesMax(usize),
    Snapshot,
    Reset,
}

fn needed() -> impl Strategy<Value = Option<Access>> {
    prop::sample::select(&[None, Some(Access::Read), Some(Access::Write), Some(Access::Execute)][..])
}

/// Operations near a few addresses, so that they interact. The flag selects one of the two address spaces.
fn operations() -> impl Strategy<Value = Vec<(bool, Operation)>> {
    prop::collection::vec(address(), 1..5).prop_flat_map(|places| {
        let near = (prop::sample::select(places), prop_oneof![2 => -4i64..=4, 1 => -70i64..70])
            .prop_map(|(place, near)| place.wrapping_add_signed(near));
        let at = prop_oneof![4 => near.clone(), 1 => address()];
        let size = || prop::sample::select(&SIZES[..]);
        let length = 1..2 * PAGE_BYTES + 2;
        let operation = prop_oneof![
            4 => (at.clone(), size()).prop_map(|(at, size)| Operation::Read(at, size)),
            8 => (at.clone(), size(), any::<u64>())
                .prop_map(|(at, size, seed)| Operation::Write(at, size, seed)),
            6 => at.clone().prop_map(|at| Operation::Fetch(at & !3)),
            1 => at.clone().prop_map(Operation::Fetch),
            1 => at.clone().prop_map(Operation::CheckRead),
            // The trait does not specify ranges that cross a page.
            1 => (at.clone(), size())
                .prop_map(|(at, size)| Operation::CheckWrite(at & !(size as u64 - 1), size)),
            1 => (at.clone(), length.clone(), needed())
                .prop_map(|(at, length, needed)| Operation::HostRead(at, length, needed)),
            1 => (at, length, needed(), any::<u64>())
                .prop_map(|(at, length, needed, seed)| Operation::HostWrite(at, length, needed, seed)),
            1 => prop_oneof![0..6usize, Just(usize::MAX)].prop_map(Operation::FramesMax),
            1 => Just(Operation::Snapshot),
            1 => Just(Operation::Reset),
        ];
        prop::collection::vec((any::<bool>(), operation), 1..80)
    })
}

/// An address space and its model.
struct Pair {
    space: AddressSpace,
    model: Model,
    snapshot: Option<MemorySnapshot>,
}

fn read(space: &mut AddressSpace, address: u64, size: usize) -> Result<Vec<u8>, Stop> {
    fn sized<const N: usize>(space: &mut AddressSpace, address: u64) -> Result<Vec<u8>, Stop> {
        space.read::<N>(address).map(|bytes| bytes.to_vec())
    }
    let read = [sized::<1>, sized::<2>, sized::<4>, sized::<8>, sized::<16>, sized::<64>];
    read[size.ilog2() as usize - usize::from(size == 64)](space, address)
}

fn write(space: &mut AddressSpace, address: u64, bytes: &[u8]) -> Result<(), Stop> {
    fn sized<const N: usize>(space: &mut AddressSpace, address: u64, bytes: &[u8]) -> Result<(), Stop> {
        let bytes = bytes.first_chunk::<N>().expect("as many bytes as the access has");
        space.write(address, *bytes)
    }
    let write = [sized::<1>, sized::<2>, sized::<4>, sized::<8>, sized::<16>, sized::<64>];
    let size = bytes.len();
    write[size.ilog2() as usize - usize::from(size == 64)](space, address, bytes)
}

impl Pair {
    fn new(image: &Arc<Image>, segments: &[Segment]) -> Self {
        let space = AddressSpace::new(Arc::clone(image), usize::MAX);
        Self { space, model: Model::new(segments), snapshot: None }
    }

    /// Applies an operation to both and compares the results.
    fn apply(&mut self, operation: &Operation) -> Result<(), TestCaseError> {
        let Self { space, model, snapshot } = self;
        let stop = |fault: Fault| Stop::from(fault);
        match *operation {
            Operation::Read(at, size) => {
                let expected = model.read(at, size, Some(Access::Read)).map_err(stop);
                prop_assert_eq!(read(space, at, size), expected);
            }
            Operation::Write(at, size, seed) => {
                let bytes = bytes(seed, size as u64);
                let expected = model.write(at, &bytes, Some(Access::Write));
                prop_assert_eq!(write(space, at, &bytes), expected);
            }
            Operation::Fetch(at) => {
                let expected = model.fetch(at).map(|word| Instruction::new(word, Features::ALL));
                prop_assert_eq!(space.fetch(at), expected.map_err(stop));
            }
            Operation::CheckRead(at) => {
                let expected = model.read(at, 1, Some(Access::Read)).map(|_| ()).map_err(stop);
                prop_assert_eq!(space.check_read(at), expected);
            }
            Operation::CheckWrite(at, size) => {
                let expected = model.check_write(at, size).map_err(stop);
                prop_assert_eq!(space.check_write(at, size as u64), expected);
            }
            Operation::HostRead(at, length, needed) => {
                let mut out = vec![0xee; length];
                let got = space.read_bytes(at, &mut out, needed).map(|()| out);
                prop_assert_eq!(got, model.read(at, length, needed));
            }
            Operation::HostWrite(at, length, needed, seed) => {
                let bytes = bytes(seed, length as u64);
                let expected = model.write(at, &bytes, needed);
                prop_assert_eq!(space.write_bytes(at, &bytes, needed), expected);
            }
            Operation::FramesMax(frames_max) => {
                space.set_frames_max(frames_max);
                model.frames_max = frames_max;
            }
            Operation::Snapshot => {
                *snapshot = Some(space.snapshot());
                model.snapshot();
            }
            Operation::Reset => {
                if let Some(snapshot) = snapshot {
                    prop_assert!(space.reset(snapshot).is_ok(), "the snapshot is the last one");
                    model.reset();
                }
            }
        }
        Ok(())
    }

    /// Compares the private pages: their order and contents.
    fn compare_private_pages(&self) -> Result<(), TestCaseError> {
        let addresses = |(address, _)| address;
        let got: Vec<u64> = self.space.private_pages().map(addresses).collect();
        let expected: Vec<u64> = self.model.private_pages().map(addresses).collect();
        prop_assert_eq!(got, expected, "private pages in order of their first write");
        prop_assert!(self.space.private_pages().eq(self.model.private_pages()), "the bytes of private pages");
        Ok(())
    }

    /// Compares all memory.
    fn compare(&self) -> Result<(), TestCaseError> {
        for (address, page) in self.model.pages() {
            let mut got = [0; PAGE_BYTES];
            prop_assert_eq!(self.space.read_bytes(address, &mut got, None), Ok(()));
            prop_assert!(got == *page.bytes, "the page at {address:#x}");
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn two_address_spaces_on_one_image_behave_as_their_models(
        segments in segments(),
        operations in operations(),
    ) {
        let image = Arc::new(Image::new(&segments, Features::ALL).unwrap());
        let mut pairs = [Pair::new(&image, &segments), Pair::new(&image, &segments)];
        for (second, operation) in &operations {
            pairs[usize::from(*second)].apply(operation)?;
            for pair in &pairs {
                pair.compare_private_pages()?;
            }
        }
        for pair in &pairs {
            pair.compare()?;
        }
        // The image must not have changed.
        Pair::new(&image, &segments).compare()?;
    }

    #[test]
    fn an_image_ends_where_its_last_page_does(segments in segments()) {
        let end = Model::new(&segments).pages().last().map_or(0, |(address, _)| address + PAGE_BYTES as u64);
        prop_assert_eq!(Image::new(&segments, Features::ALL).unwrap().end(), end);
    }
}
