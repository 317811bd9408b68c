//! Tests of `/proc`, `/dev` and the default files. The guest `proc` is compared with QEMU.

use std::collections::BTreeMap;

use kvrm_machine::{Machine, Stop, Stream};
use proptest::prelude::*;

use crate::support::{AT_FDCWD, CODE, Caller, DATA, guest, program};

const ENOENT: i64 = -2;
const EPERM: i64 = -1;
const ENOTDIR: i64 = -20;
const O_DIRECTORY: u64 = 0o40_000;

/// Returns the text of a file that is read in pieces.
fn read_in(caller: &mut Caller, path: &str, piece: u64) -> Vec<u8> {
    let file = caller.open(path, 0);
    assert!(file >= 0, "{path} can be opened: {file}");
    let mut text = Vec::new();
    loop {
        let count = caller.call(63, &[file as u64, DATA, piece]);
        assert!(count >= 0, "{path} can be read: {count}");
        if count == 0 {
            break;
        }
        text.extend(caller.read(DATA, count as usize));
    }
    assert_eq!(caller.call(57, &[file as u64]), 0, "close");
    text
}

fn text(caller: &mut Caller, path: &str) -> String {
    String::from_utf8(read_in(caller, path, 0x1000)).expect("the file is text")
}

/// Returns the names and types in a directory.
fn list(caller: &mut Caller, path: &str) -> BTreeMap<String, u8> {
    let directory = caller.open(path, O_DIRECTORY);
    assert!(directory >= 0, "{path} can be opened: {directory}");
    let mut names = BTreeMap::new();
    loop {
        let count = caller.call(61, &[directory as u64, DATA, 0x1000]);
        assert!(count >= 0, "{path} can be listed: {count}");
        if count == 0 {
            break;
        }
        let entries = caller.read(DATA, count as usize);
        let mut left = &entries[..];
        while !left.is_empty() {
            let record = usize::from(u16::from_le_bytes([left[16], left[17]]));
            let name = left[19..record].split(|byte| *byte == 0).next().unwrap();
            names.insert(String::from_utf8(name.to_vec()).unwrap(), left[18]);
            left = &left[record..];
        }
    }
    assert_eq!(caller.call(57, &[directory as u64]), 0, "close");
    names
}

fn link(caller: &mut Caller, path: &str) -> Result<String, i64> {
    let path = caller.path(path);
    match caller.call(78, &[AT_FDCWD, path, DATA, 0x1000]) {
        count @ 0.. => Ok(String::from_utf8(caller.read(DATA, count as usize)).unwrap()),
        errno => Err(errno),
    }
}

/// Returns all paths below a directory of `/proc` with their types. Links are not followed.
fn below(caller: &mut Caller, path: &str) -> Vec<(String, u8)> {
    const DIRECTORY: u8 = 4;
    let mut found = Vec::new();
    for (name, kind) in list(caller, path) {
        if name == "." || name == ".." {
            continue;
        }
        let path = format!("{path}/{name}");
        if kind == DIRECTORY {
            found.extend(below(caller, &path));
        }
        found.push((path, kind));
    }
    found
}

#[test]
fn every_node_is_what_its_directory_says() {
    let mut caller = Caller::new();
    let nodes = below(&mut caller, "/proc");
    assert!(nodes.len() > 100, "the tree has files of the system, of the process and of its thread");
    for (path, kind) in nodes {
        let address = caller.path(&path);
        // The descriptor of the listing is gone.
        if caller.call(79, &[AT_FDCWD, address, DATA, 0x100]) == ENOENT && path.contains("/fd") {
            continue;
        }
        let mode = u32::from_le_bytes(caller.read(DATA + 16, 4).try_into().unwrap());
        assert_eq!((mode >> 12) as u8, kind, "the type of {path}");
        assert_eq!(link(&mut caller, &path).is_ok(), kind == 10, "whether {path} is a link");
        if kind == 8 {
            let whole = read_in(&mut caller, &path, 0x1000);
            let is_steady = !path.ends_with("uuid") && !path.ends_with("stat") && !path.ends_with("uptime");
            if is_steady {
                let pieces = read_in(&mut caller, &path, 7);
                assert_eq!(whole, pieces, "{path} read in pieces");
            }
        }
        if kind != 10 {
            let expected = if kind == 8 { ENOTDIR } else { ENOENT };
            assert_eq!(caller.open(&format!("{path}/x"), 0), expected, "below {path}");
        }
        let address = caller.path(&path);
        assert_eq!(caller.call(35, &[AT_FDCWD, address, 0]), EPERM, "{path} cannot be removed");
    }
}

#[test]
fn a_process_sees_its_own_state() {
    let mut caller = Caller::of(
        Machine::builder(program())
            .arguments(|_| vec!["an argument".to_owned(), String::new()])
            .environment(|_| vec!["NAME=VALUE".to_owned(), "OTHER=".to_owned()]),
    );
    assert_eq!(text(&mut caller, "/proc/self/cmdline"), "caller\0an argument\0\0", "arguments");
    assert_eq!(text(&mut caller, "/proc/self/environ"), "NAME=VALUE\0OTHER=\0", "variables");
    assert_eq!(link(&mut caller, "/proc/self"), Ok("2".to_owned()), "its ID");
    assert_eq!(link(&mut caller, "/proc/thread-self"), Ok("2/task/2".to_owned()), "its thread");
    assert_eq!(link(&mut caller, "/proc/self/exe"), Ok("/bin/caller".to_owned()), "its program");
    let stat = text(&mut caller, "/proc/self/stat");
    assert_eq!(stat.split(' ').count(), 52, "the fields of stat: {stat}");
    let status = text(&mut caller, "/proc/2/status");
    for line in ["Pid:\t2", "PPid:\t1", "Threads:\t1", "SigBlk:\t0000000000000000", "State:\tR (running)"] {
        assert!(status.lines().any(|other| other == line), "{line} in {status}");
    }
    // Block SIGUSR1, handle SIGUSR2, and ignore SIGHUP.
    caller.write(DATA, &(1_u64 << 9).to_le_bytes());
    assert_eq!(caller.call(135, &[0, DATA, 0, 8]), 0, "sigprocmask");
    for (signal, handler) in [(12, CODE), (1, 1)] {
        caller.write(DATA, &[handler, 0, 0, 0].map(u64::to_le_bytes).concat());
        assert_eq!(caller.call(134, &[signal, DATA, 0, 8]), 0, "sigaction");
    }
    assert_eq!(caller.call(129, &[2, 10]), 0, "kill");
    let status = text(&mut caller, "/proc/2/status");
    for line in [
        "SigBlk:\t0000000000000200",
        "ShdPnd:\t0000000000000200",
        "SigIgn:\t0000000000000001",
        "SigCgt:\t0000000000000800",
    ] {
        assert!(status.lines().any(|other| other == line), "{line} in {status}");
    }
    // The auxiliary vector ends with AT_NULL.
    let vector = read_in(&mut caller, "/proc/self/auxv", 0x1000);
    assert!(vector.len().is_multiple_of(16) && vector.ends_with(&[0; 16]), "{vector:?}");
}

/// Returns the lines of `maps`: first and last page, and letters.
fn maps(caller: &mut Caller) -> Vec<(u64, u64, String)> {
    let text = text(caller, "/proc/self/maps");
    let line = |line: &str| {
        let (range, rest) = line.split_once(' ').expect("a range and more");
        let (start, end) = range.split_once('-').expect("a start and an end");
        let page = |text: &str| u64::from_str_radix(text, 16).expect("an address") / 4096;
        (page(start), page(end), rest.split(' ').next().unwrap().to_owned())
    };
    text.lines().map(line).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Compares `maps` with a record of the permissions of each page, and `statm` with `maps`.
    #[test]
    fn maps_has_the_mappings_of_the_process(
        calls in prop::collection::vec((0..4, 0..40_u64, 1..12_u64, 0..8_u64), 1..30),
    ) {
        let mut caller = Caller::of(Machine::builder(program()).frames_max(1000));
        let file = caller.open("/etc/passwd", 0) as u64;
        let base = caller.call(222, &[0, 64 * 4096, 3, 0x22, 0, 0]) as u64;
        let mut pages: BTreeMap<u64, String> =
            (0..64).map(|page| (base / 4096 + page, "rw-p".to_owned())).collect();
        for (kind, first, count, protection) in calls {
            let (address, bytes) = (base + 4096 * first, 4096 * count);
            let range = address / 4096..address / 4096 + count;
            let letters = |sharing: char| {
                let has = |bit: u64, letter| if protection & bit != 0 { letter } else { '-' };
                let read = if protection & 2 != 0 { 'r' } else { has(1, 'r') };
                [read, has(2, 'w'), has(4, 'x'), sharing].iter().collect::<String>()
            };
            match kind {
                0 => {
                    prop_assert_eq!(caller.call(215, &[address, bytes]), 0, "munmap");
                    pages.retain(|page, _| !range.contains(page));
                }
                1 if range.clone().all(|page| pages.contains_key(&page)) => {
                    prop_assert_eq!(caller.call(226, &[address, bytes, protection]), 0, "mprotect");
                    for page in range {
                        let sharing = pages[&page].chars().nth(3).unwrap_or('p');
                        pages.insert(page, letters(sharing));
                    }
                }
                1 => {}
                _ => {
                    let (set, descriptor, sharing) = match (kind, protection & 2) {
                        (2, _) => (0x32, u64::MAX, 'p'),
                        (_, 0) => (0x11, file, 's'),
                        _ => (0x12, file, 'p'),
                    };
                    let at = caller.call(222, &[address, bytes, protection, set, descriptor, 0]);
                    prop_assert_eq!(at, address as i64, "mmap");
                    pages.extend(range.map(|page| (page, letters(sharing))));
                }
            }
            let found: BTreeMap<u64, String> = maps(&mut caller)
                .into_iter()
                .flat_map(|(start, end, letters)| (start..end).map(move |page| (page, letters.clone())))
                .filter(|(page, _)| (base / 4096..base / 4096 + 64).contains(page))
                .collect();
            prop_assert_eq!(&found, &pages);
        }
        let total: u64 = maps(&mut caller).iter().map(|(start, end, _)| end - start).sum();
        let statm = text(&mut caller, "/proc/self/statm");
        prop_assert_eq!(statm.split(' ').next().unwrap(), total.to_string(), "the size in statm");
    }
}

#[test]
fn the_default_files_give_way_to_mounted_ones() {
    let mut caller = Caller::new();
    for (path, part) in [
        ("/etc/passwd", "root:x:0:0:"),
        ("/etc/nsswitch.conf", "hosts: files"),
        ("/sys/devices/system/cpu/online", "0\n"),
        ("/etc/mtab", "proc /proc proc"),
    ] {
        let found = text(&mut caller, path);
        assert!(found.contains(part), "{path}: {found}");
    }
    assert!(read_in(&mut caller, "/etc/localtime", 0x1000).starts_with(b"TZif2"), "a time zone");
    let host = tempfile::tempdir().unwrap();
    for folder in ["etc", "proc", "sys"] {
        std::fs::create_dir(host.path().join(folder)).unwrap();
    }
    std::fs::write(host.path().join("etc/passwd"), "other\n").unwrap();
    std::fs::write(host.path().join("proc/version"), "of the host\n").unwrap();
    let mut caller = Caller::of(Machine::builder(program()).copy(host.path(), "/"));
    assert_eq!(text(&mut caller, "/etc/passwd"), "other\n", "the file of the host");
    assert_eq!(text(&mut caller, "/etc/hostname"), "kvrm\n", "a default beside it");
    assert!(text(&mut caller, "/proc/version").starts_with("Linux version "), "/proc is that of the lane");
    let mut caller = Caller::of(Machine::builder(program()).mount(host.path().join("etc"), "/etc"));
    assert_eq!(caller.open("/etc/hostname", 0), ENOENT, "nothing is added to a read-only directory");
    assert!(
        Machine::builder(program()).mount(host.path().join("etc"), "/proc").build().is_err(),
        "nothing can be mounted in /proc"
    );
}

#[test]
fn streams_and_terminal_can_be_opened_again() {
    let mut caller = Caller::of(Machine::builder(program()).input(|_| b"some input".to_vec()));
    let output = caller.open("/dev/stdout", 1) as u64;
    caller.write(DATA, b"shown");
    assert_eq!(caller.call(64, &[output, DATA, 5]), 5, "write");
    assert_eq!(caller.machine.output(0, Stream::Output).unwrap(), b"shown", "the console output");
    let input = caller.open("/dev/stdin", 0);
    assert_eq!(caller.contents(input), b"some input", "the console input");
    assert_eq!(caller.open("/dev/tty", 2), -6, "there is no terminal");
    assert_eq!(link(&mut caller, "/proc/self/fd/1"), Ok(format!("pipe:[{}]", 1_u64 << 32 | 2)), "a pipe");
    let mut caller = Caller::of(Machine::builder(program()).terminal(true).input(|_| b"typed".to_vec()));
    let terminal = caller.open("/dev/tty", 2);
    assert_eq!(caller.contents(terminal), b"typed", "read from the terminal");
    caller.write(DATA, b"x");
    assert_eq!(caller.call(64, &[terminal as u64, DATA, 1]), 1, "write to it");
    assert_eq!(caller.machine.output(0, Stream::Output).unwrap(), b"x", "the console output");
    assert_eq!(link(&mut caller, "/proc/self/fd/0"), Ok("/dev/pts/0".to_owned()), "its name");
    // As `ttyname` does, compare the file of this name with the stream.
    let path = caller.path("/dev/pts/0");
    assert_eq!(caller.call(79, &[AT_FDCWD, path, DATA, 0]), 0, "stat");
    let named = caller.read(DATA, 48);
    assert_eq!(caller.call(80, &[0, DATA]), 0, "fstat");
    let stream = caller.read(DATA, 48);
    assert_eq!(
        (&named[..20], &named[32..40]),
        (&stream[..20], &stream[32..40]),
        "device, inode, mode and number"
    );
}

#[test]
fn a_program_that_was_removed_can_be_executed_again() {
    let mut machine = Machine::builder(guest("proc"))
        .arguments(|_| vec!["/tmp/here".to_owned(), "self".to_owned()])
        .build()
        .expect("the guest fits");
    machine.run(10_000_000).expect("the engine works");
    assert_eq!(machine.stop(0).unwrap(), Some(Stop::Exit { code: 0 }), "its exit");
    let output = String::from_utf8_lossy(machine.output(0, Stream::Output).unwrap()).into_owned();
    let end =
        "removed=0\nexe=proc.elf (deleted)\narguments end with a NUL=1\nlast argument=last\nstatus=1792\n";
    assert!(output.ends_with(end), "by /proc/self/exe: {output}");
}

#[test]
fn proc_lists_locks_and_objects_of_system_v() {
    let mut lane = Caller::new();
    let file = lane.open("/tmp/locked", 0o102);
    let own = lane.call(172, &[]);
    assert_eq!(lane.call(32, &[file as u64, 2]), 0, "flock");
    // struct flock: F_RDLCK, SEEK_SET, bytes 10 to 14.
    let record = [0_u64, 10, 5, 0].map(u64::to_le_bytes).concat();
    lane.write(DATA, &record);
    assert_eq!(lane.call(25, &[file as u64, 6, DATA]), 0, "F_SETLK");
    assert_eq!(lane.call(80, &[file as u64, DATA]), 0, "fstat");
    let inode = u64::from_le_bytes(lane.read(DATA + 8, 8).try_into().unwrap());
    let text = |lane: &mut Caller, path: &str| {
        let file = lane.open(path, 0);
        let text = String::from_utf8(lane.contents(file)).unwrap();
        assert_eq!(lane.call(57, &[file as u64]), 0, "it is open");
        text
    };
    let locks = text(&mut lane, "/proc/locks");
    let expected = format!(
        "1: FLOCK  ADVISORY  WRITE {own} 00:01:{inode} 0 EOF\n2: POSIX  ADVISORY  READ {own} 00:01:{inode} 10 14\n"
    );
    assert_eq!(locks, expected, "both kinds");
    let queue = lane.call(186, &[0x1234, 0o1640]);
    lane.write(DATA, &[1_u64.to_le_bytes(), *b"12345678"].concat());
    assert_eq!(lane.call(189, &[queue as u64, DATA, 5, 0]), 0, "msgsnd");
    let set = lane.call(190, &[0xffff_fff0, 3, 0o1600]);
    let segment = lane.call(194, &[0, 10_000, 0o1666]);
    assert!(lane.call(196, &[segment as u64, 0, 0]) > 0, "shmat");
    let words = |text: &str| -> Vec<String> {
        text.lines().nth(1).unwrap_or_default().split_whitespace().map(str::to_owned).collect()
    };
    let [queue, set, segment, own] = [queue, set, segment, own].map(|id| id.to_string());
    let found = words(&text(&mut lane, "/proc/sysvipc/msg"));
    assert_eq!(found[..7], ["4660", &queue, "640", "5", "1", &own, "0"], "the queue");
    let found = words(&text(&mut lane, "/proc/sysvipc/sem"));
    assert_eq!(found[..4], ["-16", &set, "600", "3"], "the set");
    let found = words(&text(&mut lane, "/proc/sysvipc/shm"));
    assert_eq!(found[..7], ["0", &segment, "666", "10000", &own, &own, "1"], "the segment");
    for name in ["msg", "sem", "shm"] {
        let text = text(&mut lane, &format!("/proc/sysvipc/{name}"));
        let widths: Vec<usize> = text.lines().map(str::len).collect();
        assert_eq!(widths, [widths[0]; 2], "columns are aligned:\n{text}");
    }
}

#[test]
fn proc_lists_sockets() {
    let mut lane = Caller::new();
    let text = |lane: &mut Caller, path: &str| {
        let file = lane.open(path, 0);
        let text = String::from_utf8(lane.contents(file)).unwrap();
        assert_eq!(lane.call(57, &[file as u64]), 0, "it is open");
        text
    };
    let address = [2, 0, 0x1f, 0x90, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    let listener = lane.call(198, &[2, 1, 0]) as u64;
    lane.write(DATA, &address);
    assert_eq!(lane.call(200, &[listener, DATA, 16]), 0, "bind");
    assert_eq!(text(&mut lane, "/proc/net/tcp").lines().count(), 1, "it does not listen yet");
    assert_eq!(lane.call(201, &[listener, 5]), 0, "listen");
    let client = lane.call(198, &[2, 1, 0]) as u64;
    lane.write(DATA, &address);
    assert_eq!(lane.call(203, &[client, DATA, 16]), 0, "connect");
    let tcp = text(&mut lane, "/proc/net/tcp");
    assert!(tcp.lines().all(|line| line.len() == 149), "as wide as on Linux:\n{tcp}");
    let rows: Vec<Vec<&str>> = tcp.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
    let listening = rows.iter().find(|row| row[3] == "0A").expect("the listener is there");
    assert_eq!(listening[1..3], ["0100007F:1F90", "00000000:0000"], "its addresses");
    assert_eq!(listening[4], "00000000:00000001", "a connection waits");
    let connected: Vec<_> = rows.iter().filter(|row| row[3] == "01").collect();
    assert_eq!(connected.len(), 2, "both ends:\n{tcp}");
    assert_eq!(connected[0][1..3], [connected[1][2], connected[1][1]], "of one connection");
    assert_eq!(lane.call(80, &[client, DATA]), 0, "fstat");
    let inode = u64::from_le_bytes(lane.read(DATA + 8, 8).try_into().unwrap()).to_string();
    assert!(connected.iter().any(|row| row[9] == inode), "the inode of the client:\n{tcp}");
    let datagrams = lane.call(198, &[2, 2, 0]) as u64;
    lane.write(DATA, &address);
    assert_eq!(lane.call(200, &[datagrams, DATA, 16]), 0, "bind");
    let udp = text(&mut lane, "/proc/net/udp");
    assert!(
        udp.lines().nth(1).is_some_and(|line| line.contains(": 0100007F:1F90 00000000:0000 07 ")),
        "{udp}"
    );
    let local = lane.call(198, &[1, 1, 0]) as u64;
    lane.write(DATA, b"\x01\0/tmp/socket\0");
    assert_eq!(lane.call(200, &[local, DATA, 14]), 0, "bind");
    assert_eq!(lane.call(201, &[local, 5]), 0, "listen");
    let unix = text(&mut lane, "/proc/net/unix");
    let row = unix.lines().nth(1).unwrap_or_default();
    assert!(row.starts_with("0000000000000000: 00000002 00000000 00010000 0001 01 "), "{unix}");
    assert!(row.ends_with(" /tmp/socket"), "{unix}");
}

#[test]
fn open_objects_without_a_path_have_inode_numbers_that_tell_them_apart() {
    let mut caller = Caller::new();
    for _ in 0..2 {
        assert_eq!(caller.call(59, &[DATA + 0x2000, 0]), 0, "pipe2");
        assert_eq!(caller.call(199, &[1, 1, 0, DATA + 0x2000]), 0, "socketpair");
    }
    let links: Vec<String> =
        (0..11).map(|fd| link(&mut caller, &format!("/proc/self/fd/{fd}")).unwrap()).collect();
    for (fd, link) in links.iter().enumerate() {
        assert_eq!(caller.call(80, &[fd as u64, DATA]), 0, "fstat");
        let number = u64::from_le_bytes(caller.read(DATA + 8, 8).try_into().unwrap());
        let same = links.iter().filter(|other| *other == link).count();
        let kind =
            if matches!(fd, 5 | 6 | 9 | 10) { ("socket", 1) } else { ("pipe", if fd < 3 { 1 } else { 2 }) };
        assert_eq!((link, same), (&format!("{}:[{number}]", kind.0), kind.1), "descriptor {fd}");
    }
}

#[test]
fn nodes_of_proc_have_no_attributes() {
    let mut caller = Caller::new();
    caller.write(DATA + 0x2000, b"security.selinux\0");
    for name in ["/proc", "/proc/self/stat", "/proc/self/fd/1", "/proc/self/fd/1/"] {
        let path = caller.path(name);
        let expected = if name.ends_with("1/") { [-20, -20] } else { [-95, 0] };
        let results =
            [caller.call(9, &[path, DATA + 0x2000, DATA, 100]), caller.call(12, &[path, DATA, 100])];
        assert_eq!(results, expected, "lgetxattr and llistxattr of {name}");
    }
}
