//! A plot of hot loops as SVG: a bar for each, with the shares of steps that were executed at once and that were stepped.

use std::fmt::Write as _;

/// The width of the picture and the height of a row, in pixels.
const WIDTH: f64 = 1000.0;
const ROW: f64 = 28.0;
/// The left edge of the bars, and the length of a bar of all steps.
const LEFT: f64 = 260.0;
const LENGTH: f64 = 400.0;
/// Colours that are distinguishable with colour blindness, too (Okabe and Ito).
const AT_ONCE: &str = "#0072b2";
const STEPPED: &str = "#e69f00";

/// A loop as a bar.
pub(super) struct Bar {
    /// The text to the left of the bar.
    pub(super) name: String,
    /// The text to the right of the bar, behind the percentage.
    pub(super) verdict: String,
    /// The shares of all steps that were executed at once and that were stepped.
    pub(super) shares: [f64; 2],
}

/// Draws the bars from top to bottom.
pub(super) fn svg(title: &str, bars: &[Bar]) -> String {
    let height = ROW * (bars.len() as f64 + 3.0);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let mut label = |x: f64, row: f64, anchor: &str, label: &str| {
        let y = (row + 0.65) * ROW;
        let escaped = escaped(label);
        // Writing to a string does not fail.
        let _ = writeln!(text, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{escaped}</text>");
    };
    label(WIDTH / 2.0, 0.0, "middle", title);
    label(LEFT + 20.0, 1.0, "start", "executed at once");
    label(LEFT + 190.0, 1.0, "start", "stepped");
    for (row, bar) in (2_u32..).zip(bars) {
        let end = LEFT + LENGTH * bar.shares.iter().sum::<f64>().min(1.0);
        let percent = 100.0 * bar.shares.iter().sum::<f64>();
        label(LEFT - 8.0, row.into(), "end", &bar.name);
        label(end + 8.0, row.into(), "start", &format!("{percent:.1} %, {}", bar.verdict));
    }
    let mut rectangle = |x: f64, row: f64, width: f64, colour: &str| {
        let (y, height) = ((row + 0.2) * ROW, 0.6 * ROW);
        let _ = writeln!(
            text,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{colour}\"/>"
        );
    };
    rectangle(LEFT, 1.0, 12.0, AT_ONCE);
    rectangle(LEFT + 170.0, 1.0, 12.0, STEPPED);
    for (row, bar) in (2_u32..).zip(bars) {
        let [at_once, stepped] = bar.shares.map(|share| LENGTH * share.clamp(0.0, 1.0));
        rectangle(LEFT, row.into(), at_once, AT_ONCE);
        rectangle(LEFT + at_once, row.into(), stepped.min(LENGTH - at_once), STEPPED);
    }
    text += "</svg>\n";
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_loop_has_two_bars_and_its_names() {
        let bars = [
            Bar { name: "0x10 in a<b>".into(), verdict: "proved".into(), shares: [0.5, 0.1] },
            Bar { name: "0x20".into(), verdict: "refused & stepped".into(), shares: [0.0, 0.25] },
        ];
        let text = svg("two loops", &bars);
        assert_eq!(text.matches("<rect").count(), 1 + 2 + 4, "{text}");
        assert!(text.contains("a&lt;b&gt;") && text.contains("refused &amp; stepped"), "{text}");
        assert!(text.contains("60.0 %, proved") && text.contains("width=\"200.0\""), "{text}");
    }
}
