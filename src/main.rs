use std::process::ExitCode;

fn main() -> ExitCode {
    git_operator::run(std::env::args_os())
}
