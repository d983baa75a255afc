//! `fencepost` alone: what it is, and three commands to try.

use fencepost_reports::paint::Paint;

use super::screen::Screen;

pub(super) fn run(screen: &mut Screen) -> anyhow::Result<u8> {
    let paint = Paint::new(screen.colour);
    let text = format!(
        "\
{}: shows, before production does, when a distributed lock lets two holders in
and what that costs.

It runs a lock, its clients and the resource that they share in a simulation, stops a
process or moves a clock at the worst moment, and checks what happened: two holders at
once, debits that are lost or charged twice, with and without fencing tokens.

Three commands to try:

  {}   what a long pause of the holder does to a Redis lock
  {}     one run of it, told step by step
  {}                what else there is

`fencepost help` explains all commands.
",
        paint.strong("fencepost"),
        paint.strong("cargo run -- scenario gc-pause"),
        paint.strong("cargo run -- replay gc-pause"),
        paint.strong("cargo run -- list"),
    );
    screen.print(&text)?;
    Ok(0)
}
