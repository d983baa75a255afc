//! Parameters that are set from outside, and the text that is printed for them.

use fencepost_scenarios::parameters::Origin;
use fencepost_scenarios::{Scenario, SetError, builtin};
use proptest::prelude::*;

fn gc_pause() -> Scenario {
    builtin::load("gc-pause").expect("it is compiled in")
}

fn reread(scenario: &Scenario) -> Scenario {
    let text = scenario.source_with_overrides();
    Scenario::parse("again", "again.toml", text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_value_of_the_file_is_replaced_in_its_place() {
    let mut scenario = gc_pause();
    scenario.set("pause=6.3s").unwrap();
    assert!(scenario.is_modified());
    assert_eq!(
        scenario.source_with_overrides(),
        scenario.source.replace("pause = \"8s..20s\"", "pause = \"6.3s\""),
        "comments and layout stay"
    );
    let lasts = scenario.faults[0].lasts.clone().unwrap();
    assert_eq!((lasts.span.low, lasts.span.high), (6_300_000_000, 6_300_000_000));
    assert_eq!(lasts.parameter.as_deref(), Some("pause"));
    assert_eq!(scenario.parameters.get("pause").unwrap().origin, Origin::Override);
    assert_eq!(scenario.parameters.get("lease").unwrap().origin, Origin::File);
    assert_eq!(scenario.parameters.get("fsync").unwrap().origin, Origin::Default);
    assert!(reread(&scenario).says_the_same_as(&scenario));
    assert!(!gc_pause().says_the_same_as(&scenario));
}

#[test]
fn a_value_that_the_file_leaves_out_is_added() {
    let mut scenario = gc_pause();
    let lines: Vec<usize> = scenario.expectations.iter().map(|it| it.line).collect();
    scenario.set("timeout=250ms").unwrap();
    scenario.set("clients = 2..5").unwrap();
    assert!(scenario.source_with_overrides().contains("pause = \"8s..20s\"\ntimeout = \"250ms\"\n"));
    assert_eq!(scenario.expectations.iter().map(|it| it.line).collect::<Vec<_>>(), lines);
    assert!(reread(&scenario).says_the_same_as(&scenario));
}

#[test]
fn the_last_of_several_values_counts() {
    let mut scenario = gc_pause();
    scenario.set("clients=5").unwrap();
    scenario.set("clients=3").unwrap();
    assert!(!scenario.is_modified(), "it is as in the file again");
    assert_eq!(scenario.source_with_overrides(), scenario.source);
}

/// However TOML lets one write the table.
#[test]
fn every_layout_of_the_parameters_takes_a_new_one() {
    let head = "format = 1\ntitle = \"t\"\nstory = \"s\"\nlocks = [\"redis\"]\n";
    for (before, after) in [
        ("", "\n[parameters]\njobs = 9\n"),
        ("# no newline at the end", "# no newline at the end\n\n[parameters]\njobs = 9\n"),
        ("[parameters]", "[parameters]\njobs = 9\n"),
        ("[parameters]\n# none\n", "[parameters]\njobs = 9\n# none\n"),
        (
            "[ parameters ] # these\r\nclients = 2 # two\r\n",
            "[ parameters ] # these\r\nclients = 2 # two\r\njobs = 9\n",
        ),
        ("[parameters]\nclients = 2", "[parameters]\nclients = 2\njobs = 9\n"),
        ("parameters = {}\n", "parameters = { jobs = 9}\n"),
        ("parameters = { clients = 2 }\n", "parameters = { jobs = 9, clients = 2 }\n"),
        ("parameters.clients = 2\n", "parameters.jobs = 9\nparameters.clients = 2\n"),
        ("parameters.\"clients\" = 2", "parameters.jobs = 9\nparameters.\"clients\" = 2"),
        ("[parameters]\njobs = 4 # four\n", "[parameters]\njobs = 9 # four\n"),
        ("[parameters]\n'jobs' = '''4'''\n", "[parameters]\n'jobs' = 9\n"),
        (
            "parameters.jobs = 0x4\n[[expect]]\ncontract = \"kept\"\n",
            "parameters.jobs = 9\n[[expect]]\ncontract = \"kept\"\n",
        ),
    ] {
        let mut scenario = Scenario::parse("t", "t.toml", &format!("{head}{before}")).unwrap();
        scenario.set("jobs=9").unwrap();
        assert_eq!(scenario.source_with_overrides(), format!("{head}{after}"));
        assert!(reread(&scenario).says_the_same_as(&scenario), "{before}");
        assert_eq!(scenario.parameters.jobs().high, 9);
    }
}

#[test]
fn an_error_leaves_the_scenario_as_it_was() {
    let mut scenario = gc_pause();
    scenario.set("pause=9s").unwrap();
    let before = scenario.clone();
    for flag in
        ["pause", "puase=1s", "pause=1", "pause=-1s", "clients=0", "=3", "", "pause=\"1s\"", "lease=1s\n"]
    {
        if scenario.set(flag).is_ok() {
            assert_eq!(flag, "lease=1s\n", "only spaces around a value are forgiven");
            scenario = before.clone();
        }
        assert_eq!(scenario.source_with_overrides(), before.source_with_overrides());
        assert!(scenario.says_the_same_as(&before));
    }
}

#[test]
fn the_rest_of_the_scenario_is_checked_again() {
    let text = "format = 1\ntitle = \"t\"\nstory = \"s\"\nlocks = [\"redis\"]\n\
                [[faults]]\nwhat = \"kill\"\ntarget = \"client-2\"\nat = \"2s\"\n";
    let mut scenario = Scenario::parse("t", "t.toml", text).unwrap();
    assert!(matches!(scenario.set("clients=1"), Err(SetError::Unfit { .. })));
    assert_eq!(scenario.parameters.clients().low, 3);
    scenario.set("clients=2").unwrap();
}

#[test]
fn messages() {
    let mut scenario = gc_pause();
    scenario.set("clients=2").unwrap();
    let mut messages: Vec<String> = [
        "pause",
        "puase=1s",
        "patience=1s",
        "pause=6.3",
        "clients=many",
        "lease=0s",
        "work=3s..1s",
        "pause=-3s..1s",
    ]
    .map(|flag| scenario.set(flag).unwrap_err().to_string())
    .into();
    let text = "format = 1\ntitle = \"t\"\nstory = \"s\"\nlocks = [\"redis\"]\n\
                [[faults]]\nwhat = \"kill\"\ntarget = \"client-2\"\nat = \"2s\"\n";
    let mut scenario = Scenario::parse("two", "two.toml", text).unwrap();
    messages.push(scenario.set("clients=1").unwrap_err().to_string());
    insta::assert_snapshot!(messages.join("\n\n"));
}

proptest! {
    /// What is printed for a parameter can be set, and changes nothing.
    #[test]
    fn setting_what_is_printed_is_the_identity(which in 0..5_usize, pick in any::<prop::sample::Index>()) {
        let scenario = builtin::all()[which].scenario().unwrap();
        let parameters: Vec<_> = scenario.parameters.iter().cloned().collect();
        let parameter = pick.get(&parameters);
        let mut again = scenario.clone();
        again.set(&format!("{}={}", parameter.name, parameter.written)).unwrap();
        prop_assert!(again.says_the_same_as(&scenario));
        prop_assert!(!again.is_modified());
        prop_assert!(reread(&again).says_the_same_as(&scenario));
        again.set(&format!("{}={}", parameter.name, parameter.span.written(parameter.kind))).unwrap();
        prop_assert!(again.says_the_same_as(&scenario));
    }

    #[test]
    fn what_was_set_is_what_is_printed(
        flags in prop::collection::vec(
            ("(clients|jobs|lease|work|pause|amount|drift_ppm|limit)", "[0-9]{1,3}(s|ms)?(\\.\\.[0-9]{3}(s|ms)?)?"),
            1..6,
        ),
    ) {
        let mut scenario = gc_pause();
        for (key, value) in flags {
            // Many of them are refused; whatever is taken must be printed.
            let _ = scenario.set(&format!("{key}={value}"));
            prop_assert!(reread(&scenario).says_the_same_as(&scenario));
        }
    }
}
