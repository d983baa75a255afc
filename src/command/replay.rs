//! `fencepost replay`: one run, told step by step.

use std::path::Path;

use anyhow::bail;
use clap::Args;
use fencepost_checker::Digest;
use fencepost_models::config::RunConfig;
use fencepost_models::run;
use fencepost_reports::narration::Narration;
use fencepost_scenarios::saved::{SavedRun, in_words};
use fencepost_scenarios::selection::{Selection, Wanted};
use fencepost_scenarios::{Exit, Row, Scenario, fence_name, runner};

use super::scenario::load;
use super::screen::Screen;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// A scenario (built-in name or file), or a saved run (its folder or its run.json)
    #[arg(value_name = "NAME|FILE.toml|RUN.json")]
    run: String,
    /// The seed
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// The lock; the scenario's first one if not given
    #[arg(long, value_name = "LOCK")]
    lock: Option<String>,
    /// The fence mode; the first one of the table if not given
    #[arg(long, value_name = "FENCE")]
    fence: Option<String>,
    /// The workload; the scenario's first one if not given
    #[arg(long, value_name = "WORKLOAD")]
    workload: Option<String>,
    /// Set a parameter, such as pause=6.3s or work=1s..2s; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// A run to tell.
struct Told {
    scenario: Scenario,
    row: Row,
    config: RunConfig,
    /// The digest that its history must have.
    digest: Option<Digest>,
}

pub(super) fn run(arguments: &Arguments, screen: &mut Screen) -> anyhow::Result<u8> {
    let path = Path::new(&arguments.run);
    let is_saved = path.extension().is_some_and(|it| it == "json") || path.join("run.json").is_file();
    let told = if is_saved { saved(path)? } else { named(arguments, screen)? };
    let output = run::run(&told.config);
    let result = runner::judge(&told.config, &output);
    let again = runner::run_seed(&told.config).digest;

    let narration = Narration::new(&output.header, &output.entries, &result.analysis);
    screen.print(&head(&told, screen.width))?;
    screen.print(&narration.text(screen.width, screen.colour))?;
    let check = match told.digest {
        Some(digest) if digest == result.digest => "as saved, and again on a second run",
        _ => "the same on a second run",
    };
    if again != result.digest {
        screen.error("two runs of this seed differ: this is a fault of ours, please report it");
        return Ok(Exit::OurFault.code());
    }
    if let Some(saved) = told.digest.filter(|digest| *digest != result.digest) {
        screen.error(&format!(
            "the history differs from the saved one (digest {}, saved {}).\n\
             If run.json was edited, take its `digest` out; else this is a fault of ours, please report it",
            result.digest.short(),
            saved.short(),
        ));
        return Ok(Exit::OurFault.code());
    }
    screen.print(&format!("\ndigest {} ({check})\n", result.digest.short()))?;
    Ok(0)
}

fn saved(path: &Path) -> anyhow::Result<Told> {
    let run = SavedRun::read(path)?;
    let (scenario, row, config) = run.restore(path)?;
    Ok(Told { scenario, row, config, digest: run.digest })
}

fn named(arguments: &Arguments, screen: &Screen) -> anyhow::Result<Told> {
    let scenario = load(&arguments.run, &arguments.set, screen)?;
    let list = |given: &Option<String>| given.iter().cloned().collect();
    let wanted = Wanted {
        locks: list(&arguments.lock),
        fences: list(&arguments.fence),
        workloads: list(&arguments.workload),
        seeds: None,
        seed: Some(arguments.seed),
    };
    let selection = Selection::of(&scenario, &wanted)?;
    // What is left open is what the scenario's table shows first.
    let Some((row, _)) = selection.rows.first().copied() else { bail!("the scenario has no such row") };
    let config = scenario.run_config(row, arguments.seed);
    Ok(Told { scenario, row, config, digest: None })
}

fn head(told: &Told, width: usize) -> String {
    let Row { lock, fence, workload } = told.row;
    let mut text = format!(
        "{}, seed {}: lock {}, fence {}, workload {}\n",
        told.scenario.name,
        told.config.seed,
        lock.name,
        fence_name(fence),
        workload.name,
    );
    for fault in &told.config.faults {
        let line = format!("fault: {}", in_words(fault));
        text += &fencepost_reports::numbers::wrapped(&line, width, "", "  ");
        text.push('\n');
    }
    text + "\n"
}
