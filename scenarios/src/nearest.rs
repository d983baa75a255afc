//! Suggestions: which of the names that exist is near to the one that somebody typed?

/// The candidate nearest to `name`, if one is near enough to be what was meant.
///
/// Case and the kind of dash do not count; otherwise about every third letter may be wrong. Of equally near
/// candidates the first wins.
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let typed = folded(name);
    let allowed = (typed.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let wanted = folded(candidate);
            let distance = strsim::damerau_levenshtein(&typed, &wanted);
            // Somebody who typed only the beginning meant that name, however long the rest is.
            let begun = typed.chars().count() >= 3 && wanted.starts_with(&typed);
            // A name of one or two letters is within one letter of nearly everything.
            let short = wanted.chars().count() <= distance;
            (begun || (distance <= allowed && !short)).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// ``did you mean `candidate`?``, if one of them is near enough.
pub fn did_you_mean<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<String> {
    nearest(name, candidates).map(|candidate| format!("did you mean `{candidate}`?"))
}

fn folded(name: &str) -> String {
    name.to_lowercase().replace(['_', ' '], "-")
}

#[cfg(test)]
mod tests {
    use super::nearest;

    const NAMES: [&str; 4] = ["gc-pause", "calm", "slow-downstream", "delayed-packet"];

    #[test]
    fn finds_what_was_meant() {
        for (typed, meant) in [
            ("gcpause", "gc-pause"),
            ("GC_PAUSE", "gc-pause"),
            ("gc-puase", "gc-pause"),
            ("clam", "calm"),
            ("slow", "slow-downstream"),
            ("delayd-paket", "delayed-packet"),
        ] {
            assert_eq!(nearest(typed, NAMES), Some(meant), "{typed}");
        }
    }

    #[test]
    fn says_nothing_rather_than_something_far_off() {
        for typed in ["", "x", "redlock", "pause-before-everything"] {
            assert_eq!(nearest(typed, NAMES), None, "{typed}");
        }
    }

    #[test]
    fn the_first_of_equals_wins() {
        assert_eq!(nearest("abd", ["abc", "abe"]), Some("abc"));
    }
}
