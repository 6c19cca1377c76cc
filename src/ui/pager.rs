use std::process::{Child, Command, Stdio};

use super::Failure;
use crate::git::{Config, Env};

/// Says whether git already sends our output through its pager.
pub(super) fn is_gits(env: &Env) -> bool {
    env.flag("GIT_PAGER_IN_USE")
}

/// Returns the pager as git chooses it; `None` when output goes straight to the terminal.
///
/// `operator.pager`, then `pager.operator`, may be false, or name another pager.
pub(super) fn choose(env: &Env, config: &Config) -> Result<Option<String>, Failure> {
    if is_gits(env) {
        return Ok(None);
    }
    let mut command = None;
    for key in ["operator.pager", "pager.operator"] {
        let Some(value) = config.text(key) else {
            continue;
        };
        match config.bool(key) {
            Ok(Some(false)) => return Ok(None),
            Ok(Some(true)) => {}
            Ok(None) | Err(_) => command = Some(value),
        }
        break;
    }
    let environment = |name| {
        env.var(name)
            .map(|value| value.to_string_lossy().into_owned())
    };
    let command = command
        .or_else(|| environment("GIT_PAGER"))
        .or_else(|| config.text("core.pager"))
        .or_else(|| environment("PAGER"))
        .unwrap_or_else(|| "less".to_owned());
    Ok(Some(command).filter(|command| !matches!(command.trim(), "" | "cat")))
}

/// Starts the pager; `None` when it cannot be started, and output goes straight to the terminal.
pub(super) fn start(command: &str, env: &Env) -> Option<Child> {
    let mut pager = by_words(command);
    for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
        if env.var(name).is_none() {
            pager.env(name, value);
        }
    }
    pager.stdin(Stdio::piped()).spawn().ok()
}

/// A pager is a shell command by git's contract; like git we start a shell only when it needs one.
fn by_words(command: &str) -> Command {
    const META: &str = "|&;<>()$`\\\"'*?[#~=%";
    let plain = |word: &str| !word.contains(|c| META.contains(c));
    let mut words = command.split_whitespace();
    if let Some(program) = words.next()
        && plain(program)
        && words.clone().all(plain)
    {
        let mut pager = Command::new(program);
        pager.args(words);
        return pager;
    }
    let mut pager = Command::new("sh");
    pager.args(["-c", command]);
    pager
}

#[cfg(test)]
mod tests {
    use super::{Env, by_words, choose};
    use crate::git::Config;

    fn chosen(pairs: &[(&str, &str)]) -> Option<String> {
        let given = [
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ];
        let vars = given.iter().chain(pairs);
        let env = Env::new(vars.map(|(name, value)| ((*name).into(), (*value).into())));
        choose(&env, &Config::load(None, &env).unwrap()).unwrap()
    }

    #[test]
    fn the_pager_is_chosen_as_git_does() {
        let config = ("GIT_CONFIG_PARAMETERS", "'core.pager'='more'");
        assert_eq!(chosen(&[]).unwrap(), "less");
        assert_eq!(chosen(&[("PAGER", "most")]).unwrap(), "most");
        assert_eq!(chosen(&[("PAGER", "most"), config]).unwrap(), "more");
        assert_eq!(chosen(&[("GIT_PAGER", "lv"), config]).unwrap(), "lv");
    }

    #[test]
    fn no_pager_is_an_answer() {
        assert_eq!(chosen(&[("GIT_PAGER", "cat")]), None);
        assert_eq!(chosen(&[("GIT_PAGER", "")]), None);
        assert_eq!(chosen(&[("GIT_PAGER_IN_USE", "true")]), None);
        let off = "'operator.pager'='false'";
        assert_eq!(
            chosen(&[("GIT_CONFIG_PARAMETERS", off), ("GIT_PAGER", "lv")]),
            None
        );
        let own = "'operator.pager'='less -S'";
        assert_eq!(
            chosen(&[("GIT_CONFIG_PARAMETERS", own)]).unwrap(),
            "less -S"
        );
    }

    #[test]
    fn only_a_command_that_needs_a_shell_gets_one() {
        assert_eq!(by_words("less -S").get_program(), "less");
        assert_eq!(by_words("less -S | cat").get_program(), "sh");
        assert_eq!(by_words("LESS=x less").get_program(), "sh");
    }
}
