//! All modules, as naga sees them: they compile, translate, and keep the rules of the house.

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
