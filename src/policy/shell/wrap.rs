//! All commands of a line, those that its commands run included.

use super::{
    Argv, COMMAND_LIMIT, DEPTH_LIMIT, SCRIPTS_LIMIT, Shell, Unparsed, Word, parse, powershell,
    runs::runs,
};

/// The most bytes of assignments that are handed on to the commands a command runs.
const HANDED_ON_LIMIT: usize = 4096;

/// Returns the commands of `line` and those they would run, each after the one that runs it.
pub(super) fn commands(shell: Shell, line: &str) -> Result<Vec<Argv>, Unparsed> {
    let mut wrap = Wrap::default();
    let script = Script {
        shell,
        text: line,
        cwd: Some(String::new()),
    };
    let commands = wrap.read(script, 0)?;
    wrap.all(commands, 0)?;
    Ok(wrap.found)
}

/// A script and where it runs.
struct Script<'a> {
    shell: Shell,
    text: &'a str,
    cwd: Option<String>,
}

#[derive(Default)]
struct Wrap {
    found: Vec<Argv>,
    /// Names that stand for commands, with what they stand for.
    aliases: Vec<(String, Word)>,
    /// How many bytes of scripts were read.
    read: usize,
}

impl Wrap {
    fn read(&mut self, script: Script<'_>, depth: usize) -> Result<Vec<Argv>, Unparsed> {
        self.read += script.text.len();
        if self.read > SCRIPTS_LIMIT {
            return Err(Unparsed::TooLarge);
        }
        match script.shell {
            Shell::Posix => parse::simple_commands(script.text, depth, script.cwd),
            Shell::PowerShell => powershell::commands(script.text, depth),
        }
    }

    fn all(&mut self, commands: Vec<Argv>, depth: usize) -> Result<(), Unparsed> {
        commands
            .into_iter()
            .try_for_each(|argv| self.add(argv, depth))
    }

    fn add(&mut self, argv: Argv, depth: usize) -> Result<(), Unparsed> {
        if depth > DEPTH_LIMIT {
            return Err(Unparsed::TooDeep);
        }
        if self.found.len() >= COMMAND_LIMIT {
            return Err(Unparsed::TooMany);
        }
        let mut runs = runs(&argv);
        let at = self.found.len();
        let alias = argv.name().and_then(|name| self.alias(name)).cloned();
        if argv.is("alias") {
            self.remember(&argv);
        }
        let handed_on = handed_on(&argv);
        let cwd = argv.cwd.clone();
        let arguments = argv.words.get(1..).unwrap_or_default().to_vec();
        self.found.push(argv);
        let handed_on = handed_on.unwrap_or_else(|| {
            runs.hidden = true;
            Vec::new()
        });
        let mut inner = std::mem::take(&mut runs.commands);
        for (shell, script) in &runs.scripts {
            let script = Script {
                shell: *shell,
                text: &script.text,
                cwd: cwd.clone(),
            };
            match self.script(script, depth + 1)? {
                Some(commands) => inner.extend(commands),
                None => runs.hidden = true,
            }
        }
        self.found[at].hidden |= runs.hidden;
        for argv in &mut inner {
            argv.assignments.splice(0..0, handed_on.iter().cloned());
        }
        self.all(inner, depth + 1)?;
        match alias {
            Some(alias) => self.expand(&alias, (arguments, cwd), depth + 1),
            None => Ok(()),
        }
    }

    /// Reads a script in a line; `None` where it cannot be taken apart.
    fn script(&mut self, script: Script<'_>, depth: usize) -> Result<Option<Vec<Argv>>, Unparsed> {
        match self.read(script, depth) {
            Ok(commands) => Ok(Some(commands)),
            Err(error @ (Unparsed::TooDeep | Unparsed::TooMany | Unparsed::TooLarge)) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Adds what an alias stands for, which may begin with its own name.
    fn expand(
        &mut self,
        (name, value): &(String, Word),
        (arguments, cwd): (Vec<Word>, Option<String>),
        depth: usize,
    ) -> Result<(), Unparsed> {
        let script = Script {
            shell: Shell::Posix,
            text: &value.text,
            cwd,
        };
        let Some(mut commands) = self.script(script, depth)? else {
            return Ok(());
        };
        if let Some(last) = commands.last_mut() {
            last.words.extend(arguments);
        }
        let others = self.aliases.iter().filter(|(own, _)| own != name);
        let others = others.cloned().collect();
        let all = std::mem::replace(&mut self.aliases, others);
        let added = self.all(commands, depth);
        self.aliases = all;
        added
    }

    fn alias(&self, name: &str) -> Option<&(String, Word)> {
        self.aliases.iter().rev().find(|(own, _)| own == name)
    }

    fn remember(&mut self, argv: &Argv) {
        for word in &argv.words[1..] {
            let pair = word.text.split_once('=');
            if let Some((name, value)) = pair.filter(|(_, value)| !value.is_empty()) {
                let value = Word {
                    text: value.to_owned(),
                    ..word.clone()
                };
                self.aliases.push((name.to_owned(), value));
            }
        }
    }
}

/// Returns the assignments that also hold for what the command runs; `None` when they are too long.
fn handed_on(argv: &Argv) -> Option<Vec<Word>> {
    if argv.words.is_empty() {
        return Some(Vec::new());
    }
    let bytes: usize = argv.assignments.iter().map(|word| word.text.len()).sum();
    (bytes <= HANDED_ON_LIMIT).then(|| argv.assignments.clone())
}
