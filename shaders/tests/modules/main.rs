//! Tests that all modules compile with naga, translate to every shading language, and follow the rules of
//! `docs/shaders.md`.

mod documented;
mod imports_are_direct;
mod loops;
mod no_bindings_in_helpers;
mod no_const_table_indexing;
mod portable_integers;
mod support;
mod table;
mod translate;
mod twins;
