//! Memory follows what is open, not the length of the history.

use fencepost_checker::Checker;

use crate::story::*;

#[test]
fn a_hundred_thousand_holds_leave_few_records() {
    let mut story = Story::new();
    for n in 0..100_000 {
        let worker = [A, B, C][n as usize % 3];
        story.takes(10 * n, worker, n);
        story.reads(10 * n + 3, worker, n, &[]);
        story.releases(10 * n + 6, worker, n);
    }
    let mut checker = Checker::new(&story.header);
    story.entries().iter().for_each(|entry| checker.push(entry));
    assert!(checker.most_grants_at_once() < 600, "{}", checker.most_grants_at_once());
    let analysis = checker.finish();
    assert_eq!(analysis.counts.grants, 100_000);
    assert_eq!(analysis.counts.double_holders, 0);
}
