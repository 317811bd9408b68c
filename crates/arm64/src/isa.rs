//! The instruction table: one row for each supported A64 encoding.
//!
//! Rows follow the order of the manual's "A64 instruction set encoding" chapter (DDI 0487, C4.1) and have
//! Arm's own encoding names and bit values. Encodings of later architecture versions stay in place as
//! comments. Everything else (decoder, disassembler, assembler, generators, documentation, shader constants)
//! is derived from the table. The rows are in the files of `isa/`.
//!
//! The columns of a row are: encoding name, mnemonic, diagram, class, feature, operands in assembly order, holes
//! (patterns inside the diagram that are UNDEFINED nevertheless), and `kind(function)`. The function is in
//! [`crate::semantics`] and executes the encoding. Its kind says what it accesses: `compute` only registers, `memory`
//! also memory, `branch` the pc; a `system` function may stop the lane or access system registers.
//!
//! Letters in diagrams: `d n m a` registers Rd Rn Rm Ra, `t u s` Rt Rt2 Rs, `i` immediate, `r s` immr imms,
//! `h` shift or sh or hw, `o` option (in system moves o0), `S` scaled, `c` cond, `f` nzcv, `b` bit number,
//! `p q` op1 op2, `C M` CRn CRm, `N` N. In vector instructions: `Q` Q, `z` size or sz, `h` cmode, `L M H` L, M and H.
//!
//! Vector operands are views of registers, which `view.rs` defines: `Vd(T)` is Vd as elements of size and Q.

/// Calls `$consumer!` with every hole: name, diagram, meaning.
macro_rules! for_each_hole {
    ($consumer:ident) => {
        $consumer! {
            ROR              "........11......................" "shift is '11' (ROR), which add and subtract do not have"
            AMOUNT32         "................1..............." "imm6<5> is 1 in a 32-bit instruction"
            IMMR32           "..........1....................." "immr<5> is 1 in a 32-bit instruction"
            IMMS32           "................1..............." "imms<5> is 1 in a 32-bit instruction"
            EXTEND5          "...................1.1.........." "imm3 is 5 or 7, more than 4"
            EXTEND6          "...................11..........." "imm3 is 6 or 7, more than 4"
            OPTION0          ".................0.............." "option<1> is 0: not a word or doubleword index"
            RS_ODD           "...............1................" "Rs of a register pair is odd"
            RT_ODD           "...............................1" "Rt of a register pair is odd"
            SCALE32          "................0..............." "scale<5> is 0: more than 32 fraction bits for a word"
            SIZE_B           "........00......................" "size is '00': bytes"
            SIZE_H           "........01......................" "size is '01': halfwords"
            SIZE_S           "........10......................" "size is '10': words"
            SIZE_D           "........11......................" "size is '11': doublewords"
            NOT_B_HIGH       "........1......................." "size<1> is 1: not bytes"
            NOT_B_LOW        ".........1......................" "size<0> is 1: not bytes"
            SZ_D             ".........1......................" "sz is 1: double precision"
            SZ_L             ".........11....................." "sz and L are 1: the index of a doubleword is only H"
            D_NO_Q           ".0.......1......................" "sz is 1 and Q is 0: a vector of one doubleword"
            SIZE_D_NO_Q      ".0......11......................" "size is '11' and Q is 0: a vector of one doubleword"
            SIZE_S_NO_Q      ".0......10......................" "size is '10' and Q is 0: a vector of two words"
            IMMH_NONE        ".........0000..................." "immh is '0000'"
            IMMH_BELOW_H     ".........000...................." "immh is below '0010': no floating-point precision"
            IMMH_D           ".........1......................" "immh<3> is 1: doublewords"
            COMPLEX_H        ".0......01..........1..........." "size is '01', H is 1 and Q is 0: an index beyond 64 bits"
            COMPLEX_L        "........101....................." "size is '10' and L is 1: the index of a pair of words is only H"
            IMM5_NONE        "............0000................" "imm5 is 'x0000': no element size"
            IMM5_D_NO_Q      ".0..........1000................" "imm5 is 'x1000' and Q is 0: a vector of one doubleword"
            IMM5_ABOVE_H     "..............00................" "imm5 is 'xxx00': neither bytes nor halfwords"
            IMM5_ABOVE_S     ".............000................" "imm5 is 'xx000': neither bytes nor halfwords nor words"
            EXT_BEYOND       ".0...............1.............." "imm4<3> is 1 and Q is 0: an index beyond 64 bits"
            STRUCTURE_D_NO_Q ".0..................11.........." "size is '11' and Q is 0: vectors of one doubleword"
        }
    };
}

#[macro_use]
mod control;
#[macro_use]
mod crypto;
#[macro_use]
mod float;
#[macro_use]
mod immediate;
#[macro_use]
mod load_store;
#[macro_use]
mod register;
#[macro_use]
mod scalar;
#[macro_use]
mod vector;

/// Calls `$consumer!` with every encoding.
///
/// Each of the macros named here appends its rows and calls the next macro in the list.
macro_rules! for_each_encoding { ($consumer:ident) => {
    immediate_rows! { $consumer [
        control_rows load_store_rows register_rows crypto_rows scalar_rows vector_rows float_rows finish_rows
    ] }
} }

/// Ends the chain of macros: calls `$consumer!` with all rows.
macro_rules! finish_rows { ($consumer:ident [] $($rows:tt)*) => { $consumer! { $($rows)* } } }
