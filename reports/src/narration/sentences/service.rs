//! What a lock service grants, extends and ends.

use fencepost_checker::history::{Authority, Block, End, EndCause, Entry, Hold, Tenure};

use crate::narration::Emphasis;
use crate::narration::plot::{AT_ONCE_NS, Outcome};
use crate::narration::tale::Tale;
use crate::narration::telling::Telling;
use crate::narration::wording::{instant, span, token};

impl Telling<'_> {
    /// Told by the worker that is granted the lock, unless the answer takes long.
    pub(in crate::narration) fn grants(&mut self, entry: &Entry, tenure: &Tenure) {
        let before = self.scene.owner(tenure.lock).filter(|&owner| owner != tenure.hold);
        let course = tenure.by.op.map(|op| self.plot.course(op)).unwrap_or_default();
        let worker = course.op.map(|op| op.worker);
        self.scene.granted(tenure.hold, tenure.lock, worker, tenure.token);
        self.scene.owes(entry.time_ns, tenure);
        let answered = course.outcome == Some(Outcome::Done)
            && course.completed_ns.is_some_and(|told_ns| told_ns.saturating_sub(entry.time_ns) < AT_ONCE_NS);
        if answered && before.is_none() {
            return;
        }
        let whom = worker.map_or_else(|| "somebody".to_owned(), |worker| self.plot.cast.worker(worker));
        let number = tenure.token.map(|number| format!(" with {}", token(number))).unwrap_or_default();
        let wait = if answered { "" } else { "; the answer is on its way" };
        let text = format!("grants {} to {whom}{number}{wait}", self.plot.cast.lock_name(Some(tenure.lock)));
        let owner = before.map(|owner| self.owner_name(&self.scene.of(Some(owner))));
        let line = self.say(entry, self.plot.cast.machine(tenure.server), text).about(Some(tenure.hold));
        if let Some(owner) = owner {
            line.note(Emphasis::Turn, format!("{owner} owns it, too: a double grant"));
        }
    }

    /// Told by the worker that renews, unless it is never told.
    pub(in crate::narration) fn extends(&mut self, entry: &Entry, tenure: &Tenure) {
        self.scene.owes(entry.time_ns, tenure);
        let course = tenure.by.op.map(|op| self.plot.course(op)).unwrap_or_default();
        let is_own = tenure.by.hold.is_none_or(|by| by == tenure.hold);
        let answered = course.outcome == Some(Outcome::Done)
            && course.completed_ns.is_some_and(|told_ns| told_ns.saturating_sub(entry.time_ns) < AT_ONCE_NS);
        if answered && is_own {
            return;
        }
        let whose = self.owner_name(&self.scene.of(Some(tenure.hold)));
        let text = match self.stranger(tenure.by.hold, tenure.hold) {
            Some(stranger) => format!("extends the lease of {whose}, though {stranger} asked for it"),
            None => format!("extends the lease of {whose}; the answer is on its way"),
        };
        let emphasis = if is_own { Emphasis::Plain } else { Emphasis::Turn };
        self.say(entry, self.plot.cast.machine(tenure.server), text)
            .about(Some(tenure.hold))
            .emphasis(emphasis);
    }

    pub(in crate::narration) fn ends(&mut self, entry: &Entry, end: &End) {
        let tale = self.scene.tale(end.hold);
        tale.lock.get_or_insert(end.lock);
        tale.ended = Some((entry.time_ns, end.cause));
        let tale = tale.clone();
        let course = end.by.op.map(|op| self.plot.course(op)).unwrap_or_default();
        let is_own = end.by.hold == Some(end.hold);
        if end.cause == EndCause::Released && is_own && course.was_prompt() {
            return;
        }
        let whose = self.owner_name(&tale);
        let stranger = self.stranger(end.by.hold, end.hold);
        let asks = stranger.map(|stranger| format!(" because {stranger} asks for it")).unwrap_or_default();
        let owed_ns = tale.owed_until_ns.and_then(|until| until.checked_sub(entry.time_ns));
        let early = owed_ns.filter(|&ns| ns > AT_ONCE_NS);
        let early = early.map(|ns| format!(", {} too early", span(ns))).unwrap_or_default();
        let queue = self.plot.cast.workers(&self.scene.queue());
        let waiting = match self.scene.queue().len() {
            0 => String::new(),
            1 => format!("; {queue} waits for it"),
            _ => format!("; {queue} wait for it"),
        };
        let text = match end.cause {
            EndCause::Expired => {
                format!("the lease of {whose} has run out{early}: the lock is free{waiting}")
            }
            EndCause::Released => format!("the lock comes back from {whose}: it is free{waiting}"),
            EndCause::Deleted => format!("deletes the lock of {whose}{asks}, without comparing the owner"),
            EndCause::Extended => format!("replaces the lock of {whose}{asks}"),
            EndCause::Evicted => {
                format!("drops the lock of {whose}: it needs the memory, or killed the session")
            }
            EndCause::Forgotten => {
                format!("has forgotten that {whose} holds the lock: it was not on its disk")
            }
            EndCause::Clock => format!(
                "its clock has jumped over the end of {whose}'s lease{early}: the lock is free{waiting}"
            ),
        };
        let note = self.unnoticed(&tale, &whose, entry.time_ns);
        let is_odd = !matches!(end.cause, EndCause::Expired | EndCause::Released);
        let line = self.say(entry, self.plot.cast.machine(end.server), text).about(Some(end.hold));
        if is_odd {
            line.emphasis(Emphasis::Turn);
        }
        if let Some(note) = note {
            line.note(Emphasis::Turn, note);
        }
    }

    /// What its worker knows of the end of a lease.
    fn unnoticed(&self, tale: &Tale, whose: &str, now_ns: u64) -> Option<String> {
        let worker = tale.worker.filter(|_| tale.believes)?;
        Some(match tale.deadline_ns {
            _ if self.sleeps(worker) => format!("{whose} is asleep and cannot know"),
            Some(until_ns) if until_ns > now_ns.saturating_add(AT_ONCE_NS) => {
                format!("{whose} believes that it has the lock until {}", instant(until_ns))
            }
            _ => format!("{whose} is still at work under it"),
        })
    }

    pub(in crate::narration) fn revives(&mut self, entry: &Entry, tenure: &Tenure) {
        let tale = self.scene.tale(tenure.hold);
        tale.ended = None;
        let tale = tale.clone();
        let text = format!("its clock went back: the lease of {} is there again", self.owner_name(&tale));
        self.say(entry, self.plot.cast.machine(tenure.server), text)
            .about(Some(tenure.hold))
            .emphasis(Emphasis::Turn);
    }

    pub(in crate::narration) fn changes_authority(&mut self, entry: &Entry, authority: &Authority) {
        let whose = self.owner_name(&self.scene.of(Some(authority.hold)));
        let text = if authority.acknowledges {
            format!("would from now on confirm that {whose} holds the lock")
        } else {
            format!("would from now on no longer confirm that {whose} holds the lock")
        };
        self.say(entry, self.plot.cast.machine(authority.server), text)
            .about(Some(authority.hold))
            .emphasis(Emphasis::Turn);
    }

    pub(in crate::narration) fn blocks(&mut self, entry: &Entry, block: &Block) {
        let has_delay = self.plot.cast.lock(Some(block.lock)).is_some_and(|lock| lock.lock_delay_ns > 0);
        let text = match (block.blocked, has_delay) {
            (true, true) => "keeps the lock back: nobody gets it for now, though nobody has it (lock-delay)",
            (false, true) => "the lock-delay is over: the lock can be had again",
            (true, false) => "grants the lock to nobody from here on",
            (false, false) => "can grant the lock again",
        };
        self.say(entry, self.plot.cast.machine(block.server), text.to_owned());
    }

    fn owner_name(&self, tale: &Tale) -> String {
        tale.worker.map_or_else(|| "somebody".to_owned(), |worker| self.plot.cast.worker(worker))
    }

    /// Whoever acted on a grant that was not its own.
    fn stranger(&self, by: Option<Hold>, hold: Hold) -> Option<String> {
        let by = by.filter(|&by| by != hold)?;
        Some(self.owner_name(&self.scene.of(Some(by))))
    }
}
