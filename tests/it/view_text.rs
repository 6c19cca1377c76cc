//! Text that people write into the views by hand: it stays, comes back, and stays out.

use std::fs;

use crate::{
    support::Repo,
    view::{DECISIONS, OWN, VERDICTS, ok, own_row, project, verdict},
};

const BAR: &str = "\n## BAR — T-9\n- [ ] one\n";

fn taken_out(repo: &Repo) -> usize {
    let output = ok(repo, &["reconcile", "--json"]);
    let of = |line: &str| {
        let object: serde_json::Value = serde_json::from_str(line).unwrap();
        usize::try_from(object["taken_out"].as_u64().unwrap()).unwrap()
    };
    output.lines().map(of).sum()
}

/// A project with one verdict, whose view has a block of text; returns the view without it, too.
fn with_bar() -> (Repo, String) {
    let repo = project();
    verdict(&repo, "t1", "ok");
    let plain = repo.read(VERDICTS);
    repo.write(VERDICTS, plain.clone() + BAR);
    ok(&repo, &["reconcile"]);
    (repo, plain)
}

fn is_whole(repo: &Repo, text: &str) {
    assert_eq!(repo.read(VERDICTS), text);
    assert_eq!(ok(repo, &["reconcile"]), "");
    assert_eq!(repo.read(VERDICTS), text);
    fs::remove_file(repo.path().join(VERDICTS)).unwrap();
    ok(repo, &["reconcile"]);
    assert_eq!(repo.read(VERDICTS), text);
}

#[test]
fn a_block_that_is_deleted_by_hand_stays_out() {
    let (repo, plain) = with_bar();
    is_whole(&repo, &(plain.clone() + BAR));
    repo.write(VERDICTS, &plain);
    // Nor does a rendering bring it back before.
    verdict(&repo, "t2", "ok");
    let two = plain.clone() + &own_row(&repo, "t2", "ok");
    assert_eq!(repo.read(VERDICTS), two);
    assert_eq!(ok(&repo, &["render", "-o", "-"]).matches("BAR").count(), 0);
    assert_eq!(taken_out(&repo), 1);
    is_whole(&repo, &two);
    // Typed again, it is captured again.
    repo.write(VERDICTS, two.clone() + BAR);
    ok(&repo, &["reconcile"]);
    is_whole(&repo, &(two + BAR));
}

#[test]
fn a_block_whose_first_line_is_edited_stands_once() {
    let (repo, plain) = with_bar();
    let edited = plain + &BAR.replace("T-9", "T-10");
    repo.write(VERDICTS, &edited);
    ok(&repo, &["reconcile"]);
    is_whole(&repo, &edited);
}

#[test]
fn a_block_deleted_and_committed_stays_out_also_after_a_merge_that_brings_it() {
    let (repo, plain) = with_bar();
    repo.git(["add", "-f", ".operator"]);
    repo.commit_staged("with the block");
    repo.branch("x");
    repo.write(VERDICTS, &plain);
    repo.git(["commit", "-qam", "without"]);
    repo.checkout("main");
    ok(&repo, &["reconcile"]);
    repo.commit("b");
    repo.merge("x");
    assert_eq!(taken_out(&repo), 1);
    is_whole(&repo, &plain);
}

#[test]
fn a_block_of_a_file_that_is_cut_short_or_of_another_branch_comes_back() {
    let repo = project();
    verdict(&repo, "t1", "ok");
    let first = own_row(&repo, "t1", "ok");
    repo.git(["add", "-f", ".operator"]);
    repo.commit_staged("before the block");
    verdict(&repo, "t2", "ok");
    let whole = repo.read(VERDICTS) + BAR;
    repo.write(VERDICTS, &whole);
    ok(&repo, &["reconcile"]);
    for cut in [String::new(), OWN.to_owned(), OWN.to_owned() + &first] {
        repo.write(VERDICTS, &cut);
        assert_eq!(taken_out(&repo), 0);
        assert_eq!(repo.read(VERDICTS), whole, "{cut}");
    }
    repo.git(["commit", "-qam", "with the block"]);
    repo.git(["checkout", "-q", "-b", "old", "HEAD~1"]);
    assert_eq!(taken_out(&repo), 0);
    assert_eq!(repo.read(VERDICTS), whole);
}

/// What one clone took out stays in the file of another until a merge, and does not come back by it.
#[test]
fn a_block_taken_out_elsewhere_stays_text_here_and_is_not_captured_anew() {
    let (repo, plain) = with_bar();
    repo.git(["add", "-f", ".operator"]);
    repo.commit_staged("with the block");
    let bare = repo.dir().join("hub.git");
    repo.git(["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    repo.git(["remote", "add", "origin", bare.to_str().unwrap()]);
    ok(&repo, &["sync"]);
    let other = repo.at(repo.dir().join("other"));
    repo.git(["clone", "-q", bare.to_str().unwrap(), "../other"]);
    ok(&other, &["sync"]);
    ok(&other, &["reconcile"]);
    repo.write(VERDICTS, &plain);
    assert_eq!(taken_out(&repo), 1);
    ok(&repo, &["sync"]);
    ok(&other, &["sync"]);
    assert_eq!(ok(&other, &["reconcile"]), "");
    assert_eq!(other.read(VERDICTS), plain.clone() + BAR);
    ok(&other, &["sync"]);
    ok(&repo, &["sync"]);
    is_whole(&repo, &plain);
}

const TABLE: &str = "| opt | cost | risk | note |\n|---|:--|---|---|\n| A | 1 | 2 | x |\n";

#[test]
fn a_table_of_somebody_else_keeps_each_line_and_comes_back_whole() {
    let repo = project();
    ok(&repo, &["decide", "DECISION", "one", "--why", "x"]);
    ok(&repo, &["reconcile"]);
    let bar = format!("{}\n## BAR — t\n\n{TABLE}", repo.read(VERDICTS));
    repo.write(VERDICTS, &bar);
    let decisions = format!("{}\n{TABLE}", repo.read(DECISIONS));
    repo.write(DECISIONS, &decisions);
    ok(&repo, &["decide", "DECISION", "two", "--why", "y"]);
    verdict(&repo, "t", "e");
    let shown = (repo.read(VERDICTS), repo.read(DECISIONS));
    assert_eq!(shown.0, bar + &own_row(&repo, "t", "e"));
    let last = shown.1.strip_prefix(&decisions).unwrap();
    assert_eq!(last.lines().count(), 1, "{last}");
    ok(&repo, &["render"]);
    ok(&repo, &["reconcile"]);
    assert_eq!((repo.read(VERDICTS), repo.read(DECISIONS)), shown);
    assert_eq!(ok(&repo, &["render", "--check", "--complete"]), "");
    for view in [VERDICTS, DECISIONS] {
        fs::remove_file(repo.path().join(view)).unwrap();
    }
    ok(&repo, &["render"]);
    assert_eq!((repo.read(VERDICTS), repo.read(DECISIONS)), shown);
}

#[test]
fn the_markers_of_a_conflict_stay_until_reconcile() {
    let repo = project();
    verdict(&repo, "t1", "ok");
    let bar = format!(
        "{}\n## BAR\n<<<<<<< HEAD\n- M\n=======\n- X\n>>>>>>> x\n",
        repo.read(VERDICTS)
    );
    repo.write(VERDICTS, &bar);
    ok(&repo, &["decide", "DECISION", "one", "--why", "x"]);
    assert_eq!(repo.read(VERDICTS), bar);
    let told = repo
        .operator(["verdict", "t2", "c", "e", "PASS", "--owner", "S1"])
        .run();
    assert_eq!(told.code, 0);
    let held = "cannot write '.operator/VERDICTS.md': line 7 is the marker of a conflict, which only reconcile takes out";
    assert!(told.stderr.contains(held), "{}", told.stderr);
    assert_eq!(repo.read(VERDICTS), bar);
    assert!(repo.read(DECISIONS).contains("GATE-EXCEPTION"));
    let refused = repo.operator(["render"]).run();
    assert_eq!((refused.code, refused.stdout.as_str()), (1, ""));
    assert_eq!(
        refused.stderr,
        format!("error: {held}\nhint: git operator reconcile\n")
    );
    let started = repo.operator(["start"]).run();
    assert_eq!(started.code, 0, "{}", started.stderr);
    assert!(started.stderr.contains(held), "{}", started.stderr);
    assert_eq!(repo.read(VERDICTS), bar);
    let done = repo.operator(["reconcile"]).run();
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(done.stderr.matches("conflict marker removed").count(), 3);
    let text = repo.read(VERDICTS);
    assert!(
        text.contains("## BAR\n- M\n- X\n") && text.contains("| t2 |"),
        "{text}"
    );
}

#[test]
fn text_taken_out_stays_out_on_a_branch_that_has_it_beside_shorter_text() {
    let repo = project();
    repo.git(["add", "-A"]);
    verdict(&repo, "t1", "ok");
    let plain = repo.read(VERDICTS);
    // The text that stays begins as the one that goes does.
    let whole = "\n## BAR — keep\n- x\n- y\n";
    repo.write(VERDICTS, plain.clone() + whole);
    ok(&repo, &["reconcile"]);
    repo.git(["add", "-f", ".operator"]);
    repo.git(["commit", "-qm", "bar"]);
    repo.git(["branch", "x"]);
    for (left, name) in [("\n## BAR — keep\n- x\n", "short"), ("\n", "blank")] {
        repo.write(VERDICTS, plain.clone() + left);
        ok(&repo, &["reconcile"]);
        repo.git(["commit", "-qam", name]);
    }
    let main = repo.read(VERDICTS);
    repo.git(["checkout", "-q", "x"]);
    ok(&repo, &["reconcile"]);
    verdict(&repo, "t2", "ok");
    ok(&repo, &["render"]);
    assert!(repo.read(VERDICTS).contains(whole));
    repo.git(["commit", "-qam", "t2"]);
    repo.git(["checkout", "-q", "main"]);
    ok(&repo, &["reconcile"]);
    assert_eq!(
        repo.read(VERDICTS),
        main.clone()
            + &own_row(&repo, "t2", "ok").replace(
                &repo.head()[..12],
                &repo.git(["rev-parse", "x~1"]).trim()[..12]
            )
    );
}

#[test]
fn a_blank_line_alone_is_no_text_to_capture() {
    let repo = project();
    verdict(&repo, "t1", "ok");
    let text = repo.read(VERDICTS) + "\n";
    repo.write(VERDICTS, &text);
    assert_eq!(ok(&repo, &["render", "--check"]), "");
    assert_eq!(ok(&repo, &["reconcile"]), "");
    verdict(&repo, "t2", "ok");
    assert_eq!(repo.read(VERDICTS), text + &own_row(&repo, "t2", "ok"));
}
