//! The mistakes of a newcomer: each ends at once with status 2 and a message that names what is wrong, the value, and
//! what to do.

use std::time::{Duration, Instant};

use kvrm::models::{Architecture, Dtype, Weights};
use serde_json::Value;

use crate::support::{Elf, Folder, Outcome, guest, kvrm, linux_guest};

/// The longest time that a refusal may take.
const QUICK: Duration = Duration::from_secs(20);

/// A mistake: a name, the arguments, and fragments that standard error has to contain.
type Mistake<'a> = (&'a str, Vec<&'a str>, &'a [&'a str]);

/// Checks that every mistake is refused as it should be. All failures are reported together.
#[track_caller]
fn check(mistakes: &[Mistake<'_>]) {
    let mut failures = Vec::new();
    for (name, arguments, fragments) in mistakes {
        let begin = Instant::now();
        let Outcome { status, stdout, stderr } = kvrm(arguments);
        let missing: Vec<_> = fragments.iter().filter(|fragment| !stderr.contains(**fragment)).collect();
        let is_refused = status == 2 && stdout.is_empty() && stderr.starts_with("error: ");
        if !missing.is_empty() || !is_refused || begin.elapsed() > QUICK {
            failures.push(format!("{name}: status {status}, {stderr:?} lacks {missing:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn wrong_programs_are_refused() {
    let folder = Folder::new();
    let elf = |name: &str, elf: Elf| folder.file(name, elf.bytes(&[0x1f, 0x20, 0x03, 0xd5]));
    let interpreter = Some("/lib/ld-linux-aarch64.so.1");
    let dynamic = elf("dynamic", Elf { interpreter, ..Elf::PROGRAM });
    let library = elf("library.so", Elf { kind: 3, entry: 0, ..Elf::PROGRAM });
    let x86 = elf("x86", Elf { machine: 62, ..Elf::PROGRAM });
    let arm32 = elf("arm32", Elf { class: 1, machine: 40, ..Elf::PROGRAM });
    let big = elf("big", Elf { order: 2, ..Elf::PROGRAM });
    let object = elf("object.o", Elf { kind: 1, ..Elf::PROGRAM });
    let mach_o = folder.file("mach-o", b"\xcf\xfa\xed\xfe\x0c\0\0\x01\0\0\0\0\x02\0\0\0");
    let exe = folder.file("program.exe", b"MZ\x90\0\x03\0\0\0");
    let script = folder.file("script.sh", "#!/bin/sh\necho hello\n");
    let source = folder.file("main.c", "int main() { return 0; }\n");
    let empty = folder.file("empty", "");
    let cut = folder.file("cut", &std::fs::read(guest("vm")).unwrap()[..1000]);
    let missing = folder.path("missing").display().to_string();
    let directory = folder.path("").display().to_string();
    check(&[
        (
            "a dynamically linked program",
            vec!["run", &dynamic],
            &[&dynamic, "dynamically linked", "/lib/ld-linux-aarch64.so.1", "--sysroot DIR", "with -static"],
        ),
        ("a shared library", vec!["run", &library], &[&library, "is a shared library", "-static"]),
        (
            "an x86-64 program",
            vec!["run", &x86],
            &["62 (x86-64)", "183 (AArch64)", "build the program for aarch64"],
        ),
        ("a 32-bit program", vec!["run", &arm32], &["1 (32-bit)", "2 (64-bit)", "64-bit Arm (aarch64)"]),
        ("a big-endian program", vec!["run", &big], &["2 (big-endian)", "1 (little-endian)", "aarch64_be"]),
        ("an object file", vec!["run", &object], &["1 (relocatable)", "link the object into an executable"]),
        (
            "a program of macOS",
            vec!["run", &mach_o],
            &["a Mach-O file of macOS", "build the program for aarch64"],
        ),
        (
            "a program of Windows",
            vec!["run", &exe],
            &["a PE file of Windows (.exe)", "build the program for aarch64"],
        ),
        ("a script", vec!["run", &script], &["but a script", "run its interpreter"]),
        ("source code", vec!["run", &source], &["but text", "give the executable"]),
        ("an empty file", vec!["run", &empty], &[&empty, "the file is empty", "expected an ELF file"]),
        ("a truncated file", vec!["run", &cut], &[&cut, "the file is truncated", "copy or build it again"]),
        ("a missing file", vec!["run", &missing], &["cannot read", &missing, "No such file"]),
        ("a directory", vec!["run", &directory], &["cannot read", &directory]),
        ("a missing file to trace", vec!["trace", &missing], &["cannot read", &missing]),
        ("a script to disassemble", vec!["disasm", &script], &[&script, "not an ELF file", "a script"]),
    ]);
}

#[test]
fn wrong_numbers_and_options_are_refused() {
    let (vm, linux) = (guest("vm"), linux_guest("process"));
    let run = |options: &[&'static str]| [&["run", &vm][..], options].concat();
    let number = "expected a number from 0 to 2^64 - 1 such as 4096, 0x1000 or 4K";
    check(&[
        ("no lanes", run(&["--lanes", "0"]), &["'0' for '--lanes <N>'", "at least 1 lane"]),
        (
            "too many lanes",
            run(&["--lanes", "1000000000"]),
            &["--lanes 1000000000", "do not fit in memory", " GiB available", "use at most "],
        ),
        (
            "too many lanes to measure",
            vec!["bench", "--engine", "reference", "--lanes", "1,1000000000"],
            &["--lanes 1000000000", "do not fit in memory"],
        ),
        ("lanes in words", run(&["--lanes", "ten"]), &["'ten' for '--lanes <N>'", number]),
        ("negative lanes", run(&["--lanes=-1"]), &["'-1' for '--lanes <N>'", number]),
        ("an unknown suffix", run(&["--budget", "1Q"]), &["'1Q' for '--budget <STEPS>'", number]),
        ("a fraction", run(&["--stack", "1.5M"]), &["'1.5M' for '--stack <BYTES>'", number]),
        ("an address with a suffix", run(&["--raw", "--load-address", "64K"]), &["'64K'", "such as 0x10000"]),
        ("a misspelled option", run(&["--lane", "3"]), &["'--lane'", "a similar argument exists: '--lanes'"]),
        ("an unknown option", run(&["--fast"]), &["'--fast'", "--help"]),
        ("a misspelled command", vec!["rum", &vm], &["'rum'", "similar", "'run'"]),
        ("an unknown command", vec!["fly"], &["'fly'", "--help"]),
        ("an unknown engine", run(&["--engine", "warp"]), &["'warp'", "auto, gpu, gpus, jit, reference"]),
        (
            "a network on the CPU",
            run(&["--engine", "reference", "--class-selection", "network"]),
            &["--class-selection network needs a GPU", "--engine reference", "use --engine gpu"],
        ),
        (
            "an adapter of the CPU",
            run(&["--engine", "reference", "--adapter", "x"]),
            &["--adapter 'x' names a GPU", "use --engine gpu"],
        ),
        ("an unknown mode", run(&["--class-selection", "on"]), &["'on'", "table, memo-domain"]),
        ("weights of nothing", run(&["--weights", "w.safetensors"]), &["--class-selection <MODE>"]),
        (
            "a variable without a value",
            vec!["run", &linux, "--env", "HOME"],
            &["'HOME' for '--env <NAME=VALUE>'", "expected NAME=VALUE, such as HOME=/root"],
        ),
        (
            "a mount without a guest path",
            vec!["run", &linux, "--mount", "data"],
            &["'data' for '--mount <HOST:GUEST>'", "expected HOST:GUEST", "./data:/data"],
        ),
        (
            "a mount of a missing directory",
            vec!["run", &linux, "--mount", "/no/such:/data"],
            &["cannot mount /no/such at /data", "No such file or directory"],
        ),
        (
            "a mount in place of a device",
            vec!["run", &linux, "--mount", "/tmp:/dev/null"],
            &["cannot mount /tmp at /dev/null", "the guest has a file or a link here", "at another place"],
        ),
        ("a missing working directory", vec!["run", &linux, "--cwd", "/no"], &["'/no'"]),
        ("a seed in words", vec!["run", &linux, "--seed", "chance"], &["'chance'", "or `random`"]),
        ("an unknown template", run(&["--lane-arg", "{n}"]), &["--lane-arg '{n}'", "{lane}"]),
        ("a missing input", run(&["--input", "/no/such"]), &["--input '/no/such'", "cannot read /no/such"]),
    ]);
}

#[test]
fn a_budget_of_0_is_used_up_at_once() {
    let run = kvrm(&["run", &guest("vm"), "--budget", "0"]);
    assert_eq!((run.status, &*run.stdout), (124, ""), "no step, no output");
    assert!(run.stderr.contains("the budget of steps is used up"), "{}", run.stderr);
    assert!(run.stderr.contains("hint: --budget 0 allows no step"), "{}", run.stderr);
}

#[test]
fn wrong_weights_are_refused() {
    let (folder, vm) = (Folder::new(), guest("vm"));
    let text = folder.file("weights.txt", "no weights");
    let decoder = folder.path("decoder.safetensors");
    let weights = Weights::builtin(Architecture::Decoder)
        .expect("the built-in weights are valid")
        .expect("the built-in weights exist")
        .0;
    weights.save(&decoder, Dtype::F32).expect("the folder can be written");
    let decoder = decoder.display().to_string();
    let run = |path| vec!["run", &*vm, "--class-selection", "network", "--weights", path];
    check(&[
        ("weights in text", run(&text), &["--weights '", &text, "expected a safetensors file"]),
        ("missing weights", run("/no/such"), &["--weights '/no/such'", "cannot read /no/such"]),
        (
            "weights of another network",
            run(&decoder),
            &["--weights '", &decoder, "of a decoder network", "needs a dispatch or small-dispatch network"],
        ),
        (
            "weights of another network to verify",
            vec!["verify", "dispatch", "--weights", &decoder],
            &[&decoder, "expected a dispatch network, found a decoder network"],
        ),
    ]);
}

#[test]
fn paths_that_cannot_be_written_are_refused_before_the_run() {
    let (folder, vm, linux) = (Folder::new(), guest("vm"), linux_guest("process"));
    let file = folder.file("file", "text");
    let below = folder.path("file/below").display().to_string();
    let existing = format!("/tmp:{file}");
    // The guest never ends, so that a check after the run would never come.
    let endless = folder.file("endless", 0x1400_0000_u32.to_le_bytes());
    check(&[
        (
            "an output directory below a file",
            vec!["run", "--raw", &endless, "--output-dir", &below],
            &["--output-dir: cannot create", &below],
        ),
        (
            "saving over a file",
            vec!["run", &linux, "--save", &existing],
            &["--save", &file, "exists already"],
        ),
        (
            "saving all lanes to one place",
            vec!["run", &linux, "--lanes", "2", "--save", "/tmp:x"],
            &["--save", "'x'", "put {lane} into its name"],
        ),
        (
            "a record below a file",
            vec!["bench", "--engine", "reference", "--guest", &vm, "--record", &below],
            &[&below],
        ),
        (
            "a record in a file of another kind",
            vec!["bench", "--engine", "reference", "--guest", &vm, "--record", &file],
            &[&file, ":1: no benchmark record"],
        ),
    ]);
}

#[test]
fn wrong_spiking_networks_are_refused() {
    let folder = Folder::new();
    let network = |name: &str, neurons: &str, parameter: &str| {
        let text = format!(
            "dt = 1.0\nfraction_bits = 4\n[[population]]\nname = \"a\"\nneurons = {neurons}\nfeagi = {{ {parameter} }}\n"
        );
        folder.file(name, text)
    };
    let good = network("good.toml", "5", "threshold = 2.0");
    let typo = network("typo.toml", "5", "treshold = 2.0");
    let large = network("large.toml", "5_000_000_000", "threshold = 2.0");
    let rule = "[[projection]]\nsource = \"a\"\ntarget = \"a\"\nrule = \"all-to-all\"\nweight = 1.0\n";
    let dense = network("dense.toml", "1_000_000", "threshold = 2.0");
    let dense = folder.file("dense.toml", std::fs::read_to_string(&dense).unwrap() + rule);
    let text = folder.file("network.txt", "a network");
    let nir = folder.file("graph.nir", "no HDF5");
    let run = |network, options: &[&'static str]| {
        [&["spike", "run", "--engine", "reference", network][..], options].concat()
    };
    let nir_fragments: &[&str] = if cfg!(feature = "nir") { &[&nir] } else { &[&nir, "feature `nir`"] };
    check(&[
        (
            "a misspelled parameter",
            run(&typo, &[]),
            &[&typo, "line 6", "unknown field `treshold`", "expected one of `threshold`, "],
        ),
        (
            "too many neurons",
            run(&large, &[]),
            &[&large, "line 5", "`neurons` is 5000000000", "from 0 to 4294967294"],
        ),
        (
            "more synapses than fit in memory",
            run(&dense, &[]),
            &[
                &dense,
                "1000000 neurons and 1000000000000 synapses",
                "does not fit in memory",
                "available",
                "use fewer",
            ],
        ),
        (
            "too large a scale",
            run("feagi", &["--scale", "1e9"]),
            &["--scale 1000000000: 'feagi' would have 500000000000000 neurons", "at most 4294967294"],
        ),
        (
            "an unknown network",
            run("brain", &[]),
            &[
                "'brain' is neither a file nor one of feagi, microcircuit, vogels-abbott, fly, balanced, hpc-benchmark",
            ],
        ),
        ("a missing network", run("/no/such.toml", &[]), &["cannot read /no/such.toml"]),
        (
            "a network in text",
            run(&text, &[]),
            &[&text, "expected the extension .toml, .safetensors or .nir"],
        ),
        ("a broken NIR graph", run(&nir, &[]), nir_fragments),
        ("a scale of a file", run(&good, &["--scale", "2"]), &["--scale", &good, "fixed size"]),
        ("a drive of another network", run("fly", &["--drive", "2"]), &["--drive", "only vogels-abbott"]),
        (
            "a misspelled population",
            run(&good, &["--inject", "b:1"]),
            &["--inject: there is no population 'b'", "one of a"],
        ),
        (
            "an unknown neuron",
            run(&good, &["--inject", "5:1"]),
            &["no neuron 5: there are 5, numbered from 0"],
        ),
        (
            "a broken injection",
            run(&good, &["--inject", "1"]),
            &["'1' for '--inject", "such as 0-9,20:1.5@0-99"],
        ),
        ("an unknown format", run(&good, &["--spikes", "x.txt"]), &["'x.txt'", ".npz or .csv"]),
    ]);
}

#[test]
fn a_network_larger_than_the_memory_is_refused() {
    // 4,000,000,000 neurons of 72 bytes fit in the memory of a few hosts, which would build them.
    if kvrm::spiking::available_memory().is_none_or(|bytes| bytes > 250 << 30) {
        return;
    }
    check(&[(
        "too large a scale for the memory",
        vec!["spike", "run", "feagi", "--scale", "8000", "--engine", "reference"],
        &[
            "'feagi' cannot be built",
            "4000000000 neurons",
            "does not fit in memory",
            "available",
            "use fewer",
        ],
    )]);
}

#[test]
fn broken_vectors_are_refused() {
    let folder = Folder::new();
    let good = r#"{"name":"n","pc":"0x10000","code":["d503201f"],"steps":1}"#;
    let broken = folder.file("broken.jsonl", format!("{good}\n{{\"name\":\n"));
    let wrong = folder.file("wrong.jsonl", format!("{good}\n\n{}\n", good.replace("steps", "stepz")));
    let empty = folder.file("empty.jsonl", "");
    check(&[
        ("a broken line", vec!["vectors", "run", &broken], &[&format!("{broken}:2: ")]),
        ("an unknown field", vec!["vectors", "run", &wrong], &[&format!("{wrong}:3: unknown field `stepz`")]),
        ("no vectors", vec!["vectors", "run", &empty], &[&empty, "expected at least one line"]),
        ("missing vectors", vec!["vectors", "run", "/no/such.jsonl"], &["cannot read /no/such.jsonl"]),
    ]);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn an_unknown_adapter_is_refused_with_the_known_ones() {
    let doctor: Value =
        serde_json::from_str(&kvrm(&["doctor", "--json"]).stdout).expect("the output is JSON");
    let names =
        doctor["adapters"].as_array().expect("a list").iter().filter_map(|adapter| adapter["name"].as_str());
    let fragments: Vec<&str> = ["\"Voodoo\"", "give a part of the name"].into_iter().chain(names).collect();
    assert!(fragments.len() > 2, "there are adapters: {doctor}");
    let vm = guest("vm");
    check(&[("an unknown adapter", vec!["run", &vm, "--adapter", "Voodoo"], &fragments)]);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn too_many_lanes_for_a_gpu_are_refused() {
    let vm = guest("vm");
    let arguments = vec!["run", "--engine", "gpu", &vm, "--lanes", "1000000000"];
    check(&[("too many lanes", arguments, &["1000000000 lanes do not fit", "room for ", "use fewer lanes"])]);
}
