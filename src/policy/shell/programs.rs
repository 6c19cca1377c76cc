//! Programs that run the command standing after their own options.

use super::options::Syntax;

/// Such a program.
pub(super) struct Wrapper {
    pub(super) name: &'static str,
    pub(super) syntax: Syntax,
    /// How many words stand between the options and the command.
    pub(super) operands: usize,
    /// The option whose value is a script for a shell.
    pub(super) script: Option<(&'static str, char)>,
    /// The option that changes the directory.
    pub(super) chdir: Option<(&'static str, char)>,
    /// Whether assignments may stand before the command.
    pub(super) assigns: bool,
    /// What it does without a command.
    pub(super) bare: Bare,
}

/// What a program does that is given no command to run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bare {
    Nothing,
    /// It runs a shell, which reads commands.
    Shell,
}

const fn wrapper(
    name: &'static str,
    letters: &'static str,
    glued: &'static str,
    longs: &'static [&'static str],
) -> Wrapper {
    Wrapper {
        name,
        syntax: Syntax {
            letters,
            glued,
            longs,
        },
        operands: 0,
        script: None,
        chdir: None,
        assigns: false,
        bare: Bare::Nothing,
    }
}

const fn simple(name: &'static str) -> Wrapper {
    wrapper(name, "", "", &[])
}

const fn after(operands: usize, wrapper: Wrapper) -> Wrapper {
    Wrapper {
        operands,
        ..wrapper
    }
}

const SUDO: &[&str] = &[
    "user",
    "group",
    "host",
    "prompt",
    "chdir",
    "chroot",
    "role",
    "type",
    "close-from",
    "other-user",
    "command-timeout",
];
const SU: &[&str] = &[
    "command",
    "session-command",
    "shell",
    "group",
    "supp-group",
    "user",
    "whitelist-environment",
];

pub(super) const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        chdir: Some(("chdir", 'D')),
        assigns: true,
        ..wrapper("sudo", "ughpCDRTUrtac", "", SUDO)
    },
    Wrapper {
        assigns: true,
        ..wrapper("doas", "uCa", "", &[])
    },
    Wrapper {
        chdir: Some(("chdir", 'C')),
        assigns: true,
        ..wrapper(
            "env",
            "uCSaP",
            "",
            &["unset", "chdir", "split-string", "argv0"],
        )
    },
    Wrapper {
        script: Some(("command", 'c')),
        bare: Bare::Shell,
        ..wrapper("su", "csgGw", "", SU)
    },
    Wrapper {
        script: Some(("command", 'c')),
        bare: Bare::Shell,
        ..wrapper("runuser", "csgGwu", "", SU)
    },
    Wrapper {
        script: Some(("command", 'c')),
        operands: 1,
        ..wrapper("sg", "c", "", &["command"])
    },
    Wrapper {
        script: Some(("command", 'c')),
        operands: 1,
        bare: Bare::Shell,
        ..wrapper(
            "script",
            "cEIOBTmo",
            "t",
            &[
                "command",
                "echo",
                "log-in",
                "log-out",
                "log-io",
                "log-timing",
                "logging-format",
                "output-limit",
            ],
        )
    },
    Wrapper {
        script: Some(("command", 'c')),
        operands: 1,
        ..wrapper(
            "flock",
            "wEc",
            "",
            &["timeout", "wait", "conflict-exit-code", "command"],
        )
    },
    after(1, wrapper("timeout", "ks", "", &["kill-after", "signal"])),
    after(1, wrapper("chroot", "", "", &[])),
    after(1, wrapper("taskset", "", "", &[])),
    after(1, wrapper("chrt", "TPD", "", &[])),
    after(1, wrapper("faketime", "", "", &[])),
    wrapper("nice", "n", "", &["adjustment"]),
    wrapper("ionice", "cn", "", &["class", "classdata"]),
    wrapper("stdbuf", "ioe", "", &["input", "output", "error"]),
    wrapper("time", "fo", "", &["format", "output"]),
    wrapper("exec", "a", "", &[]),
    wrapper("caffeinate", "tw", "", &[]),
    wrapper(
        "strace",
        "eopsuEaIObPSX",
        "",
        &["output", "trace", "attach"],
    ),
    wrapper("ltrace", "eopsualnADFwx", "", &["output"]),
    wrapper("unshare", "RwSGl", "", &["root", "wd", "setuid", "setgid"]),
    wrapper(
        "nsenter",
        "tSGN",
        "muinpCUTrw",
        &["target", "setuid", "setgid"],
    ),
    wrapper("setpriv", "", "", &["reuid", "regid", "groups", "inh-caps"]),
    wrapper("prlimit", "po", "", &["pid", "output"]),
    wrapper("cpulimit", "lpe", "", &["limit", "pid", "exe"]),
    wrapper(
        "numactl",
        "iNmCpPwl",
        "",
        &["interleave", "membind", "cpunodebind"],
    ),
    wrapper(
        "systemd-run",
        "puEHMtP",
        "",
        &["property", "unit", "uid", "gid", "setenv", "slice"],
    ),
    wrapper("systemd-inhibit", "", "", &["what", "who", "why", "mode"]),
    wrapper(
        "xvfb-run",
        "enspfw",
        "",
        &["error-file", "server-num", "server-args"],
    ),
    wrapper("valgrind", "", "", &[]),
    wrapper("pkexec", "u", "", &["user"]),
    simple("dbus-run-session"),
    simple("proxychains"),
    simple("proxychains4"),
    simple("torsocks"),
    simple("rlwrap"),
    simple("chronic"),
    simple("nohup"),
    simple("setsid"),
    simple("command"),
    simple("builtin"),
    simple("unbuffer"),
    simple("busybox"),
    simple("winpty"),
];
