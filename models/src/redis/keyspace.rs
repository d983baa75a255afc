//! What a Redis server keeps, and what its commands do to it.
//!
//! Sources: `t_string.c`, `db.c`, `expire.c` of redis/redis; the commands' documentation pages. A deadline
//! is an absolute wall-clock millisecond; each command or script uses one time sample for all its decisions
//! (`commandTimeSnapshot`). An access deletes a key when `now > deadline`, so that at the exact millisecond
//! the key still lives with PTTL 0; the active cycle deletes it when `now >= deadline`.

use std::collections::BTreeMap;
use std::rc::Rc;

/// A key or a value.
pub type Text = Rc<str>;

/// A command, as far as locks need them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `SET key value NX PX px`.
    SetNxPx {
        /// The key.
        key: Text,
        /// The value.
        value: Text,
        /// How long it lives, in milliseconds.
        px: i64,
    },
    /// `GET key`.
    Get {
        /// The key.
        key: Text,
    },
    /// `DEL key`, whatever it holds.
    Del {
        /// The key.
        key: Text,
    },
    /// `DELEX key IFEQ value` (8.4): compare and delete in one command.
    DelexIfeq {
        /// The key.
        key: Text,
        /// What it must hold.
        value: Text,
    },
    /// `INCR key`.
    Incr {
        /// The key.
        key: Text,
    },
    /// `EVAL script`: runs to its end with nothing interleaved.
    Eval(Script),
}

/// A Lua script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Script {
    /// `if SET key value NX PX px then return INCR counter end`: the grant and its fencing token in one step.
    Acquire {
        /// The lock's key.
        key: Text,
        /// The random value of its client.
        value: Text,
        /// The lease, in milliseconds.
        px: i64,
        /// The counter that tokens come from.
        counter: Text,
    },
    /// `if GET key == value then return DEL key end`: the release of the documentation.
    CompareAndDelete {
        /// The lock's key.
        key: Text,
        /// The random value of its client.
        value: Text,
    },
    /// `if GET key == value then return PEXPIRE key px end`: the extension of the libraries.
    CompareAndExtend {
        /// The lock's key.
        key: Text,
        /// The random value of its client.
        value: Text,
        /// The lease, in milliseconds.
        px: i64,
    },
}

/// What a server answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// `OK`.
    Ok,
    /// Nothing there, or not done.
    Nil,
    /// A number.
    Integer(i64),
    /// A value.
    Bulk(Text),
    /// An error: certainly not executed.
    Error(&'static str),
}

/// Something happened to a key: what is propagated, and what is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It was stored.
    Stored {
        /// The key.
        key: Text,
        /// Its value.
        value: Text,
        /// Its deadline, in milliseconds since 1970.
        deadline_ms: Option<i64>,
    },
    /// Its deadline was moved.
    Extended {
        /// The key.
        key: Text,
        /// Its value.
        value: Text,
        /// Its new deadline.
        deadline_ms: i64,
    },
    /// It is gone.
    Deleted {
        /// The key.
        key: Text,
        /// What it held.
        value: Text,
        /// Why.
        why: Deletion,
    },
}

/// Why a key is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// Its deadline passed.
    Expired,
    /// A client deleted it after comparing its value.
    Compared,
    /// A client deleted it whatever it held.
    Unconditional,
}

/// The keys of a server.
#[derive(Clone, Debug, Default)]
pub struct Keyspace {
    items: BTreeMap<Text, Item>,
}

#[derive(Clone, Debug)]
struct Item {
    value: Text,
    deadline_ms: Option<i64>,
}

const INVALID_EXPIRE: Reply = Reply::Error("ERR invalid expire time in 'set' command");
const NOT_AN_INTEGER: Reply = Reply::Error("ERR value is not an integer or out of range");

impl Keyspace {
    /// Executes a command at wall time `now_ms`, and adds what it changed.
    pub fn execute(&mut self, now_ms: i64, command: &Command, changes: &mut Vec<Change>) -> Reply {
        match command {
            Command::SetNxPx { key, value, px } => self.set_nx_px(now_ms, key, value, *px, changes),
            Command::Get { key } => match self.get(now_ms, key, changes) {
                Some(value) => Reply::Bulk(value),
                None => Reply::Nil,
            },
            Command::Del { key } => {
                let there = self.get(now_ms, key, changes).is_some();
                self.delete(key, Deletion::Unconditional, changes);
                Reply::Integer(there.into())
            }
            Command::DelexIfeq { key, value } | Command::Eval(Script::CompareAndDelete { key, value }) => {
                let equal = self.get(now_ms, key, changes).is_some_and(|found| found == *value);
                if equal {
                    self.delete(key, Deletion::Compared, changes);
                }
                Reply::Integer(equal.into())
            }
            Command::Incr { key } => self.incr(now_ms, key, changes),
            Command::Eval(Script::Acquire { key, value, px, counter }) => {
                match self.set_nx_px(now_ms, key, value, *px, changes) {
                    Reply::Ok => self.incr(now_ms, counter, changes),
                    refused => refused,
                }
            }
            Command::Eval(Script::CompareAndExtend { key, value, px }) => {
                match self.get(now_ms, key, changes) {
                    Some(found) if found == *value => self.pexpire(now_ms, key, *px, changes),
                    _ => Reply::Integer(0),
                }
            }
        }
    }

    /// The active cycle: deletes what has passed its deadline.
    pub fn expire_cycle(&mut self, now_ms: i64, changes: &mut Vec<Change>) {
        let due = |item: &Item| item.deadline_ms.is_some_and(|deadline| now_ms >= deadline);
        let keys: Vec<Text> =
            self.items.iter().filter(|(_, item)| due(item)).map(|(key, _)| key.clone()).collect();
        for key in keys {
            self.delete(&key, Deletion::Expired, changes);
        }
    }

    /// The next deadline of any key.
    pub fn next_deadline_ms(&self) -> Option<i64> {
        self.items.values().filter_map(|item| item.deadline_ms).min()
    }

    /// What is in memory for a key, expired or not, with its deadline.
    pub fn peek(&self, key: &str) -> Option<(&Text, Option<i64>)> {
        self.items.get(key).map(|item| (&item.value, item.deadline_ms))
    }

    /// What an access sees: a key past its deadline is deleted first.
    fn get(&mut self, now_ms: i64, key: &Text, changes: &mut Vec<Change>) -> Option<Text> {
        let item = self.items.get(key)?;
        if item.deadline_ms.is_some_and(|deadline| now_ms > deadline) {
            self.delete(key, Deletion::Expired, changes);
            return None;
        }
        Some(item.value.clone())
    }

    fn set_nx_px(
        &mut self,
        now_ms: i64,
        key: &Text,
        value: &Text,
        px: i64,
        changes: &mut Vec<Change>,
    ) -> Reply {
        let Some(deadline_ms) = now_ms.checked_add(px).filter(|_| px > 0) else { return INVALID_EXPIRE };
        if self.get(now_ms, key, changes).is_some() {
            return Reply::Nil;
        }
        self.store(key, value.clone(), Some(deadline_ms), changes);
        Reply::Ok
    }

    fn pexpire(&mut self, now_ms: i64, key: &Text, px: i64, changes: &mut Vec<Change>) -> Reply {
        let Some(item) = self.items.get_mut(key) else { return Reply::Integer(0) };
        let Some(deadline_ms) = now_ms.checked_add(px) else {
            return Reply::Error("ERR invalid expire time in 'pexpire' command");
        };
        if px <= 0 {
            self.delete(key, Deletion::Unconditional, changes);
            return Reply::Integer(1);
        }
        item.deadline_ms = Some(deadline_ms);
        changes.push(Change::Extended { key: key.clone(), value: item.value.clone(), deadline_ms });
        Reply::Integer(1)
    }

    fn incr(&mut self, now_ms: i64, key: &Text, changes: &mut Vec<Change>) -> Reply {
        let before = self.get(now_ms, key, changes);
        let number = before.as_deref().map_or(Ok(0), str::parse::<i64>);
        let Some(number) = number.ok().and_then(|number| number.checked_add(1)) else {
            return NOT_AN_INTEGER;
        };
        let deadline_ms = self.items.get(key).and_then(|item| item.deadline_ms);
        self.store(key, number.to_string().into(), deadline_ms, changes);
        Reply::Integer(number)
    }

    fn store(&mut self, key: &Text, value: Text, deadline_ms: Option<i64>, changes: &mut Vec<Change>) {
        changes.push(Change::Stored { key: key.clone(), value: value.clone(), deadline_ms });
        self.items.insert(key.clone(), Item { value, deadline_ms });
    }

    fn delete(&mut self, key: &Text, why: Deletion, changes: &mut Vec<Change>) {
        if let Some(item) = self.items.remove(key) {
            changes.push(Change::Deleted { key: key.clone(), value: item.value, why });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(text: &str) -> Text {
        text.into()
    }

    fn set(px: i64) -> Command {
        Command::SetNxPx { key: text("lock"), value: text("a"), px }
    }

    #[test]
    fn a_key_lives_at_its_exact_deadline_and_is_gone_a_millisecond_later() {
        let mut keys = Keyspace::default();
        let mut changes = Vec::new();
        assert_eq!(keys.execute(1_000, &set(500), &mut changes), Reply::Ok);
        let get = Command::Get { key: text("lock") };
        assert_eq!(keys.execute(1_500, &get, &mut changes), Reply::Bulk(text("a")));
        assert_eq!(keys.execute(1_500, &set(500), &mut changes), Reply::Nil);
        assert_eq!(keys.execute(1_501, &get, &mut changes), Reply::Nil);
    }

    #[test]
    fn the_active_cycle_deletes_at_the_exact_deadline() {
        let mut keys = Keyspace::default();
        keys.execute(1_000, &set(500), &mut Vec::new());
        let mut changes = Vec::new();
        keys.expire_cycle(1_499, &mut changes);
        assert_eq!(changes, []);
        keys.expire_cycle(1_500, &mut changes);
        let deleted = Change::Deleted { key: text("lock"), value: text("a"), why: Deletion::Expired };
        assert_eq!(changes, [deleted]);
    }

    #[test]
    fn a_deadline_that_is_not_in_the_future_is_an_error() {
        for px in [0, -1, i64::MAX] {
            assert_eq!(Keyspace::default().execute(1_000, &set(px), &mut Vec::new()), INVALID_EXPIRE);
        }
    }

    #[test]
    fn only_the_owner_releases_or_extends_by_comparison() {
        let owner = |value: &str| {
            [
                Command::DelexIfeq { key: text("lock"), value: text(value) },
                Command::Eval(Script::CompareAndDelete { key: text("lock"), value: text(value) }),
                Command::Eval(Script::CompareAndExtend { key: text("lock"), value: text(value), px: 9 }),
            ]
        };
        for command in owner("b") {
            let mut keys = Keyspace::default();
            keys.execute(0, &set(500), &mut Vec::new());
            let mut changes = Vec::new();
            assert_eq!(keys.execute(1, &command, &mut changes), Reply::Integer(0));
            assert_eq!(changes, [], "{command:?}");
        }
        for command in owner("a") {
            let mut keys = Keyspace::default();
            keys.execute(0, &set(500), &mut Vec::new());
            assert_eq!(keys.execute(1, &command, &mut Vec::new()), Reply::Integer(1));
        }
    }

    #[test]
    fn a_plain_del_asks_nobody() {
        let mut keys = Keyspace::default();
        keys.execute(0, &set(500), &mut Vec::new());
        assert_eq!(keys.execute(1, &Command::Del { key: text("lock") }, &mut Vec::new()), Reply::Integer(1));
        assert_eq!(keys.execute(1, &set(500), &mut Vec::new()), Reply::Ok);
    }

    #[test]
    fn incr_keeps_the_deadline_and_refuses_text() {
        let mut keys = Keyspace::default();
        keys.execute(0, &Command::SetNxPx { key: text("n"), value: text("7"), px: 5 }, &mut Vec::new());
        let incr = Command::Incr { key: text("n") };
        assert_eq!(keys.execute(0, &incr, &mut Vec::new()), Reply::Integer(8));
        assert_eq!(keys.execute(6, &incr, &mut Vec::new()), Reply::Integer(1));
        keys.execute(7, &set(500), &mut Vec::new());
        let text_key = Command::Incr { key: text("lock") };
        assert_eq!(keys.execute(8, &text_key, &mut Vec::new()), NOT_AN_INTEGER);
    }

    proptest! {
        #[test]
        fn acquires_exclude_each_other_and_tokens_rise(
            asks in proptest::collection::vec((0i64..200, 1i64..100, 0u8..4), 1..60),
        ) {
            let mut keys = Keyspace::default();
            let (mut now, mut free_from, mut token) = (0, 0, 0);
            for (wait, px, client) in asks {
                now += wait;
                let acquire = Script::Acquire {
                    key: text("lock"),
                    value: client.to_string().into(),
                    px,
                    counter: text("token"),
                };
                match keys.execute(now, &Command::Eval(acquire), &mut Vec::new()) {
                    Reply::Integer(next) => {
                        prop_assert!(now > free_from || token == 0);
                        prop_assert!(next > token);
                        (free_from, token) = (now + px, next);
                    }
                    reply => {
                        prop_assert_eq!(reply, Reply::Nil);
                        prop_assert!(now <= free_from);
                    }
                }
            }
        }
    }
}
