//! Histories that cannot be read: what is wrong, where, and what to do about it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fmt::Write;

use fencepost::checker::jsonl;
use fencepost::models::run;
use fencepost::scenarios::builtin;

/// A small real history, as text.
fn history() -> String {
    let scenario = builtin::find("calm").unwrap().scenario().unwrap();
    let output = run::run(&scenario.run_config(scenario.rows()[0], 0));
    let mut bytes = Vec::new();
    jsonl::write(&output.header, output.entries.iter().take(6), &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn each_broken_history_gets_a_message_that_helps() {
    let good = history();
    let lines: Vec<&str> = good.lines().collect();
    let without_header = lines[1..].join("\n");
    let half = &good[..good.len() - 20];
    let mut back: serde_json::Value = serde_json::from_str(lines[4]).unwrap();
    back["time_ns"] = serde_json::json!(0);
    let time_goes_back = good.replacen(lines[4], &back.to_string(), 1);
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("empty", Vec::new()),
        ("foreign", b"{\"process\": 0, \"type\": \"invoke\"}\n".to_vec()),
        ("no JSON", b"time,process,type\n1,0,invoke\n".to_vec()),
        ("no header", without_header.into_bytes()),
        ("another schema", good.replacen("history/1", "history/7", 1).into_bytes()),
        ("truncated", half.as_bytes().to_vec()),
        ("unknown type", good.replacen("\"type\":\"invoke\"", "\"type\":\"invoque\"", 1).into_bytes()),
        ("unknown function", good.replacen("\"f\":\"acquire\"", "\"f\":\"aquire\"", 1).into_bytes()),
        ("worker out of range", good.replacen("\"worker\":", "\"worker\":9", 1).into_bytes()),
        ("time goes back", time_goes_back.into_bytes()),
        ("index goes back", good.replacen("\"index\":3", "\"index\":1", 1).into_bytes()),
        ("not UTF-8", [good.as_bytes(), b"\xff\xfe\n"].concat()),
    ];
    let mut messages = String::new();
    for (name, bytes) in cases {
        let error = jsonl::read(&bytes[..]).expect_err(name);
        writeln!(messages, "{name}:\n  {error}").unwrap();
    }
    insta::assert_snapshot!(messages);
}

#[test]
fn the_whole_one_is_read() {
    let (header, entries) = jsonl::read(history().as_bytes()).unwrap();
    assert_eq!((header.workers.len(), entries.len()), (3, 6));
}
