"""The plugin is valid, can be installed from a checkout and from a repository, and never bricks a session."""
import json
import os
import shutil

from client import ROOT, Machine, say, shell

PLUGIN = os.path.join(ROOT, "plugin")
BIN = [path for path in os.environ["PATH"].split(":") if os.path.exists(os.path.join(path, "git-operator"))][:1]


def has(text, *parts):
    for part in parts:
        assert part in text, f"{part!r} is not in:\n{text}"


def test_the_plugin_and_the_marketplace_are_valid():
    with Machine([]) as machine:
        for target, more in ((PLUGIN, []), (PLUGIN, ["--profile", "directory"]), (ROOT, [])):
            code, text = machine.claude("plugin", "validate", "--strict", *more, target)
            assert code == 0, text
            has(text, "Validation passed")


def installed(machine):
    code, text = machine.claude("plugin", "list", "--json")
    assert code == 0, text
    return [plugin["id"] for plugin in json.loads(text)]


def test_it_installs_from_the_checkout():
    with Machine(BIN) as machine:
        code, text = machine.claude("plugin", "marketplace", "add", ROOT)
        assert code == 0, text
        code, text = machine.claude("plugin", "install", "cc-operator@git-operator")
        assert code == 0, text
        assert "cc-operator@git-operator" in installed(machine), installed(machine)
        session = machine.session([{"name": "main", "turns": [say("done")]}])
        assert not session.errors, session.errors
        assert len(session.of("SessionStart")) == 1, session.hooks
        assert "cc-operator:start" in session.commands, session.commands


def test_it_installs_from_a_repository_named_by_owner_and_name():
    with Machine(BIN) as machine:
        bare = os.path.join(machine.dir, "remote", "owner", "name.git")
        copy = os.path.join(machine.dir, "copy")
        os.makedirs(copy)
        for part in ("plugin", ".claude-plugin"):
            shutil.copytree(os.path.join(ROOT, part), os.path.join(copy, part))
        machine.sh(f"git -C '{copy}' init -q && git -C '{copy}' add -A && git -C '{copy}' commit -qm plugin && "
                   f"git clone -q --bare '{copy}' '{bare}'")
        remote = os.path.join(machine.dir, "remote")
        for url in ("https://github.com/", "git@github.com:"):
            machine.sh(f"git config --global --add url.'file://{remote}/'.insteadOf '{url}'")
        code, text = machine.claude("plugin", "marketplace", "add", "owner/name")
        assert code == 0, text
        code, text = machine.claude("plugin", "install", "cc-operator@git-operator")
        assert code == 0, text
        assert "cc-operator@git-operator" in installed(machine), installed(machine)


def test_a_path_with_spaces_quotes_and_a_dollar_runs_the_hooks():
    with Machine(BIN) as machine:
        plugin = os.path.join(machine.dir, "it's my \"plug\" (x86) $1")
        shutil.copytree(PLUGIN, plugin)
        session = machine.session([{"name": "main", "turns": [shell("git operator --version"), say("done")]}], plugin=plugin)
        for event in ("SessionStart", "PreToolUse", "PostToolUse", "Stop"):
            calls = session.of(event)
            assert calls and all(call["exit_code"] == 0 for call in calls), (event, calls)
        has(session.told(), "git-operator ")


def test_without_a_binary_one_line_is_said_and_nothing_is_bricked():
    with Machine([]) as machine:
        session = machine.session([{"name": "main", "turns": [shell("git operator log; echo rc=$?"), say("done")]}], plugin=PLUGIN)
        assert session.result["result"] == "done", session.result
        spoken = [hook for hook in session.hooks if hook["stdout"] or hook["stderr"]]
        assert [hook["hook_event"] for hook in spoken] == ["SessionStart"], spoken
        told = json.loads(spoken[0]["stdout"])["systemMessage"]
        has(told, "git-operator is not installed", "cargo install git-operator")
        assert all(hook["exit_code"] == 0 for hook in session.hooks), session.hooks
        has(session.told(), "error: cannot run 'git operator'", "rc=128")
