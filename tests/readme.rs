//! What README shows is what the program prints.

use std::env;
use std::process::Command;

const README: &str = include_str!("../README.md");
const MARK: &str = "<!-- output of: ";

/// The blocks of README that are outputs: the command, and the text.
fn blocks() -> Vec<(&'static str, &'static str)> {
    let mut blocks = Vec::new();
    for part in README.split(MARK).skip(1) {
        let (command, rest) = part.split_once(" -->\n```text\n").expect("a mark is followed by a text block");
        let (text, _) = rest.split_once("```").expect("a block ends");
        blocks.push((command, text));
    }
    blocks
}

fn printed(command: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args(command.split(' '))
        .env("COLUMNS", "80")
        .output()
        .expect("the program runs");
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Without what differs from machine to machine, and of a story without what stands around it.
fn comparable(text: &str) -> String {
    let story = text.find("What happened").unwrap_or(0);
    let text = &text[story..];
    let text = text.split("\ndigest").next().unwrap_or(text);
    let words: Vec<&str> = text.split_whitespace().collect();
    // "in 0.9 s on 2 threads": the line may break elsewhere with other numbers.
    let mut kept = Vec::new();
    let mut skip = 0;
    for (place, word) in words.iter().enumerate() {
        let is_timing =
            *word == "in" && words.get(place + 2) == Some(&"s") && words.get(place + 3) == Some(&"on");
        if is_timing {
            skip = 6;
        }
        if skip > 0 {
            skip -= 1;
        } else {
            kept.push(*word);
        }
    }
    kept.join(" ")
}

#[test]
fn readme_shows_what_the_program_prints() {
    let blocks = blocks();
    assert_eq!(blocks.len(), 2);
    let mut renewed = README.to_owned();
    for (command, shown) in blocks {
        let printed = printed(command);
        if env::var_os("UPDATE_README").is_some() {
            let story = printed.find("What happened").unwrap_or(0);
            let text = printed[story..].split("\ndigest").next().unwrap_or_default();
            renewed = renewed.replace(shown, &format!("{}\n", text.trim_end()));
        } else {
            assert_eq!(comparable(shown), comparable(&printed), "{command}");
        }
    }
    if env::var_os("UPDATE_README").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md"), renewed)
            .expect("README can be written");
    }
}

#[test]
fn readme_begins_with_the_command_and_the_tests() {
    let first_screen: Vec<&str> = README.lines().take(20).collect();
    assert!(first_screen.iter().any(|line| line.starts_with("cargo run -- scenario gc-pause")));
    assert!(first_screen.iter().any(|line| line.starts_with("cargo test --workspace")));
}
