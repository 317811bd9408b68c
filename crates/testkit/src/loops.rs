//! Random loops: instructions, of which the last one branches back to the first. Registers are x0 to x5 and the zero register.

pub mod entries;
pub mod memory;

use proptest::prelude::*;

/// A few registers, so that instructions depend on each other.
fn register() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 0..5_u32, 1 => Just(31)]
}

/// An instruction without a branch and without memory.
fn instruction() -> impl Strategy<Value = u32> {
    let registers = || (register(), register(), register());
    prop_oneof![
        // ADD, SUB, ADDS, SUBS with an immediate.
        4 => (0..8_u32, 0..2_u32, prop_oneof![0..5_u32, 0..4096_u32], registers()).prop_map(
            |(kind, shift, imm, (d, n, _))| kind << 29 | 0x1100_0000 | shift << 22 | imm << 10 | n << 5 | d
        ),
        // With a shifted register.
        4 => (0..8_u32, 0..3_u32, 0..64_u32, registers()).prop_map(|(kind, shift, amount, (d, n, m))| {
            let amount = if kind < 4 { amount % 32 } else { amount };
            kind << 29 | 0x0b00_0000 | shift << 22 | m << 16 | (amount % 5) << 10 | n << 5 | d
        }),
        // With an extended register.
        2 => (0..8_u32, 0..8_u32, 0..5_u32, registers()).prop_map(|(kind, option, amount, (d, n, m))| {
            kind << 29 | 0x0b20_0000 | m << 16 | option << 13 | amount << 10 | n << 5 | d
        }),
        // Logical instructions with a shifted register, MOV among them.
        2 => (0..8_u32, 0..8_u32, registers()).prop_map(|(kind, shift, (d, n, m))| {
            kind << 29 | 0x0a00_0000 | shift << 21 | m << 16 | n << 5 | d
        }),
        // UBFM and SBFM.
        2 => (any::<bool>(), any::<bool>(), 0..64_u32, 0..64_u32, registers()).prop_map(
            |(wide, unsigned, r, s, (d, n, _))| {
                let [r, s] = [r, s].map(|number| if wide { number } else { number % 32 });
                u32::from(wide) << 31 | u32::from(wide) << 22 | u32::from(unsigned) << 30
                    | 0x1300_0000 | r << 16 | s << 10 | n << 5 | d
            }
        ),
        // MADD and MSUB, MOVZ, CSEL.
        1 => (any::<bool>(), 0..2_u32, registers(), register()).prop_map(|(wide, sub, (d, n, m), a)| {
            u32::from(wide) << 31 | 0x1b00_0000 | m << 16 | sub << 15 | a << 10 | n << 5 | d
        }),
        1 => (any::<bool>(), 0..0x1_0000_u32, register()).prop_map(|(wide, imm, d)| {
            u32::from(wide) << 31 | 0x5280_0000 | imm << 5 | d
        }),
        1 => (any::<bool>(), 0..16_u32, registers()).prop_map(|(wide, cond, (d, n, m))| {
            u32::from(wide) << 31 | 0x1a80_0000 | m << 16 | cond << 12 | n << 5 | d
        }),
    ]
}

/// A branch by `words` instructions: B.cond, CBZ, CBNZ, TBZ or TBNZ.
fn branch(words: i32) -> impl Strategy<Value = u32> {
    prop_oneof![
        6 => (0..16_u32).prop_map(move |cond| 0x5400_0000 | (words as u32 & 0x7_ffff) << 5 | cond),
        2 => (0..2_u32, 0..2_u32, register()).prop_map(move |(wide, not, t)| {
            wide << 31 | 0x3400_0000 | not << 24 | (words as u32 & 0x7_ffff) << 5 | t
        }),
        1 => (0..32_u32, 0..2_u32, register()).prop_map(move |(bit, not, t)| {
            0x3600_0000 | not << 24 | bit << 19 | (words as u32 & 0x3fff) << 5 | t
        }),
    ]
}

/// The code of a loop whose last instruction branches to the first, perhaps with another exit.
pub fn code() -> impl Strategy<Value = Vec<u32>> {
    let body = (prop::collection::vec(instruction(), 1..6), prop::option::of((0..6_usize, branch(1000))));
    closed(body.prop_map(|(mut words, exit)| {
        if let Some((place, exit)) = exit {
            words.insert(place.min(words.len()), exit);
        }
        words
    }))
}

/// Instructions, and a branch from behind the last one to the first.
fn closed(words: impl Strategy<Value = Vec<u32>>) -> impl Strategy<Value = Vec<u32>> {
    words
        .prop_flat_map(|words| {
            let back = branch(-(words.len() as i32));
            (Just(words), back)
        })
        .prop_map(|(mut words, back)| {
            words.push(back);
            words
        })
}

/// ADD or SUB of a small number to a register, 32 or 64 bits wide.
fn induction() -> impl Strategy<Value = u32> {
    (0..2_u32, 0..2_u32, 1..20_u32, 0..3_u32)
        .prop_map(|(wide, sub, imm, r)| wide << 31 | sub << 30 | 0x1100_0000 | imm << 10 | r << 5 | r)
}

/// A compare: SUBS of two registers, the second perhaps extended, or of a register and an immediate.
fn compare() -> impl Strategy<Value = u32> {
    prop_oneof![
        (0..2_u32, register(), register())
            .prop_map(|(wide, n, m)| wide << 31 | 0x6b00_001f | m << 16 | n << 5),
        (0..2_u32, register(), register(), 0..8_u32, 0..5_u32).prop_map(|(wide, n, m, option, amount)| {
            wide << 31 | 0x6b20_001f | m << 16 | option << 13 | amount << 10 | n << 5
        }),
        (0..2_u32, register(), 0..500_u32)
            .prop_map(|(wide, n, imm)| wide << 31 | 0x7100_001f | imm << 10 | n << 5),
    ]
}

/// The code of a loop as programs have it: inductions, a compare and other instructions in any order, and a branch.
pub fn counted() -> impl Strategy<Value = Vec<u32>> {
    let others = prop::collection::vec(prop_oneof![2 => induction(), 1 => instruction()], 0..3);
    let words = (induction(), others, prop::option::of(compare()))
        .prop_map(|(induction, others, compare)| {
            [induction].into_iter().chain(others).chain(compare).collect::<Vec<_>>()
        })
        .prop_shuffle();
    closed(words)
}

/// A load or a store of a register, or of a pair, at x0, x1 or x2, of all sizes and addressing modes.
fn access() -> impl Strategy<Value = u32> {
    let parts = || (0..4_u32, 0..2_u32, 0..3_u32, 0..5_u32);
    prop_oneof![
        // With an unsigned offset.
        2 => (parts(), 0..4_u32).prop_map(|((size, load, n, t), imm)| {
            size << 30 | 0x3900_0000 | load << 22 | imm << 10 | n << 5 | t
        }),
        // With write-back, before or after, or without.
        4 => (parts(), prop::sample::select(&[0_u32, 1, 3][..]), -16..17_i32).prop_map(
            |((size, load, n, t), index, imm)| {
                size << 30 | 0x3800_0000 | load << 22 | (imm as u32 & 0x1ff) << 12 | index << 10 | n << 5 | t
            }
        ),
        // With a register.
        2 => (parts(), 2..5_u32, prop::sample::select(&[2_u32, 3, 6][..]), 0..2_u32).prop_map(
            |((size, load, n, t), m, option, shift)| {
                size << 30 | 0x3820_0800 | load << 22 | m << 16 | option << 13 | shift << 12 | n << 5 | t
            }
        ),
        // Pairs.
        1 => (parts(), 0..2_u32, 0..5_u32, 1..4_u32, -3..4_i32).prop_map(
            |((_, load, n, t), wide, second, index, imm)| {
                wide << 31 | 0x2800_0000 | index << 23 | load << 22 | (imm as u32 & 0x7f) << 15 | second << 10 | n << 5 | t
            }
        ),
    ]
}

/// The code of a loop with accesses to memory.
pub fn accesses() -> impl Strategy<Value = Vec<u32>> {
    let others =
        prop::collection::vec(prop_oneof![2 => induction(), 2 => access(), 1 => instruction()], 0..3);
    let words = (access(), induction(), others, prop::option::of(compare()))
        .prop_map(|(access, induction, others, compare)| {
            [access, induction].into_iter().chain(others).chain(compare).collect::<Vec<_>>()
        })
        .prop_shuffle();
    closed(words)
}

/// CBNZ of x4 or B.NE to the first instruction, after a subtraction of 1 from x4. It ends a loop of `words` instructions.
fn countdown(words: usize) -> impl Strategy<Value = [u32; 2]> {
    let distance = (-(words as i32) - 1) as u32 & 0x7_ffff;
    let subtract = |flags: u32| 0xd100_0484 | flags << 29;
    prop::sample::select(vec![
        [subtract(0), 0xb500_0004 | distance << 5],
        [subtract(1), 0xb500_0004 | distance << 5],
        [subtract(1), 0x5400_0001 | distance << 5],
    ])
}

/// The code of a loop with two or three accesses of one size that move in steps, such as copies and fills: the first is often a
/// load of x3 and x5, the others are stores of them. Often, these are pairs. x4 counts down.
pub fn streams() -> impl Strategy<Value = Vec<u32>> {
    let step = prop_oneof![3 => Just(1), 2 => Just(-1), 1 => -3..4_i32];
    let access = |load: u32| (0..3_u32, -3..4_i32, prop::bool::weighted(0.7)).prop_map(move |of| (load, of));
    let load = prop_oneof![access(1), access(0)];
    let accesses = (load, access(0), prop::option::weighted(0.3, access(0)));
    // An induction, also of w3, or a selection by the flags of the iteration before.
    let other = prop_oneof![
        3 => induction(),
        2 => (1..20_u32).prop_map(|imm| 0x1100_0063 | imm << 10),
        2 => (0..14_u32, 0..3_u32).prop_map(|(cond, d)| 0x9a83_0000 | cond << 12 | d),
    ];
    (accesses, 0..4_u32, step, prop::bool::weighted(0.3), prop::option::weighted(0.4, other))
        .prop_map(|((first, second, third), size, step, pairs, other)| {
            let one = |(load, (n, offset, moves)): (u32, (u32, i32, bool))| {
                let both = load << 22 | n << 5 | 3;
                let offset = if moves { step } else { offset };
                if pairs {
                    // The offset is in units of a register, of which there are two.
                    let (wide, index) = (size & 1, if moves { 1 } else { 2 });
                    return wide << 31
                        | 0x2800_0000
                        | index << 23
                        | ((2 * offset) as u32 & 0x7f) << 15
                        | 5 << 10
                        | both;
                }
                let imm = ((offset << size) as u32 & 0x1ff) << 12;
                size << 30 | 0x3800_0000 | imm | u32::from(moves) << 10 | both
            };
            [one(first), one(second)].into_iter().chain(third.map(one)).chain(other).collect::<Vec<_>>()
        })
        .prop_flat_map(|words| {
            let end = countdown(words.len());
            (Just(words), end)
        })
        .prop_map(|(words, end)| words.into_iter().chain(end).collect())
}

/// The code of a loop with an access at x1 plus w2, extended, which moves by a small number and wraps soon. x4 counts down.
pub fn indexed() -> impl Strategy<Value = Vec<u32>> {
    (0..4_u32, 0..2_u32, prop::sample::select(&[2_u32, 6][..]), 1..9_u32, countdown(2)).prop_map(
        |(size, load, option, step, end)| {
            let access = size << 30 | 0x3822_0823 | load << 22 | option << 13; // ldr or str x3, [x1, w2, uxtw or sxtw]
            [access, 0x1100_0042 | step << 10].into_iter().chain(end).collect() // add w2, w2, #step
        },
    )
}

/// A load or a store of a register of `1 << size` bytes at x0 or x1, which moves it behind the access.
fn moving(size: u32, load: u32, n: u32, t: u32) -> u32 {
    size << 30 | 0x3800_0400 | load << 22 | 1 << (12 + size) | n << 5 | t
}

/// Computes x3 or x5 from both: with any instruction, a selection after a comparison, a conditional comparison before it, or a
/// table at x1.
fn computation() -> impl Strategy<Value = Vec<u32>> {
    let register = || prop::sample::select(&[3_u32, 3, 5, 31][..]);
    let target = || prop::sample::select(&[3_u32, 5][..]);
    let compare = move || {
        (0..2_u32, register(), register(), prop::option::of(0..300_u32)).prop_map(|(wide, n, m, imm)| {
            match imm {
                Some(imm) => wide << 31 | 0x7100_001f | imm << 10 | n << 5,
                None => wide << 31 | 0x6b00_001f | m << 16 | n << 5,
            }
        })
    };
    // CCMP or CCMN with a register or a number.
    let conditional = move || {
        (0..4_u32, 0..2_u32, register(), 0..32_u32, 0..14_u32, 0..16_u32).prop_map(
            |(kind, imm, n, m, cond, nzcv)| {
                let m = if imm == 1 { m } else { 3 };
                kind << 30 | 0x3a40_0000 | m << 16 | cond << 12 | imm << 11 | n << 5 | nzcv
            },
        )
    };
    // CSEL, CSINC, CSINV or CSNEG.
    let select = (0..4_u32, 0..2_u32, register(), register(), 0..16_u32, target()).prop_map(
        |(kind, other, n, m, cond, d)| {
            kind << 30 | 0x1a80_0000 | other << 10 | m << 16 | cond << 12 | n << 5 | d
        },
    );
    let table =
        (0..4_u32, 0..2_u32, target(), target(), 1..8_u32).prop_map(|(size, scaled, index, t, bits)| {
            let mask = 0x9240_0000 | (bits - 1) << 10 | index << 5 | index; // and index, index, #(1 << bits) - 1
            vec![mask, size << 30 | 0x3860_6820 | index << 16 | scaled << 12 | t] // ldr t, [x1, index]
        });
    let other = (instruction(), register(), register(), target()).prop_map(|(word, n, m, d)| {
        (word & !(31 | 31 << 5)) & !(if word >> 24 & 0xe == 0xa { 31 << 16 } else { 0 })
            | d
            | n << 5
            | if word >> 24 & 0xe == 0xa { m << 16 } else { 0 }
    });
    prop_oneof![
        3 => other.prop_map(|word| vec![word]),
        2 => (compare(), prop::option::weighted(0.3, conditional()), select)
            .prop_map(|(compare, conditional, select)| [compare].into_iter().chain(conditional).chain([select]).collect()),
        1 => table,
    ]
}

/// Combines x2 with x3 or x5: a sum, a bitwise operation, or the least or greatest of both.
fn combination() -> impl Strategy<Value = Vec<u32>> {
    let value = || prop::sample::select(&[3_u32, 5][..]);
    let simple =
        prop::sample::select(&[0x0b00_0042_u32, 0x4b00_0042, 0x0a00_0042, 0x2a00_0042, 0x4a00_0042][..]);
    prop_oneof![
        (simple, 0..2_u32, value()).prop_map(|(word, wide, m)| vec![wide << 31 | word | m << 16]),
        (0..2_u32, value(), any::<[bool; 2]>(), 0..14_u32).prop_map(|(wide, m, [swaps, selects], cond)| {
            let order = |swaps: bool| if swaps { m << 5 | 2 << 16 } else { 2 << 5 | m << 16 };
            vec![
                wide << 31 | 0x6b00_001f | order(swaps),
                wide << 31 | 0x1a80_0002 | cond << 12 | order(selects),
            ]
        }),
    ]
}

/// The code of a loop as programs have it: it loads x3, and perhaps x5, computes with them, may combine x2 with one of them, may
/// store one behind x0 or x1 or where it came from, and may leave in the middle. x4 counts down.
pub fn kernels() -> impl Strategy<Value = Vec<u32>> {
    let loads = (0..4_u32, 0..2_u32, prop::option::weighted(0.4, 0..2_u32), any::<bool>());
    let loads = loads.prop_map(|(size, n, second, polls)| {
        // Polling: the address stays the same.
        let stays = |word: u32| if polls { word & !(0x1ff << 12 | 1 << 10) } else { word };
        let first = stays(moving(size, 1, n, 3));
        [Some(first), second.map(|n| moving(size, 1, n, 5))].into_iter().flatten().collect::<Vec<_>>()
    });
    let store = prop_oneof![
        (0..4_u32, 0..2_u32, prop::sample::select(&[3_u32, 5, 2][..]))
            .prop_map(|(size, n, t)| moving(size, 0, n, t)),
        // Where the load before has loaded, if it had that size.
        (0..4_u32, 0..2_u32).prop_map(|(size, n)| size << 30
            | 0x3800_0003
            | ((1_u32 << size).wrapping_neg() & 0x1ff) << 12
            | n << 5),
    ];
    let exit = (prop::option::of(compare()), prop::bool::weighted(0.4), branch(1000), 0..3_usize).prop_map(
        |(compare, is_search, branch, near)| {
            // CBZ or CBNZ of w3 is the search for a zero.
            let search = [0x3400_0003 | 1000 << 5, 0x3500_0003 | 1000 << 5, branch][near];
            if is_search { vec![search] } else { compare.into_iter().chain([branch]).collect() }
        },
    );
    let computations = prop::collection::vec(computation(), 0..3).prop_map(|all| all.concat());
    (
        loads,
        prop::option::weighted(0.3, exit),
        computations,
        prop::option::weighted(0.5, combination()),
        prop::option::weighted(0.4, store),
    )
        .prop_map(|(loads, exit, computations, combination, store)| {
            let parts = [loads, exit.unwrap_or_default(), computations, combination.unwrap_or_default()];
            parts.concat().into_iter().chain(store).collect::<Vec<_>>()
        })
        .prop_flat_map(|words| {
            let end = countdown(words.len());
            (Just(words), end)
        })
        .prop_map(|(words, end)| words.into_iter().chain(end).collect())
}

/// The code of a loop that replaces bytes from x1 on with the elements of a table at x2 that they number, and stores these from x0 on.
/// x4 counts down.
pub fn byte_tables() -> impl Strategy<Value = Vec<u32>> {
    (0..4_u32, 0..2_u32, 0..4_u32, countdown(3)).prop_map(|(size, scaled, stored, end)| {
        // Mostly of one size.
        let stored = if stored == 3 { 3 - size } else { size };
        let element = size << 30 | 0x3863_6843 | scaled << 12; // ldr w3, [x2, x3]
        [moving(0, 1, 1, 3), element, moving(stored, 0, 0, 3)].into_iter().chain(end).collect()
    })
}

/// The code of a loop that compares two neighbours at x0, skips instructions if they are in order, and mostly exchanges them if they
/// are not. x2 may change with an exchange. x4 counts down.
pub fn passes() -> impl Strategy<Value = Vec<u32>> {
    let loads = (0..4_u32, any::<[bool; 2]>(), 0..3_u32).prop_map(|(size, [pair, swapped], extend)| {
        // LDR, LDRS to 64 bits, LDRS to 32 bits; LDP and LDPSW.
        let opcode = match extend {
            1 if size < 3 => 2,
            2 if size < 2 => 3,
            _ => 1,
        };
        let one = |place: u32, t: u32| size << 30 | 0x3900_0000 | opcode << 22 | place << 10 | t;
        let words = match (pair, size, opcode) {
            (true, 2, 2) => vec![0x6940_1403],
            (true, 2 | 3, 1) => vec![0x2940_1403 | (size & 1) << 31],
            _ if swapped => vec![one(1, 5), one(0, 3)],
            _ => vec![one(0, 3), one(1, 5)],
        };
        (size, words)
    });
    let compare = (0..2_u32, any::<bool>(), 0..14_u32);
    let stores = (any::<[bool; 2]>(), prop::bool::weighted(0.1));
    // Other instructions that an exchange executes, with x2: add, add of words, movz, moves of w3 and x5, add x2, x0, #4.
    let others =
        [0x9100_0442, 0x1100_0c42, 0xd280_0022, 0x2a03_03e2, 0xaa05_03e2, 0x9100_1002, 0x8b03_0042_u32];
    let other = (prop::option::weighted(0.6, prop::sample::select(others.to_vec())), any::<bool>());
    (loads, compare, stores, other, prop::bool::weighted(0.05))
        .prop_map(
            |(
                (size, mut words),
                (wide, reversed, cond),
                ([pair, order], keeps),
                (other, is_first),
                strays,
            )| {
                let [n, m] = if reversed { [5, 3] } else { [3, 5] };
                words.push(wide << 31 | 0x6b00_001f | m << 16 | n << 5);
                // An exchange stores x5 first, in memory.
                let [low, high] = if keeps { [3, 5] } else { [5, 3] };
                let one = |place: u32, t: u32| size << 30 | 0x3900_0000 | place << 10 | t;
                let mut middle = match (pair && size >= 2, order) {
                    (true, _) => vec![0x2900_0000 | (size & 1) << 31 | high << 10 | low],
                    (false, false) => vec![one(0, low), one(1, high)],
                    (false, true) => vec![one(1, high), one(0, low)],
                };
                middle.insert(if is_first { 0 } else { middle.len() }, other.unwrap_or(0xd503_201f));
                words.push(0x5400_0000 | (middle.len() as u32 + 1) << 5 | cond);
                words.extend(middle);
                words.push(0x9100_0000 | ((1 << size) + u32::from(strays)) << 10); // add x0, x0, #size
                words
            },
        )
        .prop_flat_map(|words| {
            let end = countdown(words.len());
            (Just(words), end)
        })
        .prop_map(|(words, end)| words.into_iter().chain(end).collect())
}

/// What an inner loop does in an iteration: nothing, or a fill or a copy from one register on to another.
fn inner() -> impl Strategy<Value = Vec<u32>> {
    let registers = prop::sample::select(&[(0_u32, 1_u32), (6, 7), (6, 0)][..]);
    (0..6_u32, 0..5_u32, registers, any::<bool>(), prop::option::weighted(0.1, instruction().boxed()))
        .prop_map(|(kind, size, (to, from), goes_down, other)| {
            let step = |bytes: u32| if goes_down { bytes.wrapping_neg() } else { bytes };
            let one = |load: u32, n: u32, t: u32| {
                size << 30 | 0x3800_0400 | load << 22 | (step(1 << size) & 0x1ff) << 12 | n << 5 | t
            };
            let pair = |load: u32, n: u32, t: u32| {
                0xa880_0000 | load << 22 | (step(2) & 0x7f) << 15 | (t + 1) << 10 | n << 5 | t
            };
            let words = match (kind, size) {
                (0, _) => vec![],
                (1 | 2, 4) => vec![pair(0, to, 2)],
                (1 | 2, _) => vec![one(0, to, 2)],
                (_, 4) => vec![pair(1, from, 8), pair(0, to, 8)],
                _ => vec![one(1, from, 8), one(0, to, 8)],
            };
            words.into_iter().chain(other).collect()
        })
}

/// The code of a loop with another loop in it, which mostly fills or copies memory from x0 and x1 on. x4 counts down, and x5 counts the
/// iterations of the inner loop.
pub fn nests() -> impl Strategy<Value = Vec<u32>> {
    // movz x5, #n; movz w5, #n; and x5, x3, #15; and x5, x4, #15
    let count = prop_oneof![
        6 => (0..12_u32).prop_map(|n| 0xd280_0005 | n << 5),
        1 => (1..12_u32).prop_map(|n| 0x5280_0005 | n << 5),
        1 => prop::sample::select(&[0x9240_0c65_u32, 0x9240_0c85][..]),
    ];
    // subs x5, x5, #1; b.ne, sub x5, x5, #1; cbnz x5, subs w5, w5, #1; b.ne, add x5, x5, #1; cmp x5, #12; b.lo
    let end = prop::sample::select(vec![
        vec![0xf100_04a5, 0x5400_0001],
        vec![0xd100_04a5, 0xb500_0005],
        vec![0x7100_04a5, 0x5400_0001],
        vec![0x9100_04a5, 0xf100_30bf, 0x5400_0003_u32],
    ]);
    let pitch = || 0..100_u32;
    // Large values of generators would not fit the stack of a test.
    let other = || prop::option::weighted(0.2, instruction().boxed());
    (count, end, inner(), (pitch(), pitch()), (other(), other(), any::<bool>()))
        .prop_map(|(count, mut end, inner, (to, from), (before, behind, stores))| {
            let back = (inner.len() + end.len() - 1) as u32;
            end.last_mut().into_iter().for_each(|branch| *branch |= (back.wrapping_neg() & 0x7_ffff) << 5);
            // mov x6, x0; mov x7, x1; behind the inner loop add x0, x0, #to; add x1, x1, #from; perhaps str x5, [x0, #160]
            let begin = before.into_iter().chain([0xaa00_03e6, 0xaa01_03e7, count]);
            let moves = [0x9100_0000 | to << 10, 0x9100_0021 | from << 10];
            let store = stores.then_some(0xf900_5005);
            begin.chain(inner).chain(end).chain(store).chain(moves).chain(behind).collect::<Vec<_>>()
        })
        .prop_flat_map(|words| {
            let end = countdown(words.len());
            (Just(words), end)
        })
        .prop_map(|(words, end)| words.into_iter().chain(end).collect())
}

/// The code of any of these loops.
pub fn any_loop() -> impl Strategy<Value = Vec<u32>> {
    prop_oneof![
        1 => code(), 2 => counted(), 2 => accesses(), 4 => streams(), 2 => indexed(), 8 => kernels(), 3 => passes(),
        4 => nests(), 1 => byte_tables(),
    ]
}
