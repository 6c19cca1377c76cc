use clap::{Command, builder::StyledStr};
use clap_mangen::Man;

use super::parse;

/// Returns each manual page as a file name and its text, the program's own first.
pub fn pages() -> Vec<(String, Vec<u8>)> {
    let tree = built();
    let mut found = vec![page(&tree, parse::NAME)];
    collect(&tree, parse::NAME, &mut found);
    found
}

fn collect(parent: &Command, prefix: &str, found: &mut Vec<(String, Vec<u8>)>) {
    for command in visible(parent) {
        let name = format!("{prefix}-{}", command.get_name());
        found.push(page(command, &name));
        collect(command, &name, found);
    }
}

fn page(command: &Command, name: &str) -> (String, Vec<u8>) {
    let command = command
        .clone()
        .name(name.to_owned())
        .display_name(name.to_owned());
    let mut text = Vec::new();
    Man::new(command)
        .manual("git-operator")
        .source(concat!("git-operator ", env!("CARGO_PKG_VERSION")))
        .date("")
        .render(&mut text)
        .expect("writing to memory does not fail");
    (format!("{name}.1"), text)
}

/// Returns docs/reference.md.
pub fn reference() -> String {
    let tree = built();
    let mut text = String::from(
        "# Command reference\n\nMade from the program's own description of its command line; do not edit.\n\
         `git operator <command>` and `git-operator <command>` are the same.\n",
    );
    section(&tree, parse::NAME, 2, &mut text);
    for command in visible(&tree) {
        write_tree(command, "git operator", &mut text);
    }
    text
}

fn write_tree(command: &Command, prefix: &str, text: &mut String) {
    let name = format!("{prefix} {}", command.get_name());
    section(command, &name, 2, text);
    for inner in visible(command) {
        write_tree(inner, &name, text);
    }
}

fn section(command: &Command, name: &str, level: usize, text: &mut String) {
    let usage = command.clone().bin_name(name).render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    let about = paragraph(command.get_long_about().or_else(|| command.get_about()));
    text.push_str(&format!("\n{} {name}\n\n", "#".repeat(level)));
    text.push_str(&format!("```text\n{usage}\n```\n\n{about}\n"));
    let aliases: Vec<String> = command
        .get_visible_aliases()
        .map(|alias| format!("`{alias}`"))
        .collect();
    if !aliases.is_empty() {
        text.push_str(&format!("\nAlso called {}.\n", aliases.join(", ")));
    }
    let args: Vec<String> = command
        .get_arguments()
        .filter(|arg| {
            !arg.is_hide_set() && (level == 2 && name == parse::NAME || !arg.is_global_set())
        })
        .filter(|arg| arg.get_id() != "help")
        .map(argument)
        .collect();
    if !args.is_empty() {
        text.push_str(&format!("\n{}\n", args.join("\n")));
    }
    if let Some(after) = command.get_after_long_help() {
        text.push_str(&format!("\n```text\n{}\n```\n", after.to_string().trim()));
    }
}

fn argument(arg: &clap::Arg) -> String {
    let help = paragraph(arg.get_long_help().or_else(|| arg.get_help()));
    let short = match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(_)) => format!("-{short}, "),
        _ => String::new(),
    };
    format!("- `{short}{arg}`: {}", help.replace('\n', "\n  "))
}

fn paragraph(text: Option<&StyledStr>) -> String {
    text.map_or_else(String::new, |text| text.to_string().trim().to_owned())
}

fn built() -> Command {
    let mut tree = parse::tree().term_width(0);
    tree.build();
    tree
}

/// The subcommands a page is made for: all but `help`.
fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command
        .get_subcommands()
        .filter(|inner| inner.get_name() != "help")
}
