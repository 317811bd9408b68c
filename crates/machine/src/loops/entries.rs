//! Entries of loops, of which an advisor hears.

use kvrm_loops::{Distance, Proof, certain_iterations};

use super::advice::LoopEntry;
use super::search::Place;

/// Returns the entry of a lane that is in a loop, if the registers of micro-ops are `registers` now. Returns `None` if the number of
/// iterations is not proved: it depends on loaded values, or on inner loops.
pub(super) fn entry<'a>(place: &'a Place, proof: &Proof, registers: &[u64]) -> Option<LoopEntry<'a>> {
    let Proof::Loop(found) = proof else { return None };
    if found.inner().is_some() {
        return None;
    }
    let iterations = match certain_iterations(found, registers) {
        // It says nothing.
        0 => return None,
        certain => certain.checked_add(1)?,
    };
    let Distance { distance, step } = Distance::new(found, registers);
    (step != 0).then_some(LoopEntry { head: place.head, words: &place.words, distance, step, iterations })
}

#[cfg(test)]
mod tests {
    use kvrm_arm64::Features;
    use kvrm_arm64::lowering::lower;

    use super::*;

    /// Returns the numbers of an entry of a loop, with x0 = 0x1000, x1 = 0x2000 and x4 = 100.
    fn numbers(words: &[u32]) -> Option<[u64; 3]> {
        let place = Place { head: 0, words: words.to_vec() };
        let fetch = |pc: u64| Some(lower(*words.get(pc as usize / 4)?, Features::BASE));
        let proof = Proof::find(place.end(), fetch).expect("iterations can be executed at once");
        let mut registers = [0; 32];
        (registers[0], registers[1], registers[4]) = (0x1000, 0x2000, 100);
        let registers = kvrm_loops::micro_op_registers(&registers);
        entry(&place, &proof, &registers).map(|entry| [entry.distance, entry.step, entry.iterations])
    }

    #[test]
    fn entries_have_the_numbers_that_are_proved() {
        let fill = [0xf800_8402, 0xeb01_001f, 0x54ff_ffc3]; // str x2, [x0], #8; cmp x0, x1; b.lo to the first
        assert_eq!(numbers(&fill), Some([0xff8, 8, 512]), "of a fill");
        let countdown = [0xd100_0c84, 0xf100_009f, 0x54ff_ffcc]; // sub x4, x4, #3; cmp x4, #0; b.gt to the first
        assert_eq!(numbers(&countdown), Some([97, 3, 34]), "of a countdown in steps of 3");
    }

    #[test]
    fn searches_have_no_number() {
        let search = [0x3840_1423, 0x35ff_ffe3]; // ldrb w3, [x1], #1; cbnz w3 to the first
        assert_eq!(numbers(&search), None, "memory decides");
        let either = [0x3840_1423, 0x3400_0063, 0xf100_0484, 0x54ff_ffa1]; // with subs x4, x4, #1; b.ne
        assert_eq!(numbers(&either), None, "memory may decide");
    }
}
