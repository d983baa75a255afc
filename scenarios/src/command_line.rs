//! Commands that a user can paste.

use crate::parameters::Origin;
use crate::scenario::{Row, Scenario, fence_name};

/// The command that tells one run step by step.
pub fn replay(scenario: &Scenario, row: Row, seed: u64) -> String {
    let Row { lock, fence, workload } = row;
    format!(
        "cargo run -- replay {} --seed {seed} --lock {} --fence {} --workload {}{}",
        quoted(&scenario.argument),
        lock.name,
        fence_name(fence),
        workload.name,
        overrides(scenario),
    )
}

/// ` --set key=value` for each parameter that was changed.
fn overrides(scenario: &Scenario) -> String {
    let changed = scenario.parameters.iter().filter(|it| it.origin == Origin::Override);
    changed.map(|it| format!(" --set {}", quoted(&format!("{}={}", it.name, it.written)))).collect()
}

/// A word that a POSIX shell takes as it is.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:,+".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quoted("gc-pause"), "gc-pause");
        assert_eq!(quoted("my scenarios/a.toml"), "'my scenarios/a.toml'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
