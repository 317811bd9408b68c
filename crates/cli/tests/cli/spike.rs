//! `kvrm spike`.

use std::path::Path;

use serde_json::Value;

use crate::support::{Folder, Outcome, kvrm, refusal};

/// Returns the path of an example network.
fn example(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kvrm/examples/networks");
    folder.join(name).with_extension("toml").display().to_string()
}

/// Runs a network on an engine, and returns the report in JSON.
fn run_json(engine: &str, arguments: &[&str]) -> Value {
    let run = kvrm(&[&["spike", "run", "--engine", engine, "--json"], arguments].concat());
    assert_eq!((run.status, &*run.stderr), (0, ""), "{arguments:?}");
    serde_json::from_str(&run.stdout).expect("the report is one JSON object")
}

#[test]
fn the_example_networks_print_what_their_table_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("crates/kvrm/examples/README.md")).expect("the table");
    let mut names = Vec::new();
    for row in readme.lines().filter_map(|line| line.strip_prefix("| [networks/")) {
        let cells: Vec<&str> = row.split(" | ").map(|cell| cell.trim_matches(['`', ' ', '|'])).collect();
        let [name, _, command, expected] = cells[..] else { panic!("a row has four cells: {row}") };
        names.push(name.split(']').next().expect("a link has a text").to_owned());
        let command = command.strip_prefix("cargo kvrm ").expect("the command runs the binary");
        let mut arguments: Vec<String> = command.split(' ').map(str::to_owned).collect();
        arguments[2] = root.join(&arguments[2]).display().to_string();
        arguments.extend(["--engine", "reference"].map(str::to_owned));
        let run = kvrm(&arguments);
        assert_eq!((run.status, &*run.stderr), (0, ""), "{command}");
        let mut lines = run.stdout.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        assert!(lines.any(|line| line == expected), "{command} prints {expected:?}: {}", run.stdout);
    }
    names.sort_unstable();
    let files = std::fs::read_dir(root.join("crates/kvrm/examples/networks")).expect("the folder");
    let mut files: Vec<String> =
        files.map(|file| file.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    files.sort_unstable();
    assert_eq!(names, files, "the table and the folder");
}

#[test]
fn engines_and_parts_of_runs_give_the_same_spikes() {
    let (folder, feagi) = (Folder::new(), example("feagi"));
    let path = |name: &str| folder.path(name).display().to_string();
    let csv = |name: &str| std::fs::read_to_string(folder.path(name)).expect("the file was written");
    let (one, two, rest, state) =
        (path("one.csv"), path("two.csv"), path("rest.csv"), path("state.safetensors"));
    let whole = run_json("reference", &[&feagi, "--steps", "60", "--spikes", &one]);
    assert_eq!((&whole["engine"], &whole["network"]), (&"reference".into(), &"feagi".into()), "{whole}");
    let spikes: u64 = whole["populations"]
        .as_array()
        .expect("populations are listed")
        .iter()
        .filter_map(|p| p["spikes"].as_u64())
        .sum();
    assert_eq!(
        (whole["spikes"].as_u64(), csv("one.csv").lines().count() as u64),
        (Some(spikes), spikes + 1),
        "all"
    );
    run_json("parallel", &[&feagi, "--steps", "60", "--threads", "2", "--spikes", &two]);
    assert_eq!(csv("one.csv"), csv("two.csv"), "the same on all cores");
    run_json("parallel", &[&feagi, "--steps", "25", "--spikes", &two, "--save-state", &state]);
    let later = run_json("reference", &[&feagi, "--steps", "35", "--state", &state, "--spikes", &rest]);
    assert_eq!((&later["first_step"], &later["steps"]), (&25.into(), &35.into()), "{later}");
    let rest = csv("rest.csv");
    let joined = csv("two.csv")
        + rest.strip_prefix("step,neuron\n").expect("the file begins with the names of the columns");
    assert_eq!(joined, csv("one.csv"), "as if it had not stopped");
}

#[test]
fn the_input_of_feagi_does_not_depend_on_parts_of_runs() {
    let folder = Folder::new();
    let path = |name: &str| folder.path(name).display().to_string();
    let read = |name: &str| std::fs::read_to_string(folder.path(name)).expect("the file was written");
    let [whole, first, rest, state] = ["whole.csv", "first.csv", "rest.csv", "state.safetensors"].map(path);
    let area =
        |arguments: &[&str]| run_json("reference", &[&["feagi", "--scale", "0.002"], arguments].concat());
    area(&["--steps", "40", "--spikes", &whole]);
    area(&["--steps", "13", "--spikes", &first, "--save-state", &state]);
    area(&["--steps", "27", "--spikes", &rest, "--state", &state]);
    let joined = read("first.csv")
        + read("rest.csv")
            .strip_prefix("step,neuron\n")
            .expect("the file begins with the names of the columns");
    assert_eq!(joined, read("whole.csv"), "as if it had not stopped");
    assert_eq!(joined.lines().count(), 1 + 40 * 10, "a hundredth in each step");
}

#[test]
#[cfg_attr(not(feature = "plots"), ignore = "needs the feature plots")]
fn a_table_shows_populations_and_pictures_are_drawn() {
    let (folder, network) = (Folder::new(), example("izhikevich"));
    let path = |name: &str| folder.path(name).display().to_string();
    for end in ["svg", "png"] {
        let (raster, rates) = (path(&format!("raster.{end}")), path(&format!("rates.{end}")));
        let options = ["--raster", &raster, "--rates", &rates, "--record", "fast", "--statistics"];
        let run = ["spike", "run", "--engine", "parallel", "--steps", "40", "--skip", "10", &network];
        let run = kvrm(&[&run[..], &options].concat());
        assert_eq!((run.status, &*run.stderr), (0, ""), "it runs");
        let rows: Vec<Vec<&str>> = run.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
        let head = ["population", "neurons", "spikes", "spikes/s", "cv", "correlation", "published"];
        assert_eq!((rows.len(), &rows[0][..]), (3, &head[..]), "{}", run.stdout);
        assert_eq!((&rows[1][..2], rows[1][6]), (&["fast", "200"][..], "-"), "only what is recorded");
        assert!(
            run.stdout.contains("1000 neurons, 1000000 synapses; 40 steps of 1 ms in "),
            "{}",
            run.stdout
        );
        for picture in [raster, rates] {
            let bytes = std::fs::read(&picture).expect("the picture was written");
            match end {
                "svg" => {
                    let text = String::from_utf8(bytes).expect("the picture is text");
                    assert!(
                        text.starts_with("<svg") && text.contains("fast") && text.contains("izhikevich"),
                        "{picture}"
                    );
                    assert!(!text.contains("regular"), "what is not recorded is not drawn");
                }
                _ => assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 2000, "{picture}"),
            }
        }
    }
}

#[test]
fn injections_make_neurons_fire() {
    let folder = Folder::new();
    let network = "dt = 1.0\nfraction_bits = 4\n[[population]]\nname = \"a:b\"\nneurons = 5\nfeagi = { threshold = 2.0 }\n";
    let (network, spikes) =
        (folder.file("net.toml", network), folder.path("spikes.csv").display().to_string());
    let injected = |arguments: &[&str]| {
        run_json("reference", &[&[&network, "--steps", "4", "--spikes", &spikes], arguments].concat());
        let text = std::fs::read_to_string(&spikes).expect("the file was written");
        text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(injected(&[]), [""; 0], "nothing by itself");
    assert_eq!(injected(&["--inject", "1-2:2@1,3"]), ["1,1", "1,2", "3,1", "3,2"], "two neurons, two steps");
    assert_eq!(injected(&["--inject", "4:1.5@2", "--inject", "a:b:0.5@2"]), ["2,4"], "together");
    assert_eq!(injected(&["--inject", "0:2"]), ["0,0", "1,0", "2,0", "3,0"], "each step");
    let run =
        |inject: &str| refusal(&["spike", "run", "--engine", "reference", &network, "--inject", inject]);
    assert!(run("5:1").contains("there is no neuron 5: there are 5"), "out of range");
    assert!(run("c:1").contains("there is no population 'c'"), "no such name");
    assert!(run("1:1e9").contains("is more than this network takes in a step, 1048576"), "too much");
    assert!(run("1:1@x").contains("expected NEURONS:AMOUNT"), "no steps");
}

#[test]
fn samples_have_potentials_and_change_no_spikes() {
    let folder = Folder::new();
    let path = |name: &str| folder.path(name).display().to_string();
    let read = |name: &str| std::fs::read_to_string(folder.path(name)).expect("the file was written");
    let (sample, spikes, plain, npz) =
        (path("sample.csv"), path("spikes.csv"), path("plain.csv"), path("sample.npz"));
    let network = "dt = 1.0\nfraction_bits = 4\n[[population]]\nname = \"noise\"\nneurons = 1\n\
                   poisson = { rate = 4e6 }\n[[population]]\nname = \"grid\"\ndimensions = [2, 2, 2]\n\
                   feagi = { threshold = 2.0, leak = 0.5 }\n";
    let network = folder.file("net.toml", network);
    let sampled = |arguments: &[&str]| {
        let run =
            [&network, "--steps", "5", "--inject", "4:1.5", "--inject", "8:3.25@2", "--sample", &sample];
        run_json("reference", &[&run[..], arguments].concat());
        read("sample.csv").lines().map(str::to_owned).collect::<Vec<_>>()
    };
    // Half of 1.5 is kept, so every second step brings 2.25.
    let head = "step,neuron,population,x,y,z,potential";
    let grid = ["1,4,1,1,1,0,2.25", "2,8,1,1,1,1,3.25", "3,4,1,1,1,0,2.25"];
    assert_eq!(sampled(&["--record", "grid"]), [&[head], &grid[..]].concat(), "each step");
    assert_eq!(sampled(&["--record", "grid", "--every", "3"]), [head, grid[2]], "3 is a multiple of 3");
    assert_eq!(
        sampled(&["--every", "2"]),
        [head, "0,0,0,0,0,0,", "2,0,0,0,0,0,", grid[1], "4,0,0,0,0,0,"],
        "noise has no potential"
    );
    // The input of this area is random in each step, and does not depend on samples.
    let area = ["feagi", "--scale", "0.002", "--steps", "100"];
    run_json("reference", &[&area[..], &["--spikes", &plain]].concat());
    run_json("parallel", &[&area[..], &["--spikes", &spikes, "--sample", &sample, "--every", "7"]].concat());
    assert_eq!(read("spikes.csv"), read("plain.csv"), "the same spikes");
    let sampled = read("sample.csv");
    let spike = |line: &str| line.splitn(3, ',').take(2).collect::<Vec<_>>().join(",");
    let expected = read("plain.csv");
    let is_sampled = |line: &&str| {
        line.split(',')
            .next()
            .and_then(|step| step.parse().ok())
            .is_some_and(|step: u64| step.is_multiple_of(7))
    };
    assert!(sampled.lines().skip(1).map(spike).eq(expected.lines().filter(is_sampled)), "{sampled}");
    assert_eq!(sampled.lines().count(), 1 + 15 * 10, "a hundredth of 1,000 neurons in each of 15 steps");
    run_json("reference", &[&area[..], &["--sample", &npz]].concat());
    let bytes = std::fs::read(npz).expect("the file was written");
    assert!(bytes.windows(13).any(|name| name == b"potential.npy"), "an archive");
    let every = |value: &str| refusal(&["spike", "run", &network, "--sample", &sample, "--every", value]);
    assert!(every("0").contains("expected 1 or more"), "{}", every("0"));
    let alone = refusal(&["spike", "run", &network, "--every", "2"]);
    assert!(alone.contains("--sample <FILE>"), "{alone}");
}

#[test]
fn vogels_abbott_has_a_drive() {
    let rate = |drive: &[&str]| {
        let ran =
            run_json("parallel", &[&["vogels-abbott", "--scale", "0.05", "--steps", "500"], drive].concat());
        ran["spikes"].as_u64().expect("the value is a number")
    };
    let published = rate(&[]);
    assert_eq!(rate(&["--drive", "1"]), published, "1 mV is the published one");
    let more = rate(&["--drive", "10"]);
    assert!(more > published + 100, "{more} and {published} spikes");
    let less = rate(&["--drive", "-20"]);
    assert!(less < published, "{less} and {published} spikes");
}

#[test]
fn recordings_that_do_not_fit_are_an_error_with_counts() {
    let run =
        ["spike", "run", "--engine", "parallel", "--steps", "60", "--capacity", "10", &example("feagi")];
    let message = refusal(&run);
    assert!(message.contains("--capacity: ") && message.contains("spikes were not recorded"), "{message}");
    let message = refusal(&["spike", "run", "--engine", "parallel", "--record", "x", &example("feagi")]);
    assert!(message.contains("there is no population 'x', only power, retina, map"), "{message}");
}

#[test]
fn networks_are_imported_and_shown() {
    let folder = Folder::new();
    let (toml, file) = (example("feagi"), folder.path("net.safetensors").display().to_string());
    let imported = kvrm(&["spike", "import", &toml, &file]);
    assert_eq!((imported.status, &*imported.stderr), (0, ""), "written");
    assert_eq!(imported.stdout, format!("{file}: 513 neurons, 1472 synapses\n"), "what it is");
    let [shown, again] = [&toml, &file].map(|network| kvrm(&["spike", "show", network]));
    assert_eq!((shown.status, &shown.stdout), (0, &again.stdout), "the same network");
    assert!(
        shown.stdout.contains("retina     feagi             256         1216  16 x 16 x 1"),
        "{}",
        shown.stdout
    );
    assert!(shown.stdout.contains("retina to map, by a window of 2 steps"), "{}", shown.stdout);
    let pictures = run_json("reference", &[&file, "--steps", "20"]);
    assert_eq!(
        pictures["populations"],
        run_json("reference", &[&toml, "--steps", "20"])["populations"],
        "and its spikes"
    );
    let nir = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../spiking-formats/tests/files/lif.nir")
        .display()
        .to_string();
    let shown = kvrm(&["spike", "show", &nir, "--dt", "0.5"]);
    if cfg!(feature = "nir") {
        let shown = shown.stdout;
        assert!(shown.contains("lif        lif ") && shown.contains("step         0.5 ms"), "{shown}");
    } else {
        assert!(
            shown.stderr.contains("lif.nir") && shown.stderr.contains("feature `nir`"),
            "{}",
            shown.stderr
        );
    }
    assert!(
        refusal(&["spike", "import", &toml, "net.npz"])
            .contains("'net.npz': expected the name of a file in .safetensors")
    );
}

#[test]
fn networks_with_names_are_measured() {
    let bench =
        ["spike", "bench", "--engine", "parallel", "--seconds", "0.01", "--settle", "1", "--scale", "0.01"];
    let names = ["feagi", "microcircuit", "vogels-abbott", "balanced", "hpc-benchmark"];
    let run = kvrm(&[&bench[..], &["--json"], &names].concat());
    assert_eq!((run.status, &*run.stderr), (0, ""), "measured");
    let lines: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("the line is JSON")).collect();
    assert_eq!(
        lines.iter().map(|line| line["network"].as_str()).collect::<Vec<_>>(),
        names.map(Some),
        "in order"
    );
    for line in &lines {
        let number = |key: &str| line[key].as_f64().unwrap_or_else(|| panic!("no {key} in {line}"));
        assert!((number("us_per_step") - 1e6 * number("seconds") / number("steps")).abs() < 1e-3, "{line}");
        assert_eq!(line["all_seconds"].as_array().map(Vec::len), Some(3), "{line}");
        assert!(number("neurons") > 30.0 && number("steps") >= 1.0, "{line}");
    }
    let feagi = &lines[0];
    assert_eq!(
        feagi["spikes"].as_u64(),
        feagi["steps"].as_u64().map(|steps| 50 * steps),
        "a hundredth: {feagi}"
    );
    assert_eq!(
        feagi["synaptic_events"].as_u64(),
        feagi["spikes"].as_u64().map(|spikes| 100 * spikes),
        "{feagi}"
    );
    let table = kvrm(&[&bench[..], &["feagi"]].concat()).stdout;
    assert!(table.starts_with("on parallel, ") && table.lines().count() == 3, "{table}");
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn a_plan_explains_each_kernel() {
    let shown = kvrm(&["spike", "show", "--plan", &example("feagi")]);
    assert_eq!((shown.status, &*shown.stderr), (0, ""), "{}", shown.stdout);
    let plan = shown.stdout.split("\nkernel ").nth(1).expect("a table of kernels follows the description");
    let line = |name: &str| plan.lines().find(|line| line.starts_with(name)).expect("all kernels are there");
    assert!(line("fused").ends_with("-  not for weights that learn"), "{plan}");
    let times = ["events", "single"].map(|name| line(name).split_whitespace().nth(1).map(str::parse::<f64>));
    assert!(matches!(times, [Some(Ok(events)), Some(_)] if events > 0.0), "{plan}");
    assert_eq!(plan.matches("chosen").count(), 1, "{plan}");
    let message = refusal(&["spike", "show", "--adapter", "0", &example("feagi")]);
    assert!(message.contains("--adapter '0'") && message.contains("add --plan"), "{message}");
}

#[test]
fn invalid_arguments_are_refused() {
    let folder = Folder::new();
    let broken = folder.file("net.toml", "dt = 1.0\nx = 3\n");
    for command in ["run", "bench", "show"] {
        let of = |arguments: &[&str]| refusal(&[&["spike", command], arguments].concat());
        let message = of(&["missing.toml"]);
        assert!(message.contains("cannot read missing.toml"), "{message}");
        let message = of(&["brain"]);
        assert!(
            message.contains(
                "'brain' is neither a file nor one of feagi, microcircuit, vogels-abbott, fly, balanced, hpc-benchmark"
            ),
            "{message}"
        );
        assert!(of(&[&broken]).contains("net.toml: line 2: unknown field `x`"), "the line");
        assert!(of(&[&broken, "--scale", "2"]).contains("--scale: '"), "a file has one size");
        for other in ["fly", broken.as_str()] {
            let message = of(&[other, "--drive", "2"]);
            assert!(
                message.contains(&format!("--drive: '{other}' has none, only vogels-abbott")),
                "{message}"
            );
        }
        assert!(of(&["vogels-abbott", "--drive", "x"]).contains("expected a number of mV"), "no number");
        assert!(of(&["vogels-abbott", "--drive", "1e9"]).contains("expected less than 2048"), "too much");
        assert!(of(&["feagi", "--dt", "1"]).contains("--dt is for NIR graphs"), "a step of its own");
        assert!(
            of(&["microcircuit", "--scale", "2"]).contains("scale is 2, expected more than 0 and at most 1"),
            "too large"
        );
        assert!(of(&["feagi", "--scale", "0"]).contains("--scale"), "nothing");
        assert!(of(&["feagi", "--scale", "1e9"]).contains("would have"), "far too large");
    }
    let run = |arguments: &[&str]| refusal(&[&["spike", "run", &example("feagi")], arguments].concat());
    for (option, value) in [
        ("--raster", "x.jpg"),
        ("--rates", "x"),
        ("--spikes", "x.txt"),
        ("--sample", "x.txt"),
        ("--steps", "-1"),
        ("--skip", "-1"),
        ("--threads", "0"),
        ("--engine", "x"),
    ] {
        let message = run(&[&format!("{option}={value}")]);
        assert!(message.contains(option), "{message}");
    }
    assert!(run(&["--engine", "parallel", "--adapter", "x"]).contains("use --engine gpu"), "contradiction");
    let missing = folder.path("missing").join("x.png").display().to_string();
    let message = run(&["--engine", "reference", "--steps", "1", "--raster", &missing]);
    assert!(message.contains(&missing), "{message}");
    let other = run(&["--engine", "reference", "--state", &broken]);
    assert!(other.contains("net.toml: header: expected a safetensors header"), "{other}");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_gpu_gives_the_same_spikes() {
    let folder = Folder::new();
    let files = ["gpu", "reference"].map(|engine| {
        let file = folder.path(engine).with_extension("npz").display().to_string();
        let ran = run_json(engine, &[&example("feagi"), "--steps", "50", "--spikes", &file]);
        assert_eq!((&ran["engine"], ran["device"].is_string()), (&engine.into(), engine == "gpu"), "{ran}");
        std::fs::read(file).expect("the file was written")
    });
    assert!(files[0] == files[1], "byte for byte");
}

#[test]
fn a_sweep_has_the_rates_of_single_runs_on_every_engine() {
    let arguments = ["--scale", "0.1", "--steps", "600"];
    let lines = |run: &Outcome| -> Vec<Value> {
        run.stdout
            .lines()
            .map(|line| serde_json::from_str(line).expect("a line is one JSON object"))
            .collect()
    };
    let sweep = |options: &[&str]| {
        let start = ["spike", "sweep", "vogels-abbott", "--json", "--seed", "1-2,9", "--drive", "1,2.5"];
        let run = kvrm(&[&start, &arguments[..], options].concat());
        assert_eq!(run.status, 0, "{options:?}: {}", run.stderr);
        lines(&run)
    };
    let rows = sweep(&["--engine", "reference"]);
    let points: Vec<_> = rows.iter().map(|row| (row["seed"].as_u64(), row["drive"].as_f64())).collect();
    let expected = [1, 2, 9].map(|seed| [1.0, 2.5].map(|drive| (Some(seed), Some(drive)))).concat();
    assert_eq!(points, expected, "all combinations, in order");
    for row in &rows {
        let options = ["--seed", &row["seed"].to_string(), "--drive", &row["drive"].to_string()];
        let single = run_json("parallel", &[&["vogels-abbott"], &arguments[..], &options].concat());
        assert_eq!(row["spikes"], single["spikes"], "{options:?}");
        for (of_sweep, population) in
            std::iter::zip(row["populations"].as_array().unwrap(), single["populations"].as_array().unwrap())
        {
            for column in ["name", "neurons", "spikes", "rate", "cv"] {
                assert_eq!(of_sweep[column], population[column], "{options:?}");
            }
        }
    }
    let spikes = |rows: &[Value]| -> Vec<Value> { rows.iter().map(|row| row["spikes"].clone()).collect() };
    assert_eq!(spikes(&sweep(&["--engine", "parallel"])), spikes(&rows), "on all cores");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_sweep_runs_on_selected_gpus() {
    let json: Value = serde_json::from_str(&kvrm(&["doctor", "--json"]).stdout).unwrap();
    let gpus = format!("{},", json["chosen"]["index"]);
    let start =
        ["spike", "sweep", "vogels-abbott", "--scale", "0.05", "--steps", "200", "--seed", "3,4", "--json"];
    let rows = |options: &[&str]| -> Vec<(Value, Value)> {
        let run = kvrm(&[&start, options].concat());
        assert_eq!(run.status, 0, "{options:?}: {}", run.stderr);
        let rows = run.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        rows.map(|row| (row["spikes"].clone(), row["engine"].clone())).collect()
    };
    let cpu = rows(&["--engine", "reference"]);
    let gpu = rows(&["--gpus", &gpus]);
    for ((cpu, _), (gpu, engine)) in std::iter::zip(&cpu, &gpu) {
        assert_eq!((gpu, engine), (cpu, &"gpu".into()), "the same spikes on the GPU");
    }
    assert_eq!(gpu.len(), 2, "each seed once");
}

#[test]
fn mistakes_in_sweeps_are_explained() {
    let sweep = |arguments: &[&str]| refusal(&[&["spike", "sweep"], arguments].concat());
    assert!(
        sweep(&["vogels-abbott", "--seed", "5-2"]).contains("2 is below 5: the first number comes first")
    );
    assert!(
        sweep(&["balanced", "--drive", "2", "--engine", "reference"]).contains("balanced, drive 2: --drive")
    );
    assert!(
        sweep(&["fly", "--seed", "0-99999999999"]).contains("100000000000 combinations: expected at most")
    );
    assert!(sweep(&["fly", "--gpus", "2", "--engine", "parallel"]).contains("but the engine is the CPU"));
}
