//! Diagrams as pictures, which need the Cargo feature `plots`.

#[cfg(feature = "plots")]
mod drawing;
#[cfg(not(feature = "plots"))]
mod missing_feature;

use std::ops::Range;

#[cfg(feature = "plots")]
pub(crate) use self::drawing::{Picture, picture};
#[cfg(not(feature = "plots"))]
pub(crate) use self::missing_feature::{Picture, picture};

/// How curves are drawn.
#[derive(Clone, Copy, PartialEq)]
#[cfg_attr(not(feature = "plots"), allow(dead_code, reason = "nothing is drawn"))]
pub(crate) enum Marks {
    Points,
    Line,
}

/// Where the names of curves are.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "plots"), allow(dead_code, reason = "nothing is drawn"))]
pub(crate) enum Corner {
    UpperLeft,
    UpperRight,
}

/// A diagram of curves with names.
#[cfg_attr(not(feature = "plots"), allow(dead_code, reason = "nothing is drawn"))]
pub(crate) struct Figure<'a> {
    pub(crate) title: String,
    pub(crate) x: Range<f64>,
    pub(crate) x_label: &'a str,
    pub(crate) y: Range<f64>,
    pub(crate) y_label: &'a str,
    pub(crate) marks: Marks,
    pub(crate) key: Corner,
    pub(crate) curves: Vec<(&'a str, Vec<(f64, f64)>)>,
}
