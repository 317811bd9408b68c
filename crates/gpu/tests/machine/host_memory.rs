//! Reads and writes of the memory of lanes by the host, compared with the reference.

use kvrm_arm64::Access;
use kvrm_arm64::asm::{X0, X1, at};
use kvrm_gpu::Bounds;
use kvrm_machine::{Mapping, Permissions, Register, Stop};
use kvrm_testkit::random::Random;

use crate::support::{CODE, DATA, EnginePair, PAGE, assemble, image, raw, segment};

/// Returns lanes that have pages with several permissions, unmapped pages between some of them, and the last page of
/// the address space.
fn mixed(lanes: usize) -> EnginePair {
    let bytes: Vec<u8> = (0..2 * PAGE).map(|i| (i * 7 / 8) as u8).collect();
    let none = Permissions { read: false, write: false, execute: false };
    let write = Permissions { read: false, write: true, execute: false };
    let code = assemble(|a| {
        a.ldr(X0, at(X1, 0)).add(X0, X0, 1).str(X0, at(X1, 0)).hlt(0);
    });
    let image = image(&[
        segment(CODE, PAGE, code, Permissions::RX),
        segment(DATA, 3 * PAGE, bytes.clone(), Permissions::RW),
        segment(DATA + 3 * PAGE, PAGE, bytes[..100].to_vec(), Permissions::R),
        segment(DATA + 4 * PAGE, PAGE, Vec::new(), write),
        segment(DATA + 5 * PAGE, PAGE, Vec::new(), none),
        segment(DATA + 7 * PAGE, PAGE, Vec::new(), Permissions::RWX),
        segment(0xffff_ffff_f000, PAGE, vec![1, 2, 3], Permissions::RW),
    ]);
    let mut pair = EnginePair::new(&[image], lanes, 6);
    for lane in 0..lanes {
        pair.change_registers(lane, |cpu| {
            cpu.pc = CODE;
            cpu.set_x(1, DATA + 8 * lane as u64);
        });
    }
    pair
}

/// Returns a random address near a border of a segment of [`mixed`].
fn address(random: &mut Random) -> u64 {
    let base = match random.below(16) {
        0 => CODE,
        1 => 0xffff_ffff_f000,
        2 => 1 << 48,
        3 => u64::MAX - 20,
        4 => 0,
        _ => DATA + PAGE * random.below(9),
    };
    base.wrapping_add(random.below(64)).wrapping_sub(32)
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn reads_and_writes_anywhere_of_any_length() {
    let lanes = 5;
    let mut pair = mixed(lanes);
    let mut random = Random::new(9);
    let accesses = [None, None, Some(Access::Read), Some(Access::Write), Some(Access::Execute)];
    for round in 0..600 {
        let (lane, address) = (random.below(lanes as u64) as usize, address(&mut random));
        let bytes = match random.below(4) {
            0 => random.below(3 * PAGE),
            1 => PAGE,
            _ => random.below(40),
        } as usize;
        let access = *random.pick(&accesses);
        match random.below(8) {
            0..=2 => {
                let data: Vec<u8> = (0..bytes).map(|_| random.bits() as u8).collect();
                let what = format!("round {round}: {bytes} bytes written at {address:#x} as {access:?}");
                let _ = pair.call_both(&what, |executor| executor.write_memory(lane, address, &data, access));
            }
            3..=5 => {
                let what = format!("round {round}: {bytes} bytes read at {address:#x} as {access:?}");
                pair.call_both(&what, |executor| {
                    let mut out = vec![0; bytes];
                    let result = executor.read_memory(lane, address, &mut out, access)?;
                    // After a read that fails, the contents of the buffer are undefined.
                    Ok(result.map(|()| out))
                })
                .ok();
            }
            6 => {
                let chosen: Vec<usize> = (0..lanes).rev().filter(|_| random.below(4) != 0).collect();
                let what = format!("round {round}: {bytes} bytes of lanes {chosen:?} at {address:#x}");
                pair.call_both(&what, |executor| {
                    let mut out = vec![9];
                    let result = executor.read_memory_of_each(address, bytes, &chosen, &mut out)?;
                    Ok(result.map(|()| out))
                })
                .ok();
            }
            _ => {
                pair.call_both("a prefetch", |executor| {
                    executor.prefetch(&[(lane, address, bytes), (0, DATA, 10), (1, 0, 5)])
                });
            }
        }
        if round % 100 == 99 {
            pair.run(round / 100);
            pair.assert_same(&format!("after round {round}"));
        }
    }
    pair.call_both("frames", |executor| executor.frames_used());
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn transfers_that_are_too_large_are_divided() {
    const PAGES: u64 = 24;
    let (lanes, bounds) = (3, Bounds { transfer_bytes: Some(5 * PAGE as usize), ..Bounds::NONE });
    let image = image(&[segment(DATA, PAGES * PAGE, vec![7; 100], Permissions::RW)]);
    let mut pair = EnginePair::bounded(&[image], lanes, PAGES as usize + 8, bounds);
    let mut random = Random::new(3);
    for lane in 0..lanes {
        // The second write, and what is mapped after it, has to come after the first, in whichever transfers they are.
        for _ in 0..2 {
            let data: Vec<u8> = (0..PAGES * PAGE).map(|_| random.bits() as u8).collect();
            pair.call_both("a write", |executor| executor.write_memory(lane, DATA, &data, None))
                .expect("it is mapped");
        }
        let pages = DATA / PAGE + 3..DATA / PAGE + 5;
        pair.call_both("a mapping", |executor| {
            executor.map(lane, pages.clone(), Mapping::Zero(Permissions::RW))
        });
        pair.call_both("a write", |executor| executor.write_memory(lane, DATA + 4 * PAGE, &[1; 9], None))
            .expect("it is mapped");
    }
    // A run discards what the host knows, so all pages are fetched.
    pair.run(0);
    let all: Vec<usize> = (0..lanes).collect();
    pair.call_both("all lanes", |executor| {
        let mut out = Vec::new();
        let result = executor.read_memory_of_each(DATA + 5, 20 * PAGE as usize, &all, &mut out)?;
        Ok(result.map(|()| out))
    })
    .expect("it is mapped");
    let pages =
        pair.assert_same("after the writes").iter().map(|lane| lane.private_pages.len()).sum::<usize>();
    assert!(pages * PAGE as usize > 3 * 5 * PAGE as usize, "there are several transfers: {pages} pages");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn writes_without_frames_change_nothing() {
    let mut pair = mixed(2);
    for (address, bytes) in
        [(DATA, 3 * PAGE), (DATA + 3 * PAGE, 2 * PAGE), (DATA + 5 * PAGE, PAGE), (CODE, 4)]
    {
        let data = vec![0xee; bytes as usize];
        let _ = pair.call_both("a write", |executor| executor.write_memory(0, address, &data, None));
    }
    let refused = pair.call_both("a write", |executor| executor.write_memory(0, DATA + 7 * PAGE, &[1], None));
    assert_eq!(refused, Err(Stop::OutOfFrames), "six pages are written");
    let again = pair.call_both("a write", |executor| executor.write_memory(0, DATA + 1, &[1], None));
    assert_eq!(again, Ok(()), "a written page can be written again");
    let lanes = pair.assert_same("at the end");
    assert_eq!((lanes[0].private_pages.len(), lanes[1].private_pages.len()), (6, 0), "pages of lane 0 only");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn guest_and_host_see_each_others_writes() {
    let mut pair = mixed(3);
    for lane in 0..3 {
        let number = 1000 * lane as u64;
        let at = DATA + 8 * lane as u64;
        let write = |executor: &mut dyn kvrm_machine::Executor| {
            executor.write_memory(lane, at, &number.to_le_bytes(), None)
        };
        pair.call_both("a write", write).expect("the memory is mapped");
    }
    pair.run(10);
    pair.assert_same("after a run");
    for lane in 0..3 {
        let bytes = pair.call_both("a read", |executor| {
            let mut out = [0; 8];
            executor
                .read_memory(lane, DATA + 8 * lane as u64, &mut out, None)?
                .expect("the memory is mapped");
            Ok(u64::from_le_bytes(out))
        });
        assert_eq!(bytes, 1000 * lane as u64 + 1, "the guest has added one to the number of the host");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn code_written_by_the_host_is_executed() {
    let image = raw(|a| {
        a.add(X0, X0, 1).add(X0, X0, 1).hlt(0);
    });
    let mut pair = EnginePair::new(&[image], 3, 16);
    let code = assemble(|a| {
        a.add(X0, X0, 0x10).add(X0, X0, 0x20).hlt(7);
    });
    // Writes to code that was never executed, to code that was executed, and to a part of an instruction; then a whole
    // program in a page of data.
    for (round, (at, bytes, pc)) in [
        (CODE + 4, &code[4..8], CODE),
        (CODE, &code[..4], CODE),
        (CODE + 1, &code[1..3], CODE),
        (CODE + 8, &code[8..], CODE),
        (CODE + 5 * PAGE - 8, &code[..], CODE + 5 * PAGE - 8),
        (CODE + 5 * PAGE - 8, &code[..], CODE + 5 * PAGE - 8),
    ]
    .into_iter()
    .enumerate()
    {
        pair.call_both("a write", |executor| executor.write_memory(1, at, bytes, None))
            .expect("the memory is mapped");
        for lane in 0..3 {
            pair.change_registers(lane, |cpu| cpu.pc = if lane == 2 { CODE } else { pc });
            pair.call_both("a stop", |executor| executor.set_stop(lane, None));
        }
        pair.run(3);
        pair.assert_same(&format!("in round {round}"));
    }
    let x0 = pair.call_both("the register", |executor| Ok(executor.cpu(1)?.x(0)));
    assert!(x0 >= 0x10, "the new code was executed: {x0:#x}");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn registers_of_all_lanes_are_read_at_once() {
    let mut pair = mixed(70);
    for lane in 0..70 {
        pair.change_registers(lane, |cpu| {
            let n = lane as u64;
            cpu.sp = n << 40;
            cpu.nzcv = lane as u32 % 16;
            (cpu.fpcr, cpu.fpsr) = (0x0100_0000, 0x0800_0000 | lane as u32);
            (cpu.tpidr_el0, cpu.tpidrro_el0, cpu.steps) = (!n, n, n * n);
            cpu.set_x(30, n << 60 | n);
        });
    }
    use Register::{Fpcr, Fpsr, Nzcv, Pc, Sp, Steps, TpidrEl0, X};
    for register in [X(0), X(1), X(30), X(31), Sp, Pc, Nzcv, Fpcr, Fpsr, TpidrEl0, Steps] {
        pair.call_both(&format!("{register:?}"), |executor| {
            let mut out = vec![5];
            executor.registers(register, &mut out)?;
            Ok(out)
        });
    }
    pair.assert_same("after all reads");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn writes_to_many_lanes_are_made_in_all_or_in_none() {
    let lanes = 5;
    let mut pair = mixed(lanes);
    let mut random = Random::new(11);
    let mut counts = [0; 3];
    for round in 0..400 {
        let (address, bytes) = (address(&mut random), random.below(2 * PAGE) as usize);
        let bytes = if random.below(3) == 0 { bytes } else { bytes % 40 };
        let all: Vec<u8> = (0..lanes * bytes).map(|_| random.bits() as u8).collect();
        let rows: Vec<(usize, &[u8])> =
            (0..lanes).map(|lane| (lane, &all[lane * bytes..][..bytes])).collect();
        let rows: Vec<_> = rows.into_iter().filter(|_| random.below(4) != 0).collect();
        let what = format!("round {round}: {bytes} bytes at {address:#x} of {} lanes", rows.len());
        match pair.call_both(&what, |executor| executor.write_memory_of_each(address, &rows)) {
            Ok(()) => counts[0] += 1,
            Err((_, Stop::OutOfFrames)) => counts[1] += 1,
            Err(_) => counts[2] += 1,
        }
        match random.below(12) {
            0 => pair.call_both("a snapshot", |executor| executor.snapshot()),
            1 => pair.call_both("a reset", |executor| match executor.reset(&[0, 1, 3]) {
                Err(kvrm_machine::Error::NoSnapshot) => Ok(()),
                reset => reset,
            }),
            2 => pair.call_both("frames", |executor| executor.set_frames_max(3 + round % 5)),
            3 => drop(pair.assert_same(&what)),
            _ => {}
        }
    }
    pair.assert_same("at the end");
    assert!(counts.iter().all(|count| *count > 20), "written, without frames, not mapped: {counts:?}");
}
