//! Arguments that all measurements have.

/// The longest measurement, in seconds.
const SECONDS_MAX: f64 = 3600.0;

/// Parses a time in seconds.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let seconds: Option<f64> = text.parse().ok().filter(|seconds| *seconds > 0.0 && *seconds <= SECONDS_MAX);
    seconds
        .ok_or_else(|| format!("expected a number of seconds above 0 and up to {SECONDS_MAX}, such as 0.5"))
}

/// Parses a share of all: a number above 0 and up to 1.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let share: Option<f64> = text.parse().ok().filter(|share| *share > 0.0 && *share <= 1.0);
    share.ok_or_else(|| "expected a number above 0 and up to 1, such as 0.1".into())
}
