//! `docs/isa.md`: the instruction table as a document.

use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, Result};
use kvrm_arm64::encoding::{ENCODINGS, HOLES, Hole, HoleTest};
use kvrm_arm64::sysreg::{El0, REGISTERS, SystemRegister};
use kvrm_arm64::{Class, Encoding, Feature, Processor, Word};

use super::banner::BANNER;
use super::syntax;
use crate::root::root;

const SOURCE: &str = "crates/arm64/src/isa.rs";

/// The folder of the files with rows and the titles of groups.
const ROWS: &str = "crates/arm64/src/isa";

const NOTATION: &str = "\
Names, diagrams and order are those of Arm's machine-readable specification and of chapter C4 of the Arm
Architecture Reference Manual (DDI 0487). Encodings of later extensions are comments in the source file; a
word that matches no row below is UNDEFINED.

In diagrams, bit 31 comes first. `0` and `1` are fixed. `-` and `+` should be 0 and 1 and are not compared.
Letters are fields: `d n m a` registers Rd Rn Rm Ra, `t u s` Rt Rt2 Rs, `i` immediate, `r s` immr imms,
`h` shift, sh or hw, `o` option (in system moves o0), `S` scaled, `c` condition, `f` nzcv, `b` bit number,
`p q` op1 op2, `C M` CRn CRm, `N` N. Of vectors: `Q` Q, `z` size or sz, `h` cmode, `L M H` L, M and H.

In assembly, `Xn/SP` is a register field in which number 31 is the stack pointer; in all other fields number 31 is the
zero register. `Vd.T` is a vector register: size, sz, immh or imm5 encodes the size of its elements, and Q their number.
`Vd.Tx` has elements of twice the size, `Vd.Tn` of half the size; `Vd` is a single element. The suffix `{2}` is present
if Q is 1. `Rm` and `Rt` have the size that another field encodes. Braces enclose optional parts. The disassembler
prefers the aliases of the manual, which are not listed here; the assembler takes both.

The class is the one that the dispatch network names. Holes are words that match the diagram and are UNDEFINED
nevertheless; [their table](#holes) explains them. Semantics are functions of `kvrm_arm64::semantics`, the specification
against which the engines are tested.
";

const FEATURES: &str = "\
A machine has exactly the features that it is asked for, and the words of others are UNDEFINED. A feature without
encodings has only words of other rows, such as PMULL of 64-bit elements, or hints.
";

const CHOICES: &str = "\
Where the architecture leaves the outcome of a program to the implementation (CONSTRAINED UNPREDICTABLE,
IMPLEMENTATION DEFINED, UNKNOWN) or to system software that a lane does not have, every engine makes the same
choice:

- Should-be bits (`-` and `+` in diagrams) are ignored.
- A load with write-back whose base is also the loaded register: the base has the new address afterwards.
- A store with write-back whose base is also the stored register: the old value is stored.
- LDP, LDPSW or LDNP with the same register twice: the register has the first value afterwards. LDXP or LDAXP: the
  second. QEMU does the same.
- An exclusive load marks its address and size, and only an exclusive store with the same address and size succeeds. The
  store clears the mark, whether it succeeds or not. Plain stores of the lane do not clear it.
- An exclusive store that fails does not access memory, so its only possible fault is that of a misaligned address.
- The alignment of SP is not checked.
- There is no top-byte-ignore: an address has 48 bits, and one with any higher bit set is a translation fault.
- Misaligned plain accesses work, also across pages. Exclusive, ordered and atomic accesses fault unless they are
  aligned to their total size.
- The access of a pair is one access: if one half faults, neither is done.
- An atomic needs permission to read and to write, even if it does not write.
- EL0 may execute the SYS instructions DC ZVA, which clears 64 bytes, and IC IVAU, DC CVAC, DC CVAU and DC CIVAC, which
  fault like a load of one byte and do nothing else, because caches are invisible. All others are UNDEFINED.
- LDP or LDNP of SIMD&FP registers with the same register twice: the register has the second value afterwards, as in
  QEMU.
- A load or store of structures is one access.
- Floating point and vectors (`Features::fp`) and all later features are optional features of a machine. The words of PMULL
  with elements of 64 bits need `FEAT_PMULL`.
- The fields SSBS and DIT of PSTATE keep what is written and have no other effect, because they concern time only. Both begin
  as 0.
- LDAPR, LDAPUR and STLUR order accesses as LDAR and STLR do, and fault unless they are aligned: there is no FEAT_LSE2.
- FPCR.FZ16 keeps what is written on every machine. It is RES0 without FEAT_FP16, and then has no effect.
- The words of FCMLA and FCADD with halfwords belong to FEAT_FCMA alone, although the architecture also wants FEAT_FP16.
- BFDOT and BFMMLA round to odd and raise no exceptions: there is no FEAT_EBF16.
- No page is guarded, so no branch fails for want of a BTI.
- Pointer authentication uses QARMA5, without FEAT_PAuth2, FEAT_EPAC and FEAT_FPAC, as in `max` of QEMU 7.2: a pointer that does not
  authenticate gets an error code in bits 54 and 53, and faults when it is used. Addresses have 48 bits, `TBI0` is 1, `TBID0` and
  `TBI1` are 0, as Linux sets them up. So a code is in bits 54 to 48, and if bit 55 is 1, also in bits 63 to 56. The keys follow
  from a value that the kernel of a lane chooses, which is 0 without one. Hints such as PACIASP are NOPs without the feature.
- Hints do nothing. The counter CNTVCT_EL0 is the number of steps retired.
";

/// Returns the whole document.
pub(super) fn text() -> Result<String> {
    let mut source = String::new();
    for file in fs::read_dir(root().join(ROWS)).with_context(|| format!("cannot read {ROWS}"))? {
        source +=
            &fs::read_to_string(file?.path()).with_context(|| format!("cannot read a file of {ROWS}"))?;
    }
    let mut out = String::new();
    writeln!(out, "# Instructions\n\n{BANNER} from {SOURCE}; do not edit.\n\n{NOTATION}")?;
    writeln!(out, "## Features\n\n{FEATURES}\n{}", counts())?;
    for group in groups() {
        let name = group[0].group();
        let title = title(&source, name).with_context(|| format!("{ROWS} has no comment `TITLE: {name}`"))?;
        writeln!(out, "## {title}\n\n{}", encodings(group))?;
    }
    writeln!(out, "## Holes\n\n{}", holes())?;
    writeln!(
        out,
        "## System registers\n\nThe registers that EL0 may access. Any other access is UNDEFINED.\n\n{}",
        registers()
    )?;
    write!(out, "## Choices\n\n{CHOICES}")?;
    Ok(out)
}

/// Returns the rows of the instruction table, split into groups.
fn groups() -> impl Iterator<Item = &'static [Encoding]> {
    ENCODINGS.chunk_by(|a, b| a.group() == b.group())
}

/// Returns a group's title: in the source, `// TITLE: group` precedes its rows.
fn title<'a>(source: &'a str, group: &str) -> Option<&'a str> {
    source.lines().find_map(|line| line.trim().strip_prefix("// ")?.strip_suffix(group)?.strip_suffix(": "))
}

/// Returns a Markdown table.
fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut out = format!("| {} |\n|{}\n", header.join(" | "), " --- |".repeat(header.len()));
    for row in rows {
        out += &format!("| {} |\n", row.join(" | "));
    }
    out
}

fn code(text: impl AsRef<str>) -> String {
    format!("`{}`", text.as_ref())
}

/// Returns the number of encodings of each feature and class.
fn counts() -> String {
    let row = |names: [String; 3], feature: Option<Feature>| {
        let rows = || ENCODINGS.iter().filter(|row| feature.is_none_or(|feature| row.feature == feature));
        let of = |class| rows().filter(|row| row.class == class).count().to_string();
        names.into_iter().chain(Class::ALL.map(of)).chain([rows().count().to_string()]).collect()
    };
    let features = Feature::ALL.iter().map(|feature| {
        let processor = Processor::ALL.into_iter().find(|processor| processor.features().has(*feature));
        let processor = processor.map_or("", Processor::name);
        row([feature.arm_name().to_owned(), code(feature.name()), code(processor)], Some(*feature))
    });
    let all = row(["All".to_owned(), String::new(), String::new()], None);
    let mut header = vec!["Feature", "Name", "First `--cpu`"];
    header.extend(Class::ALL.map(Class::name));
    header.push("All");
    table(&header, features.chain([all]))
}

fn encodings(group: &[Encoding]) -> String {
    let row = |encoding: &Encoding| {
        let holes: Vec<String> = encoding.holes.iter().map(|hole| code(hole.name)).collect();
        vec![
            code(encoding.name),
            code(syntax::assembly(encoding)),
            code(encoding.pattern.text()),
            encoding.class.name().to_owned(),
            format!("{:?}", encoding.feature),
            holes.join(", "),
            // `semantics()` removes differences between compilers in the spaces of a stringified path.
            code(encoding.semantics()),
        ]
    };
    let header = ["Encoding", "Assembly", "Diagram", "Class", "Feature", "Holes", "Semantics"];
    table(&header, group.iter().map(row))
}

fn holes() -> String {
    let row = |hole: &Hole| {
        let diagram = match hole.test {
            HoleTest::Pattern(pattern) => code(pattern.text()),
            HoleTest::ReservedBitMask => String::new(),
        };
        let users =
            ENCODINGS.iter().filter(|encoding| encoding.holes.iter().any(|other| other.name == hole.name));
        vec![code(hole.name), diagram, hole.meaning.to_owned(), users.count().to_string()]
    };
    table(&["Hole", "Words", "Meaning", "Encodings"], HOLES.iter().map(row))
}

fn registers() -> String {
    let row = |register: &SystemRegister| {
        let access = match register.el0 {
            El0::None => return None,
            El0::Read => "read",
            El0::ReadWrite => "read and write",
        };
        // The encoding of MRS and MSR, in which op0 is 2 or 3.
        let w = Word(1 << 20 | register.number << 5);
        let generic = format!("S{}_{}_C{}_C{}_{}", w.op0(), w.op1(), w.crn(), w.crm(), w.op2());
        Some(vec![register.name.to_uppercase(), code(generic), access.to_owned()])
    };
    table(&["Register", "Number", "EL0 may"], REGISTERS.iter().filter_map(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_the_comments_of_the_source() {
        let source = "    // Move wide (immediate): movewide\n    // Armv8.9 CSSC (minmax_imm): SMAX_32\n";
        assert_eq!(title(source, "movewide"), Some("Move wide (immediate)"), "as written");
        assert_eq!(title(source, "wide"), None, "a group is a whole word");
        assert_eq!(title(source, "minmax_imm"), None, "rows left out have no title");
    }

    #[test]
    fn a_table_has_a_rule_below_its_header() {
        assert_eq!(
            table(&["A", "B"], [vec!["1".into(), "2".into()]]),
            "| A | B |\n| --- | --- |\n| 1 | 2 |\n",
            ""
        );
    }
}
