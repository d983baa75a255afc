//! Broken scenario files and what people are told about them.

use std::path::Path;

use fencepost_scenarios::Scenario;

#[test]
fn each_message_shows_the_place_and_what_was_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken");
    let mut files: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".toml"))
        .collect();
    files.sort();
    assert!(files.len() >= 12, "some files are missing");
    for file in files {
        let text = std::fs::read_to_string(folder.join(&file)).unwrap();
        let stem = file.trim_end_matches(".toml");
        let error = Scenario::parse(stem, &file, &text).expect_err(&file);
        assert!(error.to_string().contains(&format!("{file}:{}:", error.line())), "{error}");
        insta::with_settings!({ omit_expression => true, snapshot_path => "broken", prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(stem, error.to_string());
        });
    }
}

#[test]
fn colour_is_there_if_it_is_asked_for() {
    let error = Scenario::parse("x", "x.toml", "format = 7").unwrap_err();
    assert!(error.render(true).contains("\u{1b}["));
    assert!(!error.render(false).contains('\u{1b}'));
    assert_eq!(error.to_string(), error.render(false));
}
