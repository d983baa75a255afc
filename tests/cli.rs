//! The command line as a script sees it: what is printed where, and the exit codes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

fn fencepost(arguments: &[&str]) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args(arguments)
        .env("COLUMNS", "80")
        .env_remove("NO_COLOR")
        .output()
        .expect("the program runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    let code = output.status.code().expect("no signal");
    let ran = Ran { code, stdout: text(output.stdout), stderr: text(output.stderr) };
    assert!(!ran.stderr.contains("panicked"), "{arguments:?}: {}", ran.stderr);
    ran
}

/// A folder of this test's own, empty at the start.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a scratch folder");
    folder
}

#[track_caller]
fn refused(arguments: &[&str], expected: &[&str]) -> String {
    let ran = fencepost(arguments);
    assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.stderr);
    assert_eq!(ran.stdout, "", "{arguments:?}: nothing half-written");
    for words in expected {
        assert!(ran.stderr.contains(words), "{arguments:?}: {words:?} is missing in\n{}", ran.stderr);
    }
    ran.stderr
}

const ONE_ROW: [&str; 6] = ["--lock", "redis", "--fence", "off", "--workload", "ledger"];

fn one_row<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [arguments, &ONE_ROW].concat()
}

#[test]
fn alone_it_says_what_it_is_and_what_to_try() {
    let ran = fencepost(&[]);
    assert_eq!(ran.code, 0);
    insta::assert_snapshot!(ran.stdout);
}

#[test]
fn list_shows_everything_that_has_a_name() {
    let ran = fencepost(&["list"]);
    assert_eq!(ran.code, 0);
    insta::assert_snapshot!(ran.stdout);
}

#[test]
fn help_is_stable() {
    for command in [&["--help"][..], &["scenario", "--help"], &["replay", "--help"], &["suite", "--help"]] {
        let ran = fencepost(command);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        insta::assert_snapshot!(command.join(" ").replace("--", ""), ran.stdout);
    }
}

#[test]
fn what_cannot_be_understood_gets_the_nearest_name() {
    refused(&["scenario", "gc-puase"], &["gc-puase", "did you mean `gc-pause`?"]);
    refused(&["scenaro", "gc-pause"], &["scenaro", "scenario"]);
    refused(&["scenario", "gc-pause", "--lock", "reddis"], &["no lock `reddis`", "did you mean `redis`?"]);
    refused(&["scenario", "gc-pause", "--fence", "wirte"], &["did you mean `write`?"]);
    refused(&["scenario", "gc-pause", "--workload", "invoices"], &["did you mean `invoice`?"]);
    refused(&["scenario", "gc-pause", "--set", "pauze=1s"], &["did you mean `pause`?"]);
    refused(&["scenario", "gc-pause", "--set", "pause=1"], &["no unit"]);
    refused(&["scenario", "gc-pause", "--set", "pause"], &["key=value"]);
    refused(&["scenario", "gc-pause", "--require", "lost=0"], &["did you mean `lost_debits`?"]);
    refused(&["scenario", "gc-pause", "--require", "lost_debits=few"], &["few"]);
    refused(&["scenario", "gc-pause", "--seeds", "0"], &["at least one seed"]);
    refused(&["scenario", "gc-pause", "--seed", "9007199254740992"], &["below 2^53"]);
    refused(&["scenario", "gc-pause", "--lock", "none", "--fence", "write"], &["no row is left", "tokens"]);
    refused(&["scenario", "./nowhere.toml"], &["./nowhere.toml", "no such file"]);
    refused(&["suite", "./nowhere"], &["./nowhere"]);
    refused(&["replay", "./nowhere.json"], &["./nowhere.json"]);
    refused(
        &["replay", "gc-pause", "--lock", "redis", "--lock", "none"],
        &["--lock", "cannot be used multiple times"],
    );
}

#[test]
fn a_broken_scenario_file_is_shown_where_it_is_broken() {
    let folder = scratch("broken");
    let file = folder.join("broken.toml");
    let good = fencepost(&["scenario", "calm", "--print"]).stdout;
    fs::write(&file, good.replacen("locks", "lokcs", 1)).unwrap();
    let path = file.to_str().unwrap();
    refused(&["scenario", path], &["broken.toml:", "lokcs", "did you mean `locks`?", "^^^^^"]);
    let ran = fencepost(&["--color", "always", "scenario", path]);
    assert!(ran.stderr.contains("\u{1b}["), "colour where it is asked for");
}

#[test]
fn a_scenario_without_its_own_seeds_is_not_judged() {
    let ran = fencepost(&one_row(&["scenario", "gc-pause", "--seeds", "20"]));
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.contains("Expectations not judged"));
    assert!(ran.stdout.contains("cargo run -- replay gc-pause --seed"));
    assert_eq!(ran.stderr, "", "no progress without a terminal");
}

#[test]
fn a_requirement_decides_the_exit_code() {
    let with = |requirement| {
        fencepost(&one_row(&["scenario", "gc-pause", "--seeds", "20", "--require", requirement]))
    };
    assert_eq!(with("double_holders=>0").code, 0);
    let broken = with("lost_debits=0");
    assert_eq!(broken.code, 1);
    assert!(broken.stdout.contains("NOT AS REQUIRED: redis, fence off, ledger: lost_debits 0"));
    assert_eq!(with("blocked_ms=0").code, 3, "only liveness is broken");
    assert_eq!(with("blocked_ms=0,lost_debits=0").code, 1, "safety counts more");
}

#[test]
fn nothing_that_happened_is_no_success() {
    let folder = scratch("vacuous");
    let file = folder.join("vacuous.toml");
    let calm = fencepost(&["scenario", "calm", "--set", "limit=1ms", "--print"]).stdout;
    fs::write(&file, calm.split("[[expect]]").next().unwrap()).unwrap();
    let ran = fencepost(&["scenario", file.to_str().unwrap(), "--seeds", "3"]);
    assert_eq!(ran.code, 5, "{}", ran.stdout);
    assert!(ran.stdout.contains("unknown"));
}

#[test]
fn json_is_the_same_on_any_number_of_threads() {
    let json = |threads| {
        let arguments = ["scenario", "gc-pause", "--seeds", "30", "--json", "-", "--threads", threads];
        let ran = fencepost(&arguments);
        assert_eq!(ran.code, 0);
        ran.stdout
    };
    assert_eq!(json("1"), json("2"));
}

#[test]
fn json_is_written_whole_beside_the_table() {
    let folder = scratch("json");
    let file = folder.join("out.json");
    let ran =
        fencepost(&one_row(&["scenario", "gc-pause", "--seeds", "3", "--json", file.to_str().unwrap()]));
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.contains("lost debits"));
    let document: serde_json::Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(document["schema"], "fencepost.scenario/1");
    let acquire_ms = document["rows"][0]["acquire_ms"]["p99"].as_f64().unwrap();
    assert!((100.0..60_000.0).contains(&acquire_ms), "{acquire_ms} ms to acquire a contended lock");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no temporary file is left");
}

#[test]
fn a_changed_parameter_is_printed_run_and_reproduced() {
    let printed = fencepost(&["scenario", "gc-pause", "--set", "pause=15s", "--print"]);
    assert!(printed.stdout.contains("pause = \"15s\""));
    let ran = fencepost(&one_row(&["scenario", "gc-pause", "--seeds", "3", "--set", "pause=15s"]));
    let command = ran.stdout.lines().find(|line| line.contains("replay gc-pause")).unwrap();
    assert!(command.ends_with("--set pause=15s"), "{command}");
    let pasted: Vec<&str> = command.trim().split(' ').skip(3).collect();
    let replayed = fencepost(&pasted);
    assert_eq!(replayed.code, 0);
    assert!(replayed.stdout.contains("RUNS AGAIN after 15"), "{}", replayed.stdout);
}

#[test]
fn a_saved_run_is_replayed_and_its_digest_is_checked() {
    let folder = scratch("saved");
    let arguments =
        one_row(&["scenario", "gc-pause", "--seed", "3", "--quiet", "--save", folder.to_str().unwrap()]);
    assert_eq!(fencepost(&arguments).code, 0);
    let run = folder.join("gc-pause-redis-off-ledger-3");
    let from_folder = fencepost(&["replay", run.to_str().unwrap()]);
    assert_eq!(from_folder.code, 0, "{}", from_folder.stderr);
    assert!(from_folder.stdout.contains("as saved"));
    let file = run.join("run.json");
    assert_eq!(fencepost(&["replay", file.to_str().unwrap()]).stdout, from_folder.stdout);

    let text = fs::read_to_string(&file).unwrap();
    let broken = |name: &str, text: String| {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let other_digest = text.replacen("\"digest\": \"", "\"digest\": \"0", 1);
    let mut edited: serde_json::Value = serde_json::from_str(&text).unwrap();
    edited["faults"][0]["lasts_ns"] = serde_json::json!(9_000_000_000_u64);
    let ran = fencepost(&["replay", &broken("edited.json", edited.to_string())]);
    assert_eq!(ran.code, 70, "a schedule that was edited gives another history");
    assert!(ran.stderr.contains("take its `digest` out"));
    edited.as_object_mut().unwrap().remove("digest");
    let ran = fencepost(&["replay", &broken("edited.json", edited.to_string())]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("for 9s"));

    let mut messages = refused(&["replay", &broken("digest.json", other_digest)], &["64 hexadecimal digits"]);
    let once = |from: &str, to: &str| text.replacen(from, to, 1);
    for (name, text, expected) in [
        ("truncated.json", text[..text.len() / 2].to_owned(), "no run file"),
        ("foreign.json", "{\"hello\": 1}".to_owned(), "no run file"),
        ("empty.json", String::new(), "no run file"),
        ("schema.json", once("fencepost.run/1", "fencepost.run/9"), "fencepost.run/9"),
        ("version.json", once("\"version\": \"", "\"version\": \"0.0.9-"), "may not be the same"),
        ("lock.json", once("\"lock\": \"redis\"", "\"lock\": \"reddis\""), "reddis"),
        ("node.json", once("\"role\": \"holder\"", "\"node\": \"reddis\""), "did you mean `redis`?"),
        ("point.json", once("before-write\"", "before-wirte\""), "did you mean `before-write`?"),
        ("seed.json", once("\"seed\": 3", "\"seed\": 1152921504606846976"), "below 2^53"),
        ("scenario.json", once("format = 1", "format = 7"), "format"),
    ] {
        messages += &refused(&["replay", &broken(name, text)], &[name, expected]);
    }
    let messages = messages.replace(&format!("{}/", folder.display()), "");
    insta::assert_snapshot!("broken_run_files", messages.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}

#[test]
fn a_saved_history_is_what_the_checker_reads() {
    let folder = scratch("history");
    let arguments =
        one_row(&["scenario", "gc-pause", "--seed", "3", "--quiet", "--save", folder.to_str().unwrap()]);
    assert_eq!(fencepost(&arguments).code, 0);
    let file = folder.join("gc-pause-redis-off-ledger-3/history.jsonl");
    let bytes = fs::read(&file).unwrap();
    let (header, entries) = fencepost::checker::jsonl::read(&bytes[..]).unwrap();
    let analysis = fencepost::checker::analyse(&header, &entries);
    assert!(analysis.counts.double_holders > 0);
    let digest = fencepost::checker::digest(&header, &entries);
    assert_eq!(digest, fencepost::checker::Digest::of(&bytes), "the digest is that of the file");
    let saved = fs::read_to_string(folder.join("gc-pause-redis-off-ledger-3/run.json")).unwrap();
    assert!(saved.contains(&digest.to_string()));
}

#[test]
fn suite_runs_a_folder_and_fails_with_it() {
    let folder = scratch("suite");
    let calm = fencepost(&["scenario", "calm", "--print"]).stdout;
    let calm = calm.replace("seeds = { default = 100, redis = 300 }", "seeds = 10");
    fs::write(folder.join("calm.toml"), &calm).unwrap();
    let ran = fencepost(&["suite", folder.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.ends_with("1 passed, 0 failed\n"), "{}", ran.stdout);
    let wrong = calm + "\n[[expect]]\nlock = \"redis\"\ndouble_holders = \">0\"\n";
    fs::write(folder.join("wrong.toml"), wrong).unwrap();
    let ran = fencepost(&["suite", folder.to_str().unwrap()]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("FAIL  wrong"));
    assert!(ran.stdout.contains("double_holders >0 expected, 0 found"));
    assert!(ran.stdout.ends_with("1 passed, 1 failed\n"));
    let empty = scratch("suite-empty");
    refused(&["suite", empty.to_str().unwrap()], &["no scenario"]);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args(["scenario", "calm", "--print"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn lines_fit_80_and_120_columns() {
    for (columns, arguments) in [
        ("80", &["scenario", "gc-pause", "--seeds", "3"][..]),
        ("120", &["scenario", "gc-pause", "--seeds", "3"]),
        ("80", &["replay", "gc-pause"]),
        ("120", &["replay", "gc-pause"]),
        ("80", &["list"]),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_fencepost"))
            .args(arguments)
            .env("COLUMNS", columns)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        for line in text.lines().filter(|line| !line.contains("cargo run")) {
            let width = line.chars().count();
            assert!(width <= columns.parse().unwrap(), "{arguments:?} at {columns}: {width}: {line}");
        }
        assert!(!text.contains('\u{1b}'), "no colours in a pipe");
    }
}

/// A printed text without what steers the terminal.
fn plain(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or("", |(_, rest)| rest))
}

#[test]
fn colours_do_not_move_anything() {
    for arguments in [&["scenario", "gc-pause", "--seeds", "3"][..], &["replay", "gc-pause"], &["list"]] {
        let coloured = fencepost(&[&["--color", "always"], arguments].concat()).stdout;
        let without_time = |text: &str| -> Vec<String> {
            text.lines().filter(|line| !line.contains("simulated")).map(str::to_owned).collect()
        };
        let never = fencepost(&[&["--color", "never"], arguments].concat()).stdout;
        assert_eq!(without_time(&plain(&coloured)), without_time(&never), "{arguments:?}");
    }
}

#[test]
fn a_fault_of_the_lock_server_is_none_without_a_lock() {
    let folder = scratch("no-server");
    let file = folder.join("no-server.toml");
    let text = fencepost(&["scenario", "calm", "--print"]).stdout;
    let fault =
        "[[faults]]\nwhat = \"kill\"\ntarget = \"redis\"\nat = \"first-grant + 250ms\"\nlasts = \"1s\"\n";
    fs::write(&file, format!("{}\n{fault}", text.split("[[expect]]").next().unwrap())).unwrap();
    let ran = fencepost(&["scenario", file.to_str().unwrap(), "--seeds", "5"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("forgot a grant"), "{}", ran.stdout);
}

#[test]
fn colours_appear_only_where_they_are_asked_for() {
    let always = fencepost(&one_row(&["--color", "always", "scenario", "gc-pause", "--seeds", "3"]));
    assert!(always.stdout.contains("\u{1b}["));
    let never = fencepost(&one_row(&["--color", "never", "scenario", "gc-pause", "--seeds", "3"]));
    assert!(!never.stdout.contains('\u{1b}'));
}
