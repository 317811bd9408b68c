//! An engine that fails is an error of whatever needed it, never a result.

use std::error::Error as _;

use kvrm_machine::vectors::{parse, run_all};
use kvrm_machine::{Error, Machine, Report, Stop};

use crate::support::{CODE, Watched, calling, raw};

/// Everything a machine may ask of its engine.
fn everything(watched: &Watched) -> Result<Report, Error> {
    let block = CODE + 0x1000;
    let calls =
        [(0x18, block, vec![0x2_0026, 0]), (0x05, block, vec![1, block, 8]), (0x04, block, vec![0x41])];
    let program = raw(|a| {
        a.hlt(0xf000).hlt(0);
    });
    let mut machine = Machine::builder(program)
        .engine(watched.clone())
        .lanes(calls.len())
        .prepare(move |lane| {
            let (operation, parameter, fields) = &calls[lane.number()];
            lane.set_x(0, *operation);
            lane.set_x(1, *parameter);
            lane.write(*parameter, &fields.iter().flat_map(|field| field.to_le_bytes()).collect::<Vec<u8>>());
        })
        .build()?;
    machine.snapshot()?;
    let report = machine.run(100)?;
    machine.set_frames_max(9)?;
    machine.dirty_pages(0)?;
    assert_eq!(machine.memory_of_all(CODE, 4)?.map(|bytes| bytes.len()), Ok(12), "a word of each");
    machine.reset(&[0, 1, 2])?;
    machine.resume(0)?;
    Ok(report)
}

#[test]
fn a_failure_of_the_engine_comes_out_wherever_it_happens() {
    let engine = Watched::default();
    let report = everything(&engine).unwrap();
    assert_eq!(report.stops.into_iter().collect::<Vec<_>>(), [("exit", 1), ("halt", 2)], "without failures");
    let mut requests = 0;
    loop {
        let engine = Watched::default();
        engine.log().fail_in = Some(requests);
        let Err(error) = everything(&engine) else { break };
        assert!(matches!(error, Error::Engine(_)), "request {requests}: {error:?}");
        assert_eq!(error.to_string(), "the engine failed", "request {requests}");
        let source = error.source().expect("it says why").to_string();
        assert_eq!(source, "the device is gone", "request {requests}");
        requests += 1;
    }
    assert!(requests > 50, "{requests} requests");
}

#[test]
fn a_failure_while_vectors_run_is_no_mismatch() {
    let vectors = parse("n", r#"{"name":"n","pc":"0x10000","code":["d503201f"],"steps":1}"#).unwrap();
    let mut requests = 0;
    loop {
        let engine = Watched::default();
        engine.log().fail_in = Some(requests);
        match run_all(&vectors, &engine) {
            Ok(results) => break assert_eq!(results, [[]], "it passes"),
            Err(error) => assert!(matches!(error, Error::Engine(_)), "request {requests}: {error:?}"),
        }
        requests += 1;
    }
    assert!(requests > 5, "{requests} requests");
}

#[test]
fn a_report_names_engine_and_device_and_adds_up_dispatches() {
    let engine = Watched::default();
    let mut machine = calling(&engine, &[(0x10, 0, Vec::new()), (0x31, 0, Vec::new())]);
    assert_eq!(machine.engine(), "watched", "the machine knows");
    let report = machine.run(100).unwrap();
    assert_eq!(
        (report.engine, report.device.as_deref()),
        ("watched", Some("a notebook")),
        "so does the report"
    );
    assert_eq!(report.dispatches, 20, "a round until both call, and a round after it");
    assert_eq!(machine.stops().unwrap(), [Some(Stop::Halt { imm: 0 }); 2], "to the end");
}
