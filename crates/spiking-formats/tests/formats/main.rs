//! Files of others, made by `files/make.py`, and descriptions.

mod absent;
mod damage;
mod description;
mod edges;
mod nir;
mod support;
