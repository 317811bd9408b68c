//! Tests of builder options for Linux programs: features, clocks, terminals, directories.

use std::time::{Duration, Instant};

use kvrm_arm64::Processor;
use kvrm_machine::{Features, Machine};

use crate::support::{AT_FDCWD, Caller, DATA, guest, program};

const ENOTTY: i64 = -25;

/// Returns an entry of the auxiliary vector of a lane that has not run yet.
fn auxiliary_value(machine: &mut Machine, kind: u64) -> Option<u64> {
    let mut at = machine.cpu(0).unwrap().sp;
    let mut next = || {
        let mut word = [0; 8];
        machine.read(0, at, &mut word).unwrap();
        at += 8;
        u64::from_le_bytes(word)
    };
    // Skip the number of arguments, the arguments, and the environment.
    next();
    while next() != 0 {}
    while next() != 0 {}
    loop {
        match (next(), next()) {
            (0, _) => return None,
            (found, value) if found == kind => return Some(value),
            _ => {}
        }
    }
}

#[test]
fn hwcap_lists_exactly_the_features_of_the_machine() {
    const AT_HWCAP: u64 = 16;
    const AT_HWCAP2: u64 = 26;
    const CRC32: u64 = 1 << 7;
    let armv8_0 = Features::ARMV8_0;
    for (features, expected) in [
        (None, [0b11 | CRC32 | 1 << 8, 0]),
        (Some(Features::BASE), [0, 0]),
        (Some(armv8_0), [CRC32, 0]),
        (Some(Features::GENERAL), [CRC32 | 1 << 8, 0]),
        (Some(Features { fp: true, aes: true, ..armv8_0 }), [0b1011 | CRC32, 0]),
        (Some(Features { fp: true, pmull: true, sha1: true, ..armv8_0 }), [0b11_0011 | CRC32, 0]),
        (Some(Processor::CortexA53.features()), [0b1111_1011, 0]),
        // LRCPC, DIT, ILRCPC, FLAGM, SSBS and SB; FLAGM2 and BTI.
        (
            Some(Features { lrcpc: true, lrcpc2: true, dit: true, flagm: true, ..Features::BASE }),
            [1 << 15 | 1 << 24 | 1 << 26 | 1 << 27, 0],
        ),
        (
            Some(Features { ssbs: true, sb: true, flagm2: true, bti: true, ..Features::BASE }),
            [1 << 28 | 1 << 29, 1 << 7 | 1 << 17],
        ),
        // PACA and PACG.
        (Some(Features { pauth: true, ..Features::BASE }), [0b11 << 30, 0]),
        // FPHP and ASIMDHP, ASIMDRDM, JSCVT, FCMA, SHA3, SM3, SM4.
        (
            Some(Features { fp16: true, rdm: true, jscvt: true, fcma: true, ..Features::BASE }),
            [0b11 << 9 | 1 << 12 | 1 << 13 | 1 << 14, 0],
        ),
        (Some(Features { sha3: true, sm3: true, sm4: true, ..Features::BASE }), [0b111 << 17, 0]),
        // ASIMDDP, SHA512, ASIMDFHM; FRINT, I8MM, BF16.
        (
            Some(Features { dotprod: true, sha512: true, fhm: true, ..Features::BASE }),
            [1 << 20 | 1 << 21 | 1 << 23, 0],
        ),
        (
            Some(Features { frintts: true, i8mm: true, bf16: true, ..Features::BASE }),
            [0, 1 << 8 | 1 << 13 | 1 << 14],
        ),
    ] {
        let builder = Machine::builder(guest("tls"));
        let builder = match features {
            Some(features) => builder.features(features),
            None => builder,
        };
        let mut machine = builder.build().unwrap();
        let found = [AT_HWCAP, AT_HWCAP2].map(|kind| auxiliary_value(&mut machine, kind));
        assert_eq!(found, expected.map(Some), "of {features:?}");
    }
}

#[test]
fn linux_programs_have_floating_point_and_atomics() {
    let linux = guest("tls");
    let mut bare = linux.clone();
    bare.linux = None;
    assert_eq!(bare.features(), Features::ARMV8_0, "bare-metal programs do not expect it");
    let features = Machine::builder(linux).build().unwrap().features();
    assert_eq!(features, Features { fp: true, ..Features::GENERAL }, "by default");
}

#[test]
fn the_terminal_option_makes_streams_a_terminal() {
    const TCGETS: u64 = 0x5401;
    const TIOCGWINSZ: u64 = 0x5413;
    let mut caller = Caller::new();
    assert_eq!(caller.call(29, &[1, TCGETS, DATA]), ENOTTY, "a pipe by default");
    assert_eq!(caller.call(80, &[1, DATA]), 0, "fstat");
    assert_eq!(caller.read(DATA + 17, 1), [0x11], "the file type of a pipe");
    let mut caller = Caller::of(Machine::builder(program()).terminal(true));
    for stream in 0..3 {
        assert_eq!(caller.call(29, &[stream, TCGETS, DATA]), 0, "stream {stream}");
        assert_eq!(caller.call(29, &[stream, TIOCGWINSZ, DATA]), 0, "stream {stream}");
        assert_eq!(caller.read(DATA, 8), [24, 0, 80, 0, 0, 0, 0, 0], "24 rows, 80 columns");
    }
    assert_eq!(caller.call(80, &[1, DATA]), 0, "fstat");
    assert_eq!(caller.read(DATA + 17, 1), [0x21], "a character device");
    let file = caller.open("/dev/null", 2) as u64;
    assert_eq!(caller.call(29, &[file, TCGETS, DATA]), ENOTTY, "a file is no terminal");
    assert_eq!(caller.call(29, &[1, 0x1234, DATA]), ENOTTY, "an unknown request");
}

#[test]
fn with_real_time_clocks_and_sleep_are_the_hosts() {
    let mut caller = Caller::of(Machine::builder(program()).real_time(true));
    let now = |caller: &mut Caller, clock| {
        assert_eq!(caller.call(113, &[clock, DATA]), 0, "clock_gettime");
        let [seconds, nanoseconds] =
            [0, 8].map(|at| u64::from_le_bytes(caller.read(DATA + at, 8).try_into().unwrap()));
        Duration::new(seconds, nanoseconds as u32)
    };
    let begin = now(&mut caller, 1);
    let before = Instant::now();
    caller.write(DATA, &[0_u64, 20_000_000].map(u64::to_le_bytes).concat());
    assert_eq!(caller.call(101, &[DATA, 0]), 0, "nanosleep");
    assert!(before.elapsed() >= Duration::from_millis(20), "the sleep takes real time");
    assert!(now(&mut caller, 1) - begin >= Duration::from_millis(20), "the guest sees it");
    let host = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let seen = now(&mut caller, 0);
    assert!(seen.abs_diff(host) < Duration::from_secs(60), "the time of day: {seen:?} and {host:?}");
}

#[test]
fn lanes_can_change_their_copies_of_a_directory() {
    let host = tempfile::tempdir().unwrap();
    std::fs::write(host.path().join("file"), "of the host").unwrap();
    std::fs::create_dir(host.path().join("inside")).unwrap();
    let builder = Machine::builder(program()).copy(host.path(), "/data").current_directory("/data/inside");
    let mut caller = Caller::of(builder);
    let file = caller.open("../file", 0);
    assert_eq!(caller.contents(file), b"of the host", "a relative path starts in the initial directory");
    let file = caller.open("../file", 1) as u64;
    caller.write(DATA, b"OF");
    assert_eq!(caller.call(64, &[file, DATA, 2]), 2, "the copy is writable");
    let file = caller.open("/data/file", 0);
    assert_eq!(caller.contents(file), b"OF the host", "the changed contents");
    let name = caller.path("new");
    assert_eq!(caller.call(34, &[AT_FDCWD, name, 0o755]), 0, "mkdir");
    let name = caller.path("../file");
    assert_eq!(caller.call(35, &[AT_FDCWD, name, 0]), 0, "unlink");
    assert_eq!(
        std::fs::read(host.path().join("file")).unwrap(),
        b"of the host",
        "the file of the host has not changed"
    );
    assert_eq!(
        std::fs::read_dir(host.path().join("inside")).unwrap().count(),
        0,
        "nor has the directory of the host"
    );
    for path in ["/data/file", "/missing", "", "relative/none"] {
        let error = Machine::builder(program()).copy(host.path(), "/data").current_directory(path).build();
        assert!(error.is_err(), "{path} is not a directory");
    }
}

#[test]
fn saving_files_of_a_lane_skips_symbolic_links() {
    let host = tempfile::tempdir().unwrap();
    let mut caller = Caller::new();
    let name = caller.path("/tmp/inside");
    assert_eq!(caller.call(34, &[AT_FDCWD, name, 0o755]), 0, "mkdir");
    let file = caller.open("/tmp/inside/file", 0o102) as u64;
    caller.write(DATA, b"contents\0/etc\0");
    assert_eq!(caller.call(64, &[file, DATA, 8]), 8, "write a file");
    let name = caller.path("/tmp/link");
    assert_eq!(caller.call(36, &[DATA + 9, AT_FDCWD, name]), 0, "create a symbolic link to the host");
    let saved = host.path().join("a/b");
    caller.machine.save_files(0, "/tmp", &saved).unwrap();
    assert_eq!(std::fs::read(saved.join("inside/file")).unwrap(), b"contents", "the file");
    assert!(saved.join("link").symlink_metadata().is_err(), "no link");
    assert!(caller.machine.save_files(0, "/tmp", &saved).is_err(), "the directory exists already");
    assert!(caller.machine.save_files(0, "/missing", host.path().join("c")).is_err(), "no such directory");
    assert!(caller.machine.save_files(1, "/tmp", host.path().join("c")).is_err(), "no such lane");
    // Nested more deeply than the limit.
    let folder = caller.path("/tmp/inside");
    assert_eq!(caller.call(49, &[folder]), 0, "chdir");
    for _ in 0..100 {
        let name = caller.path("deeper");
        assert_eq!(caller.call(34, &[AT_FDCWD, name, 0o755]), 0, "mkdir");
        assert_eq!(caller.call(49, &[name]), 0, "chdir");
    }
    assert!(
        caller.machine.save_files(0, "/tmp", host.path().join("deep")).is_err(),
        "the directories are nested too deeply"
    );
}
