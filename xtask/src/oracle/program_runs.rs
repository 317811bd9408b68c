//! The runs of third-party programs, in a folder with the files that [`super::programs`] prepares.

/// A run of a program.
pub(crate) struct Run {
    pub(crate) program: &'static str,
    pub(crate) arguments: &'static [&'static str],
    /// The file for the standard input, which is empty if there is none.
    pub(crate) input: Option<&'static str>,
}

impl Run {
    /// Returns the command line for messages and records; line feeds are replaced by spaces.
    pub(crate) fn command(&self) -> String {
        let mut text = self.program.to_owned();
        for argument in self.arguments {
            let is_plain = !argument.is_empty()
                && argument.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./,:=@%+".contains(&b));
            text += &if is_plain {
                format!(" {argument}")
            } else {
                format!(" '{}'", argument.replace('\n', " "))
            };
        }
        if let Some(input) = self.input {
            text += &format!(" < {input}");
        }
        text
    }
}

const fn run(program: &'static str, arguments: &'static [&'static str]) -> Run {
    Run { program, arguments, input: None }
}

const fn run_with_input(
    program: &'static str,
    arguments: &'static [&'static str],
    input: &'static str,
) -> Run {
    Run { program, arguments, input: Some(input) }
}

/// Runs under QEMU whose outputs become files that other runs read, with the names of these files.
pub(crate) const PREPARED: &[(Run, &str)] = &[
    (run("busybox", &["sort", "license"]), "sorted"),
    (run("busybox", &["seq", "1", "3", "3000"]), "numbers"),
    (run_with_input("busybox", &["gzip"], "license"), "license.gz"),
    (run_with_input("busybox", &["bzip2"], "license"), "license.bz2"),
    (run("busybox", &["tar", "cf", "-", "license", "mit", "tree"]), "archive.tar"),
    (
        run(
            "busybox",
            &[
                "echo",
                "scale=60; 4*a(1); e(1); sqrt(2); 2^300; define f(n) { if (n < 2) return (1); return (n*f(n-1)); }; f(40)",
            ],
        ),
        "sums.bc",
    ),
];

const COUNT_WORDS: &str = "{ gsub(/[^a-zA-Z ]/, \"\"); for (i = 1; i <= NF; i++) n[tolower($i)]++ }
END { for (w in n) if (n[w] > 30) printf \"%-12s %5d %7.3f\\n\", w, n[w], n[w] / NR }";
const MATHEMATICS: &str = "BEGIN { for (i = 0; i < 40; i++)
printf \"%d %.12g %.12g %.12g %.6e %g\\n\", i, sin(i), exp(i / 7), log(i + 1), atan2(i, 3), sqrt(i) ^ 1.5 }";
const SCRIPT: &str = "square() { echo $(($1 * $1)); }
i=0; while [ $i -lt 12 ]; do square $i; i=$((i + 1)); done
case license in *.c) echo source;; lic*) echo text;; esac
for word in one 'two words' three; do printf '[%s]' \"$word\"; done; echo
x=abcdef; echo ${#x} ${x%def} ${x#abc} ${x:-none} ${y:-none}
set -- a b c; shift; echo $# $* && cd tree/branch && echo ${PWD##*/} && cd ../.. && test -d tree -a -f license && echo there";
const LINES: &str =
    "n=0; while read -r first rest; do n=$((n + 1)); [ \"$first\" = the ] && echo \"$n: $rest\"
done < license; echo $n lines; echo new > made; echo more >> made; read line < made; echo $line; exit 7";

#[rustfmt::skip] // One line each.
pub(crate) const RUNS: &[Run] = &[
    run("busybox", &["true"]),
    run("busybox", &["false"]),
    run("busybox", &["no-such-applet"]),
    run("busybox", &["echo", "-e", "a\\tb\\x41", "c"]),
    run("busybox", &["printf", "%s|%5.2f|%-6x|%o|%e|%c\\n", "text", "3.14159", "255", "8", "12345.678", "z"]),
    run("busybox", &["expr", "6", "*", "7"]),
    run("busybox", &["expr", "license-2.0", ":", "[a-z]*-\\([0-9.]*\\)"]),
    run("busybox", &["seq", "-w", "1", "7", "500"]),
    run("busybox", &["seq", "-s", ",", "0.5", "0.25", "9"]),
    run("busybox", &["wc", "license", "mit", "sha256.c", "empty"]),
    run("busybox", &["cat", "license", "mit"]),
    run("busybox", &["cat", "-n", "mit", "missing"]),
    run("busybox", &["head", "-n", "30", "license"]),
    run("busybox", &["tail", "-n", "25", "license"]),
    run_with_input("busybox", &["tail", "-c", "100"], "license"),
    run("busybox", &["cut", "-d", " ", "-f", "2-4,9", "license"]),
    run_with_input("busybox", &["tr", "a-z", "A-Z"], "license"),
    run_with_input("busybox", &["tr", "-cs", "a-zA-Z", "\\n"], "license"),
    run("busybox", &["sort", "license"]),
    run("busybox", &["sort", "-r", "-n", "-k", "2", "license"]),
    run("busybox", &["sort", "-u", "-f", "license", "mit"]),
    run_with_input("busybox", &["uniq", "-c"], "sorted"),
    run("busybox", &["grep", "-n", "-i", "copyright", "license", "mit"]),
    run("busybox", &["grep", "-c", "-E", "^ +[0-9]+\\.|\\(([a-z])\\)", "license"]),
    run("busybox", &["grep", "-v", "e", "license"]),
    run("busybox", &["grep", "no such words", "license"]),
    run("busybox", &["sed", "-e", "s/\\([Ll]\\)icense/\\1icence/g", "-e", "/^$/d", "license"]),
    run("busybox", &["sed", "-n", "-E", "10,40{s/(\\w+) (\\w+)/\\2 \\1/;p;=}", "license"]),
    run("busybox", &["awk", COUNT_WORDS, "license"]),
    run("busybox", &["awk", MATHEMATICS]),
    run("busybox", &["awk", "-F", "[(,]", "NF > 3 { s += NF; print NR \": \" $2 } END { print s, substr(\"abcdef\", 2, 3), index(\"xyz\", \"z\") }", "sha256.c"]),
    run_with_input("busybox", &["gzip", "-9"], "license"),
    run("busybox", &["gunzip", "-c", "license.gz"]),
    run("busybox", &["gzip", "-v", "-t", "license.gz"]),
    run("busybox", &["gunzip", "license.gz"]),
    run_with_input("busybox", &["bzip2"], "mit"),
    run("busybox", &["bunzip2", "-c", "license.bz2"]),
    run("busybox", &["md5sum", "license", "mit"]),
    run("busybox", &["sha1sum", "license", "mit"]),
    run("busybox", &["sha256sum", "license", "mit", "archive.tar"]),
    run("busybox", &["sha512sum", "license"]),
    run("busybox", &["sha3sum", "license"]),
    run("busybox", &["bc", "-l", "sums.bc"]),
    run("busybox", &["dc", "-e", "30k 2v p 3 7 / p 2 200 ^ p 16o 255 p"]),
    run("busybox", &["factor", "1234567890", "999999000001"]),
    run("busybox", &["diff", "license", "sorted"]),
    run("busybox", &["diff", "-u", "mit", "license"]),
    run("busybox", &["cmp", "license", "sorted"]),
    run("busybox", &["od", "-A", "x", "-t", "x1z", "license.gz"]),
    run("busybox", &["od", "-t", "f8", "-N", "256", "license.gz"]),
    run("busybox", &["hexdump", "-C", "license.bz2"]),
    run_with_input("busybox", &["base64"], "license.gz"),
    run("busybox", &["find", "tree", "-name", "*.h", "-o", "-type", "d"]),
    run("busybox", &["find", "license", "-size", "+1k", "-print"]),
    run("busybox", &["ls"]),
    run("busybox", &["ls", "-R", "-F", "tree", "missing"]),
    run("busybox", &["crc32", "license"]),
    run_with_input("busybox", &["expand", "-t", "3"], "sha256.c"),
    run_with_input("busybox", &["xxd"], "license.gz"),
    run("busybox", &["tar", "tf", "archive.tar"]),
    run("busybox", &["tar", "xvf", "archive.tar", "-C", "tree"]),
    run("busybox", &["tar", "xOf", "archive.tar", "mit"]),
    run("busybox", &["cp", "license", "tree/copy"]),
    run("busybox", &["cp", "-r", "tree", "mit", "missing", "tree/branch/twig"]),
    run("busybox", &["mv", "license", "mit", "tree"]),
    run("busybox", &["mv", "missing", "tree"]),
    run("busybox", &["rm", "-r", "tree", "missing"]),
    run("busybox", &["mkdir", "-p", "a/b/c", "license/d"]),
    run("busybox", &["ln", "-s", "license", "mit"]),
    run("busybox", &["readlink", "-f", "tree/../tree/branch/./twig/leaf.h", "missing"]),
    run("busybox", &["stat", "-c", "%n %s %F %a", "license", "tree/branch/twig/leaf.h"]),
    run("busybox", &["nl", "mit"]),
    run("busybox", &["fold", "-w", "30", "-s", "mit"]),
    run("busybox", &["tac", "mit"]),
    run("busybox", &["rev", "mit"]),
    run("busybox", &["paste", "-d", ":", "numbers", "mit"]),
    run_with_input("busybox", &["tee", "made"], "mit"),
    run("busybox", &["strings", "-n", "8", "archive.tar"]),
    run("busybox", &["cal", "9", "1752"]),
    run("busybox", &["date", "-u", "-d", "@1600000000", "+%F %T %A %j"]),
    run("busybox", &["env", "-i"]),
    run("busybox", &["basename", "/usr/lib/thing.so", ".so"]),
    run("busybox", &["test", "license", "-nt", "missing"]),
    run("busybox", &["sh", "-c", SCRIPT]),
    run("busybox", &["sh", "-c", LINES]),
    run("busybox", &["sh", "-c", "kill -TERM $$"]),
    run("busybox", &["sh", "-c", "trap 'echo caught' USR1 TERM; kill -USR1 $$; kill -TERM $$; echo goes on"]),
    run("lua", &["suite.lua"]),
    run("lua", &["suite.lua", "one", "two words"]),
    run("lua", &["missing.lua"]),
    run("lua", &["workload.lua", "1"]),
    run_with_input("sqlite", &[], "session.sql"),
    run_with_input("sqlite", &["new.db"], "session.sql"),
    run_with_input("sqlite", &[], "workload.sql"),
    run_with_input("sqlite", &[], "mit"),
    run("deflate", &[]),
    run("deflate", &["7", "2"]),
    run("zstandard", &[]),
    run("zstandard", &["7", "2"]),
    run("json", &["7", "4"]),
    run("regex", &["7", "1"]),
    run_with_input("quickjs", &["7"], "lanes.js"),
    run_with_input("lua", &["-", "7"], "lanes.lua"),
];
