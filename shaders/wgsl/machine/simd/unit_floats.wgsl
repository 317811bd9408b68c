//! The SIMD unit with loads, stores, moves, integer and floating-point arithmetic.

import package::machine::micro_op::{
    HANDLER_VECTOR_FLOAT, HANDLER_VECTOR_INTEGER, HANDLER_VECTOR_MOVE, HANDLER_VECTOR_PERMUTE, get_handler,
};
import package::machine::simd::floats::{compute_floats};
import package::machine::simd::integers::{compute_integers};
import package::machine::simd::moves::{move_vector, permute_vector};

/// The number of this unit. Lanes stop before instructions that need a greater one.
const SIMD_LEVEL = 2u;

/// Executes an instruction that does not access memory.
fn simd_compute(op: vec4<u32>) {
    switch get_handler(op.x) {
        case HANDLER_VECTOR_MOVE: { move_vector(op); }
        case HANDLER_VECTOR_PERMUTE: { permute_vector(op); }
        case HANDLER_VECTOR_INTEGER: { compute_integers(op); }
        case HANDLER_VECTOR_FLOAT: { compute_floats(op); }
        default: {}
    }
}
