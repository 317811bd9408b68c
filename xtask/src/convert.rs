//! `cargo xtask convert`: converts weights from one format to another. `docs/formats.md` describes the formats.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::ValueEnum;
use kvrm_convert::{Format, NameMap};
use kvrm_models::{Architecture, Dtype, Error, TensorFile, Weights, files};

const EXAMPLES: &str = "\
Examples:
  A PyTorch checkpoint, checked against the shapes of the loop detector:
    cargo xtask convert loop_detector_v2.pt loop.safetensors --architecture loop-detector

  A network with another name for its embedding:
    cargo xtask convert net.pt net.safetensors --architecture dispatch \\
      --names opcode_embedding.weight=embedding.weight

  Named tensors as one array of 10,279 values, and back:
    cargo xtask convert net.safetensors net.npy --flat
    cargo xtask convert net.npy net.safetensors

  Half the size:
    cargo xtask convert net.npz net.safetensors --dtype f16";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The file to read: .npy, .npz, .safetensors, or PyTorch's .pt or .pth.
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The file to write: .npy, .npz or .safetensors.
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// The network that the weights belong to, if the file does not state it.
    #[arg(long, value_name = "NAME")]
    architecture: Option<Architecture>,
    /// New names for tensors of the input: OLD=NEW, or a file with one OLD=NEW per line.
    #[arg(long, value_name = "FILE|OLD=NEW", num_args = 1..)]
    names: Vec<String>,
    /// The number format of the values in the output.
    #[arg(long, value_enum, default_value = "f32")]
    dtype: OutputDtype,
    /// Write all values as one tensor, in the network's flat form.
    #[arg(long)]
    flat: bool,
}

/// The number formats that can be written.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum OutputDtype {
    F32,
    F16,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let format = Format::of(&args.output)?;
    let names = names(&args.names)?;
    let input = args.input.display().to_string();
    let mut content = kvrm_convert::read(&input, &files::read(&args.input)?)?;
    names.apply(&input, &mut content)?;

    let count = content.tensors.len();
    let (content, architecture) = check(&input, content, args)?;
    let dtype = match args.dtype {
        OutputDtype::F32 => Dtype::F32,
        OutputDtype::F16 => Dtype::F16,
    };
    let output = args.output.display().to_string();
    files::write(&args.output, &kvrm_convert::write(&output, format, &content, dtype)?)?;

    let values: usize = content.tensors.iter().map(|tensor| tensor.values.len()).sum();
    let checked = match architecture {
        Some(architecture) => format!("checked against {architecture}"),
        None => "not checked: no --architecture is given, and no network has these tensors".to_owned(),
    };
    println!(
        "{output}: {values} values in {} tensors as {dtype}, from {count} in {input}; shapes {checked}",
        content.tensors.len()
    );
    Ok(())
}

/// Returns all pairs of names from the arguments of `--names`.
fn names(arguments: &[String]) -> Result<NameMap> {
    let mut names = NameMap::default();
    for argument in arguments {
        if argument.contains('=') && !Path::new(argument).is_file() {
            names.add("--names", argument)?;
        } else {
            let text = fs::read_to_string(argument).with_context(|| {
                format!("cannot read {argument}, which has no `=` and is therefore taken for a file")
            })?;
            names.add_lines(argument, &text)?;
        }
    }
    Ok(names)
}

/// Returns the tensors to write, and the architecture against which they were checked.
///
/// If neither the arguments nor the file state an architecture, and no network has these tensors, they are converted
/// without a check.
fn check(input: &str, content: TensorFile, args: &Args) -> Result<(TensorFile, Option<Architecture>), Error> {
    let is_ours = content.metadata.get("format").is_some_and(|format| format == "kvrm-weights");
    let is_named = args.architecture.is_some() || is_ours;
    let weights = match Weights::from_tensors(input, args.architecture, content.clone()) {
        Ok(weights) => weights,
        Err(_) if !is_named && !args.flat => return Ok((content, None)),
        Err(error) => return Err(error),
    };
    let content = if args.flat { weights.to_flat_tensor() } else { weights.to_tensors() };
    Ok((content, Some(weights.architecture())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn convert(input: &Path, output: &Path, options: &[&str]) -> Result<()> {
        #[derive(clap::Parser)]
        struct Command {
            #[command(flatten)]
            args: Args,
        }
        let paths = [input, output].map(|path| path.display().to_string());
        let words = ["convert"].into_iter().chain(paths.iter().map(String::as_str));
        let command: Command = clap::Parser::try_parse_from(words.chain(options.iter().copied()))?;
        run(&command.args)
    }

    #[test]
    fn flat_and_named_tensors_convert_into_each_other() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = |name: &str| folder.path().join(name);
        let values: Vec<f32> = (0..10_279).map(|index| index as f32 / 16.0).collect();
        let weights = Weights::from_flat(Architecture::Dispatch, values).expect("as many as there are");
        weights.save(&path("a.safetensors"), Dtype::F32).expect("it can be written");

        convert(&path("a.safetensors"), &path("b.npy"), &["--flat"]).expect("named to flat");
        convert(&path("b.npy"), &path("c.npz"), &[]).expect("the length says which network it is");
        convert(&path("c.npz"), &path("d.safetensors"), &["--flat", "--architecture", "dispatch"])
            .expect("flat");
        convert(&path("d.safetensors"), &path("e.safetensors"), &[]).expect("named again");
        let same = |name| fs::read(path(name)).expect("it was written");
        assert_eq!(same("e.safetensors"), same("a.safetensors"), "the same bytes after four conversions");
    }

    #[test]
    fn names_and_shapes_are_checked_before_anything_is_written() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = |name: &str| folder.path().join(name);
        let weights = Weights::from_flat(Architecture::SmallDispatch, vec![0.5; 135]).expect("135");
        let mut content = weights.to_tensors();
        content.metadata.clear();
        content.tensors[0].name = "first.weight".to_owned();
        let bytes =
            kvrm_convert::write("a.npz", Format::Npz, &content, Dtype::F32).expect("it can be written");
        fs::write(path("a.npz"), bytes).expect("it can be written");
        fs::write(path("names.txt"), "# ours\nfirst.weight = fc1.weight\n").expect("it can be written");

        let (input, output) = (path("a.npz"), path("b.safetensors"));
        let refused = |options: &[&str]| {
            let error = format!("{:#}", convert(&input, &output, options).expect_err("it is wrong"));
            assert!(!output.exists(), "nothing is written: {error}");
            error
        };
        let error = refused(&["--architecture", "small-dispatch"]);
        assert!(
            error.contains("a.npz: tensor `first.weight`: expected only tensors of small-dispatch"),
            "{error}"
        );
        let error = refused(&["--names", "last.weight=fc2.weight"]);
        assert!(
            error.contains("tensor `last.weight`: expected a tensor to rename, found only first.weight"),
            "{error}"
        );
        let error = refused(&["--names", "first.weight=fc1.bias"]);
        assert!(error.contains("`fc1.bias`: expected one tensor of this name, found two"), "{error}");
        let error = refused(&["--names", "names"]);
        assert!(error.contains("cannot read names, which has no `=`"), "{error}");

        let names = path("names.txt").display().to_string();
        convert(&input, &output, &["--architecture", "small-dispatch", "--names", &names])
            .expect("it is right");
        assert_eq!(Weights::load(&output).expect("just written").values(), weights.values(), "as they were");
        convert(&input, &path("c.npz"), &["--dtype", "f16"])
            .expect("tensors of an unknown network are converted unchecked");
    }
}
