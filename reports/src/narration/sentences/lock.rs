//! A worker and the lock: it asks, gets, renews and gives back.

use fencepost_checker::history::{Decider, EndCause, Entry, F, Hold, LockId, Op, WorkerId};

use crate::narration::Emphasis;
use crate::narration::plot::{AT_ONCE_NS, Outcome, noun};
use crate::narration::telling::{Deed, Telling};
use crate::narration::wording::{enumeration, in_words, instant, is_or_are, plain, span, token};

/// Who waits longer than this is said to have waited.
const A_WAIT_NS: u64 = 1_000_000_000;

impl Telling<'_> {
    pub(in crate::narration) fn asks_for_the_lock(&mut self, entry: &Entry, op: &Op) {
        let lock = op.lock.unwrap_or_default();
        self.scene.waiting.insert(op.worker, entry.time_ns);
        if let Some(hold) = op.hold {
            let tale = self.scene.tale(hold);
            tale.worker = Some(op.worker);
            tale.lock = Some(lock);
        }
        let course = self.plot.course(op.op);
        let waits = course.completed_ns.is_none_or(|got| got.saturating_sub(entry.time_ns) > A_WAIT_NS);
        let owner = self.scene.owner(lock);
        let holder = self.scene.of(owner).worker;
        if !waits || !self.plot.cast.has_service(op.lock) {
            return;
        }
        let name = self.plot.cast.lock_name(op.lock);
        let text = match holder {
            Some(holder) if holder == op.worker => {
                format!("asks for {name}. Its own old grant still has it, so it must wait")
            }
            Some(holder) => {
                format!("asks for {name}. {} has it, so it must wait", self.plot.cast.worker(holder))
            }
            None => format!("asks for {name}, and asks again until it gets it"),
        };
        self.say(entry, self.plot.cast.worker(op.worker), text).about(op.hold).beside(owner);
    }

    pub(in crate::narration) fn takes_the_lock(&mut self, entry: &Entry, op: &Op) {
        let cast = &self.plot.cast;
        let lock = op.lock.unwrap_or_default();
        let asked_ns = self.scene.waiting.remove(&op.worker);
        let hold = op.hold.unwrap_or(Hold(u64::MAX));
        self.scene.granted(hold, lock, Some(op.worker), op.token);
        let tale = self.scene.tale(hold);
        tale.believes = true;
        tale.deadline_ns = op.deadline_ns.or(op.ttl_ns.map(|ttl_ns| entry.time_ns.saturating_add(ttl_ns)));
        let tale = tale.clone();

        let waited_ns = asked_ns.map_or(0, |asked_ns| entry.time_ns.saturating_sub(asked_ns));
        let name = cast.lock_name(op.lock);
        let text = if !cast.has_service(op.lock) {
            "goes ahead: there is no lock that could make it wait".to_owned()
        } else {
            let mut text = match op.decided_by {
                Some(Decider::Client) => format!("concludes from the answers that it holds {name}"),
                _ if waited_ns >= A_WAIT_NS => {
                    format!("gets {name}, for which it waited {}", span(waited_ns))
                }
                _ => format!("takes {name}"),
            };
            let number = tale.token.map(token);
            let lease = tale
                .deadline_ns
                .filter(|_| op.ttl_ns.is_some())
                .map(|until| format!("lease until {}", instant(until)));
            let terms: Vec<String> = number.into_iter().chain(lease).collect();
            if !terms.is_empty() {
                text += &format!(": {}", terms.join(", "));
            }
            text
        };
        let crowd = self.crowd(op.worker, lock);
        let disorder = self.disorder(hold, lock);
        let over = tale.over_for_ns(entry.time_ns).filter(|_| tale.ended.is_some());
        let deed = Deed::Took { worker: op.worker, token: tale.token };
        let line = self.say(entry, self.plot.cast.worker(op.worker), text).about(Some(hold)).deed(deed);
        if let Some(over_ns) = over {
            line.note(
                Emphasis::Turn,
                format!("it does not know that this lease ended {} ago", span(over_ns)),
            );
        }
        if let Some(crowd) = crowd {
            line.note(Emphasis::Turn, crowd);
        }
        if let Some(disorder) = disorder {
            line.note(Emphasis::Turn, disorder);
        }
    }

    /// Who believes at the same time, now that this worker does, too.
    pub(in crate::narration) fn crowd(&mut self, worker: WorkerId, lock: LockId) -> Option<String> {
        let mut believers = self.scene.other_believers(worker, lock);
        if believers.is_empty() {
            return None;
        }
        if !self.plot.cast.has_service(Some(lock)) {
            let names: Vec<String> = believers.iter().map(|&worker| self.with_sleep(worker)).collect();
            let are = is_or_are(names.len());
            return Some(format!("{} {are} at work at the same time", enumeration(&names)));
        }
        believers.push(worker);
        let number = believers.len();
        let is_new = number > self.scene.most_believers;
        self.scene.most_believers = self.scene.most_believers.max(number);
        let names: Vec<String> = believers.iter().map(|&worker| self.with_sleep(worker)).collect();
        let (number, names) = (in_words(number), enumeration(&names));
        let when = if is_new { "from here on" } else { "again" };
        Some(format!("{when} {number} workers believe that the lock is theirs: {names}"))
    }

    /// A worker's name, and whether it sleeps.
    fn with_sleep(&self, worker: WorkerId) -> String {
        let name = self.plot.cast.worker(worker);
        if self.sleeps(worker) { format!("{name} (asleep)") } else { name }
    }

    /// Whether a worker's machine is stopped.
    pub(in crate::narration) fn sleeps(&self, worker: WorkerId) -> bool {
        self.plot.cast.machine_of(worker).is_some_and(|node| self.scene.stopped.contains_key(&node))
    }

    /// Whether a fence could not tell this grant from an older one.
    fn disorder(&self, hold: Hold, lock: LockId) -> Option<String> {
        let tale = self.scene.of(Some(hold));
        let number = tale.token?;
        let older = self.scene.tales.values().filter(|it| it.lock == Some(lock) && it.rank < tale.rank);
        let highest = older.filter_map(|it| it.token).max().filter(|&highest| highest >= number)?;
        Some(format!("an earlier grant had {}: no fence can tell which of the two is newer", token(highest)))
    }

    pub(in crate::narration) fn has_renewed(&mut self, entry: &Entry, op: &Op) {
        let Some(hold) = op.hold else { return };
        let until_ns = op.deadline_ns.or(op.ttl_ns.map(|ttl_ns| entry.time_ns.saturating_add(ttl_ns)));
        let tale = self.scene.tale(hold);
        tale.worker.get_or_insert(op.worker);
        if until_ns.is_some() {
            tale.deadline_ns = until_ns;
        }
        let over = tale.over_for_ns(entry.time_ns);
        if tale.rank.is_some() && !tale.believes {
            // It has given the lock back, or up, while the answer was on its way.
            return;
        }
        let until = until_ns.map(|until_ns| format!(": it now lasts until {}", instant(until_ns)));
        let text = format!("renews its lease{}", until.unwrap_or_default());
        let line = self.say(entry, self.plot.cast.worker(op.worker), text).about(op.hold);
        if let Some(over_ns) = over {
            line.note(Emphasis::Turn, format!("but it ended {} ago", span(over_ns)));
        }
    }

    pub(in crate::narration) fn gives_back(&mut self, entry: &Entry, op: &Op) {
        if let Some(hold) = op.hold {
            self.scene.tale(hold).believes = false;
        }
        let cast = &self.plot.cast;
        let course = self.plot.course(op.op);
        let is_prompt =
            course.completed_ns.is_some_and(|done_ns| done_ns.saturating_sub(entry.time_ns) < AT_ONCE_NS);
        let name = cast.lock_name(op.lock);
        let mut note = None;
        let text = match course.outcome.filter(|_| is_prompt) {
            _ if !cast.has_service(op.lock) => "is done with this job".to_owned(),
            Some(Outcome::Done) => format!("gives {name} back"),
            Some(Outcome::NotDone) => {
                note = self.first_sign(entry, op);
                format!(
                    "wants to give {name} back, and {} answers that it is no longer its own",
                    cast.service(op.lock)
                )
            }
            Some(Outcome::Unknown) | None => format!("wants to give {name} back"),
        };
        let line = self.say(entry, self.plot.cast.worker(op.worker), text).about(op.hold);
        if let Some(note) = note {
            line.note(Emphasis::Turn, note);
        }
    }

    pub(in crate::narration) fn has_given_back(&mut self, entry: &Entry, op: &Op) {
        let course = self.plot.course(op.op);
        let took_ns = course.invoked_ns.map_or(0, |asked_ns| entry.time_ns.saturating_sub(asked_ns));
        if took_ns >= AT_ONCE_NS && self.plot.cast.has_service(op.lock) {
            let text = format!("is told that it has given {} back", self.plot.cast.lock_name(op.lock));
            self.say(entry, self.plot.cast.worker(op.worker), text).about(op.hold);
        }
    }

    pub(in crate::narration) fn does_not_get_the_lock(&mut self, entry: &Entry, op: &Op) {
        self.scene.waiting.remove(&op.worker);
        let text = format!("does not get {}", self.plot.cast.lock_name(op.lock));
        self.say(entry, self.plot.cast.worker(op.worker), text).about(op.hold);
    }

    /// A renewal or release was answered: you are not the owner.
    pub(in crate::narration) fn is_told_of_the_loss(&mut self, entry: &Entry, op: &Op) {
        let course = self.plot.course(op.op);
        let was_prompt =
            course.invoked_ns.is_some_and(|at_ns| entry.time_ns.saturating_sub(at_ns) < AT_ONCE_NS);
        if op.f == F::Release && was_prompt {
            return;
        }
        let service = self.plot.cast.service(op.lock);
        let what =
            if op.f == F::Release { "there is nothing to give back" } else { "its renewal is refused" };
        let text = format!("is told by {service} that {what}: the lock is no longer its own");
        let note = self.first_sign(entry, op);
        let line = self.say(entry, self.plot.cast.worker(op.worker), text).about(op.hold);
        if let Some(note) = note {
            line.note(Emphasis::Turn, note);
        }
    }

    /// A worker learns from an answer that it lost the lock, unless it knows.
    fn first_sign(&mut self, entry: &Entry, op: &Op) -> Option<String> {
        let tale = self.scene.tale(op.hold?);
        let is_given_back = matches!(tale.ended, Some((_, EndCause::Released)));
        if std::mem::replace(&mut tale.knows, true) || tale.noticed || is_given_back {
            return None;
        }
        let (over_ns, sent_ns) = (tale.over_for_ns(entry.time_ns), tale.sent_ns);
        let noun = if self.plot.books.has_invoices { "charge" } else { "write" };
        let out_ns = sent_ns.map(|sent_ns| entry.time_ns.saturating_sub(sent_ns));
        let out_ns = out_ns.filter(|&out_ns| over_ns.is_some_and(|over_ns| over_ns >= out_ns));
        let late = out_ns.map(|out_ns| format!(", {} after its {noun} went out", span(out_ns)));
        Some(format!("the first sign that it lost the lock{}", late.unwrap_or_default()))
    }

    pub(in crate::narration) fn gets_no_answer(&mut self, entry: &Entry, op: &Op) {
        let course = self.plot.course(op.op);
        let waited_ns = course.invoked_ns.map_or(0, |asked_ns| entry.time_ns.saturating_sub(asked_ns));
        if op.f == F::Acquire {
            self.scene.waiting.remove(&op.worker);
        }
        let noun = noun(op.f);
        let text = match op.error.as_deref().map(plain).filter(|why| !why.is_empty()) {
            Some(why) if waited_ns < AT_ONCE_NS => format!("gets no answer to its {noun}: {why}"),
            None if waited_ns < AT_ONCE_NS => format!("gets no answer to its {noun}"),
            _ => format!("gets no answer to its {noun} within {}, and waits no longer", span(waited_ns)),
        };
        let line = self.say(entry, self.plot.cast.worker(op.worker), text).about(op.hold);
        if matches!(op.f, F::Write | F::Charge) {
            line.note(Emphasis::Turn, "it cannot know whether it was carried out, or still will be");
        }
    }
}
