//! The story in columns: time, actor, what happens; at the right or below, why it matters.

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm, core::display_width};

use super::wording::instant;
use super::{Emphasis, Narration, Section, Step};
use crate::paint::Paint;

/// From this width on, notes stand at the right.
const WIDE: usize = 110;
/// No column of text gets narrower: on a very narrow terminal, lines run over its edge.
const TEXT_WIDTH_MIN: usize = 24;
/// Between columns.
const GAP: &str = "  ";

/// Widths of the columns.
#[derive(Clone, Copy, Debug)]
struct Columns {
    time: usize,
    actor: usize,
    text: usize,
    /// Absent if notes stand below.
    note: Option<usize>,
}

pub(super) fn text(narration: &Narration, width: usize, colour: bool) -> String {
    let paint = Paint::new(colour);
    let columns = Columns::of(&narration.steps, width);
    let mut text = section(&narration.setting, width, paint);
    text += &format!("\n{}\n", paint.strong("What happened"));
    if narration.steps.is_empty() {
        text += &format!("{GAP}Nothing.\n");
    }
    for step in &narration.steps {
        text += &line(step, columns, paint);
    }
    for part in &narration.ending {
        text.push('\n');
        text += &section(part, width, paint);
    }
    text.replace('\u{a0}', " ")
}

impl Columns {
    fn of(steps: &[Step], width: usize) -> Self {
        let widest = |texts: &mut dyn Iterator<Item = String>| texts.map(|text| display_width(&text)).max();
        let time = widest(&mut steps.iter().map(|step| instant(step.time_ns))).unwrap_or(0);
        let actor = widest(&mut steps.iter().map(|step| step.actor.clone())).unwrap_or(0);
        let rest = width.saturating_sub(time + actor + 3 * GAP.len());
        if width < WIDE {
            return Columns { time, actor, text: rest.max(TEXT_WIDTH_MIN), note: None };
        }
        let note = rest * 2 / 5;
        let text = rest.saturating_sub(note + GAP.len()).max(TEXT_WIDTH_MIN);
        Columns { time, actor, text, note: Some(note.max(TEXT_WIDTH_MIN)) }
    }
}

fn line(step: &Step, columns: Columns, paint: Paint) -> String {
    let Columns { time, actor, text: width, note } = columns;
    let at = padded_left(&instant(step.time_ns), time);
    let mut words =
        wrapped(&step.text, width, "", if step.emphasis == Emphasis::Summary { "  " } else { "" });
    let mark = if step.emphasis == Emphasis::Harm { "!! " } else { "=> " };
    let reason = |width| step.note.as_ref().map(|note| wrapped(note, width, mark, "   ")).unwrap_or_default();
    let at_right = note.map(reason).unwrap_or_default();
    let below = if note.is_none() { reason(width) } else { Vec::new() };
    if words.is_empty() {
        words.push(String::new());
    }
    let rows = words.len().max(at_right.len());
    let mut lines = String::new();
    for row in 0..rows {
        let (time_cell, actor_cell) = if row == 0 { (at.as_str(), step.actor.as_str()) } else { ("", "") };
        let cell = words.get(row).map(String::as_str).unwrap_or_default();
        let mut out = format!("{GAP}{}{GAP}{}{GAP}", padded_left(time_cell, time), padded(actor_cell, actor));
        out += &in_style(cell, step.emphasis, paint);
        if let Some(reason) = at_right.get(row) {
            out += &" ".repeat(width.saturating_sub(display_width(cell)));
            out += GAP;
            out += &note_in_style(reason, step.emphasis, paint);
        }
        lines += out.trim_end();
        lines.push('\n');
    }
    let indent = " ".repeat(time + actor + 3 * GAP.len());
    for reason in below {
        lines += &format!("{indent}{}\n", note_in_style(&reason, step.emphasis, paint));
    }
    lines
}

fn section(section: &Section, width: usize, paint: Paint) -> String {
    let mut text = paint.strong(&section.title) + "\n";
    for paragraph in &section.paragraphs {
        for line in wrapped(paragraph, width.max(TEXT_WIDTH_MIN), GAP, GAP) {
            text += line.trim_end();
            text.push('\n');
        }
    }
    text
}

fn in_style(text: &str, emphasis: Emphasis, paint: Paint) -> String {
    match emphasis {
        Emphasis::Plain | Emphasis::Turn => text.to_owned(),
        Emphasis::Summary => paint.faint(text),
        Emphasis::Fault => paint.doubt(text),
        Emphasis::Harm => paint.harm(text),
        Emphasis::Averted => paint.good(text),
    }
}

fn note_in_style(text: &str, emphasis: Emphasis, paint: Paint) -> String {
    match emphasis {
        Emphasis::Turn => paint.strong(text),
        other => in_style(text, other, paint),
    }
}

/// Only at spaces: numbers stay with their units.
fn wrapped(text: &str, width: usize, first: &str, rest: &str) -> Vec<String> {
    let options = Options::new(width)
        .initial_indent(first)
        .subsequent_indent(rest)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    textwrap::wrap(text, options).into_iter().map(|line| line.into_owned()).collect()
}

fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(display_width(text))))
}

fn padded_left(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(display_width(text))))
}
