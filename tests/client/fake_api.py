#!/usr/bin/env python3
"""Scripted stand-in for the Messages API: what drives a real Claude Code client without a network.

usage: fake_api.py SCRIPT.json LOG_DIR [--port N] [--port-file FILE]

SCRIPT.json:
  {"lanes": [{"name": "sub", "match": "SUBTASK", "turns": [TURN, ...]},
             {"name": "main", "match": "", "turns": [TURN, ...]}],
   "side": "text answered to requests that carry no tools"}
  A request goes to the first lane whose "match" occurs in its first user message (or whose "system_match" occurs in its
  system prompt); each lane keeps its own turn counter.  When the turns run out the lane answers "(script over)".
  TURN: {"blocks": [{"text": "..."} | {"tool": "Bash", "input": {...}}], "delay": seconds?, "status": http status?,
         "usage": {...}?, "stop_reason": "..."?}
LOG_DIR/NNN.json: one file per request: path, headers, body, lane, turn.
"""
import argparse, json, os, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def text_of(content):
    if isinstance(content, str):
        return content
    return "\n".join(b.get("text", "") for b in content or [] if isinstance(b, dict) and b.get("type") == "text")


class State:
    def __init__(self, script, logdir):
        self.script, self.logdir = script, logdir
        self.lock, self.n, self.turns = threading.Lock(), 0, {}
        os.makedirs(logdir, exist_ok=True)

    def log(self, rec):
        with self.lock:
            self.n += 1
            with open(os.path.join(self.logdir, f"{self.n:03}.json"), "w") as f:
                json.dump(rec, f, indent=1)

    def pick(self, body):
        if not body.get("tools"):
            return "side", 0, {"blocks": [{"text": self.script.get("side", "ok")}]}
        msgs = body.get("messages") or []
        first = text_of(next((m["content"] for m in msgs if m.get("role") == "user"), ""))
        system = text_of(body.get("system") or "")
        for lane in self.script["lanes"]:
            if lane.get("match", "") in first and lane.get("system_match", "") in system:
                with self.lock:
                    i = self.turns.get(lane["name"], 0)
                    self.turns[lane["name"]] = i + 1
                if i < len(lane["turns"]):
                    return lane["name"], i, lane["turns"][i]
                return lane["name"], i, {"blocks": [{"text": "(script over)"}]}
        return "none", 0, {"blocks": [{"text": "(no lane)"}]}


class H(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *a):
        pass

    def _json(self, status, obj):
        b = json.dumps(obj).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(b)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(b)

    def _other(self):
        n = int(self.headers.get("content-length") or 0)
        raw = self.rfile.read(n).decode("utf-8", "replace") if n else ""
        st.log({"method": self.command, "path": self.path, "headers": dict(self.headers), "raw": raw[:20000]})
        if self.path == "/":
            return self._json(200, {})
        self._json(404, {"type": "error", "error": {"type": "not_found_error", "message": "fake"}})

    do_GET = do_HEAD = do_PUT = do_DELETE = do_PATCH = _other

    def do_POST(self):
        path = self.path.split("?")[0]
        if path == "/v1/messages/count_tokens":
            n = int(self.headers.get("content-length") or 0)
            self.rfile.read(n)
            return self._json(200, {"input_tokens": 1000})
        if path != "/v1/messages":
            return self._other()
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        lane, i, turn = st.pick(body)
        st.log({"method": "POST", "path": self.path, "headers": {k: v for k, v in self.headers.items() if k.lower() not in ("x-api-key", "authorization")},
                "lane": lane, "turn": i, "body": body})
        if turn.get("delay"):
            time.sleep(turn["delay"])
        if turn.get("status"):
            return self._json(turn["status"], {"type": "error", "error": {"type": turn.get("error", "invalid_request_error"), "message": "scripted failure"}})
        usage = {"input_tokens": 1000, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 20, **turn.get("usage", {})}
        mid = f"msg_fake_{lane}_{i}"
        blocks = []
        for k, b in enumerate(turn["blocks"]):
            if "tool" in b:
                blocks.append({"type": "tool_use", "id": b.get("id", f"toolu_{lane}_{i}_{k}"), "name": b["tool"], "input": b["input"]})
            else:
                blocks.append({"type": "text", "text": b["text"]})
        stop = turn.get("stop_reason") or ("tool_use" if any(b["type"] == "tool_use" for b in blocks) else "end_turn")
        msg = {"id": mid, "type": "message", "role": "assistant", "model": body.get("model"), "content": blocks,
               "stop_reason": stop, "stop_sequence": None, "usage": usage}
        if not body.get("stream"):
            return self._json(200, msg)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.send_header("request-id", f"req_{mid}")
        self.end_headers()

        def ev(name, **d):
            b = f"event: {name}\ndata: {json.dumps({'type': name, **d})}\n\n".encode()
            self.wfile.write(f"{len(b):x}\r\n".encode() + b + b"\r\n")
            self.wfile.flush()

        ev("message_start", message={**msg, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}})
        for k, b in enumerate(blocks):
            if b["type"] == "text":
                ev("content_block_start", index=k, content_block={"type": "text", "text": ""})
                ev("content_block_delta", index=k, delta={"type": "text_delta", "text": b["text"]})
            else:
                ev("content_block_start", index=k, content_block={**b, "input": {}})
                ev("content_block_delta", index=k, delta={"type": "input_json_delta", "partial_json": json.dumps(b["input"])})
            ev("content_block_stop", index=k)
        ev("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage=usage)
        ev("message_stop")
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("script")
    ap.add_argument("logdir")
    ap.add_argument("--port", type=int, default=0)
    ap.add_argument("--port-file")
    a = ap.parse_args()
    st = State(json.load(open(a.script)), a.logdir)
    srv = ThreadingHTTPServer(("127.0.0.1", a.port), H)
    srv.daemon_threads = True
    if a.port_file:
        with open(a.port_file + ".tmp", "w") as f:
            f.write(str(srv.server_address[1]))
        os.rename(a.port_file + ".tmp", a.port_file)
    srv.serve_forever()
