unset CLAUDE_CODE_SESSION_ID CLAUDE_PROJECT_DIR GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE
export HOME=$(mktemp -d) GIT_CONFIG_NOSYSTEM=1 LC_ALL=C.UTF-8
git config --global user.name T; git config --global user.email t@example.invalid
git config --global init.defaultBranch main; git config --global advice.detachedHead false
git config --global operator.work true; git config --global operator.autoArm false
op() { git operator "$@"; }
newrepo() { R=$(mktemp -d)/${1:-r}; mkdir -p "$R/.operator"; cd "$R"; git init -q; git commit -q --allow-empty -m c0; }
qs() { # qs TEXT: a JSON string
  local s=$1; s=${s//\\/\\\\}; s=${s//\"/\\\"}; s=${s//$'\n'/\\n}; s=${s//$'\t'/\\t}; printf '"%s"' "$s"; }
pl() {
  local e=$1 a; shift
  printf '{"session_id":%s,"transcript_path":"/tmp/t.jsonl","cwd":%s,"permission_mode":"default","hook_event_name":"%s"' \
    "$(qs "${SID-S1}")" "$(qs "${CWD:-$PWD}")" "$e"
  for a; do printf ',"%s":%s' "${a%%=*}" "${a#*=}"; done; printf '}\n'; }
hk() { pl "$@" | git operator hook "$1"; }
stop() { hk Stop stop_hook_active=${1:-false}; echo "stop rc=$?"; }
js() {
  local sep=; printf '{'
  while (($#)); do printf '%s%s:%s' "$sep" "$(qs "$1")" "$(qs "$2")"; sep=,; shift 2; done; printf '}'; }
shx() { # shx CALLID 'shell text'
  local I O; I=$(js command "$2")
  hk PreToolUse tool_name='"Bash"' tool_use_id="\"$1\"" tool_input="$I"
  if O=$(bash -c "$2" 2>&1); then
    hk PostToolUse tool_name='"Bash"' tool_use_id="\"$1\"" tool_input="$I" tool_response="$(js stdout "$O" stderr '')"
  else
    hk PostToolUseFailure tool_name='"Bash"' tool_use_id="\"$1\"" tool_input="$I" error="\"Exit code $?\""
  fi; }
wr() { # wr CALLID PATH TEXT
  local I; I=$(js file_path "$PWD/$2" content "$3")
  hk PreToolUse tool_name='"Write"' tool_use_id="\"$1\"" tool_input="$I"
  mkdir -p -- "$(dirname -- "$2")"; printf %s "$3" > "$2"
  hk PostToolUse tool_name='"Write"' tool_use_id="\"$1\"" tool_input="$I" tool_response="$(js filePath "$PWD/$2")"; }
