//! What goes wrong from outside.

use fencepost_checker::history::{CheckDepth, Entry, Fault, NodeId, OpId, StopKind, WorkerId};

use crate::narration::Emphasis;
use crate::narration::plot::noun;
use crate::narration::telling::Telling;
use crate::narration::wording::{debits, enumeration, span};

impl Telling<'_> {
    pub(in crate::narration) fn suffers(&mut self, position: usize, entry: &Entry, fault: &Fault) {
        let (actor, text) = match fault {
            Fault::Stop { node, kind } => {
                let text = format!("IS STOPPED {}{}", cause(*kind), self.whereabouts(*node));
                self.scene.stopped.insert(*node, (entry.time_ns, *kind));
                self.touch(*node);
                (self.plot.cast.machine(*node), text)
            }
            Fault::Resume { node } => {
                let since = self.scene.stopped.remove(node).map(|(since_ns, _)| since_ns);
                let after =
                    since.map(|since_ns| format!(" after {}", span(entry.time_ns.saturating_sub(since_ns))));
                let text = format!(
                    "RUNS AGAIN{}{}",
                    after.unwrap_or_default(),
                    self.awakening(*node, entry.time_ns)
                );
                (self.plot.cast.machine(*node), text)
            }
            Fault::Kill { node } => {
                let text = format!("IS KILLED: its process ends here{}", self.legacy(*node));
                (self.plot.cast.machine(*node), text)
            }
            Fault::PowerOff { node } => {
                let text = format!("LOSES POWER: what was not on its disk is gone{}", self.legacy(*node));
                (self.plot.cast.machine(*node), text)
            }
            Fault::Restart { node } => {
                self.scene.stopped.remove(node);
                let text = "STARTS AGAIN, with what its disk has".to_owned();
                (self.plot.cast.machine(*node), text)
            }
            Fault::ClockStep { node, by_ns } => {
                self.touch(*node);
                let way = if *by_ns < 0 { "BACK" } else { "FORWARD" };
                let text = format!("its clock JUMPS {way} by {}", span(by_ns.unsigned_abs()));
                (self.plot.cast.machine(*node), text)
            }
            Fault::ClockRate { node, wall_ppm, monotonic_ppm } => {
                self.touch(*node);
                let text = format!(
                    "its clocks run {} from here on (wall clock), and {} (the one for timers)",
                    rate(*wall_ppm),
                    rate(*monotonic_ppm)
                );
                (self.plot.cast.machine(*node), text)
            }
            Fault::HoldMessage { from, to, op } => {
                self.touch_message(*from, *op);
                let arrival_ns = self.plot.arrival_ns(position, *from, *to, *op);
                let when = match arrival_ns {
                    Some(arrival_ns) => {
                        format!("will not arrive for {}", span(arrival_ns.saturating_sub(entry.time_ns)))
                    }
                    None => "does not arrive in this run".to_owned(),
                };
                (
                    "network".to_owned(),
                    format!("KEEPS {}: it is on its way and {when}", self.message(*from, *to, *op)),
                )
            }
            Fault::DeliverMessage { from, to, op } => {
                let sent_ns = op.and_then(|op| self.plot.course(op).invoked_ns);
                let after = sent_ns.map(|sent_ns| {
                    format!(", {} after it was sent", span(entry.time_ns.saturating_sub(sent_ns)))
                });
                let text = format!("DELIVERS {}{}", self.message(*from, *to, *op), after.unwrap_or_default());
                ("network".to_owned(), text)
            }
            Fault::Cut { from, to } => {
                self.touch(*from);
                self.touch(*to);
                let links = self.plot.volley(position, cut);
                if links.is_empty() {
                    return;
                }
                ("network".to_owned(), format!("IS CUT: nothing gets {}", self.links(&links, "to or from")))
            }
            Fault::Heal { .. } => {
                let links = self.plot.volley(position, healed);
                if links.is_empty() {
                    return;
                }
                (
                    "network".to_owned(),
                    format!("IS WHOLE AGAIN: messages get {}", self.links(&links, "to and from")),
                )
            }
        };
        let in_time = match fault {
            Fault::Resume { node } => self.is_in_time(*node, entry.time_ns),
            _ => false,
        };
        let line = self.say(entry, actor, text).emphasis(Emphasis::Fault);
        if in_time {
            line.note(Emphasis::Fault, "in time: nobody else could get the lock meanwhile");
        }
    }

    /// Whether a machine runs again before a lease of its workers ends.
    fn is_in_time(&self, node: NodeId, now_ns: u64) -> bool {
        let crew = self.plot.cast.crew(node);
        crew.iter().flat_map(|&worker| self.scene.beliefs(worker)).any(|hold| {
            let tale = self.scene.of(Some(hold));
            tale.ended.is_none()
                && tale.ends_ns().is_some_and(|until_ns| until_ns > now_ns)
                && self.plot.cast.has_service(tale.lock)
        })
    }

    /// The grants that matter to whoever is hit.
    fn touch(&mut self, node: NodeId) {
        let crew = self.plot.cast.crew(node);
        let mut hit: Vec<_> = crew.iter().flat_map(|&worker| self.scene.beliefs(worker)).collect();
        if crew.is_empty() {
            let locks: Vec<_> = self.scene.latest.keys().copied().collect();
            hit.extend(locks.into_iter().filter_map(|lock| self.scene.owner(lock)));
        }
        self.touched.extend(hit);
    }

    fn touch_message(&mut self, from: NodeId, op: Option<OpId>) {
        match op.and_then(|op| self.plot.course(op).op).and_then(|op| op.hold) {
            Some(hold) => {
                self.touched.insert(hold);
            }
            None => self.touch(from),
        }
    }

    /// In the middle of what a stopped machine was.
    fn whereabouts(&self, node: NodeId) -> String {
        let &[worker] = self.plot.cast.crew(node).as_slice() else { return String::new() };
        let noun = if self.plot.books.has_invoices { "charge" } else { "write" };
        let Some(tale) = self.scene.beliefs(worker).last().map(|&hold| self.scene.of(Some(hold))) else {
            let waits = self.scene.waiting.contains_key(&worker);
            return if waits { ", while it waits for the lock" } else { ", between two jobs" }.to_owned();
        };
        let looks =
            self.plot.cast.habits(worker).is_some_and(|habits| habits.check == CheckDepth::BeforeWrite);
        match tale {
            _ if tale.wrote_ns.is_some() => format!(", after its {noun}"),
            _ if tale.sent_ns.is_some() => format!(", with its {noun} on its way"),
            _ if tale.checked.is_some_and(|(_, passed)| passed) => {
                format!(", after this look at its clock and before it sends its {noun}")
            }
            _ if tale.read_ns.is_some() && looks => {
                ", in the middle of its work, before it looks at its clock".to_owned()
            }
            _ if tale.read_ns.is_some() => format!(", before it sends its {noun}"),
            _ => ", right after it got the lock".to_owned(),
        }
    }

    /// What a machine that runs again does not know.
    fn awakening(&self, node: NodeId, now_ns: u64) -> String {
        let crew = self.plot.cast.crew(node);
        let holds = crew.iter().flat_map(|&worker| self.scene.beliefs(worker));
        let Some(tale) = holds.last().map(|hold| self.scene.of(Some(hold))) else { return String::new() };
        match (tale.over_for_ns(now_ns), tale.ends_ns()) {
            (Some(over_ns), _) => format!(". It does not know that its lease ended {} ago", span(over_ns)),
            (None, Some(until_ns)) if until_ns > now_ns && self.plot.cast.has_service(tale.lock) => {
                format!(": {} before its lease ends", span(until_ns - now_ns))
            }
            (None, _) => String::new(),
        }
    }

    /// What a dead process leaves.
    fn legacy(&mut self, node: NodeId) -> String {
        self.touch(node);
        self.scene.stopped.remove(&node);
        let crew: Vec<WorkerId> = self.plot.cast.crew(node);
        let mut leaves_lock = false;
        for &worker in &crew {
            self.scene.waiting.remove(&worker);
            for hold in self.scene.beliefs(worker) {
                let tale = self.scene.tale(hold);
                tale.believes = false;
                leaves_lock |= tale.ended.is_none();
            }
        }
        if leaves_lock { ". The lock is not given back: it must run out".to_owned() } else { String::new() }
    }

    /// What a message carries.
    fn message(&self, from: NodeId, to: NodeId, op: Option<OpId>) -> String {
        let (sender, receiver) = (self.plot.cast.machine(from), self.plot.cast.machine(to));
        let Some(course) = op.map(|op| self.plot.course(op)).and_then(|course| course.op) else {
            return format!("a message from {sender} to {receiver}");
        };
        let debit = self.plot.debit(course.op).map(|debit| format!(" ({})", debits(&[debit])));
        format!("the {} of {sender}{}", noun(course.f), debit.unwrap_or_default())
    }

    /// `from client-1 to redis`, `between client-1 and redis`, `to or from client-1`.
    fn links(&self, links: &[(NodeId, NodeId)], to_and_from: &str) -> String {
        let name = |node| self.plot.cast.machine(node);
        let is_isolated = |node: NodeId| links.iter().all(|&(from, to)| from == node || to == node);
        let machines = self.plot.cast.header().nodes.len();
        if let Some(&(from, to)) = links.first()
            && links.len() > 2
            && links.len() == 2 * machines.saturating_sub(1)
            && let Some(node) = [from, to].into_iter().find(|&node| is_isolated(node))
        {
            return format!("{to_and_from} {}", name(node));
        }
        let mut ways: Vec<String> = links
            .iter()
            .map(|&(from, to)| match links.contains(&(to, from)) {
                true => format!("between {} and {}", name(from.min(to)), name(from.max(to))),
                false => format!("from {} to {}", name(from), name(to)),
            })
            .collect();
        ways.sort();
        ways.dedup();
        enumeration(&ways)
    }
}

fn cause(kind: StopKind) -> &'static str {
    match kind {
        StopKind::Gc => "by its garbage collection",
        StopKind::Sigstop => "by a signal (SIGSTOP)",
        StopKind::PageFault => "by a page fault: its memory was swapped out",
        StopKind::VmSteal => "because the hypervisor gives its processor to somebody else",
    }
}

fn cut(fault: &Fault) -> Option<(NodeId, NodeId)> {
    if let Fault::Cut { from, to } = fault { Some((*from, *to)) } else { None }
}

fn healed(fault: &Fault) -> Option<(NodeId, NodeId)> {
    if let Fault::Heal { from, to } = fault { Some((*from, *to)) } else { None }
}

/// `at their rate`, `500 ppm fast`.
fn rate(ppm: i64) -> String {
    match ppm {
        0 => "at the right rate".to_owned(),
        ppm if ppm > 0 => format!("{}\u{a0}ppm fast", ppm.unsigned_abs()),
        ppm => format!("{}\u{a0}ppm slow", ppm.unsigned_abs()),
    }
}
