//! Who is in the story, and by which rules they play.

use fencepost_checker::history::{CheckDepth, FenceMode, Header, TokenOrigin, WorkerId};

use super::Section;
use super::plot::Plot;
use super::wording::{capitalised, in_words, span};

/// More workers than this are not named one by one.
const NAMED_MAX: usize = 4;

pub(super) fn section(plot: &Plot<'_>) -> Section {
    let header = plot.cast.header();
    let paragraphs = vec![
        job(plot, header),
        lock(plot, header),
        format!("{} {}", habits(plot, header), fence(plot)).trim().to_owned(),
    ];
    Section { title: "The setting".to_owned(), paragraphs }
}

/// What the workers are there for.
fn job(plot: &Plot<'_>, header: &Header) -> String {
    let workers: Vec<WorkerId> = (0..).map(WorkerId).take(header.workers.len()).collect();
    let who = match workers.len() {
        0 => "Some workers".to_owned(),
        1 => format!("One worker, {},", plot.cast.workers(&workers)),
        number if number <= NAMED_MAX => {
            format!("{} workers, {},", capitalised(&in_words(number)), plot.cast.workers(&workers))
        }
        number => format!("{} workers", capitalised(&in_words(number))),
    };
    let ledger = plot.cast.resource(None);
    if plot.books.has_invoices {
        format!(
            "{who} go through the same invoices. Each asks the {ledger} whether an invoice is charged, calls \
             a slow service, and charges it. If two do that at once, the invoice is charged twice."
        )
    } else {
        format!(
            "{who} book debits in one {ledger}. Each reads the record, works, and writes the whole record \
             anew with its debit added. If two do that at once, the second one writes over what the first \
             one wrote."
        )
    }
}

/// What should keep them apart.
fn lock(plot: &Plot<'_>, header: &Header) -> String {
    let Some(lock) = header.locks.first().filter(|lock| lock.service) else {
        return "Nothing keeps them apart: there is no lock.".to_owned();
    };
    let service = plot.cast.service(None);
    let lease = match lock.ttl_ns {
        0 => String::new(),
        ttl_ns => format!(
            " The lock is a lease: it ends by itself {} after it was granted or renewed, so that a worker \
             that died does not block the others for ever.",
            span(ttl_ns)
        ),
    };
    let tokens = match lock.tokens {
        TokenOrigin::None => "",
        TokenOrigin::WithGrant => " Each grant comes with a token: a number that grows from grant to grant.",
        _ => " Each grant has a token: a number that should grow from grant to grant.",
    };
    format!("So each takes a lock first, from {service}.{lease}{tokens}")
}

/// How careful they are.
fn habits(plot: &Plot<'_>, header: &Header) -> String {
    let Some(worker) = header.workers.first().filter(|_| plot.cast.has_service(None)) else {
        return String::new();
    };
    let noun = if plot.books.has_invoices { "charges" } else { "writes" };
    let renewal = match worker.renew_every_ns {
        Some(every_ns) => format!("renews its lease every {} while it works", span(every_ns)),
        None => "does not renew its lease".to_owned(),
    };
    let check = match worker.check {
        CheckDepth::None => format!("never looks whether it still holds the lock before it {noun}"),
        CheckDepth::Timer => "has a timer that stops it when its lease ends".to_owned(),
        CheckDepth::BeforeWrite => {
            format!("looks at its clock before it {noun}, whether its lease still lasts")
        }
    };
    let and =
        if worker.renew_every_ns.is_some() == (worker.check != CheckDepth::None) { "and" } else { "but" };
    format!("A worker {renewal}, {and} {check}.")
}

/// What the resource checks.
fn fence(plot: &Plot<'_>) -> String {
    let ledger = capitalised(&format!("the {}", plot.cast.resource(None)));
    let rule = match plot.cast.fence(None) {
        FenceMode::Off if !plot.cast.has_service(None) => {
            "accepts whatever comes: it has no fence (fence off)"
        }
        FenceMode::Off => {
            "could compare tokens and refuse what comes too late. That would be a fence, but it has none: it \
             accepts whatever comes (fence off)"
        }
        FenceMode::Write => {
            "has a fence (fence write): it remembers the highest token that came with a write, and refuses \
             writes with a smaller one"
        }
        FenceMode::ReadWrite => {
            "has a fence (fence read-write): reads and writes show their token, it remembers the highest, \
             and refuses whatever comes with a smaller one"
        }
        FenceMode::Cas => {
            "does not look at tokens, but at versions (fence cas, compare and set): it refuses a write \
             unless its record is still the version from which the write was computed"
        }
        FenceMode::Idempotency => {
            "does not look at tokens, but keeps the key of each charge, one for each invoice (fence \
             idempotency): it refuses a second charge with the same key"
        }
    };
    format!("{ledger} {rule}.")
}
