//! Tests that a failure of the engine is an error of every operation that needs the engine.

use std::error::Error as _;

use kvrm_machine::vectors::{parse, run_all};
use kvrm_machine::{Error, Machine, Report, Stop};

use crate::support::{CODE, RecordingEngine, calling_machine, raw};

/// Builds and uses a machine so that every kind of request to an engine is made.
fn use_machine(engine: &RecordingEngine) -> Result<Report, Error> {
    let block = CODE + 0x1000;
    let calls =
        [(0x18, block, vec![0x2_0026, 0]), (0x05, block, vec![1, block, 8]), (0x04, block, vec![0x41])];
    let program = raw(|a| {
        a.hlt(0xf000).hlt(0);
    });
    let mut machine = Machine::builder(program)
        .engine(engine.clone())
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
    machine.private_pages(0)?;
    assert_eq!(machine.read_all(CODE, 4)?.len(), 12, "one word per lane");
    machine.reset(&[0, 1, 2])?;
    machine.resume(0)?;
    Ok(report)
}

#[test]
fn a_failure_of_the_engine_is_an_error_wherever_it_happens() {
    let engine = RecordingEngine::default();
    let report = use_machine(&engine).unwrap();
    assert_eq!(report.stops.into_iter().collect::<Vec<_>>(), [("exit", 1), ("halt", 2)], "without failures");
    let mut requests = 0;
    loop {
        let engine = RecordingEngine::default();
        engine.log().fails_after = Some(requests);
        let Err(error) = use_machine(&engine) else { break };
        assert!(matches!(error, Error::Engine(_)), "request {requests}: {error:?}");
        assert_eq!(error.to_string(), "the engine failed", "request {requests}");
        let source = error.source().expect("the error has a source").to_string();
        assert_eq!(source, "the device is gone", "request {requests}");
        requests += 1;
    }
    assert!(requests > 50, "{requests} requests");
}

#[test]
fn a_failure_while_vectors_run_is_not_a_mismatch() {
    let vectors = parse("n", r#"{"name":"n","pc":"0x10000","code":["d503201f"],"steps":1}"#).unwrap();
    let mut requests = 0;
    loop {
        let engine = RecordingEngine::default();
        engine.log().fails_after = Some(requests);
        match run_all(&vectors, &engine) {
            Ok(results) => break assert_eq!(results, [[]], "the vector passes"),
            Err(error) => assert!(matches!(error, Error::Engine(_)), "request {requests}: {error:?}"),
        }
        requests += 1;
    }
    assert!(requests > 5, "{requests} requests");
}

#[test]
fn a_report_names_engine_and_device_and_adds_up_dispatches() {
    let engine = RecordingEngine::default();
    let mut machine = calling_machine(&engine, &[(0x10, 0, Vec::new()), (0x31, 0, Vec::new())]);
    assert_eq!(machine.engine(), "recording", "the name from the machine");
    let report = machine.run(100).unwrap();
    assert_eq!(
        (&*report.engine, report.device.as_deref()),
        ("recording", Some("a notebook")),
        "engine and device in the report"
    );
    assert_eq!(report.dispatches, 20, "one round until both lanes call, and one after it");
    assert_eq!(machine.stops().unwrap(), [Some(Stop::Halt { imm: 0 }); 2], "both lanes ran to the end");
}
