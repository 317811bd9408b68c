//! Tests of the report of a failed vector.

use crate::support::vector;

#[test]
fn a_failure_is_shown_with_its_code_and_both_values_aligned() {
    let vector = vector(
        r#"{"name":"adds wrong","pc":"0x10000","code":["b1000420","d503201f"],"steps":2,
            "init":{"x":{"1":"0xffffffffffffffff"},"sp":"0x20000"},
            "final":{"x":{"0":"0x1"},"nzcv":"0x2","stop":"fault","mem":[{"at":"0x20000","bytes":"00ff"}]}}"#
            .replace('\n', "")
            .as_str(),
    );
    let expected = "\
adds wrong
       0x10000  b1000420  adds x0, x1, #0x1
       0x10004  d503201f  nop
                       expected  got
    x0                 0x1       0x0
    nzcv               0x2       0x6
    stop               fault     the budget of steps is used up
    memory at 0x20000  00ff      0000
";
    assert_eq!(vector.describe(&vector.run()), expected, "the report");
}

#[test]
fn memory_is_shown_sixteen_bytes_at_a_time_and_only_where_it_differs() {
    let zeros = "00".repeat(16);
    let vector = vector(&format!(
        r#"{{"name":"n","pc":"0x10000","code":["d503201f"],"steps":1,"init":{{"sp":"0x20000"}},"final":{{"mem":[{{"at":"0x20000","bytes":"{zeros}{zeros}01{zeros}"}},{{"at":"0x20100","bytes":"02"}}]}}}}"#
    ));
    let shown: Vec<_> = vector.run().into_iter().map(|m| (m.what, m.expected, m.got)).collect();
    let row = |at: &str, expected: String, got: &str| (format!("memory at {at}"), expected, got.to_owned());
    assert_eq!(
        shown,
        [row("0x20020", format!("01{}", "00".repeat(15)), &zeros), row("0x20100", "02".to_owned(), "00")],
        "the third row of the first range, and the second range"
    );
}
