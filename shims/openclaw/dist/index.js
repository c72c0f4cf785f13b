// Built from shims/ of mem0-code by `npm run build`; not edited by hand.

// common/src/binary.ts
import { accessSync, constants, readFileSync, realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
var NAME = process.platform === "win32" ? "mem0-code.exe" : "mem0-code";
var PATH_FILE = "mem0-code.path";
function findBinary({ from, env, setting }) {
  const root = packageRoot(from);
  const home = env["HOME"] || homedir();
  const candidates = [
    env["MEM0_CODE_BIN"],
    setting,
    root && named(join(root, PATH_FILE)),
    platformPackage(from),
    ...root ? targets().map((target) => join(root, "bin", target, NAME)).concat(join(root, "bin", NAME)) : [],
    env["MEM0_DIR"] && join(env["MEM0_DIR"], "bin", NAME),
    join(home, ".mem0", "bin", NAME),
    ...(env["PATH"] ?? "").split(delimiter).filter(isAbsolute).map((folder) => join(folder, NAME))
  ];
  return candidates.find((path) => Boolean(path) && isProgram(path));
}
function platformPackageName(platform = process.platform, arch = process.arch) {
  return `@mem0-code/cli-${platform}-${arch}`;
}
function packageRoot(from) {
  try {
    return dirname(dirname(realpathSync(fileURLToPath(from))));
  } catch {
    return void 0;
  }
}
function platformPackage(from) {
  try {
    return createRequire(from).resolve(`${platformPackageName()}/bin/${NAME}`);
  } catch {
    return void 0;
  }
}
function targets() {
  const cpu = process.arch === "arm64" ? "aarch64" : "x86_64";
  const systems = {
    darwin: ["apple-darwin"],
    win32: ["pc-windows-msvc"]
  };
  return (systems[process.platform] ?? ["unknown-linux-musl", "unknown-linux-gnu"]).map((system) => `${cpu}-${system}`);
}
function named(file) {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return void 0;
  }
}
function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

// common/src/process.ts
import { spawn, spawnSync } from "node:child_process";
var MAX_BYTES = 1024 * 1024;
var MAX_ERROR_CHARS = 4e3;
function run(binary, how) {
  return new Promise((resolve) => {
    let child;
    try {
      child = spawn(binary, how.args, {
        cwd: how.cwd,
        env: how.env ?? process.env,
        detached: process.platform !== "win32",
        windowsHide: true,
        stdio: ["pipe", "pipe", "pipe"]
      });
    } catch (error) {
      resolve({ code: null, stdout: "", stderr: "", isLate: false, failure: String(error) });
      return;
    }
    const maxBytes = how.maxBytes ?? MAX_BYTES;
    const chunks = [];
    let nBytes = 0;
    let stderr = "";
    let isOver = false;
    const finish = (code, isLate, failure) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      how.signal?.removeEventListener("abort", abort);
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.unref();
      const ended = { code, stdout: Buffer.concat(chunks).toString("utf8"), stderr, isLate };
      resolve(failure === void 0 ? ended : { ...ended, failure });
    };
    const stop = (isLate) => {
      endGroup(child);
      finish(null, isLate);
    };
    const abort = () => stop(false);
    const timer = setTimeout(() => stop(true), how.limitMs);
    how.signal?.addEventListener("abort", abort, { once: true });
    child.on("error", (error) => finish(null, false, error.message));
    child.on("close", (code) => finish(code, false));
    child.stdout?.on("data", (chunk) => {
      nBytes += chunk.length;
      if (nBytes > maxBytes) stop(false);
      else chunks.push(chunk);
    });
    child.stderr?.on("data", (chunk) => {
      if (stderr.length < MAX_ERROR_CHARS) stderr += chunk.toString("utf8");
    });
    child.stdin?.on("error", () => {
    });
    child.stdin?.end(how.input ?? "");
    if (how.signal?.aborted) abort();
  });
}
function runSync(binary, how) {
  try {
    const ended = spawnSync(binary, how.args, {
      cwd: how.cwd,
      env: how.env ?? process.env,
      input: how.input ?? "",
      timeout: how.limitMs,
      killSignal: "SIGKILL",
      stdio: ["pipe", "ignore", "ignore"],
      windowsHide: true
    });
    return ended.error === void 0;
  } catch {
    return false;
  }
}
function endGroup(child) {
  try {
    if (process.platform !== "win32" && child.pid) process.kill(-child.pid, "SIGKILL");
    else child.kill("SIGKILL");
  } catch {
  }
}

// common/src/protocol.ts
var MAX_CHARS = 1e6;
var MAX_OUTPUT_CHARS = 6e4;
function textOf(content) {
  if (typeof content === "string") return cut(content, MAX_CHARS);
  if (!Array.isArray(content)) return "";
  const texts = content.filter((block) => isRecord(block) && block["type"] === "text" && typeof block["text"] === "string").map((block) => block.text);
  return cut(texts.join("\n"), MAX_CHARS);
}
function messageOf(message) {
  if (!isRecord(message) || message["role"] !== "user" && message["role"] !== "assistant") return void 0;
  const content = textOf(message["content"]);
  const stop = message["stopReason"];
  return { role: message["role"], content, ...typeof stop === "string" ? { stop_reason: stop } : {} };
}
function messagesOf(messages) {
  if (!Array.isArray(messages)) return [];
  return messages.map(messageOf).filter((message) => message !== void 0);
}
function outputOf(content) {
  const text = textOf(content);
  if (text.length <= MAX_OUTPUT_CHARS) return text;
  return `${text.slice(0, MAX_OUTPUT_CHARS / 2)}
…
${text.slice(-MAX_OUTPUT_CHARS / 2)}`;
}
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
function numberOf(value) {
  return typeof value === "number" && Number.isFinite(value) ? value : void 0;
}
function cut(text, limit) {
  return text.length <= limit ? text : text.slice(0, limit);
}

// common/src/memory.ts
var LIMIT_MS = {
  "session-start": 2e3,
  prompt: 3e3,
  reminder: 2e3,
  tool: 2e3,
  "turn-end": 2e3,
  "pre-compact": 2e3,
  "session-end": 1500
};
var COMMAND_LIMIT_MS = 3e4;
var REST_MS = 6e4;
var MISSING_MS = 1e4;
var MAX_WAITING = 200;
var Memory = class {
  host;
  #options;
  #sessions = /* @__PURE__ */ new Map();
  #nWaiting = /* @__PURE__ */ new Map();
  #binary;
  #lookedAt = -Infinity;
  #restUntil = -Infinity;
  constructor(options) {
    this.host = options.host;
    this.#options = options;
  }
  /** The binary; looked for again while there is none, so that installing it needs no restart. */
  get binary() {
    if (this.#binary === void 0 && now() - this.#lookedAt > MISSING_MS) {
      const { from, binary, env } = this.#options;
      this.#lookedAt = now();
      this.#binary = findBinary({ from, env: env ?? process.env, setting: binary });
    }
    return this.#binary;
  }
  /**
   * Tells an event and returns the context to inject, empty when there is none. Events of one session reach the binary
   * one after another. Never rejects and never takes longer than the event's limit once it is its turn.
   */
  tell(event, payload) {
    const id = payload.session_id;
    const nWaiting = this.#nWaiting.get(id) ?? 0;
    if (nWaiting >= MAX_WAITING) return Promise.resolve("");
    this.#nWaiting.set(id, nWaiting + 1);
    const told = (this.#sessions.get(id) ?? Promise.resolve()).then(() => this.#hook(event, payload)).catch(() => "");
    const over = told.then(() => {
      const left = (this.#nWaiting.get(id) ?? 1) - 1;
      if (left > 0) this.#nWaiting.set(id, left);
      else {
        this.#nWaiting.delete(id);
        this.#sessions.delete(id);
      }
    });
    this.#sessions.set(id, over);
    return told;
  }
  /** Tells an event at the host's very end, where nothing asynchronous would still run. */
  tellNow(event, payload) {
    const binary = this.#isResting() ? void 0 : this.binary;
    if (!binary) return;
    const how = { args: ["hook", this.host, event], input: JSON.stringify(payload), limitMs: LIMIT_MS[event], ...this.#env() };
    if (!runSync(binary, how)) this.#rest();
  }
  /** Resolves when every event told so far has been dealt with. */
  async settled() {
    await Promise.all(this.#sessions.values());
  }
  /** Runs `mem0-code ARGS…` in a folder. */
  async command(args, how = {}) {
    const binary = this.binary;
    if (!binary) return { code: null, stdout: "", stderr: "", isLate: false, failure: MISSING };
    return run(binary, { args, limitMs: COMMAND_LIMIT_MS, ...how, ...this.#env() });
  }
  async #hook(event, payload) {
    const binary = this.#isResting() ? void 0 : this.binary;
    if (!binary) return "";
    const ended = await run(binary, {
      args: ["hook", this.host, event],
      input: JSON.stringify(payload),
      limitMs: LIMIT_MS[event],
      ...this.#env()
    });
    if (ended.isLate || ended.failure !== void 0) {
      this.#rest();
      return "";
    }
    return ended.code === 0 ? contextOf(ended.stdout) : "";
  }
  /** Leaves a binary that hung or could not be started alone; it may be replaced, so it is looked for again afterwards. */
  #rest() {
    this.#binary = void 0;
    this.#restUntil = now() + REST_MS;
  }
  #isResting() {
    return now() < this.#restUntil;
  }
  #env() {
    return this.#options.env ? { env: this.#options.env } : {};
  }
};
var MISSING = "mem0-code is not installed on this machine. Install it, or set MEM0_CODE_BIN to the program.";
function said(ended) {
  if (ended.failure !== void 0) return { text: ended.failure, isError: true };
  if (ended.isLate) return { text: "mem0-code did not answer in time.", isError: true };
  const text = ended.stdout.trim();
  if (ended.code === 0) return { text: text || "Done.", isError: false };
  return { text: [text, ended.stderr.trim()].filter(Boolean).join("\n") || `mem0-code ended with status ${ended.code}.`, isError: true };
}
function contextOf(stdout) {
  if (!stdout.trim()) return "";
  try {
    const answer = JSON.parse(stdout);
    return isRecord(answer) && typeof answer["context"] === "string" ? answer["context"] : "";
  } catch {
    return "";
  }
}
function now() {
  return performance.now();
}

// common/src/handoff.ts
var LIMIT_MS2 = 6e4;
var MAX_BYTES2 = 64 * 1024 * 1024;
var HANDOFF_DESCRIPTION = "Hand this coding session to another agent, or continue one another agent saved. `save` stores this session, `list` shows the saved ones of this project, `resume` returns one as history. What `resume` returns already happened: do not repeat its tool calls.";
function handoffArguments(params) {
  const words = [params["action"], params["resource"]].filter((word) => typeof word === "string" && word !== "");
  return words.join(" ");
}
var Handoff = class {
  #memory;
  #host;
  /** `host` is the id handoffs know the host by. */
  constructor(memory, host) {
    this.#memory = memory;
    this.#host = host;
  }
  /** Answers `/mem0-handoff ARGUMENTS`. The session is collected only when it is to be saved. */
  async answer(rawArguments, place, session) {
    const request = { host: this.#host, arguments: rawArguments, cwd: place.cwd ?? process.cwd() };
    const first = await this.#ask(request, place);
    if (first["needs"] !== "session") return answerOf(first);
    let form;
    try {
      form = await session();
    } catch (error) {
      form = error instanceof Error ? error.message : String(error);
    }
    if (typeof form === "string") return { action: "save", ok: false, text: `Handoff failed: ${form}` };
    return answerOf(await this.#ask({ ...request, session: form }, place));
  }
  async #ask(request, { cwd, signal }) {
    const ended = await this.#memory.command(["handoff", "command"], {
      cwd,
      signal,
      input: JSON.stringify(request),
      limitMs: LIMIT_MS2,
      maxBytes: MAX_BYTES2
    });
    try {
      const answer = JSON.parse(ended.stdout);
      if (ended.code === 0 && isRecord(answer)) return answer;
    } catch {
    }
    return { ok: false, text: `Handoff failed: ${said({ ...ended, code: ended.code === 0 ? null : ended.code, stdout: "" }).text}` };
  }
};
function answerOf(answer) {
  return {
    action: typeof answer["action"] === "string" ? answer["action"] : "",
    ok: answer["ok"] === true,
    text: typeof answer["text"] === "string" ? answer["text"] : ""
  };
}

// common/src/requests.ts
var GUIDANCE = "Memory of earlier coding sessions in this project, from every agent on this machine. Search when an earlier decision, fix, command, preference or result may help; ask one focused question. When the context already answers it, do not search; search again only for a particular point that is still open.";
var PAGE_SIZE = 1e3;
var SCOPE_KEY = "search_scope";
var Requests = class {
  #memory;
  constructor(memory) {
    this.#memory = memory;
  }
  async search(query, place, how = {}) {
    const args = searchArgs(query, place, how);
    return "text" in args ? args : said(await this.#run(args.args, place));
  }
  /** The memories found, for a host that lets a person choose among them. */
  async find(query, place, topK = 10) {
    return found(await this.#run(["search", "--json", "--top-k", String(topK), "--", query], place));
  }
  async add(text, place, how = {}) {
    if (!text.trim()) return wrong("There is nothing to remember: the text is empty.");
    const flags = [...how.personal ? ["--personal"] : [], ...how.json ? ["--json"] : []];
    return said(await this.#run(["add", ...flags, "-"], place, text));
  }
  async list(place, how = {}) {
    const args = ["list"];
    const page = whole(how.page, 1, 1e6);
    const size = whole(how.pageSize, 1, PAGE_SIZE);
    if (page !== void 0) args.push("--page", String(page));
    if (size !== void 0) args.push("--page-size", String(size));
    if (how.durable) args.push("--durable");
    if (how.filter !== void 0) args.push("--filter", JSON.stringify(how.filter));
    if (how.json) args.push("--json");
    return said(await this.#run(args, place));
  }
  async get(id, place, json = false) {
    return said(await this.#run(["get", ...json ? ["--json"] : [], "--", id], place));
  }
  async update(id, text, place, json = false) {
    return said(await this.#run(["update", ...json ? ["--json"] : [], "--", id, text], place));
  }
  async remove(ids, place) {
    if (ids.length === 0) return { text: "There is nothing to delete.", isError: false };
    return said(await this.#run(["delete", "--", ...ids], place));
  }
  /** What forgetting this repository would delete. */
  async forgetPreview(place) {
    return said(await this.#run(["forget", "--preview"], place));
  }
  /** Forgets this repository. Only after the person agreed, having seen the preview. */
  async forget(place) {
    return said(await this.#run(["forget", "--remote", "--yes"], place));
  }
  async status(place, json = false) {
    return said(await this.#run(["status", ...json ? ["--json"] : []], place));
  }
  async pause(place) {
    return said(await this.#run(["pause"], place));
  }
  async resume(place) {
    return said(await this.#run(["resume"], place));
  }
  /** The people, projects and sessions memories here are filed under, with how many each has. */
  async entities(place) {
    const listed = await this.#run(["list", "--json", "--page-size", String(PAGE_SIZE)], place);
    const reply = said(listed);
    if (reply.isError) return reply;
    const counts = /* @__PURE__ */ new Map();
    for (const memory of results(listed.stdout)) {
      for (const [type, key] of [["user", "user_id"], ["agent", "agent_id"], ["app", "app_id"], ["run", "run_id"]]) {
        const id = memory[key];
        if (typeof id === "string" && id) counts.set(`${type}
${id}`, (counts.get(`${type}
${id}`) ?? 0) + 1);
      }
    }
    const entities = [...counts].map(([key, total_memories]) => {
      const [type, name] = key.split("\n");
      return { type, name, total_memories };
    });
    return { text: JSON.stringify({ results: entities }), isError: false };
  }
  /** Deletes every memory of one session. */
  async removeRun(runId, place) {
    const rows = found(await this.#run(["list", "--json", "--page-size", String(PAGE_SIZE), "--filter", JSON.stringify({ run_id: runId })], place));
    return Array.isArray(rows) ? this.remove(rows.map(({ id }) => id), place) : rows;
  }
  /** Tells whether what a receipt stands for is stored. */
  async event(id, place) {
    return said(await this.#run(["event", "--json", "--", id], place));
  }
  /** Shows how far a search reaches, or sets it. */
  async searchScope(scope2, place) {
    return said(await this.#run(scope2 ? ["config", "set", SCOPE_KEY, scope2] : ["config", "get", SCOPE_KEY], place));
  }
  /** Runs a command of the binary for this host. */
  run(args, place, input) {
    return this.#run(args, place, input);
  }
  #run(args, { cwd, signal }, input) {
    return this.#memory.command(["--harness", this.#memory.host, ...args], { cwd, signal, ...input === void 0 ? {} : { input } });
  }
};
async function widened(requests, named2, place) {
  const wanted = Object.entries(named2).filter((entry) => typeof entry[1] === "string" && entry[1] !== "");
  if (wanted.length === 0) return void 0;
  const status = await requests.status(place, true);
  if (status.isError) return status;
  const own = parsed(status.text);
  for (const [key, value] of wanted) {
    const allowed = { user_id: ["user_id"], app_id: ["app_id", "repo_id", "project_id"], agent_id: ["project_id", "app_id"] }[key] ?? [];
    if (!allowed.some((name) => own[name] === value)) {
      return wrong(`${key} ${JSON.stringify(value)} is not this session's: a tool cannot reach another's memories. Leave it out.`);
    }
  }
  return void 0;
}
function wrong(text) {
  return { text, isError: true };
}
function textArg(args, key) {
  const value = args[key];
  return typeof value === "string" && value.trim() ? value : void 0;
}
function searchArgs(query, place, how) {
  const args = ["search"];
  const topK = whole(how.topK, 1, 20);
  if (topK !== void 0) args.push("--top-k", String(topK));
  if (typeof how.category === "string" && how.category) args.push("--category", how.category);
  switch (how.scope) {
    case void 0:
    case null:
    case "":
    case "project":
    case "repo":
    case "all":
    case "long-term":
      break;
    case "dir":
    case "mine":
      args.push("--scope", how.scope);
      break;
    case "session":
      if (!place.sessionId) return wrong("This session has no id to search by.");
      args.push("--run-id", place.sessionId);
      break;
    case "global":
      return wrong("A tool cannot search beyond this project. Search scope is set with `mem0-code config set`.");
    default:
      return wrong(`There is no scope ${JSON.stringify(how.scope)}.`);
  }
  if (how.json) args.push("--json");
  return { args: [...args, "--", query] };
}
function found(ended) {
  const reply = said(ended);
  if (reply.isError) return reply;
  return results(ended.stdout).flatMap(
    (row) => typeof row["id"] === "string" && typeof row["memory"] === "string" ? [{ id: row["id"], memory: row["memory"] }] : []
  );
}
function results(stdout) {
  const rows = parsed(stdout)["results"];
  return Array.isArray(rows) ? rows.filter(isRecord) : [];
}
function parsed(text) {
  try {
    const value = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
function whole(value, least, most) {
  if (typeof value !== "number" || !Number.isFinite(value)) return void 0;
  return Math.min(most, Math.max(least, Math.trunc(value)));
}

// openclaw/src/handoff.ts
var READER = ["openclaw", "plugin-sdk", "session-transcript-runtime"].join("/");
async function collect(about, sessions, callId) {
  const id = about.sessionId ?? about.sessionKey;
  if (!id) return "the host does not say which session this is.";
  const messages = await read(about) ?? sessions.messages(about);
  if (!messages || messages.length === 0) return "nothing was said in this session since the host started.";
  const cwd = about.workspaceDir ?? sessions.folder(id) ?? process.cwd();
  return {
    messages: {
      source: { host: "openclaw", session_id: id, title: `OpenClaw session ${id}`, cwd },
      ...callId ? { exclude_call_id: callId } : {},
      messages: messages.filter(isConversation)
    }
  };
}
async function read({ agentId, sessionKey, sessionId: sessionId2 }) {
  if (!sessionId2 || !sessionKey) return void 0;
  try {
    const reader = await import(READER);
    const list = isRecord(reader) || typeof reader === "object" ? reader["readVisibleSessionTranscriptMessageEntries"] : void 0;
    if (typeof list !== "function") return void 0;
    const read2 = await list({ agentId, sessionKey, sessionId: sessionId2 });
    const entries = Array.isArray(read2) ? read2 : isRecord(read2) && Array.isArray(read2["entries"]) ? read2["entries"] : [];
    const messages = entries.map((entry) => isRecord(entry) ? entry["message"] : void 0).filter(isRecord);
    return messages.length > 0 ? messages : void 0;
  } catch {
    return void 0;
  }
}
function isConversation(message) {
  return isRecord(message) && ["user", "assistant", "toolResult"].includes(String(message["role"]));
}

// openclaw/src/commands.ts
function registerCommands(api, requests, handoff, sessions) {
  const command = (name, description, act) => api.registerCommand({
    name: `mem0-${name}`,
    description,
    acceptsArgs: true,
    handler: async (ctx) => {
      const id = ctx.sessionId ?? ctx.sessionKey ?? "";
      const { text } = await act((ctx.args ?? "").trim(), { cwd: sessions.folder(id), sessionId: ctx.sessionId }, ctx);
      return { text };
    }
  });
  command("remember", "Store one fact in memory now", (args, place) => requests.add(args, place));
  command("search", "Search the memory of earlier sessions", (args, place) => requests.search(args, place, { topK: 10 }));
  command("tour", "Show what is remembered here", (_args, place) => requests.list(place, { durable: true }));
  command("status", "Show whether memory works here and what it holds", (_args, place) => requests.status(place));
  command("pause", "Stop saving and searching memories in OpenClaw", (_args, place) => requests.pause(place));
  command("resume", "Save and search memories in OpenClaw again", (_args, place) => requests.resume(place));
  command("forget", "Show what would be deleted here; `yes` deletes it", async (args, place) => {
    if (args === "yes") return requests.forget(place);
    const preview = await requests.forgetPreview(place);
    return preview.isError ? preview : { text: `${preview.text}

/mem0-forget yes deletes it.`, isError: false };
  });
  command("handoff", "Hand this session to another agent: save, list, or resume <path>", async (args, place, ctx) => {
    const id = ctx.sessionId ?? ctx.sessionKey;
    if (!id) return { text: "Handoff failed: the host does not say which session this is.", isError: true };
    const about = { sessionId: ctx.sessionId, sessionKey: ctx.sessionKey, agentId: ctx.agentId };
    const answer = await handoff.answer(args, place, () => collect(about, sessions));
    if (answer.ok && answer.action === "resume") {
      sessions.keepResumed(id, answer.text);
      return { text: "The session will be given to the agent with your next message.", isError: false };
    }
    return { text: answer.text, isError: !answer.ok };
  });
}

// openclaw/src/sessions.ts
var MAX_SESSIONS = 100;
var MAX_HELD = 8;
var Sessions = class {
  #sessions = /* @__PURE__ */ new Map();
  #messages = /* @__PURE__ */ new Map();
  /** What the session is shown; empty when that is nothing, `undefined` when it is not known yet. */
  block(id) {
    return this.#sessions.get(id)?.block;
  }
  keepBlock(id, block) {
    this.#of(id).block = block;
  }
  folder(id) {
    return this.#sessions.get(id)?.folder;
  }
  keepFolder(id, folder) {
    if (folder) this.#of(id).folder = folder;
  }
  /** A handoff that the session's next prompt gets, once. */
  keepResumed(id, text) {
    this.#of(id).resumed = text;
  }
  takeResumed(id) {
    const session = this.#sessions.get(id);
    const text = session?.resumed ?? "";
    if (session) delete session.resumed;
    return text;
  }
  messages(about) {
    return this.#messages.get(about.sessionId ?? "") ?? this.#messages.get(about.sessionKey ?? "");
  }
  keepMessages({ sessionId: sessionId2, sessionKey }, messages) {
    for (const id of [sessionId2, sessionKey]) {
      if (!id) continue;
      this.#messages.delete(id);
      this.#messages.set(id, messages);
    }
    while (this.#messages.size > 2 * MAX_HELD) this.#messages.delete(this.#messages.keys().next().value);
  }
  forget(id) {
    this.#sessions.delete(id);
    this.#messages.delete(id);
  }
  #of(id) {
    let session = this.#sessions.get(id);
    if (!session) {
      session = {};
      this.#sessions.set(id, session);
      if (this.#sessions.size > MAX_SESSIONS) this.#sessions.delete(this.#sessions.keys().next().value);
    }
    return session;
  }
};

// openclaw/src/tools.ts
var SEEN_AT_ONCE = ["memory_search", "mem0_handoff"];
var string = (description) => ({ type: "string", description });
var identity = { userId: string("Only this session's own user; leave it out"), agentId: string("Only this session's own project; leave it out") };
var scope = { type: "string", enum: ["session", "long-term", "all"], description: "Where to look; all when absent" };
function registerTools(api, requests, handoff, sessions) {
  const tools = [...memoryTools(requests), handoffTool(handoff, sessions)];
  const factory = (about) => tools.map(({ name, label, description, properties, required, act }) => ({
    name,
    label,
    description,
    // The host keeps most tools behind a search of tools: these are for the model to see at once.
    ...SEEN_AT_ONCE.includes(name) ? { catalogMode: "direct-only" } : {},
    parameters: { type: "object", properties, required },
    execute: async (id, given, signal) => {
      const args = given ?? {};
      const place = { cwd: about.workspaceDir, sessionId: about.sessionId, signal };
      const reply = await widened(requests, { user_id: args["userId"], agent_id: args["agentId"] }, place) ?? await act(args, place, { id, about });
      if (reply.isError) throw new Error(reply.text);
      return { content: [{ type: "text", text: reply.text }], details: void 0 };
    }
  }));
  api.registerTool(factory, { names: tools.map(({ name }) => name) });
}
function memoryTools(requests) {
  return [
    {
      name: "memory_search",
      label: "Search memory",
      description: GUIDANCE,
      required: ["query"],
      properties: {
        query: string("One focused question"),
        limit: { type: "number", description: "Most results, 1 to 20" },
        ...identity,
        scope,
        categories: { type: "array", items: { type: "string" }, description: "Only the first is used" },
        filters: { type: "object", description: "Works with memory_list only" }
      },
      act: async (args, place) => {
        const query = textArg(args, "query");
        if (!query) return wrong("memory_search needs a query.");
        const [category] = Array.isArray(args["categories"]) ? args["categories"] : [];
        return requests.search(query, place, { topK: args["limit"] ?? 5, scope: args["scope"], category });
      }
    },
    {
      name: "memory_add",
      label: "Remember",
      required: [],
      description: "Store facts for later sessions of every agent. One sentence each that will make sense months from now; no secrets.",
      properties: {
        text: string("The fact"),
        facts: { type: "array", items: { type: "string" }, description: "Several facts" },
        category: string("Ignored: it is found out"),
        importance: { type: "number", description: "Ignored" },
        ...identity,
        metadata: { type: "object", description: "Ignored" },
        longTerm: { type: "boolean", description: "Ignored: facts are kept" }
      },
      act: async (args, place) => {
        const facts = (Array.isArray(args["facts"]) ? args["facts"] : [args["text"]]).filter((fact) => typeof fact === "string" && fact.trim() !== "");
        if (facts.length === 0) return wrong("memory_add needs a text or facts.");
        const replies = [];
        for (const fact of facts) replies.push(await requests.add(fact, place));
        return { text: replies.map(({ text }) => text).join("\n"), isError: replies.some(({ isError }) => isError) };
      }
    },
    {
      name: "memory_get",
      label: "Show a memory",
      description: "Show one memory.",
      required: ["memoryId"],
      properties: { memoryId: string("Its id") },
      act: async (args, place) => requests.get(String(args["memoryId"]), place)
    },
    {
      name: "memory_list",
      label: "List memories",
      description: "List the memories of this project, newest first.",
      required: [],
      properties: { ...identity, scope },
      act: async (args, place) => requests.list(place, args["scope"] === "session" ? { filter: { run_id: place.sessionId } } : { durable: true })
    },
    {
      name: "memory_update",
      label: "Change a memory",
      description: "Replace a memory's text; the old one stays in its history.",
      required: ["memoryId", "text"],
      properties: { memoryId: string("Its id"), text: string("The new text") },
      act: async (args, place) => {
        const text = textArg(args, "text");
        return text ? requests.update(String(args["memoryId"]), text, place) : wrong("memory_update needs a text.");
      }
    },
    {
      name: "memory_delete",
      label: "Forget",
      required: [],
      description: "Delete one memory by its id, or the one a question finds. Only when the user asked for it.",
      properties: {
        memoryId: string("Its id"),
        query: string("A question that finds it"),
        all: { type: "boolean", description: "Everything about this project" },
        confirm: { type: "boolean", description: "The user has seen what goes and agreed" },
        ...identity
      },
      act: async (args, place) => remove(requests, args, place)
    },
    {
      name: "memory_event_list",
      label: "What waits",
      description: "Show what was recorded and waits to become memory.",
      required: [],
      properties: {},
      act: async (_args, place) => requests.status(place)
    },
    {
      name: "memory_event_status",
      label: "State of a stored fact",
      description: "Show whether a stored fact can be found by now.",
      required: ["event_id"],
      properties: { event_id: string("The id memory_add gave") },
      act: async (args, place) => requests.event(String(args["event_id"]), place)
    }
  ];
}
function handoffTool(handoff, sessions) {
  return {
    name: "mem0_handoff",
    label: "Handoff",
    description: HANDOFF_DESCRIPTION,
    required: [],
    properties: { action: { type: "string", enum: ["save", "list", "resume"], description: "What to do; save when absent" }, resource: string("Path of a saved session, for resume") },
    act: async (args, place, { id, about }) => {
      const answer = await handoff.answer(handoffArguments(args), place, () => collect(about, sessions, id));
      return { text: answer.text, isError: !answer.ok };
    }
  };
}
async function remove(requests, args, place) {
  const id = textArg(args, "memoryId");
  if (id) return requests.remove([id], place);
  const isAgreed = args["confirm"] === true;
  if (args["all"] === true) {
    if (isAgreed) return requests.forget(place);
    const preview = await requests.forgetPreview(place);
    return preview.isError ? preview : { text: `${preview.text}

Show this to the user; with their consent call again with confirm.`, isError: false };
  }
  const query = textArg(args, "query");
  if (!query) return wrong("memory_delete needs a memoryId, a query, or all.");
  const found2 = await requests.find(query, place, 5);
  if (!Array.isArray(found2)) return found2;
  const [only] = found2;
  if (found2.length === 1 && only && isAgreed) return requests.remove([only.id], place);
  if (found2.length === 0) return { text: "No matching memories found.", isError: false };
  return { text: `Nothing was deleted. Show these to the user, then delete by id:
${found2.map((one) => `${one.id}  ${one.memory}`).join("\n")}`, isError: false };
}

// openclaw/src/index.ts
var MAX_MESSAGES = 60;
var HOOK_MS = 6e3;
var CONSENT = "mem0 may not see conversations, so nothing is remembered: set plugins.entries.mem0.hooks.allowConversationAccess to true.";
function register(api) {
  const memory = new Memory({ host: "openclaw", from: import.meta.url, binary: textArg(api.pluginConfig ?? {}, "binary") });
  const requests = new Requests(memory);
  const handoff = new Handoff(memory, "openclaw");
  const sessions = new Sessions();
  const about = (ctx) => ({ session_id: sessionId(ctx), cwd: ctx.workspaceDir });
  if (api.registrationMode === "full" && !mayConverse(api.config)) api.logger.warn(CONSENT);
  api.on("before_prompt_build", async (event, ctx) => {
    const id = sessionId(ctx);
    sessions.keepFolder(id, ctx.workspaceDir);
    if (isNobodys(ctx)) return void 0;
    const prompt = event.currentUserMessage ?? event.prompt;
    const told = await memory.tell("prompt", { ...about(ctx), prompt });
    const block = told || (sessions.block(id) ?? await memory.tell("reminder", about(ctx)));
    sessions.keepBlock(id, block);
    const resumed = sessions.takeResumed(id);
    const context = [resumed, block].filter(Boolean).join("\n\n");
    return context ? { prependContext: context } : void 0;
  }, { timeoutMs: HOOK_MS });
  api.on("after_tool_call", (event, ctx) => {
    const result = isRecord(event.result) ? event.result : {};
    const details = isRecord(result["details"]) ? result["details"] : {};
    if (isNobodys(ctx)) return;
    void memory.tell("tool", {
      ...about({ ...ctx, workspaceDir: sessions.folder(sessionId(ctx)) }),
      tool: {
        name: event.toolName,
        input: event.params,
        output: outputOf(result["content"]),
        exit_code: numberOf(details["exitCode"]),
        failed: event.error !== void 0 || details["status"] === "error" ? true : void 0,
        duration_ms: numberOf(details["durationMs"]) ?? event.durationMs
      }
    });
  });
  api.on("agent_end", async (event, ctx) => {
    sessions.keepMessages(ctx, event.messages);
    if (isNobodys(ctx)) return;
    const messages = messagesOf(event.messages).slice(-MAX_MESSAGES);
    await memory.tell("turn-end", { ...about(ctx), messages, outcome: event.success ? "completed" : "failed" });
  }, { timeoutMs: HOOK_MS });
  api.on("before_compaction", async (_event, ctx) => {
    if (!isNobodys(ctx)) await memory.tell("pre-compact", about(ctx));
  }, { timeoutMs: HOOK_MS });
  api.on("session_start", async (event, ctx) => {
    if (!isNobodys(ctx)) await memory.tell("session-start", { ...about(ctx), reason: event.resumedFrom ? "resume" : "startup" });
  });
  api.on("session_end", async (_event, ctx) => {
    const id = sessionId(ctx);
    const folder = sessions.folder(id);
    sessions.forget(id);
    if (!isNobodys(ctx)) await memory.tell("session-end", { ...about(ctx), cwd: folder });
  });
  api.registerMemoryCapability?.({ promptBuilder: ({ availableTools }) => availableTools.has("memory_search") ? GUIDE : [] });
  registerTools(api, requests, handoff, sessions);
  registerCommands(api, requests, handoff, sessions);
}
var GUIDE = [
  "## Memory",
  "What earlier sessions learnt is recalled by itself at a session's first prompt. Use memory_search for one particular point that is still open.",
  ""
];
function isNobodys(ctx) {
  const { trigger, sessionKey, inputProvenance } = ctx;
  const kind = isRecord(inputProvenance) ? inputProvenance["kind"] : void 0;
  return typeof trigger === "string" && /^(cron|heartbeat|automation|schedule)$/i.test(trigger) || typeof sessionKey === "string" && /:(cron|heartbeat|subagent):/i.test(sessionKey) || kind !== void 0 && kind !== "external_user";
}
function sessionId(ctx) {
  return ctx.sessionId ?? ctx.sessionKey ?? "";
}
function mayConverse(config) {
  let value = config;
  for (const key of ["plugins", "entries", "mem0", "hooks", "allowConversationAccess"]) {
    value = isRecord(value) ? value[key] : void 0;
  }
  return value === true;
}
var index_default = {
  id: "mem0",
  name: "mem0-code",
  description: "Memory of earlier work, shared with every coding agent on this machine",
  register
};
export {
  index_default as default
};
