use std::{
    panic::{self, AssertUnwindSafe},
    sync::Mutex,
};

use super::Failure;

static LAST: Mutex<Option<String>> = Mutex::new(None);

/// Runs `work` and turns a panic into a failure: the program says one line, in its own protocol.
pub fn caught<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let what = text.unwrap_or("no reason given");
        let place = info
            .location()
            .map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
        if let Ok(mut last) = LAST.lock() {
            *last = Some(format!("{what}{place}"));
        }
    }));
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let what = LAST.lock().ok().and_then(|mut last| last.take());
        let what = what.unwrap_or_else(|| "no reason given".to_owned());
        Err(Failure::new(
            super::Exit::Fatal,
            format!("git-operator stopped on a defect of its own: {what}"),
        ))
    })
}
