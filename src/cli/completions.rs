use clap_complete::Shell;

use super::parse;
use crate::ui::{Context, Exit, Failure};

/// Print a completion script for a shell
///
/// For bash: `git-operator completions bash > ~/.local/share/bash-completion/completions/git-operator`.
/// The bash script also completes `git operator`, where git's own completion is loaded.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the shell
    shell: Shell,
}

/// What the functions of the bash script are called; clap_complete mixes up names with a hyphen.
const BASH_NAME: &str = "gitoperator";

/// Lets git's completion find ours: it calls `_git_<command>` for `git <command>`.
const GIT_BASH: &str = r#"
_git_operator() {
    local COMP_CWORD=$((COMP_CWORD - 1)) COMP_LINE="git-${COMP_LINE#*git }"
    local COMP_WORDS=("git-operator" "${COMP_WORDS[@]:2}")
    _gitoperator git-operator "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
}
"#;

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    if args.shell != Shell::Bash {
        clap_complete::generate(args.shell, &mut parse::tree(), parse::NAME, &mut script);
        let script = String::from_utf8_lossy(&script);
        let shown = script
            .split_inclusive('\n')
            .filter(|line| !offers_hidden(line));
        context.ui.print(shown.collect::<String>())?;
        return Ok(Exit::Done);
    }
    clap_complete::generate(args.shell, &mut parse::tree(), BASH_NAME, &mut script);
    let script = String::from_utf8_lossy(&script).replace(" --compat", "");
    let command = script.replace(&format!(" {BASH_NAME}\n"), &format!(" {}\n", parse::NAME));
    context.ui.print(command)?;
    context.ui.print(GIT_BASH)?;
    Ok(Exit::Done)
}

/// Says whether a line of a script offers the hidden option; clap_complete offers every one.
fn offers_hidden(line: &str) -> bool {
    line.contains("--compat") || line.contains(" -l compat ")
}
