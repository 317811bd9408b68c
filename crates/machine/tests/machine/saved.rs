//! Tests of saved machines: what is loaded does what the saved machine does.

use kvrm_machine::{Error, Fork, Machine, ReferenceEngine, Stop, Stream};
use kvrm_testkit::guests::{FP_GUESTS, GUESTS, LINUX_GUESTS, guest, linux_guest};
use kvrm_testkit::random::Random;
use kvrm_testkit::saved;

use crate::support::{random_linux_program, two_lanes};

#[test]
fn random_linux_programs_go_on_after_they_were_loaded() {
    for seed in 0..150 {
        let random = &mut Random::new(seed);
        let mut machine = random_linux_program(seed, random);
        saved::check(&mut machine, [200, 3000], ReferenceEngine, random);
    }
}

#[test]
fn guests_go_on_after_they_were_loaded() {
    for (index, (name, size)) in GUESTS.into_iter().chain(FP_GUESTS).enumerate() {
        let random = &mut Random::new(index as u64);
        let mut machine = two_lanes(name, size);
        saved::check(&mut machine, [20_000, u64::MAX], ReferenceEngine, random);
        assert_eq!(machine.stop(1).unwrap(), Some(Stop::Exit { code: 0 }), "{name} ends");
    }
}

#[test]
fn linux_guests_and_their_forks_go_on_after_they_were_loaded() {
    for (index, (name, arguments)) in LINUX_GUESTS.iter().enumerate() {
        for seed in 0..4 {
            let random = &mut Random::new(seed << 32 | index as u64);
            let arguments = |_| arguments.iter().map(|&word| word.to_owned()).collect();
            let builder = Machine::builder(linux_guest(name)).arguments(arguments).seed(seed);
            let mut machine = builder.lanes(3).input(|lane| vec![lane as u8; 9]).build().unwrap();
            if seed % 2 == 1 {
                machine.run(random.below(3000)).unwrap();
                machine = machine.fork_with(1, Fork::new(3)).unwrap();
            }
            saved::check(&mut machine, [3000, u64::MAX], ReferenceEngine, random);
        }
    }
}

fn saved_machine() -> Vec<u8> {
    let mut machine = Machine::builder(linux_guest("files"))
        .lanes(40)
        .arguments(|_| vec!["/tmp/a".to_owned()])
        .build()
        .unwrap();
    machine.run(2000).unwrap();
    let mut bytes = Vec::new();
    machine.save(&mut bytes).unwrap();
    bytes
}

#[test]
fn equal_pages_and_shared_files_are_written_once() {
    let bytes = saved_machine();
    let mut one =
        Machine::builder(linux_guest("files")).arguments(|_| vec!["/tmp/a".to_owned()]).build().unwrap();
    one.run(2000).unwrap();
    let mut alone = Vec::new();
    one.save(&mut alone).unwrap();
    assert!(bytes.len() < 3 * alone.len(), "{} bytes for 40 lanes, {} for one", bytes.len(), alone.len());
}

#[test]
fn damage_and_other_files_are_refused() {
    let bytes = saved_machine();
    let reason = |bytes: &[u8]| match Machine::load(bytes, ReferenceEngine, None) {
        Err(Error::Saved { reason }) => reason,
        other => panic!("not refused: {other:?}"),
    };
    assert_eq!(reason(b"\x7fELF and other bytes"), "it does not begin with KVRMLANE");
    let mut other_version = bytes.clone();
    other_version[8] += 1;
    assert_eq!(reason(&other_version), "its form is 4, and this version of KVRM reads form 3");
    for end in [0, 5, 12, 100, bytes.len() - 1] {
        reason(&bytes[..end]);
    }
    let random = &mut Random::new(1);
    for _ in 0..200 {
        let mut damaged = bytes.clone();
        let at = 12 + random.below(bytes.len() as u64 - 12) as usize;
        damaged[at] ^= 1 << random.below(8);
        // Bits between the stream and its checksum have no meaning.
        if let Ok(mut machine) = Machine::load(&damaged[..], ReferenceEngine, None) {
            let mut again = Vec::new();
            machine.save(&mut again).unwrap();
            assert_eq!(again, bytes, "bit flipped at {at}");
        }
    }
}

#[test]
fn contents_that_make_no_sense_are_refused_without_a_panic() {
    use std::io::{Read as _, Write as _};

    use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};

    let bytes = saved_machine();
    let mut content = Vec::new();
    ZlibDecoder::new(&bytes[12..]).read_to_end(&mut content).unwrap();
    let random = &mut Random::new(2);
    let mut refused = 0;
    for _ in 0..300 {
        let mut changed = content.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(changed.len() as u64) as usize;
            changed[at] = random.bits() as u8;
        }
        let mut file = bytes[..12].to_vec();
        let mut compressed = ZlibEncoder::new(&mut file, Compression::fast());
        compressed.write_all(&changed).unwrap();
        compressed.finish().unwrap();
        match Machine::load(&file[..], ReferenceEngine, None) {
            Ok(mut machine) => drop(machine.run(5000)),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 0, "most changes are of contents of pages, but some are not");
}

#[test]
fn a_machine_with_a_directory_of_the_host_is_not_saved() {
    let folder = tempfile::tempdir().unwrap();
    let mut machine = Machine::builder(guest("sieve")).directory(folder.path()).build().unwrap();
    let error = machine.save(Vec::new()).unwrap_err().to_string();
    assert!(
        error.starts_with("the machine cannot be saved: its guests have files in a directory"),
        "{error}"
    );
}

#[test]
fn output_and_input_are_kept() {
    let mut machine = Machine::builder(linux_guest("process"))
        .lanes(2)
        .input(|lane| vec![b'x'; 10 * lane])
        .build()
        .unwrap();
    machine.run(u64::MAX).unwrap();
    let mut bytes = Vec::new();
    machine.save(&mut bytes).unwrap();
    let loaded = Machine::load(&bytes[..], ReferenceEngine, None).unwrap();
    for lane in 0..2 {
        let output = loaded.output(lane, Stream::Output).unwrap();
        assert!(!output.is_empty() && output == machine.output(lane, Stream::Output).unwrap(), "lane {lane}");
    }
    assert_eq!(loaded.program().name, machine.program().name, "the program");
    assert_eq!(loaded.program().symbols, machine.program().symbols, "its symbols");
}

/// The form of a saved machine changes with many types. If this fails, give the form another version, and change the digest.
#[test]
fn the_form_has_this_version() {
    let mut program = linux_guest("files");
    // Not the path, which depends on the folder of the repository.
    program.name = "files".to_owned();
    let mut machine = Machine::builder(program).arguments(|_| vec!["/tmp/a".to_owned()]).build().unwrap();
    machine.run(2000).unwrap();
    let mut bytes = Vec::new();
    machine.save(&mut bytes).unwrap();
    let mut content = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::ZlibDecoder::new(&bytes[12..]), &mut content).unwrap();
    let digest = content.iter().fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add((*byte).into()));
    assert_eq!(
        (bytes[8], content.len(), format!("{digest:016x}")),
        (3, 59486, "7acc8faa6acbde2e".to_owned()),
        "version, bytes, digest"
    );
}
