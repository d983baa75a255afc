//! What a worker concludes, and what it does about it.

use fencepost_checker::history::{
    Begin, Belief, Cease, CeaseReason, Check, CheckDepth, Entry, LossReason, Lost,
};

use crate::narration::Emphasis;
use crate::narration::telling::{Deed, Telling};
use crate::narration::wording::span;

impl Telling<'_> {
    pub(in crate::narration) fn believes(&mut self, entry: &Entry, belief: &Belief) {
        self.scene.granted(belief.hold, belief.lock, Some(belief.worker), None);
        self.scene.tale(belief.hold).believes = true;
        let crowd = self.crowd(belief.worker, belief.lock);
        let name = self.plot.cast.lock_name(Some(belief.lock));
        let text = format!("concludes by itself that it holds {name}");
        let line = self.say(entry, self.plot.cast.worker(belief.worker), text).about(Some(belief.hold));
        if let Some(crowd) = crowd {
            line.note(Emphasis::Turn, crowd);
        }
    }

    pub(in crate::narration) fn checks(&mut self, entry: &Entry, check: &Check) {
        let tale = self.scene.tale(check.hold);
        tale.checked = Some((entry.time_ns, check.passed));
        tale.noticed |= !check.passed;
        let tale = tale.clone();
        let left_ns =
            check.deadline_ns.map(|deadline_ns| i128::from(deadline_ns) - i128::from(entry.time_ns));
        let amount = |ns: i128| span(u64::try_from(ns.unsigned_abs()).unwrap_or(u64::MAX));
        let habit = self.plot.cast.habits(check.worker).map(|worker| worker.check);
        let text = match (check.passed, left_ns) {
            (true, Some(left)) if left > 0 => {
                format!("looks at its clock: {} of its lease are left, so it may go on", amount(left))
            }
            (true, _) => "looks whether it still holds the lock: as far as it knows, yes".to_owned(),
            (false, Some(left)) if left <= 0 && habit == Some(CheckDepth::Timer) => {
                format!("is stopped by its timer: its lease ended {} ago", amount(left))
            }
            (false, Some(left)) if left <= 0 => {
                format!("looks at its clock: its lease ended {} ago", amount(left))
            }
            (false, _) => "looks whether it still holds the lock: no".to_owned(),
        };
        let over = tale.over_for_ns(entry.time_ns).filter(|_| check.passed);
        let line = self.say(entry, self.plot.cast.worker(check.worker), text).about(Some(check.hold));
        if let Some(over_ns) = over {
            line.note(
                Emphasis::Turn,
                format!("the lock service sees it otherwise: the lease ended {} ago", span(over_ns)),
            );
        }
    }

    pub(in crate::narration) fn learns_of_the_loss(&mut self, entry: &Entry, lost: &Lost) {
        let tale = self.scene.tale(lost.hold);
        let knew = std::mem::replace(&mut tale.knows, true) || tale.noticed;
        let service = self.plot.cast.service(Some(lost.lock));
        let how = match lost.reason {
            LossReason::NotOwner => format!("knows from {service} that the lock is no longer its own"),
            LossReason::StaleToken => "understands from the refusal that it lost the lock".to_owned(),
            LossReason::SessionLost => {
                format!("learns that its session at {service} is gone, and the lock with it")
            }
        };
        let line = self.say(entry, self.plot.cast.worker(lost.worker), format!("{how}, and stops"));
        line.about(Some(lost.hold)).deed(Deed::GaveUp);
        if !knew {
            line.note(Emphasis::Turn, "only now does it know");
        }
    }

    pub(in crate::narration) fn ceases(&mut self, entry: &Entry, cease: &Cease) {
        let tale = self.scene.tale(cease.hold);
        tale.believes = false;
        tale.noticed = true;
        let (knows, wrote) = (tale.knows, tale.sent_ns.is_some());
        let has_successor = self.scene.successor(Some(cease.hold)).is_some();
        let worker = self.plot.cast.worker(cease.worker);
        let text = match cease.reason {
            // The line before says so.
            CeaseReason::Lost if knows => return,
            CeaseReason::Lost => "stops, since the lock is lost",
            CeaseReason::DeadlinePassed if wrote => "stops",
            CeaseReason::DeadlinePassed => "gives up its work without writing",
            CeaseReason::UnknownOutcome => {
                "does not give the lock back: what it sent may still arrive. It lets its lease run out"
            }
        };
        let line = self.say(entry, worker, text.to_owned()).about(Some(cease.hold));
        if cease.reason == CeaseReason::DeadlinePassed {
            line.deed(Deed::GaveUp);
            if has_successor && !wrote {
                line.note(Emphasis::Averted, "it noticed before it wrote, so nothing is lost");
            }
        }
    }

    /// Only invoices are said to be begun: a ledger's jobs begin with the read.
    pub(in crate::narration) fn begins(&mut self, entry: &Entry, begin: &Begin) {
        let before = self.begun.insert(begin.job.0, begin.worker);
        let is_invoice = self.plot.books.has_invoices;
        if !is_invoice && before.is_none() {
            return;
        }
        let name = self.plot.cast.worker(begin.worker);
        let text = match (is_invoice, before) {
            (true, _) => format!("begins with invoice\u{a0}{}", begin.job),
            (false, _) => format!("begins again with a job that was not finished (job\u{a0}{})", begin.job),
        };
        let first = before.filter(|&first| first != begin.worker).map(|first| self.plot.cast.worker(first));
        let line = self.say(entry, name, text).about(begin.hold);
        if let Some(first) = first {
            line.note(Emphasis::Turn, format!("{first} has begun with it before: this work is done twice"));
        }
    }
}
