//! The options of the machine.

use kvrm::arm64::asm::{X0, X1, X2, at};

use crate::support::{CODE, Folder, guest, kvrm, refusal};

#[test]
fn raw_programs_have_the_given_address_and_memory() {
    let folder = Folder::new();
    // Reads the last doubleword of 12 KiB.
    let program = folder.program(|a| {
        a.adr(X1, kvrm::arm64::asm::Arg::Offset(0x2ff8)).ldr(X0, at(X1, 0)).brk(1);
    });
    let stopped = |extra: &[&str]| kvrm(&[&["run", "--raw", &program], extra].concat()).stderr;
    assert!(stopped(&[]).ends_with("brk #0x1); pc 0x10008: brk #0x1\n"), "{}", stopped(&[]));
    let at = |address: &str| stopped(&["--load-address", address]);
    assert!(at("0x4000_0000").contains("pc 0x40000008: brk"), "{}", at("0x4000_0000"));
    assert!(at("4096").contains("pc 0x1008: brk"), "{}", at("4096"));
    assert!(at("0x1002").contains("execution of a misaligned address at 0x1002"), "{}", at("0x1002"));
    let message = refusal(&["run", "--raw", &program, "--load-address", "64K"]);
    assert!(message.contains("'64K'"), "addresses have no unit: {message}");
    let message = refusal(&["run", "--raw", &program, "--load-address", "0xffff_ffff_f000"]);
    assert!(message.contains("48-bit address space"), "{message}");
    let with = |bytes: &str| stopped(&["--raw-memory", bytes]);
    assert!(with("12K").contains("pc 0x10008: brk"), "{}", with("12K"));
    // A guard page follows the memory of the program, before the stack.
    assert!(with("8K").contains("read from unmapped memory at 0x12ff8"), "{}", with("8K"));
}

#[test]
fn raw_options_need_raw() {
    for option in ["--load-address", "--raw-memory"] {
        let message = refusal(&["run", &guest("vm"), option, "4096"]);
        assert!(message.contains("--raw"), "{message}");
    }
}

#[test]
fn stack_and_heap_have_the_given_sizes() {
    let folder = Folder::new();
    // Writes 4 KiB below the stack pointer.
    let program = folder.program(|a| {
        a.sub(X1, kvrm::arm64::asm::SP, 0x1000).str(X0, at(X1, 0)).brk(1);
    });
    let run = |stack: &str| kvrm(&["run", "--raw", &program, "--stack", stack]).stderr;
    assert!(run("4096").contains("breakpoint"), "{}", run("4096"));
    assert!(run("0").contains("write to unmapped memory"), "{}", run("0"));
    for option in ["--stack", "--heap"] {
        for bytes in ["0xffff_ffff_ffff_ffff", "0x1000000000000"] {
            let message = refusal(&["run", &guest("vm"), option, bytes]);
            assert!(message.contains("does not fit between the program and 0x1000000000000"), "{message}");
        }
        assert_eq!(kvrm(&["run", &guest("vm"), "3", option, "0x1_0000_0000_00"]).status, 0, "a terabyte");
    }
}

#[test]
fn frames_limit_the_pages_that_a_lane_writes() {
    let run = kvrm(&["run", &guest("vm"), "3", "--frames", "0"]);
    assert_eq!((run.status, &*run.stdout), (125, ""), "none");
    assert!(run.stderr.starts_with("lane 0 stopped: out of memory frames; pc "), "{}", run.stderr);
    assert!(run.stderr.ends_with("\nhint: raise --frames\n"), "{}", run.stderr);
    assert_eq!(kvrm(&["run", &guest("vm"), "3", "--frames", "2"]).status, 0, "as many as it needs");
}

#[test]
fn atomics_are_an_option() {
    let folder = Folder::new();
    let program = folder.program(|a| {
        a.adr(X1, kvrm::arm64::asm::Arg::Offset(0x100)).mov(X2, 5).word(0xf822_8020).brk(1); // swp x2, x0, [x1]
    });
    let run = |extra: &[&str]| kvrm(&[&["run", "--raw", &program], extra].concat()).stderr;
    assert!(
        run(&[]).contains("undefined instruction 0xf8228020; pc 0x10008: swp x2, x0, [x1]"),
        "{}",
        run(&[])
    );
    assert!(run(&["--lse"]).contains(&format!("pc {:#x}: brk", CODE + 12)), "{}", run(&["--lse"]));
}

#[test]
fn a_processor_has_exactly_its_features() {
    let folder = Folder::new();
    // swp wzr, w0, [x1]; movi v0.16b, #1; brk #1
    let words = [0xb821_8020_u32, 0x4f00_e420, 0xd420_0020].map(u32::to_le_bytes).concat();
    let program = folder.file("program", words);
    let stop = |options: &[&str]| {
        let run = kvrm(&[&["run", "--raw", &program, "--engine", "reference"], options].concat());
        run.stderr.lines().next().unwrap_or_default().to_owned()
    };
    let undefined = "undefined instruction 0xb8218020";
    for (cpu, has_atomics) in
        [("cortex-a53", false), ("cortex-a72", false), ("neoverse-n1", true), ("max", true)]
    {
        assert_eq!(!stop(&["--cpu", cpu]).contains(undefined), has_atomics, "{cpu}");
        assert!(!stop(&["--cpu", cpu, "--lse"]).contains(undefined), "{cpu} with --lse");
    }
    let error = kvrm(&["run", "--raw", &program, "--cpu", "z80"]);
    assert!(error.stderr.contains("neoverse-n1"), "the error lists the names: {}", error.stderr);
}

#[test]
fn hints_name_missing_features_once() {
    let folder = Folder::new();
    let hints = |word: u32, extra: &[&str]| {
        let program = folder.file("program", word.to_le_bytes());
        let run = kvrm(&[&["run", "--raw", &program, "--lanes", "3"], extra].concat());
        let hints = run.stderr.lines().filter_map(|line| line.strip_prefix("hint: ").map(str::to_owned));
        hints.collect::<Vec<_>>()
    };
    let atomics = "the word is `swp x2, x0, [x1]` of FEAT_LSE, which needs --lse";
    assert_eq!(hints(0xf822_8020, &[]), [atomics], "an atomic");
    assert!(hints(0xf822_8020, &["--lse"]).is_empty(), "with --lse it faults, for another reason");
    for (word, text, feature) in [
        (0x1e62_2820, "fadd d0, d1, d2", "FEAT_FP and FEAT_AdvSIMD"),
        (0x4ee1_8420, "add v0.2d, v1.2d, v1.2d", "FEAT_FP and FEAT_AdvSIMD"),
        (0x3dc0_0020, "ldr q0, [x1]", "FEAT_FP and FEAT_AdvSIMD"),
        (0x4e28_4820, "aese v0.16b, v1.16b", "FEAT_AES"),
    ] {
        let float = format!("the word is `{text}` of {feature}, which needs --fp");
        assert_eq!(hints(word, &[]), [float], "{word:08x}");
        assert!(hints(word, &["--fp"]).is_empty(), "{word:08x} is executed");
    }
    let dot = "the word is `sdot v0.4s, v1.16b, v2.16b` of FEAT_DotProd, which needs --cpu neoverse-n1";
    assert_eq!(hints(0x4e82_9420, &["--fp"]), [dot], "a feature of a named processor");
    let bfdot = "the word is `bfdot v0.4s, v1.8h, v2.8h` of FEAT_BF16, which needs --cpu max";
    assert_eq!(hints(0x6e42_fc20, &["--cpu", "neoverse-n1"]), [bfdot], "a feature of no named processor");
    assert!(hints(0x6e42_fc20, &["--cpu", "max"]).is_empty(), "it is executed");
    for (word, feature) in [(0xd920_0820, "FEAT_MTE"), (0x04bf_e3e0, "FEAT_SVE")] {
        let [hint] = &hints(word, &[])[..] else { panic!("{word:08x} has one hint") };
        assert!(
            hint.contains(&format!("an instruction of {feature}: ")) && hint.contains("no option adds it"),
            "{hint}"
        );
        assert_eq!(hints(word, &["--fp", "--lse"]), [&**hint], "{word:08x} is not executed");
    }
    // udf, eret, mrs x0, midr_el1, and an unallocated word
    for word in [0, 0xd69f_03e0, 0xd538_0000, 0xffff_fff0 & !(3 << 26)] {
        assert!(hints(word, &[]).is_empty(), "{word:08x}");
    }
}
