//! Damage of every kind to the memory of the engine: the audit finds it, and every run ends in spite of it.

use std::ops::ControlFlow;
use std::sync::Arc;

use kvrm_arm64::Access;
use kvrm_arm64::asm::{X0, X1, at};
use kvrm_gpu::{Bounds, ClassSelection, Error, GpuExecutor, Place, Request};
use kvrm_machine::{Damage, Executor, Features, Image, Permissions, Plan, Violation};
use kvrm_shaders::layout::{
    COLUMN_BASE, COLUMN_CONSOLE, COLUMN_HEAD, COLUMN_ROOT, COLUMN_STOP, COLUMN_STOP_ADDRESS, COLUMN_TAIL,
    ENTRY_FRAME, ENTRY_MAPPED, ENTRY_OWNED, ENTRY_PRIVATE, ENTRY_WRITE, INFO_CODE_VALID, STOP_FAULT,
    STOP_NEED_SIMD, TLB_READ,
};

use crate::support::{CODE, DATA, PAGE, assemble, device, segment};

/// The first page of a page table.
const WINDOW: u64 = CODE / PAGE;
/// The number of pages that each lane may write.
const FRAMES_MAX: u32 = 16;
/// A number that no frame and no code page has.
const NOWHERE: u32 = 0x1c_6940;

/// An executor whose memory a test damages.
struct DamagedMachine(GpuExecutor);

impl DamagedMachine {
    /// Makes three lanes. Each writes two pages of data; after a snapshot, it writes these again and a third one.
    fn new() -> Self {
        let code = assemble(|a| {
            let again = a.label();
            a.bind(again);
            a.ldr(X0, at(X1, 0)).add(X0, X0, 1).str(X0, at(X1, 0)).b(again);
        });
        let segments = [
            segment(CODE, PAGE, code, Permissions::RX),
            segment(CODE + PAGE, PAGE, vec![1; 9], Permissions::RWX),
            segment(DATA, 4 * PAGE, vec![2; 9], Permissions::RW),
        ];
        let room = 0x10_0000..0x800_0000;
        let image = Image::with_room(&segments, Features::ALL, &[room]).expect("the segments fit");
        let images = [Arc::new(image)];
        let plan =
            Plan { images: &images, lanes: 3, frames_max: FRAMES_MAX as usize, calls: None, loops: None };
        let bounds = Bounds { tlb_sets: Some(TLB_SETS[0]), ..Bounds::NONE };
        let gpu = GpuExecutor::with_bounds(device(), &plan, &ClassSelection::TABLE, bounds);
        let mut machine = Self(gpu.expect("the lanes fit"));
        for pages in [2, 3] {
            for lane in 0..3 {
                for page in 0..pages {
                    let written = machine.0.write_memory(lane, DATA + page * PAGE + 8 * page, &[7; 9], None);
                    written.expect("the GPU works").expect("the page is mapped");
                }
                machine.start(lane);
            }
            machine.run(12).expect("the GPU works");
            if pages == 2 {
                machine.0.snapshot().expect("the GPU works");
            }
        }
        assert_eq!(machine.audit(), [], "nothing is damaged yet");
        machine
    }

    fn start(&mut self, lane: usize) {
        let mut cpu = self.0.cpu(lane).expect("the GPU works");
        cpu.pc = CODE;
        cpu.set_x(1, DATA + PAGE);
        self.0.set_cpu(lane, &cpu).expect("the GPU works");
        self.0.set_stop(lane, None).expect("the GPU works");
    }

    fn run(&mut self, steps: u64) -> Result<(), kvrm_machine::Error> {
        let limits: Vec<u64> =
            (0..3).map(|lane| self.0.steps(lane).map(|done| done + steps)).collect::<Result<_, _>>()?;
        self.0.run(&limits, &mut |_| ControlFlow::Continue(())).map(drop)
    }

    fn audit(&mut self) -> Vec<Violation> {
        self.0.audit().expect("the GPU works")
    }

    fn exchange(&mut self, place: Place, value: u64) -> u64 {
        self.0.exchange(place, value).expect("the GPU works")
    }

    fn peek(&mut self, place: Place) -> u64 {
        let there = self.exchange(place, 0);
        self.exchange(place, there);
        there
    }

    /// Reads a word of the information about a frame.
    fn info(&mut self, frame: u32, word: u32) -> u32 {
        self.peek(Place::Info { frame, word }) as u32
    }

    /// Returns the frames in the chain of a lane.
    fn chain(&mut self, lane: usize) -> Vec<u32> {
        let first = (self.peek(Place::State { column: COLUMN_HEAD, lane }) >> 32) as u32;
        let next = |frame: &u32| Some(self.info(*frame, 2)).filter(|next| *next != 0);
        std::iter::successors(Some(first), next).collect()
    }

    /// Returns the frame of the root of the page table of a lane.
    fn root(&mut self, lane: usize) -> u32 {
        self.peek(Place::State { column: COLUMN_ROOT, lane }) as u32 >> ENTRY_FRAME
    }

    /// Returns the frame of the node that leads to the first pages of a lane.
    fn node(&mut self, lane: usize) -> u32 {
        let frame = self.root(lane);
        self.peek(Place::Frame { frame, word: 0 }) as u32 >> ENTRY_FRAME
    }

    /// Returns the page table entry of a page of a lane.
    fn entry(&mut self, lane: usize, page: u64) -> u32 {
        let (place, shift) = self.place_of(lane, page);
        (self.peek(place) >> shift) as u32
    }

    /// Replaces the page table entry of a page. Returns the place and the old value, by which to restore it.
    fn set_entry(&mut self, lane: usize, page: u64, entry: u32) -> (Place, u64) {
        let (place, shift) = self.place_of(lane, page);
        let old = self.peek(place);
        let mask = 0xffff_ffff << shift;
        self.exchange(place, old & !mask | u64::from(entry) << shift);
        (place, old)
    }

    fn place_of(&mut self, lane: usize, page: u64) -> (Place, u32) {
        let index = (page - WINDOW) as u32;
        (Place::Frame { frame: self.node(lane), word: index / 2 }, 32 * (index % 2))
    }

    /// Writes `value` to a place, returns the violations that the audit finds then, and restores the place.
    fn violations_with(&mut self, place: Place, value: u64) -> Vec<Violation> {
        let old = self.exchange(place, value);
        let found = self.audit();
        self.exchange(place, old);
        assert_eq!(self.audit(), [], "the damage is undone");
        found
    }

    /// Replaces the page table entry of a page of lane 1, returns the violations that the audit finds then, and
    /// restores the entry.
    fn violations_with_entry(&mut self, page: u64, entry: u32) -> Vec<Violation> {
        let (place, old) = self.set_entry(1, page, entry);
        let found = self.audit();
        self.exchange(place, old);
        assert_eq!(self.audit(), [], "the damage is undone");
        found
    }

    /// Returns the lane and the request of the [`Error::BadRequest`] that a call has to fail with.
    fn bad_request<T: std::fmt::Debug>(result: Result<T, kvrm_machine::Error>) -> (usize, Request) {
        let error = result.expect_err("the memory is damaged");
        let kvrm_machine::Error::Engine(cause) = &error else { panic!("{error:?}") };
        match cause.downcast_ref() {
            Some(Error::BadRequest { lane, request, .. }) => (*lane, *request),
            _ => panic!("{error:?}"),
        }
    }
}

/// Returns the place of the first entry in the TLBs of lane 1 for a page of data or of code.
const fn kept_page(page: u64, is_code: bool) -> Place {
    let [data, code] = TLB_SETS;
    let set = if is_code { data + page as u32 % code } else { page as u32 % data };
    Place::KeptPage { lane: 1, set, entry: 0 }
}

/// Returns a violation in lane 1, of a frame (unless that is 0) and a page.
fn wrong(frame: u32, page: u64, damage: Damage) -> Violation {
    let violation = Violation::new(damage).of_lane(1).at(page * PAGE);
    if frame == 0 { violation } else { violation.of_frame(frame) }
}

/// The number of sets of the TLB for data, and of that for code.
const TLB_SETS: [u32; 2] = [128, 16];
const FIRST: u64 = DATA / PAGE;
const FRESH: u64 = DATA / PAGE + 2;
const UNWRITTEN: u64 = DATA / PAGE + 3;

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn damage_to_lists_of_frames_and_counters_is_found() {
    let mut machine = DamagedMachine::new();
    let chains = [0, 1, 2].map(|lane| machine.chain(lane));
    let (first, last) = (chains[1][0], *chains[1].last().expect("the lane has frames"));
    let used = machine.peek(Place::FramesUsed) as u32;
    let own = *chains.iter().flatten().min().expect("the lanes have frames");
    let next = |frame| Place::Info { frame, word: 2 };
    let of_lane = |damage| Violation::new(damage).of_lane(1);

    let found = machine.violations_with(Place::FramesUsed, u64::from(NOWHERE));
    assert!(
        matches!(found[..], [Violation { damage: Damage::FrameCount { used: NOWHERE, .. }, .. }]),
        "{found:?}"
    );

    let link = Damage::ChainLink { from: last, to: NOWHERE, first: own, end: used };
    assert_eq!(machine.violations_with(next(last), NOWHERE.into()), [of_lane(link)], "to nowhere");
    let link = Damage::ChainLink { from: last, to: 1, first: own, end: used };
    assert_eq!(machine.violations_with(next(last), 1), [of_lane(link)], "to the image");
    let twice = |owner| Damage::ChainTwice { from: last, owner };
    let found = machine.violations_with(next(last), first.into());
    assert_eq!(found, [of_lane(twice(1)).of_frame(first)], "in a circle");
    let found = machine.violations_with(next(last), chains[0][1].into());
    assert_eq!(found, [of_lane(twice(0)).of_frame(chains[0][1])], "to another lane");

    let before = chains[1][chains[1].len() - 2];
    let found = machine.violations_with(next(before), 0);
    let lost = Violation::new(Damage::NotInChain).of_frame(last);
    assert!(found.contains(&lost), "{found:?}");
    let tail = |tail: u32, place| move |violation: &Violation| matches!(violation.damage, Damage::ChainTail { tail: t, place: p, .. } if (t, p) == (tail, place));
    assert!(found.iter().any(tail(last, 0)), "the last frame is not in the list: {found:?}");

    let state = |column| Place::State { column, lane: 1 };
    let there = machine.peek(state(COLUMN_TAIL));
    let found = machine.violations_with(state(COLUMN_TAIL), there & !0xffff_ffff | u64::from(first));
    assert!(found.iter().any(tail(first, 1)), "the tail is before that of the snapshot: {found:?}");
    let count = |noted, allowed| Damage::WrittenCount { counted: 3, noted, allowed, max: FRAMES_MAX };
    let found = machine.violations_with(state(COLUMN_TAIL), there + (1 << 32));
    assert_eq!(found, [of_lane(count(4, FRAMES_MAX))], "the lane counts one page too many");
    let head = machine.peek(state(COLUMN_HEAD));
    let found = machine.violations_with(state(COLUMN_HEAD), head + 1);
    assert!(found.contains(&of_lane(count(3, FRAMES_MAX + 1))), "more than the host allows: {found:?}");

    let found = machine.violations_with(state(COLUMN_CONSOLE), u64::from(NOWHERE) << 32);
    let console = |violation: &Violation| {
        violation.lane == Some(1) && matches!(violation.damage, Damage::Console { waiting: NOWHERE, .. })
    };
    assert!(found.len() == 1 && console(&found[0]), "{found:?}");

    let foreign = machine.chain(0)[0] << ENTRY_FRAME | ENTRY_OWNED;
    let found = machine.violations_with(state(COLUMN_BASE), u64::from(foreign) << 32);
    let pipes = Damage::EntryForeign { entry: foreign, level: 1, owner: 0 };
    assert!(found.iter().any(|violation| violation.damage == pipes), "pipes of another lane: {found:?}");

    let found = machine.violations_with(Place::Copy { column: 5, lane: 1 }, 7);
    assert_eq!(found, [of_lane(Damage::Copy { column: 5, is: 0, copy: 7 })], "X5 is 0");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn damage_to_page_tables_is_found() {
    let mut machine = DamagedMachine::new();
    let entry = machine.entry(1, FRESH);
    let (frame, entry_flags) = (entry >> ENTRY_FRAME, entry & ((1 << ENTRY_FRAME) - 1));
    let with_frame = |frame: u32| frame << ENTRY_FRAME | entry_flags;
    let used = machine.peek(Place::FramesUsed) as u32;

    // Mesa 22.3 once wrote random bytes of a lane to a node.
    let random = 0x9c69_400d;
    let expected = machine.entry(1, WINDOW);
    let damage = Damage::EntryImage { entry: random, level: 0, expected };
    assert_eq!(
        machine.violations_with_entry(WINDOW, random),
        [wrong(random >> ENTRY_FRAME, WINDOW, damage)],
        "random bytes"
    );
    let bad = with_frame(NOWHERE);
    let found = machine.violations_with_entry(FRESH, bad);
    assert!(
        found.contains(&wrong(NOWHERE, FRESH, Damage::EntryFrame { entry: bad, level: 0, used })),
        "{found:?}"
    );
    let foreign = machine.entry(0, FRESH);
    let found = machine.violations_with_entry(FRESH, foreign);
    let damage = Damage::EntryForeign { entry: foreign, level: 0, owner: 0 };
    assert!(found.contains(&wrong(foreign >> ENTRY_FRAME, FRESH, damage)), "{found:?}");
    let place = machine.chain(1).iter().position(|there| *there == frame).expect("the frame is the lane's")
        as u32
        + 1;
    let orphan = Violation::new(Damage::Orphan { place }).of_lane(1);
    assert!(found.contains(&orphan), "{found:?}");

    let first = machine.entry(1, FIRST) >> ENTRY_FRAME;
    let bad = with_frame(first);
    let found = machine.violations_with_entry(FRESH, bad);
    let damage = Damage::EntryPage { entry: bad, level: 0, page: FIRST };
    assert!(found.contains(&wrong(first, FRESH, damage)), "{found:?}");
    let node = machine.node(1);
    let bad = with_frame(node);
    let found = machine.violations_with_entry(FRESH, bad);
    assert!(found.contains(&wrong(node, FRESH, Damage::EntryKind { entry: bad, level: 0 })), "{found:?}");

    let shared = entry & !ENTRY_OWNED;
    let found = machine.violations_with_entry(FRESH, shared);
    let is_found = found.iter().any(|violation| {
        matches!(violation.damage, Damage::EntryOwner { entry, owned: false, .. } if entry == shared)
    });
    assert!(is_found, "an owned frame that is not marked: {found:?}");
    let bad = entry | 1 << (ENTRY_FRAME - 1);
    let found = machine.violations_with_entry(FRESH, bad);
    assert!(found.contains(&wrong(frame, FRESH, Damage::EntryFlags { entry: bad, level: 0 })), "{found:?}");
    let bad = entry & !ENTRY_PRIVATE;
    let found = machine.violations_with_entry(FRESH, bad);
    assert!(found.contains(&wrong(frame, FRESH, Damage::EntryFlags { entry: bad, level: 0 })), "{found:?}");
    let is = entry & 0xf & !ENTRY_WRITE;
    let found = machine.violations_with_entry(FRESH, entry & !ENTRY_WRITE);
    assert_eq!(
        found,
        [wrong(frame, FRESH, Damage::Mapping { is, expected: is | ENTRY_WRITE })],
        "not writable"
    );
    let unwritten = machine.entry(1, UNWRITTEN);
    let bad = unwritten + (1 << ENTRY_FRAME);
    let found = machine.violations_with_entry(UNWRITTEN, bad);
    let damage = Damage::EntryImage { entry: bad, level: 0, expected: unwritten };
    assert_eq!(found, [wrong(bad >> ENTRY_FRAME, UNWRITTEN, damage)], "another frame of the image");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn damage_to_nodes_and_roots_is_found_in_lanes_and_in_the_snapshot() {
    let mut machine = DamagedMachine::new();
    let root = machine.root(1);
    let to_root = Place::State { column: COLUMN_ROOT, lane: 1 };
    let there = machine.peek(to_root);
    for wrong in [1, 5, u64::from(u32::MAX)] {
        let found = machine.violations_with(to_root, there & 0xffff_ffff | wrong << 32);
        let is_window = |violation: &Violation| matches!(violation.damage, Damage::Window { levels, image_levels: 2, .. } if u64::from(levels) == wrong);
        assert!(found.iter().any(is_window), "{wrong} levels: {found:?}");
    }
    // Three levels are possible, but then the nodes are not those of their pages.
    let found = machine.violations_with(to_root, there + (1 << 32));
    let is_entry = |violation: &Violation| matches!(violation.damage, Damage::EntryFlags { level: 1, .. });
    assert!(found.iter().any(is_entry), "{found:?}");

    // An entry of the root leads to the root.
    let first = Place::Frame { frame: root, word: 0 };
    let node = machine.peek(first);
    let entry = root << ENTRY_FRAME | ENTRY_MAPPED | ENTRY_OWNED;
    let found = machine.violations_with(first, node & !0xffff_ffff | u64::from(entry));
    assert!(found.contains(&wrong(root, WINDOW, Damage::EntryTwice { entry, level: 1 })), "{found:?}");
    let entry = node as u32 | ENTRY_PRIVATE;
    let found = machine.violations_with(first, node | u64::from(ENTRY_PRIVATE));
    let damage = Damage::EntryFlags { entry, level: 1 };
    assert!(found.contains(&wrong(entry >> ENTRY_FRAME, WINDOW, damage)), "{found:?}");

    let to_root = Place::Snapshot { column: COLUMN_ROOT, lane: 1 };
    let there = machine.peek(to_root);
    let found = machine.violations_with(to_root, there | u64::from(ENTRY_OWNED));
    let is_owner = |violation: &Violation| {
        violation.in_snapshot && matches!(violation.damage, Damage::EntryOwner { level: 2, owned: true, .. })
    };
    assert!(found.iter().any(is_owner), "the snapshot owns nothing: {found:?}");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn damage_to_the_image_and_to_code_is_found() {
    let mut machine = DamagedMachine::new();
    let frame = machine.entry(1, WINDOW) >> ENTRY_FRAME;
    let place = Place::Frame { frame, word: 1 };
    let was = machine.peek(place);
    let found = machine.violations_with(place, was ^ 0x20);
    let changed = Violation::new(Damage::ImageChanged { word: 1, is: was ^ 0x20, was }).of_frame(frame);
    let code = Violation::new(Damage::Code { index: 2, word: was as u32 ^ 0x20 }).of_frame(frame);
    assert_eq!(found, [changed, code], "the word and its micro-op");

    let named = Place::Info { frame, word: 3 };
    let page = machine.info(frame, 3) & !INFO_CODE_VALID;
    let found = machine.violations_with(named, u64::from(INFO_CODE_VALID | (NOWHERE + 1)));
    let is_page = |violation: &Violation| {
        matches!(violation.damage, Damage::CodePage { page: NOWHERE, held: None, .. })
    };
    assert!(found.iter().any(is_page), "{found:?}");
    let owner = Damage::CodeOwner { page: page - 1, named: Some(NOWHERE) };
    assert!(found.contains(&Violation::new(owner).of_frame(frame)), "{found:?}");

    let found = machine.violations_with(Place::CodePage { page: page - 1 }, 0);
    let is_held = |violation: &Violation| {
        violation.frame == Some(frame) && matches!(violation.damage, Damage::CodePage { held: Some(0), .. })
    };
    assert!(found.iter().any(is_held), "{found:?}");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn requests_for_missing_items_are_errors_with_lane_and_numbers() {
    // A frame that does not exist.
    let mut machine = DamagedMachine::new();
    let code = machine.entry(1, WINDOW);
    let used = machine.peek(Place::FramesUsed) as u32;
    machine.set_entry(1, WINDOW, code & ((1 << ENTRY_FRAME) - 1) | NOWHERE << ENTRY_FRAME);
    (0..3).for_each(|lane| machine.start(lane));
    let expected = (1, Request::Frame { frame: NOWHERE, frames: used });
    assert_eq!(DamagedMachine::bad_request(machine.run(10)), expected, "a frame");

    // A code page that does not exist. Reads beyond the last code page return stale micro-ops.
    let mut machine = DamagedMachine::new();
    let frame = code >> ENTRY_FRAME;
    machine.exchange(Place::Info { frame, word: 3 }, u64::from(INFO_CODE_VALID | 0x7000));
    machine.start(2);
    let (lane, request) = DamagedMachine::bad_request(machine.run(10));
    assert!(lane == 2 && matches!(request, Request::CodePage { page: 0x6fff, .. }), "{lane}: {request:?}");

    // A SIMD unit that does not exist. Another lane requests the lowering of code at the same time.
    let mut machine = DamagedMachine::new();
    machine.exchange(Place::Info { frame, word: 3 }, 0);
    machine.start(2);
    machine.exchange(Place::State { column: COLUMN_STOP, lane: 0 }, STOP_NEED_SIMD.into());
    machine.exchange(Place::State { column: COLUMN_STOP_ADDRESS, lane: 0 }, 77);
    let (lane, request) = DamagedMachine::bad_request(machine.run(10));
    assert!(lane == 0 && matches!(request, Request::Unit { unit: 77, has: 0, .. }), "{lane}: {request:?}");

    // A stop that does not exist.
    let mut machine = DamagedMachine::new();
    machine.exchange(Place::State { column: COLUMN_STOP, lane: 1 }, 63);
    let expected = (1, Request::Stop { code: 63 });
    assert_eq!(DamagedMachine::bad_request(machine.0.stop(1)), expected, "a stop");
    assert_eq!(DamagedMachine::bad_request(machine.0.stops()), expected, "one of all stops");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn endless_work_is_an_error_with_lane_and_numbers() {
    // A write to a page that the device does not know.
    let mut machine = DamagedMachine::new();
    machine.set_entry(1, UNWRITTEN, 0);
    let address = UNWRITTEN * PAGE + 3;
    machine
        .0
        .write_memory(1, address, &[1], None)
        .expect("the write is pending")
        .expect("the host has mapped the page");
    let (lane, request) = DamagedMachine::bad_request(machine.run(1));
    assert_eq!((lane, request), (1, Request::Write { address, code: STOP_FAULT + 1 }), "a write");

    // A list of frames that forms a circle.
    let mut machine = DamagedMachine::new();
    let chain = machine.chain(1);
    let tail = *chain.last().expect("the lane has frames");
    let frames = machine.peek(Place::FramesUsed) as u32;
    machine.exchange(Place::Info { frame: chain[1], word: 2 }, chain[0].into());
    let expected = (1, Request::Chain { tail, frames });
    assert_eq!(DamagedMachine::bad_request(machine.0.private_pages(1)), expected, "in a circle");
    machine.exchange(Place::Info { frame: chain[1], word: 2 }, NOWHERE.into());
    assert_eq!(DamagedMachine::bad_request(machine.0.private_pages(1)), expected, "to nowhere");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn wrong_entries_of_tlbs_are_found() {
    let mut machine = DamagedMachine::new();
    let [frame, code_frame, image] =
        [FIRST + 1, WINDOW, UNWRITTEN].map(|page| machine.entry(1, page) >> ENTRY_FRAME);
    // The lane has forgotten its pages, because the test has read the page table in a way that can change it.
    machine.start(1);
    machine.run(12).expect("the GPU works");
    let (data, code) = (kept_page(FIRST + 1, false), kept_page(WINDOW, true));
    let (entry, code_entry) = (machine.peek(data), machine.peek(code));
    assert_eq!([entry >> 32, code_entry >> 32], [FIRST + 1, WINDOW], "the pages of the loop");

    let entry_damage = |access, entry, expected| Damage::TlbEntry { access, entry, expected };
    let expected: Vec<_> = [Access::Read, Access::Write]
        .map(|access| wrong(0, FIRST + 1, entry_damage(access, frame + 1, Some(frame))))
        .into();
    assert_eq!(machine.violations_with(data, entry + (1 << 9)), expected, "another frame");

    let there = |page: u64| page << 32 | entry & 0xffff_ffff;
    let expected = vec![
        wrong(0, UNWRITTEN, entry_damage(Access::Read, frame, Some(image))),
        wrong(0, UNWRITTEN, entry_damage(Access::Write, frame, None)),
    ];
    assert_eq!(
        machine.violations_with(data, there(UNWRITTEN)),
        expected,
        "a page that the lane does not own"
    );

    let of_image = u64::from(image) << 9 | UNWRITTEN << 32 | u64::from(TLB_READ);
    assert_eq!(machine.violations_with(data, of_image), [], "a right entry");

    let at = UNWRITTEN << 32 | code_entry & 0xffff_ffff;
    let expected = vec![wrong(0, UNWRITTEN, entry_damage(Access::Execute, code_frame, None))];
    assert_eq!(machine.violations_with(code, at), expected, "a page that is not executable");
}
