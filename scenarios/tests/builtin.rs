//! The scenarios that are compiled in.

use std::collections::BTreeSet;

use fencepost_scenarios::builtin::{self, LoadError};
use fencepost_scenarios::{Check, fence_name};

#[test]
fn every_one_of_them_is_a_scenario() {
    for builtin in builtin::all() {
        let scenario = builtin.scenario().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(scenario.name, builtin.name);
        assert_eq!(scenario.argument, builtin.name);
        assert!(scenario.locks.iter().any(|lock| scenario.seeds.of(lock) == 300));
        assert!(!scenario.is_modified());
        assert!(scenario.story.lines().count() >= 2, "{}: a story has a few sentences", builtin.name);
    }
}

/// A row that nothing is expected of could change unseen.
#[test]
fn every_row_has_an_expectation_of_its_harm_and_of_its_blame() {
    for builtin in builtin::all() {
        let scenario = builtin.scenario().unwrap();
        for row in scenario.rows() {
            let keys: BTreeSet<&str> =
                scenario.expectations_of(row).flat_map(|it| &it.checks).map(Check::key).collect();
            let place = format!(
                "{}: {} × {} × {}",
                builtin.name,
                row.lock.name,
                fence_name(row.fence),
                row.workload.name
            );
            for key in ["blame", "contract", "double_holders", "phantom_debits"] {
                assert!(keys.contains(key), "{place} expects nothing of `{key}`");
            }
        }
    }
}

#[test]
fn they_are_found_by_name() {
    let names: Vec<&str> = builtin::all().iter().map(|it| it.name).collect();
    assert_eq!(names, ["gc-pause", "pause-before-check", "slow-downstream", "delayed-packet", "calm"]);
    for name in names {
        assert_eq!(builtin::find(name).unwrap().name, name);
        assert_eq!(builtin::load(name).unwrap().name, name);
    }
    assert_eq!(builtin::find("gcpause"), None);
}

#[test]
fn a_path_is_read_from_disk() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/files/calm.toml");
    let read = builtin::load(path).unwrap();
    assert!(read.says_the_same_as(&builtin::load("calm").unwrap()));
    assert_eq!((read.name.as_str(), read.argument.as_str()), ("calm", path));
}

#[test]
fn what_cannot_be_loaded_is_told_apart() {
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    let scratch = std::env::temp_dir().join(format!("fencepost-scenarios-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = scratch.join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };

    assert!(matches!(builtin::load("gcpause"), Err(LoadError::Unknown { .. })));
    assert!(matches!(builtin::load(""), Err(LoadError::Unknown { .. })));
    assert!(matches!(builtin::load("./gc-pause"), Err(LoadError::NotFound { .. })));
    assert!(matches!(builtin::load("gc-pause.toml"), Err(LoadError::NotFound { .. })));
    assert!(matches!(builtin::load(&format!("{here}/broken")), Err(LoadError::Directory { .. })));
    assert!(matches!(
        builtin::load(&file("latin.toml", b"title = \"caf\xe9\"")),
        Err(LoadError::NotText { at: 12, .. })
    ));
    assert!(matches!(
        builtin::load(&file("large.toml", &vec![b'#'; (1 << 20) + 1])),
        Err(LoadError::TooBig { .. })
    ));
    assert!(matches!(builtin::load(&file("fits.toml", &vec![b'#'; 1 << 20])), Err(LoadError::Invalid(_))));
    std::fs::remove_dir_all(&scratch).unwrap();
}

#[test]
fn messages_of_loading_name_the_next_step() {
    let messages: Vec<String> = ["gcpause", "redlock", "no/such.toml", env!("CARGO_PKG_NAME")]
        .map(|typed| builtin::load(typed).unwrap_err().to_string())
        .into();
    insta::assert_snapshot!(messages.join("\n\n"));
}
