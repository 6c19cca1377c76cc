"""The workflows in the client, with seats that answer, die and lie."""
import json

from client import DEAD, Machine, answer, call, say, shell
from install import BIN, PLUGIN

TIERS = {"v": 1, "type": "tiers", "JUDGMENT": "opus", "IMPLEMENT": "sonnet", "MECHANICAL": "haiku", "RECON": "haiku"}
CALM = answer(looked=["a"], findings=[])
SPEC = "# x\nStatus: APPROVED @0123456789ab\n\n## North star\nIt holds.\nMissed if: it does not\n"


def run(name, args, seats):
    """Runs a workflow whose seats are lanes of turns; returns its result and the session."""
    lanes = [{"name": key, "match": match, "turns": turns} for key, (match, turns) in seats.items()]
    main = [call("Workflow", name=f"cc-operator:{name}", args=args), shell("sleep 8"), say("waiting"), say("done")]
    lanes.append({"name": "main", "turns": main})
    with Machine(BIN) as machine:
        session = machine.session(lanes, plugin=PLUGIN)
    told = session.told()
    assert "<result>" in told, told[-2000:]
    return json.loads(told.split("<result>")[1].split("</result>")[0]), session


def lens(turns):
    return ("Your lens is", turns)


def test_review_is_clean_where_nothing_refutes_it():
    good = answer(verdict="CONFIRMED", evidence="ran it", head="x")
    result, session = run("review", {"target": "the change", "doneMeans": "it works", "tiers": TIERS},
                          {"lens": lens([CALM] * 5), "verify": ("Try to refute", [good])})
    assert result["blocked"] is False and result["deadLenses"] == [], result
    lenses = sorted(model for lane, model in session.models() if lane == "lens")
    assert [("haiku" in model) for model in lenses].count(True) == 3, lenses
    assert [("opus" in model) for model in lenses].count(True) == 2, lenses


def test_review_is_stopped_by_one_refuted_and_by_a_dead_lens():
    finding = answer(looked=["a"], findings=[{"title": "boom", "place": "a:1", "failingCase": "x", "score": 90}])
    verdicts = [answer(verdict="CONFIRMED", evidence="ran it", head="x"), answer(verdict="REFUTED", evidence="it failed", head="x")]
    result, _ = run("review", "the change", {"lens": lens([finding] + [CALM] * 4), "verify": ("Try to refute", verdicts)})
    assert result["blocked"] is True, result
    assert any(reason.startswith("refuted: ") for reason in result["reasons"]), result
    result, _ = run("review", "the change", {"lens": lens([CALM] * 4 + [DEAD]), "verify": ("Try to refute", verdicts[:1])})
    assert result["blocked"] is True and len(result["deadLenses"]) == 1, result


def test_review_is_stopped_by_a_verifier_that_says_nothing_of_the_form():
    lying = [answer(verdict="FINE", evidence="trust me", head="x"), say("it is fine")]
    result, _ = run("review", "the change", {"lens": lens([CALM] * 5), "verify": ("Try to refute", lying)})
    assert result["blocked"] is True and result["unverified"] == ["the claim"], result


def test_an_empty_target_spends_no_seat():
    result, session = run("review", "", {"lens": lens([CALM])})
    assert result["refused"] is True, result
    assert all(lane == "main" for lane, _ in session.models()), session.models()


def direction(key):
    return answer(idea=f"do {key}", firstPiece="a", cost="b", forecloses="c", killedBy="d", assumptions=[])


def brainstorm(directions):
    return {
        "direction": ("Develop one direction", directions),
        "spots": ("what would surprise", [answer(blindSpots=["users"])]),
        "refs": ("Find what exists already", [answer(references=[])]),
        "judge": ("Rank them", [answer(ranked=[{"direction": "user", "why": "w", "takeFromOthers": "t"}],
                                       sharedConstraints=["time"], openQuestions=["who"])]),
    }


def test_brainstorm_ranks_and_names_a_dead_seat():
    result, _ = run("brainstorm", json.dumps({"goal": "a goal", "n": 2}), brainstorm([direction("a"), direction("b")]))
    assert result["blocked"] is False, result
    assert [one["direction"] for one in result["ranked"]] == ["user"], result
    result, _ = run("brainstorm", {"goal": "a goal", "n": 3}, brainstorm([direction("a"), direction("b"), DEAD]))
    assert result["blocked"] is True and len(result["deadSeats"]) == 1, result


def plan(vets):
    task = {"id": "t1", "title": "t", "criterion": "it holds", "test": "red first", "change": "x", "paths": ["a"], "dependsOn": []}
    return {"decompose": ("Cut it into tasks", [answer(tasks=[task], uncovered=[], questions=[])]),
            "vet": ("One task of the plan", vets)}


def test_plan_needs_an_approved_spec_and_reports_rework():
    fine, bad = answer(answer="OK", why="looked"), answer(answer="REWORK", why="cannot fail")
    result, _ = run("plan", {"spec": SPEC, "tiers": TIERS}, plan([fine, fine]))
    assert result["blocked"] is False and [task["id"] for task in result["tasks"]] == ["t1"], result
    result, _ = run("plan", {"spec": SPEC}, plan([fine, bad]))
    assert result["blocked"] is True and "rework" in result["reasons"][0], result
    result, session = run("plan", {"spec": SPEC.replace("APPROVED @0123456789ab", "DRAFT")}, plan([fine]))
    assert result["refused"] is True and {lane for lane, _ in session.models()} == {"main"}, result


def crawl(reports):
    return {"crawl": ("Your shard is", reports),
            "merge": ("What each shard reported", [answer(answer="so", findings=[{"what": "m", "places": ["a:1"]}], contradictions=[])])}


def test_crawl_merges_and_names_a_dead_shard():
    report = answer(findings=[{"what": "x", "place": "a:1", "quote": "q"}], read=["a", "b"], unread=[])
    result, _ = run("crawl", {"question": "why", "shards": [["a"], ["b"]]}, crawl([report, report]))
    assert result["blocked"] is False and result["answer"] == "so", result
    result, _ = run("crawl", {"question": "why", "shards": [["a"], ["b"]]}, crawl([report, DEAD]))
    assert result["blocked"] is True and len(result["deadShards"]) == 1, result
