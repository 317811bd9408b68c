//! Tests of imports, with files that `files/make.py` makes from other programs, and of descriptions.

mod damage;
mod description;
mod edges;
mod missing_feature;
mod nir;
mod support;
