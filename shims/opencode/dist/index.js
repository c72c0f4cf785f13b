// Built from shims/ of mem0-code by `npm run build`; not edited by hand.
var __defProp = Object.defineProperty;
var __export = (target, all) => {
  for (var name in all)
    __defProp(target, name, { get: all[name], enumerable: true });
};

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
  const text2 = textOf(content);
  if (text2.length <= MAX_OUTPUT_CHARS) return text2;
  return `${text2.slice(0, MAX_OUTPUT_CHARS / 2)}
…
${text2.slice(-MAX_OUTPUT_CHARS / 2)}`;
}
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
function numberOf(value) {
  return typeof value === "number" && Number.isFinite(value) ? value : void 0;
}
function cut(text2, limit) {
  return text2.length <= limit ? text2 : text2.slice(0, limit);
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
    const told2 = (this.#sessions.get(id) ?? Promise.resolve()).then(() => this.#hook(event, payload)).catch(() => "");
    const over = told2.then(() => {
      const left = (this.#nWaiting.get(id) ?? 1) - 1;
      if (left > 0) this.#nWaiting.set(id, left);
      else {
        this.#nWaiting.delete(id);
        this.#sessions.delete(id);
      }
    });
    this.#sessions.set(id, over);
    return told2;
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
  const text2 = ended.stdout.trim();
  if (ended.code === 0) return { text: text2 || "Done.", isError: false };
  return { text: [text2, ended.stderr.trim()].filter(Boolean).join("\n") || `mem0-code ended with status ${ended.code}.`, isError: true };
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
  async add(text2, place, how = {}) {
    if (!text2.trim()) return wrong("There is nothing to remember: the text is empty.");
    const flags = [...how.personal ? ["--personal"] : [], ...how.json ? ["--json"] : []];
    return said(await this.#run(["add", ...flags, "-"], place, text2));
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
  async update(id, text2, place, json = false) {
    return said(await this.#run(["update", ...json ? ["--json"] : [], "--", id, text2], place));
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
function wrong(text2) {
  return { text: text2, isError: true };
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
function parsed(text2) {
  try {
    const value = JSON.parse(text2);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
function whole(value, least, most) {
  if (typeof value !== "number" || !Number.isFinite(value)) return void 0;
  return Math.min(most, Math.max(least, Math.trunc(value)));
}

// opencode/src/commands.ts
var command = (description, template) => ({ description, template });
var COMMANDS = {
  "mem0-remember": command(
    "Store one fact in memory now",
    "Store this fact with the tool add_memory, as one sentence that will make sense months from now, without passwords, tokens or keys. Say it is stored only when the tool said so.\n\n$ARGUMENTS"
  ),
  "mem0-search": command(
    "Search the memory of earlier sessions",
    "Search memory with the tool search_memories for this, as one focused question, and tell what was found:\n\n$ARGUMENTS"
  ),
  "mem0-tour": command("Show what is remembered about this project", "List the memories of this project with the tool get_memories and group them by subject."),
  "mem0-status": command("Show whether memory works here and what it holds", "Call the tool memory_status with action `status` and report what it says, nothing else."),
  "mem0-pause": command("Stop saving and searching memories in OpenCode", "Call the tool memory_status with action `pause` and repeat its answer."),
  "mem0-resume": command("Save and search memories in OpenCode again", "Call the tool memory_status with action `resume` and repeat its answer."),
  "mem0-scope": command("Show how far a search reaches, or set it: repo, dir or mine", "Call the tool memory_status with action `scope` and value `$ARGUMENTS`, and repeat its answer."),
  "mem0-forget": command(
    "Delete memories",
    "The user wants memories deleted: $ARGUMENTS\n\nWith a subject, find them with search_memories, show them with their ids, and call delete_memory for those the user then names. Without one, call delete_all_memories: it shows the user what would go and asks."
  ),
  "mem0-context-loader": command(
    "Load what is known about a subject before starting",
    "Search memory with search_memories for what earlier sessions know about this, and begin from there:\n\n$ARGUMENTS"
  ),
  "mem0-handoff": command(
    "Hand this session to another agent: save, list, or resume <path>",
    "Call the tool mem0_handoff once. The first word of the arguments is its `action` (none means save), all that follows it its `resource`, spaces included. Then tell the user what it said; after a resume, continue from that history without repeating its tool calls.\n\nArguments: $ARGUMENTS"
  )
};

// opencode/src/sessions.ts
var MAX_MESSAGES = 400;
var MAX_SESSIONS = 500;
var Sessions = class {
  #sessions = /* @__PURE__ */ new Map();
  of(id) {
    let session = this.#sessions.get(id);
    if (!session) {
      session = { isChild: false, isNew: false, isCompacting: false, hasFailed: false, turn: [] };
      this.#sessions.set(id, session);
      const oldest = this.#sessions.keys().next();
      if (this.#sessions.size > MAX_SESSIONS && !oldest.done) this.#sessions.delete(oldest.value);
    }
    return session;
  }
  /** Tells, once, whether a session was created here. */
  began(id) {
    const session = this.of(id);
    const isNew = session.isNew && !session.isChild;
    session.isNew = false;
    return isNew;
  }
  say(id, role, content) {
    const session = this.of(id);
    if (session.isChild || session.isCompacting || !content.trim()) return;
    session.turn.push({ role, content });
    if (session.turn.length > MAX_MESSAGES) session.turn.shift();
  }
  /** Ends the open turn and returns what was said in it. */
  endTurn(id) {
    const session = this.of(id);
    const ended = { messages: session.turn, outcome: session.hasFailed ? "failed" : "completed" };
    session.turn = [];
    session.hasFailed = false;
    return ended;
  }
  forget(id) {
    this.#sessions.delete(id);
  }
  /** Main sessions that said something or were seen here. */
  main() {
    return [...this.#sessions].filter(([, session]) => !session.isChild).map(([id]) => id);
  }
};

// opencode/node_modules/zod/v4/core/core.js
var NEVER = Object.freeze({
  status: "aborted"
});
// @__NO_SIDE_EFFECTS__
function $constructor(name, initializer2, params) {
  function init(inst, def) {
    var _a;
    Object.defineProperty(inst, "_zod", {
      value: inst._zod ?? {},
      enumerable: false
    });
    (_a = inst._zod).traits ?? (_a.traits = /* @__PURE__ */ new Set());
    inst._zod.traits.add(name);
    initializer2(inst, def);
    for (const k in _.prototype) {
      if (!(k in inst))
        Object.defineProperty(inst, k, { value: _.prototype[k].bind(inst) });
    }
    inst._zod.constr = _;
    inst._zod.def = def;
  }
  const Parent = params?.Parent ?? Object;
  class Definition extends Parent {
  }
  Object.defineProperty(Definition, "name", { value: name });
  function _(def) {
    var _a;
    const inst = params?.Parent ? new Definition() : this;
    init(inst, def);
    (_a = inst._zod).deferred ?? (_a.deferred = []);
    for (const fn of inst._zod.deferred) {
      fn();
    }
    return inst;
  }
  Object.defineProperty(_, "init", { value: init });
  Object.defineProperty(_, Symbol.hasInstance, {
    value: (inst) => {
      if (params?.Parent && inst instanceof params.Parent)
        return true;
      return inst?._zod?.traits?.has(name);
    }
  });
  Object.defineProperty(_, "name", { value: name });
  return _;
}
var $ZodAsyncError = class extends Error {
  constructor() {
    super(`Encountered Promise during synchronous parse. Use .parseAsync() instead.`);
  }
};
var globalConfig = {};
function config(newConfig) {
  if (newConfig)
    Object.assign(globalConfig, newConfig);
  return globalConfig;
}

// opencode/node_modules/zod/v4/core/util.js
var util_exports = {};
__export(util_exports, {
  BIGINT_FORMAT_RANGES: () => BIGINT_FORMAT_RANGES,
  Class: () => Class,
  NUMBER_FORMAT_RANGES: () => NUMBER_FORMAT_RANGES,
  aborted: () => aborted,
  allowsEval: () => allowsEval,
  assert: () => assert,
  assertEqual: () => assertEqual,
  assertIs: () => assertIs,
  assertNever: () => assertNever,
  assertNotEqual: () => assertNotEqual,
  assignProp: () => assignProp,
  base64ToUint8Array: () => base64ToUint8Array,
  base64urlToUint8Array: () => base64urlToUint8Array,
  cached: () => cached,
  captureStackTrace: () => captureStackTrace,
  cleanEnum: () => cleanEnum,
  cleanRegex: () => cleanRegex,
  clone: () => clone,
  cloneDef: () => cloneDef,
  createTransparentProxy: () => createTransparentProxy,
  defineLazy: () => defineLazy,
  esc: () => esc,
  escapeRegex: () => escapeRegex,
  extend: () => extend,
  finalizeIssue: () => finalizeIssue,
  floatSafeRemainder: () => floatSafeRemainder,
  getElementAtPath: () => getElementAtPath,
  getEnumValues: () => getEnumValues,
  getLengthableOrigin: () => getLengthableOrigin,
  getParsedType: () => getParsedType,
  getSizableOrigin: () => getSizableOrigin,
  hexToUint8Array: () => hexToUint8Array,
  isObject: () => isObject,
  isPlainObject: () => isPlainObject,
  issue: () => issue,
  joinValues: () => joinValues,
  jsonStringifyReplacer: () => jsonStringifyReplacer,
  merge: () => merge,
  mergeDefs: () => mergeDefs,
  normalizeParams: () => normalizeParams,
  nullish: () => nullish,
  numKeys: () => numKeys,
  objectClone: () => objectClone,
  omit: () => omit,
  optionalKeys: () => optionalKeys,
  partial: () => partial,
  pick: () => pick,
  prefixIssues: () => prefixIssues,
  primitiveTypes: () => primitiveTypes,
  promiseAllObject: () => promiseAllObject,
  propertyKeyTypes: () => propertyKeyTypes,
  randomString: () => randomString,
  required: () => required,
  safeExtend: () => safeExtend,
  shallowClone: () => shallowClone,
  stringifyPrimitive: () => stringifyPrimitive,
  uint8ArrayToBase64: () => uint8ArrayToBase64,
  uint8ArrayToBase64url: () => uint8ArrayToBase64url,
  uint8ArrayToHex: () => uint8ArrayToHex,
  unwrapMessage: () => unwrapMessage
});
function assertEqual(val) {
  return val;
}
function assertNotEqual(val) {
  return val;
}
function assertIs(_arg) {
}
function assertNever(_x) {
  throw new Error();
}
function assert(_) {
}
function getEnumValues(entries) {
  const numericValues = Object.values(entries).filter((v) => typeof v === "number");
  const values = Object.entries(entries).filter(([k, _]) => numericValues.indexOf(+k) === -1).map(([_, v]) => v);
  return values;
}
function joinValues(array, separator = "|") {
  return array.map((val) => stringifyPrimitive(val)).join(separator);
}
function jsonStringifyReplacer(_, value) {
  if (typeof value === "bigint")
    return value.toString();
  return value;
}
function cached(getter) {
  const set = false;
  return {
    get value() {
      if (!set) {
        const value = getter();
        Object.defineProperty(this, "value", { value });
        return value;
      }
      throw new Error("cached value already set");
    }
  };
}
function nullish(input) {
  return input === null || input === void 0;
}
function cleanRegex(source) {
  const start = source.startsWith("^") ? 1 : 0;
  const end = source.endsWith("$") ? source.length - 1 : source.length;
  return source.slice(start, end);
}
function floatSafeRemainder(val, step) {
  const valDecCount = (val.toString().split(".")[1] || "").length;
  const stepString = step.toString();
  let stepDecCount = (stepString.split(".")[1] || "").length;
  if (stepDecCount === 0 && /\d?e-\d?/.test(stepString)) {
    const match = stepString.match(/\d?e-(\d?)/);
    if (match?.[1]) {
      stepDecCount = Number.parseInt(match[1]);
    }
  }
  const decCount = valDecCount > stepDecCount ? valDecCount : stepDecCount;
  const valInt = Number.parseInt(val.toFixed(decCount).replace(".", ""));
  const stepInt = Number.parseInt(step.toFixed(decCount).replace(".", ""));
  return valInt % stepInt / 10 ** decCount;
}
var EVALUATING = /* @__PURE__ */ Symbol("evaluating");
function defineLazy(object, key, getter) {
  let value = void 0;
  Object.defineProperty(object, key, {
    get() {
      if (value === EVALUATING) {
        return void 0;
      }
      if (value === void 0) {
        value = EVALUATING;
        value = getter();
      }
      return value;
    },
    set(v) {
      Object.defineProperty(object, key, {
        value: v
        // configurable: true,
      });
    },
    configurable: true
  });
}
function objectClone(obj) {
  return Object.create(Object.getPrototypeOf(obj), Object.getOwnPropertyDescriptors(obj));
}
function assignProp(target, prop, value) {
  Object.defineProperty(target, prop, {
    value,
    writable: true,
    enumerable: true,
    configurable: true
  });
}
function mergeDefs(...defs) {
  const mergedDescriptors = {};
  for (const def of defs) {
    const descriptors = Object.getOwnPropertyDescriptors(def);
    Object.assign(mergedDescriptors, descriptors);
  }
  return Object.defineProperties({}, mergedDescriptors);
}
function cloneDef(schema) {
  return mergeDefs(schema._zod.def);
}
function getElementAtPath(obj, path) {
  if (!path)
    return obj;
  return path.reduce((acc, key) => acc?.[key], obj);
}
function promiseAllObject(promisesObj) {
  const keys = Object.keys(promisesObj);
  const promises = keys.map((key) => promisesObj[key]);
  return Promise.all(promises).then((results2) => {
    const resolvedObj = {};
    for (let i = 0; i < keys.length; i++) {
      resolvedObj[keys[i]] = results2[i];
    }
    return resolvedObj;
  });
}
function randomString(length = 10) {
  const chars = "abcdefghijklmnopqrstuvwxyz";
  let str = "";
  for (let i = 0; i < length; i++) {
    str += chars[Math.floor(Math.random() * chars.length)];
  }
  return str;
}
function esc(str) {
  return JSON.stringify(str);
}
var captureStackTrace = "captureStackTrace" in Error ? Error.captureStackTrace : (..._args) => {
};
function isObject(data) {
  return typeof data === "object" && data !== null && !Array.isArray(data);
}
var allowsEval = cached(() => {
  if (typeof navigator !== "undefined" && navigator?.userAgent?.includes("Cloudflare")) {
    return false;
  }
  try {
    const F = Function;
    new F("");
    return true;
  } catch (_) {
    return false;
  }
});
function isPlainObject(o) {
  if (isObject(o) === false)
    return false;
  const ctor = o.constructor;
  if (ctor === void 0)
    return true;
  const prot = ctor.prototype;
  if (isObject(prot) === false)
    return false;
  if (Object.prototype.hasOwnProperty.call(prot, "isPrototypeOf") === false) {
    return false;
  }
  return true;
}
function shallowClone(o) {
  if (isPlainObject(o))
    return { ...o };
  if (Array.isArray(o))
    return [...o];
  return o;
}
function numKeys(data) {
  let keyCount = 0;
  for (const key in data) {
    if (Object.prototype.hasOwnProperty.call(data, key)) {
      keyCount++;
    }
  }
  return keyCount;
}
var getParsedType = (data) => {
  const t = typeof data;
  switch (t) {
    case "undefined":
      return "undefined";
    case "string":
      return "string";
    case "number":
      return Number.isNaN(data) ? "nan" : "number";
    case "boolean":
      return "boolean";
    case "function":
      return "function";
    case "bigint":
      return "bigint";
    case "symbol":
      return "symbol";
    case "object":
      if (Array.isArray(data)) {
        return "array";
      }
      if (data === null) {
        return "null";
      }
      if (data.then && typeof data.then === "function" && data.catch && typeof data.catch === "function") {
        return "promise";
      }
      if (typeof Map !== "undefined" && data instanceof Map) {
        return "map";
      }
      if (typeof Set !== "undefined" && data instanceof Set) {
        return "set";
      }
      if (typeof Date !== "undefined" && data instanceof Date) {
        return "date";
      }
      if (typeof File !== "undefined" && data instanceof File) {
        return "file";
      }
      return "object";
    default:
      throw new Error(`Unknown data type: ${t}`);
  }
};
var propertyKeyTypes = /* @__PURE__ */ new Set(["string", "number", "symbol"]);
var primitiveTypes = /* @__PURE__ */ new Set(["string", "number", "bigint", "boolean", "symbol", "undefined"]);
function escapeRegex(str) {
  return str.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
function clone(inst, def, params) {
  const cl = new inst._zod.constr(def ?? inst._zod.def);
  if (!def || params?.parent)
    cl._zod.parent = inst;
  return cl;
}
function normalizeParams(_params) {
  const params = _params;
  if (!params)
    return {};
  if (typeof params === "string")
    return { error: () => params };
  if (params?.message !== void 0) {
    if (params?.error !== void 0)
      throw new Error("Cannot specify both `message` and `error` params");
    params.error = params.message;
  }
  delete params.message;
  if (typeof params.error === "string")
    return { ...params, error: () => params.error };
  return params;
}
function createTransparentProxy(getter) {
  let target;
  return new Proxy({}, {
    get(_, prop, receiver) {
      target ?? (target = getter());
      return Reflect.get(target, prop, receiver);
    },
    set(_, prop, value, receiver) {
      target ?? (target = getter());
      return Reflect.set(target, prop, value, receiver);
    },
    has(_, prop) {
      target ?? (target = getter());
      return Reflect.has(target, prop);
    },
    deleteProperty(_, prop) {
      target ?? (target = getter());
      return Reflect.deleteProperty(target, prop);
    },
    ownKeys(_) {
      target ?? (target = getter());
      return Reflect.ownKeys(target);
    },
    getOwnPropertyDescriptor(_, prop) {
      target ?? (target = getter());
      return Reflect.getOwnPropertyDescriptor(target, prop);
    },
    defineProperty(_, prop, descriptor) {
      target ?? (target = getter());
      return Reflect.defineProperty(target, prop, descriptor);
    }
  });
}
function stringifyPrimitive(value) {
  if (typeof value === "bigint")
    return value.toString() + "n";
  if (typeof value === "string")
    return `"${value}"`;
  return `${value}`;
}
function optionalKeys(shape) {
  return Object.keys(shape).filter((k) => {
    return shape[k]._zod.optin === "optional" && shape[k]._zod.optout === "optional";
  });
}
var NUMBER_FORMAT_RANGES = {
  safeint: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  int32: [-2147483648, 2147483647],
  uint32: [0, 4294967295],
  float32: [-34028234663852886e22, 34028234663852886e22],
  float64: [-Number.MAX_VALUE, Number.MAX_VALUE]
};
var BIGINT_FORMAT_RANGES = {
  int64: [/* @__PURE__ */ BigInt("-9223372036854775808"), /* @__PURE__ */ BigInt("9223372036854775807")],
  uint64: [/* @__PURE__ */ BigInt(0), /* @__PURE__ */ BigInt("18446744073709551615")]
};
function pick(schema, mask) {
  const currDef = schema._zod.def;
  const def = mergeDefs(schema._zod.def, {
    get shape() {
      const newShape = {};
      for (const key in mask) {
        if (!(key in currDef.shape)) {
          throw new Error(`Unrecognized key: "${key}"`);
        }
        if (!mask[key])
          continue;
        newShape[key] = currDef.shape[key];
      }
      assignProp(this, "shape", newShape);
      return newShape;
    },
    checks: []
  });
  return clone(schema, def);
}
function omit(schema, mask) {
  const currDef = schema._zod.def;
  const def = mergeDefs(schema._zod.def, {
    get shape() {
      const newShape = { ...schema._zod.def.shape };
      for (const key in mask) {
        if (!(key in currDef.shape)) {
          throw new Error(`Unrecognized key: "${key}"`);
        }
        if (!mask[key])
          continue;
        delete newShape[key];
      }
      assignProp(this, "shape", newShape);
      return newShape;
    },
    checks: []
  });
  return clone(schema, def);
}
function extend(schema, shape) {
  if (!isPlainObject(shape)) {
    throw new Error("Invalid input to extend: expected a plain object");
  }
  const checks = schema._zod.def.checks;
  const hasChecks = checks && checks.length > 0;
  if (hasChecks) {
    throw new Error("Object schemas containing refinements cannot be extended. Use `.safeExtend()` instead.");
  }
  const def = mergeDefs(schema._zod.def, {
    get shape() {
      const _shape = { ...schema._zod.def.shape, ...shape };
      assignProp(this, "shape", _shape);
      return _shape;
    },
    checks: []
  });
  return clone(schema, def);
}
function safeExtend(schema, shape) {
  if (!isPlainObject(shape)) {
    throw new Error("Invalid input to safeExtend: expected a plain object");
  }
  const def = {
    ...schema._zod.def,
    get shape() {
      const _shape = { ...schema._zod.def.shape, ...shape };
      assignProp(this, "shape", _shape);
      return _shape;
    },
    checks: schema._zod.def.checks
  };
  return clone(schema, def);
}
function merge(a, b) {
  const def = mergeDefs(a._zod.def, {
    get shape() {
      const _shape = { ...a._zod.def.shape, ...b._zod.def.shape };
      assignProp(this, "shape", _shape);
      return _shape;
    },
    get catchall() {
      return b._zod.def.catchall;
    },
    checks: []
    // delete existing checks
  });
  return clone(a, def);
}
function partial(Class2, schema, mask) {
  const def = mergeDefs(schema._zod.def, {
    get shape() {
      const oldShape = schema._zod.def.shape;
      const shape = { ...oldShape };
      if (mask) {
        for (const key in mask) {
          if (!(key in oldShape)) {
            throw new Error(`Unrecognized key: "${key}"`);
          }
          if (!mask[key])
            continue;
          shape[key] = Class2 ? new Class2({
            type: "optional",
            innerType: oldShape[key]
          }) : oldShape[key];
        }
      } else {
        for (const key in oldShape) {
          shape[key] = Class2 ? new Class2({
            type: "optional",
            innerType: oldShape[key]
          }) : oldShape[key];
        }
      }
      assignProp(this, "shape", shape);
      return shape;
    },
    checks: []
  });
  return clone(schema, def);
}
function required(Class2, schema, mask) {
  const def = mergeDefs(schema._zod.def, {
    get shape() {
      const oldShape = schema._zod.def.shape;
      const shape = { ...oldShape };
      if (mask) {
        for (const key in mask) {
          if (!(key in shape)) {
            throw new Error(`Unrecognized key: "${key}"`);
          }
          if (!mask[key])
            continue;
          shape[key] = new Class2({
            type: "nonoptional",
            innerType: oldShape[key]
          });
        }
      } else {
        for (const key in oldShape) {
          shape[key] = new Class2({
            type: "nonoptional",
            innerType: oldShape[key]
          });
        }
      }
      assignProp(this, "shape", shape);
      return shape;
    },
    checks: []
  });
  return clone(schema, def);
}
function aborted(x, startIndex = 0) {
  if (x.aborted === true)
    return true;
  for (let i = startIndex; i < x.issues.length; i++) {
    if (x.issues[i]?.continue !== true) {
      return true;
    }
  }
  return false;
}
function prefixIssues(path, issues) {
  return issues.map((iss) => {
    var _a;
    (_a = iss).path ?? (_a.path = []);
    iss.path.unshift(path);
    return iss;
  });
}
function unwrapMessage(message) {
  return typeof message === "string" ? message : message?.message;
}
function finalizeIssue(iss, ctx, config2) {
  const full = { ...iss, path: iss.path ?? [] };
  if (!iss.message) {
    const message = unwrapMessage(iss.inst?._zod.def?.error?.(iss)) ?? unwrapMessage(ctx?.error?.(iss)) ?? unwrapMessage(config2.customError?.(iss)) ?? unwrapMessage(config2.localeError?.(iss)) ?? "Invalid input";
    full.message = message;
  }
  delete full.inst;
  delete full.continue;
  if (!ctx?.reportInput) {
    delete full.input;
  }
  return full;
}
function getSizableOrigin(input) {
  if (input instanceof Set)
    return "set";
  if (input instanceof Map)
    return "map";
  if (input instanceof File)
    return "file";
  return "unknown";
}
function getLengthableOrigin(input) {
  if (Array.isArray(input))
    return "array";
  if (typeof input === "string")
    return "string";
  return "unknown";
}
function issue(...args) {
  const [iss, input, inst] = args;
  if (typeof iss === "string") {
    return {
      message: iss,
      code: "custom",
      input,
      inst
    };
  }
  return { ...iss };
}
function cleanEnum(obj) {
  return Object.entries(obj).filter(([k, _]) => {
    return Number.isNaN(Number.parseInt(k, 10));
  }).map((el) => el[1]);
}
function base64ToUint8Array(base642) {
  const binaryString = atob(base642);
  const bytes = new Uint8Array(binaryString.length);
  for (let i = 0; i < binaryString.length; i++) {
    bytes[i] = binaryString.charCodeAt(i);
  }
  return bytes;
}
function uint8ArrayToBase64(bytes) {
  let binaryString = "";
  for (let i = 0; i < bytes.length; i++) {
    binaryString += String.fromCharCode(bytes[i]);
  }
  return btoa(binaryString);
}
function base64urlToUint8Array(base64url2) {
  const base642 = base64url2.replace(/-/g, "+").replace(/_/g, "/");
  const padding = "=".repeat((4 - base642.length % 4) % 4);
  return base64ToUint8Array(base642 + padding);
}
function uint8ArrayToBase64url(bytes) {
  return uint8ArrayToBase64(bytes).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");
}
function hexToUint8Array(hex) {
  const cleanHex = hex.replace(/^0x/, "");
  if (cleanHex.length % 2 !== 0) {
    throw new Error("Invalid hex string length");
  }
  const bytes = new Uint8Array(cleanHex.length / 2);
  for (let i = 0; i < cleanHex.length; i += 2) {
    bytes[i / 2] = Number.parseInt(cleanHex.slice(i, i + 2), 16);
  }
  return bytes;
}
function uint8ArrayToHex(bytes) {
  return Array.from(bytes).map((b) => b.toString(16).padStart(2, "0")).join("");
}
var Class = class {
  constructor(..._args) {
  }
};

// opencode/node_modules/zod/v4/core/errors.js
var initializer = (inst, def) => {
  inst.name = "$ZodError";
  Object.defineProperty(inst, "_zod", {
    value: inst._zod,
    enumerable: false
  });
  Object.defineProperty(inst, "issues", {
    value: def,
    enumerable: false
  });
  inst.message = JSON.stringify(def, jsonStringifyReplacer, 2);
  Object.defineProperty(inst, "toString", {
    value: () => inst.message,
    enumerable: false
  });
};
var $ZodError = $constructor("$ZodError", initializer);
var $ZodRealError = $constructor("$ZodError", initializer, { Parent: Error });

// opencode/node_modules/zod/v4/core/parse.js
var _parse = (_Err) => (schema, value, _ctx, _params) => {
  const ctx = _ctx ? Object.assign(_ctx, { async: false }) : { async: false };
  const result = schema._zod.run({ value, issues: [] }, ctx);
  if (result instanceof Promise) {
    throw new $ZodAsyncError();
  }
  if (result.issues.length) {
    const e = new (_params?.Err ?? _Err)(result.issues.map((iss) => finalizeIssue(iss, ctx, config())));
    captureStackTrace(e, _params?.callee);
    throw e;
  }
  return result.value;
};
var parse = /* @__PURE__ */ _parse($ZodRealError);
var _parseAsync = (_Err) => async (schema, value, _ctx, params) => {
  const ctx = _ctx ? Object.assign(_ctx, { async: true }) : { async: true };
  let result = schema._zod.run({ value, issues: [] }, ctx);
  if (result instanceof Promise)
    result = await result;
  if (result.issues.length) {
    const e = new (params?.Err ?? _Err)(result.issues.map((iss) => finalizeIssue(iss, ctx, config())));
    captureStackTrace(e, params?.callee);
    throw e;
  }
  return result.value;
};
var parseAsync = /* @__PURE__ */ _parseAsync($ZodRealError);
var _safeParse = (_Err) => (schema, value, _ctx) => {
  const ctx = _ctx ? { ..._ctx, async: false } : { async: false };
  const result = schema._zod.run({ value, issues: [] }, ctx);
  if (result instanceof Promise) {
    throw new $ZodAsyncError();
  }
  return result.issues.length ? {
    success: false,
    error: new (_Err ?? $ZodError)(result.issues.map((iss) => finalizeIssue(iss, ctx, config())))
  } : { success: true, data: result.value };
};
var safeParse = /* @__PURE__ */ _safeParse($ZodRealError);
var _safeParseAsync = (_Err) => async (schema, value, _ctx) => {
  const ctx = _ctx ? Object.assign(_ctx, { async: true }) : { async: true };
  let result = schema._zod.run({ value, issues: [] }, ctx);
  if (result instanceof Promise)
    result = await result;
  return result.issues.length ? {
    success: false,
    error: new _Err(result.issues.map((iss) => finalizeIssue(iss, ctx, config())))
  } : { success: true, data: result.value };
};
var safeParseAsync = /* @__PURE__ */ _safeParseAsync($ZodRealError);

// opencode/node_modules/zod/v4/core/regexes.js
var dateSource = `(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))`;
var date = /* @__PURE__ */ new RegExp(`^${dateSource}$`);
var string = (params) => {
  const regex = params ? `[\\s\\S]{${params?.minimum ?? 0},${params?.maximum ?? ""}}` : `[\\s\\S]*`;
  return new RegExp(`^${regex}$`);
};
var number = /^-?\d+(?:\.\d+)?/;
var boolean = /^(?:true|false)$/i;

// opencode/node_modules/zod/v4/core/versions.js
var version = {
  major: 4,
  minor: 1,
  patch: 8
};

// opencode/node_modules/zod/v4/core/schemas.js
var $ZodType = /* @__PURE__ */ $constructor("$ZodType", (inst, def) => {
  var _a;
  inst ?? (inst = {});
  inst._zod.def = def;
  inst._zod.bag = inst._zod.bag || {};
  inst._zod.version = version;
  const checks = [...inst._zod.def.checks ?? []];
  if (inst._zod.traits.has("$ZodCheck")) {
    checks.unshift(inst);
  }
  for (const ch of checks) {
    for (const fn of ch._zod.onattach) {
      fn(inst);
    }
  }
  if (checks.length === 0) {
    (_a = inst._zod).deferred ?? (_a.deferred = []);
    inst._zod.deferred?.push(() => {
      inst._zod.run = inst._zod.parse;
    });
  } else {
    const runChecks = (payload, checks2, ctx) => {
      let isAborted = aborted(payload);
      let asyncResult;
      for (const ch of checks2) {
        if (ch._zod.def.when) {
          const shouldRun = ch._zod.def.when(payload);
          if (!shouldRun)
            continue;
        } else if (isAborted) {
          continue;
        }
        const currLen = payload.issues.length;
        const _ = ch._zod.check(payload);
        if (_ instanceof Promise && ctx?.async === false) {
          throw new $ZodAsyncError();
        }
        if (asyncResult || _ instanceof Promise) {
          asyncResult = (asyncResult ?? Promise.resolve()).then(async () => {
            await _;
            const nextLen = payload.issues.length;
            if (nextLen === currLen)
              return;
            if (!isAborted)
              isAborted = aborted(payload, currLen);
          });
        } else {
          const nextLen = payload.issues.length;
          if (nextLen === currLen)
            continue;
          if (!isAborted)
            isAborted = aborted(payload, currLen);
        }
      }
      if (asyncResult) {
        return asyncResult.then(() => {
          return payload;
        });
      }
      return payload;
    };
    const handleCanaryResult = (canary, payload, ctx) => {
      if (aborted(canary)) {
        canary.aborted = true;
        return canary;
      }
      const checkResult = runChecks(payload, checks, ctx);
      if (checkResult instanceof Promise) {
        if (ctx.async === false)
          throw new $ZodAsyncError();
        return checkResult.then((checkResult2) => inst._zod.parse(checkResult2, ctx));
      }
      return inst._zod.parse(checkResult, ctx);
    };
    inst._zod.run = (payload, ctx) => {
      if (ctx.skipChecks) {
        return inst._zod.parse(payload, ctx);
      }
      if (ctx.direction === "backward") {
        const canary = inst._zod.parse({ value: payload.value, issues: [] }, { ...ctx, skipChecks: true });
        if (canary instanceof Promise) {
          return canary.then((canary2) => {
            return handleCanaryResult(canary2, payload, ctx);
          });
        }
        return handleCanaryResult(canary, payload, ctx);
      }
      const result = inst._zod.parse(payload, ctx);
      if (result instanceof Promise) {
        if (ctx.async === false)
          throw new $ZodAsyncError();
        return result.then((result2) => runChecks(result2, checks, ctx));
      }
      return runChecks(result, checks, ctx);
    };
  }
  inst["~standard"] = {
    validate: (value) => {
      try {
        const r = safeParse(inst, value);
        return r.success ? { value: r.data } : { issues: r.error?.issues };
      } catch (_) {
        return safeParseAsync(inst, value).then((r) => r.success ? { value: r.data } : { issues: r.error?.issues });
      }
    },
    vendor: "zod",
    version: 1
  };
});
var $ZodString = /* @__PURE__ */ $constructor("$ZodString", (inst, def) => {
  $ZodType.init(inst, def);
  inst._zod.pattern = [...inst?._zod.bag?.patterns ?? []].pop() ?? string(inst._zod.bag);
  inst._zod.parse = (payload, _) => {
    if (def.coerce)
      try {
        payload.value = String(payload.value);
      } catch (_2) {
      }
    if (typeof payload.value === "string")
      return payload;
    payload.issues.push({
      expected: "string",
      code: "invalid_type",
      input: payload.value,
      inst
    });
    return payload;
  };
});
var $ZodNumber = /* @__PURE__ */ $constructor("$ZodNumber", (inst, def) => {
  $ZodType.init(inst, def);
  inst._zod.pattern = inst._zod.bag.pattern ?? number;
  inst._zod.parse = (payload, _ctx) => {
    if (def.coerce)
      try {
        payload.value = Number(payload.value);
      } catch (_) {
      }
    const input = payload.value;
    if (typeof input === "number" && !Number.isNaN(input) && Number.isFinite(input)) {
      return payload;
    }
    const received = typeof input === "number" ? Number.isNaN(input) ? "NaN" : !Number.isFinite(input) ? "Infinity" : void 0 : void 0;
    payload.issues.push({
      expected: "number",
      code: "invalid_type",
      input,
      inst,
      ...received ? { received } : {}
    });
    return payload;
  };
});
var $ZodBoolean = /* @__PURE__ */ $constructor("$ZodBoolean", (inst, def) => {
  $ZodType.init(inst, def);
  inst._zod.pattern = boolean;
  inst._zod.parse = (payload, _ctx) => {
    if (def.coerce)
      try {
        payload.value = Boolean(payload.value);
      } catch (_) {
      }
    const input = payload.value;
    if (typeof input === "boolean")
      return payload;
    payload.issues.push({
      expected: "boolean",
      code: "invalid_type",
      input,
      inst
    });
    return payload;
  };
});
var $ZodUnknown = /* @__PURE__ */ $constructor("$ZodUnknown", (inst, def) => {
  $ZodType.init(inst, def);
  inst._zod.parse = (payload) => payload;
});
var $ZodRecord = /* @__PURE__ */ $constructor("$ZodRecord", (inst, def) => {
  $ZodType.init(inst, def);
  inst._zod.parse = (payload, ctx) => {
    const input = payload.value;
    if (!isPlainObject(input)) {
      payload.issues.push({
        expected: "record",
        code: "invalid_type",
        input,
        inst
      });
      return payload;
    }
    const proms = [];
    if (def.keyType._zod.values) {
      const values = def.keyType._zod.values;
      payload.value = {};
      for (const key of values) {
        if (typeof key === "string" || typeof key === "number" || typeof key === "symbol") {
          const result = def.valueType._zod.run({ value: input[key], issues: [] }, ctx);
          if (result instanceof Promise) {
            proms.push(result.then((result2) => {
              if (result2.issues.length) {
                payload.issues.push(...prefixIssues(key, result2.issues));
              }
              payload.value[key] = result2.value;
            }));
          } else {
            if (result.issues.length) {
              payload.issues.push(...prefixIssues(key, result.issues));
            }
            payload.value[key] = result.value;
          }
        }
      }
      let unrecognized;
      for (const key in input) {
        if (!values.has(key)) {
          unrecognized = unrecognized ?? [];
          unrecognized.push(key);
        }
      }
      if (unrecognized && unrecognized.length > 0) {
        payload.issues.push({
          code: "unrecognized_keys",
          input,
          inst,
          keys: unrecognized
        });
      }
    } else {
      payload.value = {};
      for (const key of Reflect.ownKeys(input)) {
        if (key === "__proto__")
          continue;
        const keyResult = def.keyType._zod.run({ value: key, issues: [] }, ctx);
        if (keyResult instanceof Promise) {
          throw new Error("Async schemas not supported in object keys currently");
        }
        if (keyResult.issues.length) {
          payload.issues.push({
            code: "invalid_key",
            origin: "record",
            issues: keyResult.issues.map((iss) => finalizeIssue(iss, ctx, config())),
            input: key,
            path: [key],
            inst
          });
          payload.value[keyResult.value] = keyResult.value;
          continue;
        }
        const result = def.valueType._zod.run({ value: input[key], issues: [] }, ctx);
        if (result instanceof Promise) {
          proms.push(result.then((result2) => {
            if (result2.issues.length) {
              payload.issues.push(...prefixIssues(key, result2.issues));
            }
            payload.value[keyResult.value] = result2.value;
          }));
        } else {
          if (result.issues.length) {
            payload.issues.push(...prefixIssues(key, result.issues));
          }
          payload.value[keyResult.value] = result.value;
        }
      }
    }
    if (proms.length) {
      return Promise.all(proms).then(() => payload);
    }
    return payload;
  };
});
var $ZodEnum = /* @__PURE__ */ $constructor("$ZodEnum", (inst, def) => {
  $ZodType.init(inst, def);
  const values = getEnumValues(def.entries);
  const valuesSet = new Set(values);
  inst._zod.values = valuesSet;
  inst._zod.pattern = new RegExp(`^(${values.filter((k) => propertyKeyTypes.has(typeof k)).map((o) => typeof o === "string" ? escapeRegex(o) : o.toString()).join("|")})$`);
  inst._zod.parse = (payload, _ctx) => {
    const input = payload.value;
    if (valuesSet.has(input)) {
      return payload;
    }
    payload.issues.push({
      code: "invalid_value",
      values,
      input,
      inst
    });
    return payload;
  };
});
function handleOptionalResult(result, input) {
  if (result.issues.length && input === void 0) {
    return { issues: [], value: void 0 };
  }
  return result;
}
var $ZodOptional = /* @__PURE__ */ $constructor("$ZodOptional", (inst, def) => {
  $ZodType.init(inst, def);
  inst._zod.optin = "optional";
  inst._zod.optout = "optional";
  defineLazy(inst._zod, "values", () => {
    return def.innerType._zod.values ? /* @__PURE__ */ new Set([...def.innerType._zod.values, void 0]) : void 0;
  });
  defineLazy(inst._zod, "pattern", () => {
    const pattern = def.innerType._zod.pattern;
    return pattern ? new RegExp(`^(${cleanRegex(pattern.source)})?$`) : void 0;
  });
  inst._zod.parse = (payload, ctx) => {
    if (def.innerType._zod.optin === "optional") {
      const result = def.innerType._zod.run(payload, ctx);
      if (result instanceof Promise)
        return result.then((r) => handleOptionalResult(r, payload.value));
      return handleOptionalResult(result, payload.value);
    }
    if (payload.value === void 0) {
      return payload;
    }
    return def.innerType._zod.run(payload, ctx);
  };
});

// opencode/node_modules/zod/v4/core/api.js
function _string(Class2, params) {
  return new Class2({
    type: "string",
    ...normalizeParams(params)
  });
}
function _number(Class2, params) {
  return new Class2({
    type: "number",
    checks: [],
    ...normalizeParams(params)
  });
}
function _boolean(Class2, params) {
  return new Class2({
    type: "boolean",
    ...normalizeParams(params)
  });
}
function _unknown(Class2) {
  return new Class2({
    type: "unknown"
  });
}

// opencode/node_modules/zod/v4/mini/schemas.js
var ZodMiniType = /* @__PURE__ */ $constructor("ZodMiniType", (inst, def) => {
  if (!inst._zod)
    throw new Error("Uninitialized schema in ZodMiniType.");
  $ZodType.init(inst, def);
  inst.def = def;
  inst.type = def.type;
  inst.parse = (data, params) => parse(inst, data, params, { callee: inst.parse });
  inst.safeParse = (data, params) => safeParse(inst, data, params);
  inst.parseAsync = async (data, params) => parseAsync(inst, data, params, { callee: inst.parseAsync });
  inst.safeParseAsync = async (data, params) => safeParseAsync(inst, data, params);
  inst.check = (...checks) => {
    return inst.clone(
      {
        ...def,
        checks: [
          ...def.checks ?? [],
          ...checks.map((ch) => typeof ch === "function" ? { _zod: { check: ch, def: { check: "custom" }, onattach: [] } } : ch)
        ]
      }
      // { parent: true }
    );
  };
  inst.clone = (_def, params) => clone(inst, _def, params);
  inst.brand = () => inst;
  inst.register = ((reg, meta) => {
    reg.add(inst, meta);
    return inst;
  });
});
var ZodMiniString = /* @__PURE__ */ $constructor("ZodMiniString", (inst, def) => {
  $ZodString.init(inst, def);
  ZodMiniType.init(inst, def);
});
function string2(params) {
  return _string(ZodMiniString, params);
}
var ZodMiniNumber = /* @__PURE__ */ $constructor("ZodMiniNumber", (inst, def) => {
  $ZodNumber.init(inst, def);
  ZodMiniType.init(inst, def);
});
function number2(params) {
  return _number(ZodMiniNumber, params);
}
var ZodMiniBoolean = /* @__PURE__ */ $constructor("ZodMiniBoolean", (inst, def) => {
  $ZodBoolean.init(inst, def);
  ZodMiniType.init(inst, def);
});
function boolean2(params) {
  return _boolean(ZodMiniBoolean, params);
}
var ZodMiniUnknown = /* @__PURE__ */ $constructor("ZodMiniUnknown", (inst, def) => {
  $ZodUnknown.init(inst, def);
  ZodMiniType.init(inst, def);
});
function unknown() {
  return _unknown(ZodMiniUnknown);
}
var ZodMiniRecord = /* @__PURE__ */ $constructor("ZodMiniRecord", (inst, def) => {
  $ZodRecord.init(inst, def);
  ZodMiniType.init(inst, def);
});
function record(keyType, valueType, params) {
  return new ZodMiniRecord({
    type: "record",
    keyType,
    valueType,
    ...util_exports.normalizeParams(params)
  });
}
var ZodMiniEnum = /* @__PURE__ */ $constructor("ZodMiniEnum", (inst, def) => {
  $ZodEnum.init(inst, def);
  ZodMiniType.init(inst, def);
  inst.options = Object.values(def.entries);
});
function _enum(values, params) {
  const entries = Array.isArray(values) ? Object.fromEntries(values.map((v) => [v, v])) : values;
  return new ZodMiniEnum({
    type: "enum",
    entries,
    ...util_exports.normalizeParams(params)
  });
}
var ZodMiniOptional = /* @__PURE__ */ $constructor("ZodMiniOptional", (inst, def) => {
  $ZodOptional.init(inst, def);
  ZodMiniType.init(inst, def);
});
function optional(innerType) {
  return new ZodMiniOptional({
    type: "optional",
    innerType
  });
}

// opencode/src/tools.ts
var told = (schema, description) => Object.assign(schema, { description });
var text = (description) => told(string2(), description);
var maybeText = (description) => told(optional(string2()), description);
var maybeNumber = (description) => told(optional(number2()), description);
var maybeObject = (description) => told(optional(record(string2(), unknown())), description);
var identity = {
  user_id: maybeText("Only this session's own user; leave it out"),
  app_id: maybeText("Only this session's own project; leave it out"),
  agent_id: maybeText("Only this session's own project; leave it out")
};
var scope = told(optional(_enum(["project", "session", "global"])), "Where to look; project when absent");
function tools(requests, handoff, client) {
  const define = (description, args, act) => ({
    description,
    args,
    execute: async (given, context) => {
      const place = { cwd: context.directory, sessionId: context.sessionID, signal: context.abort };
      const { user_id, app_id, agent_id } = given;
      const reply = await widened(requests, { user_id, app_id, agent_id }, place) ?? await act(given, place, context);
      if (reply.isError) throw new Error(reply.text);
      return reply.text;
    }
  });
  return {
    search_memories: define(
      GUIDANCE,
      { query: text("One focused question"), ...identity, filters: maybeObject("Ignored unless empty"), limit: maybeNumber("Most results, 1 to 20"), top_k: maybeNumber("Most results, 1 to 20"), scope },
      async (args, place) => {
        const query = textArg(args, "query");
        if (!query) return wrong("search_memories needs a query.");
        if (isRecord(args["filters"]) && Object.keys(args["filters"]).length > 0) return wrong("Filters work with get_memories only.");
        return requests.search(query, place, { topK: args["top_k"] ?? args["limit"] ?? 10, scope: args["scope"], json: true });
      }
    ),
    add_memory: define(
      "Store one fact for later sessions of every agent. One sentence that will make sense months from now; no secrets.",
      { text: text("The fact"), ...identity, metadata: maybeObject("Ignored: where and when is known"), infer: told(optional(boolean2()), "Ignored: the fact is stored as it is"), scope },
      async (args, place) => requests.add(textArg(args, "text") ?? "", place, { json: true })
    ),
    get_memories: define(
      "List the memories of this project, newest first.",
      { ...identity, page: maybeNumber("From 1"), page_size: maybeNumber("1 to 1,000"), scope },
      async (args, place) => {
        if (args["scope"] === "global") return wrong("A tool cannot list beyond this project.");
        const filter = args["scope"] === "session" ? { filter: { run_id: place.sessionId } } : { durable: true };
        return requests.list(place, { page: args["page"], pageSize: args["page_size"], json: true, ...filter });
      }
    ),
    get_memory: define("Show one memory.", { id: text("Its id") }, async (args, place) => requests.get(String(args["id"]), place, true)),
    update_memory: define(
      "Replace a memory's text; the old one stays in its history.",
      { id: text("Its id"), text: maybeText("The new text"), metadata: maybeObject("Ignored") },
      async (args, place) => {
        const newText = textArg(args, "text");
        return newText ? requests.update(String(args["id"]), newText, place, true) : wrong("update_memory needs a text.");
      }
    ),
    delete_memory: define("Delete one memory for good.", { id: text("Its id") }, async (args, place) => requests.remove([String(args["id"])], place)),
    delete_all_memories: define("Delete all memories of this project, after asking the user.", { ...identity, scope }, async (args, place, context) => {
      if (args["scope"] !== void 0 && args["scope"] !== "project") return wrong("Only the whole project can be forgotten.");
      const preview = await requests.forgetPreview(place);
      if (preview.isError) return preview;
      await asked(context, "mem0_forget", preview.text);
      return requests.forget(place);
    }),
    delete_entities: define(
      "Delete everything stored for this project, or for one session, after asking the user.",
      { ...identity, run_id: maybeText("A session") },
      async (args, place, context) => {
        const run2 = textArg(args, "run_id");
        const preview = run2 ? await requests.list(place, { filter: { run_id: run2 }, pageSize: 1e3 }) : await requests.forgetPreview(place);
        if (preview.isError) return preview;
        await asked(context, "mem0_forget", preview.text);
        return run2 ? requests.removeRun(run2, place) : requests.forget(place);
      }
    ),
    list_entities: define(
      "List the people, projects and sessions memories here are filed under.",
      { page: maybeNumber("Ignored: all are shown"), page_size: maybeNumber("Ignored: all are shown") },
      async (_args, place) => requests.entities(place)
    ),
    get_event_status: define("Show whether a stored fact can be found by now.", { event_id: text("The id add_memory gave") }, async (args, place) => requests.event(String(args["event_id"]), place)),
    memory_status: define(
      "Show, pause or resume memory, or show or set how far a search reaches. Only when the user asks.",
      { action: told(_enum(["status", "pause", "resume", "scope"]), "What to do"), value: maybeText("For scope: repo, dir or mine; empty shows it") },
      async (args, place) => {
        switch (args["action"]) {
          case "pause":
            return requests.pause(place);
          case "resume":
            return requests.resume(place);
          case "scope":
            return requests.searchScope(textArg(args, "value"), place);
          default:
            return requests.status(place);
        }
      }
    ),
    mem0_handoff: define(
      HANDOFF_DESCRIPTION,
      { action: told(optional(_enum(["save", "list", "resume"])), "What to do; save when absent"), resource: maybeText("Path of a saved session, for resume") },
      async (args, place, context) => {
        const answer = await handoff.answer(handoffArguments(args), place, () => exported(client, context));
        return { text: answer.text, isError: !answer.ok };
      }
    )
  };
}
async function asked(context, permission, preview) {
  await context.ask({ permission, patterns: [preview.slice(0, 2e3)], always: [], metadata: { preview } });
}
async function exported(client, { sessionID }) {
  const path = { id: sessionID };
  const [session, messages] = await Promise.all([client.session.get({ path }), client.session.messages({ path })]);
  if (!session.data || !messages.data) return "the host did not give the session.";
  const own = messages.data.flatMap(({ parts }) => parts).findLast((part) => part.type === "tool" && part.tool === "mem0_handoff" && part.state.status === "running");
  return { export: { info: session.data, messages: messages.data, ...own && "callID" in own ? { exclude: own.callID } : {} } };
}

// opencode/src/server.ts
var server = async ({ client, directory }, options) => {
  const memory = new Memory({
    host: "opencode",
    from: import.meta.url,
    binary: typeof options?.["binary"] === "string" ? options["binary"] : void 0
  });
  const sessions = new Sessions();
  const about = (id) => ({ session_id: id, cwd: directory });
  const hooks = {
    config: async (config2) => {
      config2.command ??= {};
      for (const [name, command2] of Object.entries(COMMANDS)) config2.command[name] ??= command2;
    },
    event: async ({ event }) => {
      switch (event.type) {
        case "session.created": {
          const { id, parentID } = event.properties.info;
          sessions.of(id).isChild = Boolean(parentID);
          sessions.of(id).isNew = !parentID;
          break;
        }
        case "session.error":
          if (event.properties.sessionID) sessions.of(event.properties.sessionID).hasFailed = true;
          break;
        case "session.compacted":
          sessions.of(event.properties.sessionID).isCompacting = false;
          break;
        case "session.idle": {
          const id = event.properties.sessionID;
          if (!sessions.of(id).isChild) await memory.tell("turn-end", { ...about(id), ...sessions.endTurn(id) });
          break;
        }
        case "session.deleted": {
          const { id, parentID } = event.properties.info;
          if (!parentID) await memory.tell("session-end", about(id));
          sessions.forget(id);
          break;
        }
      }
    },
    "chat.message": async ({ sessionID }, { message, parts }) => {
      if (sessions.of(sessionID).isChild) return;
      const prompt = spoken(parts);
      sessions.of(sessionID).isCompacting = false;
      sessions.say(sessionID, "user", prompt);
      const context = await memory.tell("prompt", { ...about(sessionID), prompt });
      if (sessions.began(sessionID)) void memory.tell("session-start", { ...about(sessionID), reason: "startup" });
      if (context) parts.push({ id: partId(), sessionID, messageID: message.id, type: "text", text: context, synthetic: true });
    },
    "experimental.text.complete": async ({ sessionID }, { text: text2 }) => {
      sessions.say(sessionID, "assistant", text2);
    },
    "tool.execute.after": async ({ tool, sessionID, args }, output) => {
      if (sessions.of(sessionID).isChild) return;
      const { output: text2, content, metadata } = output;
      void memory.tell("tool", {
        ...about(sessionID),
        tool: {
          name: tool,
          input: args,
          output: outputOf(text2 ?? content),
          exit_code: isRecord(metadata) ? numberOf(metadata["exit"]) : void 0
        }
      });
    },
    "experimental.session.compacting": async ({ sessionID }) => {
      if (sessions.of(sessionID).isChild) return;
      sessions.of(sessionID).isCompacting = true;
      await memory.tell("pre-compact", about(sessionID));
    },
    dispose: async () => {
      await memory.settled();
      await Promise.all(sessions.main().map((id) => memory.tell("session-end", about(id))));
    },
    tool: tools(new Requests(memory), new Handoff(memory, "opencode"), client)
  };
  return guarded(hooks);
};
function spoken(parts) {
  return textOf(parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored));
}
var nParts = 0;
function partId() {
  const time2 = BigInt(Date.now()) * 0x1000n + BigInt(nParts++ % 4096) & 0xffffffffffffn;
  const random = Array.from({ length: 14 }, () => ALPHABET[Math.floor(Math.random() * ALPHABET.length)]).join("");
  return `prt_${time2.toString(16).padStart(12, "0")}${random}`;
}
var ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
function guarded(hooks) {
  const quiet = (hook) => typeof hook !== "function" ? hook : async (...args) => {
    try {
      await hook(...args);
    } catch {
    }
  };
  return Object.fromEntries(Object.entries(hooks).map(([name, hook]) => [name, quiet(hook)]));
}

// opencode/src/setup.ts
var MAX_BLOCKS = 500;
async function setup(ctx) {
  const host = new HostContext(ctx);
  const options = host.fields("options");
  const memory = new Memory({ host: "opencode", from: import.meta.url, binary: textArg(options, "binary") });
  const sessions = new Sessions();
  const blocks = /* @__PURE__ */ new Map();
  const directory = textArg(host.fields("location"), "directory") ?? process.cwd();
  const about = (id) => ({ session_id: id, cwd: directory });
  const stop = new AbortController();
  await host.call("session", "hook", "prompt", guarded2(async (event) => {
    const id = textArg(event, "sessionID");
    const prompt = isRecord(event["prompt"]) ? textArg(event["prompt"], "text") : void 0;
    if (!id || !prompt || await host.isChild(id, sessions)) return;
    sessions.say(id, "user", prompt);
    const context = await memory.tell("prompt", { ...about(id), prompt });
    if (sessions.began(id)) void memory.tell("session-start", { ...about(id), reason: "startup" });
    if (context) keep(blocks, id, context);
    else if (!blocks.has(id)) keep(blocks, id, await memory.tell("reminder", about(id)));
  }));
  await host.call("session", "hook", "context", guarded2(async (event) => {
    const block = blocks.get(textArg(event, "sessionID") ?? "");
    if (block && Array.isArray(event["system"])) event["system"].push({ type: "text", text: block });
  }));
  await host.call("session", "hook", "compaction", guarded2(async (event) => {
    const id = textArg(event, "sessionID");
    if (id && !sessions.of(id).isChild) await memory.tell("pre-compact", about(id));
  }));
  await host.call("tool", "hook", "execute.after", guarded2(async (event) => {
    const id = textArg(event, "sessionID");
    const name = textArg(event, "tool");
    if (!id || !name || sessions.of(id).isChild) return;
    const result = isRecord(event["result"]) ? event["result"] : {};
    const metadata = isRecord(result["metadata"]) ? result["metadata"] : {};
    void memory.tell("tool", {
      ...about(id),
      tool: {
        name,
        input: event["input"],
        output: outputOf(result["output"] ?? result["content"] ?? event["error"]),
        exit_code: numberOf(metadata["exit"]),
        failed: event["status"] === "error" ? true : void 0
      }
    });
  }));
  await registerTools(host, new Requests(memory), new Handoff(memory, "opencode"), directory);
  void listen(host, memory, sessions, about, stop.signal);
  return async () => {
    stop.abort();
    await memory.settled();
    await Promise.all(sessions.main().map((id) => memory.tell("session-end", about(id))));
  };
}
async function listen(host, memory, sessions, about, signal) {
  try {
    const events = await host.call("event", "subscribe", { signal });
    if (!events || typeof events[Symbol.asyncIterator] !== "function") return;
    for await (const event of events) {
      if (!isRecord(event) || typeof event["type"] !== "string" || !isRecord(event["data"])) continue;
      const id = textArg(event["data"], "sessionID");
      if (!id) continue;
      switch (event["type"]) {
        case "session.created":
          sessions.of(id).isNew = true;
          break;
        case "session.text.ended":
          sessions.say(id, "assistant", textArg(event["data"], "text") ?? "");
          break;
        case "session.compaction.started":
          sessions.of(id).isCompacting = true;
          break;
        case "session.compaction.ended":
        case "session.compaction.failed":
          sessions.of(id).isCompacting = false;
          break;
        case "session.execution.failed":
        case "session.execution.interrupted":
          sessions.endTurn(id);
          break;
        case "session.execution.succeeded":
          if (!sessions.of(id).isChild) void memory.tell("turn-end", { ...about(id), ...sessions.endTurn(id) });
          break;
        case "session.deleted":
          if (!sessions.of(id).isChild) void memory.tell("session-end", about(id));
          sessions.forget(id);
          break;
      }
    }
  } catch {
  }
}
async function registerTools(host, requests, handoff, directory) {
  const define = (name, description, properties, required2, act) => ({
    name,
    description,
    input: { type: "object", properties, required: required2 },
    options: { codemode: false },
    execute: async (args, context) => {
      const sessionId = isRecord(context) ? textArg(context, "sessionID") : void 0;
      const reply = await act(isRecord(args) ? args : {}, { cwd: directory, sessionId });
      if (reply.isError) throw new Error(reply.text);
      return { content: [{ type: "text", text: reply.text }] };
    }
  });
  const string3 = { type: "string" };
  const tools2 = [
    define("search_memories", GUIDANCE, { query: string3, top_k: { type: "number" }, scope: string3 }, ["query"], async (args, place) => requests.search(textArg(args, "query") ?? "", place, { topK: args["top_k"] ?? 10, scope: args["scope"], json: true })),
    define("add_memory", "Store one fact for later sessions of every agent.", { text: string3 }, ["text"], async (args, place) => requests.add(textArg(args, "text") ?? "", place, { json: true })),
    define("get_memories", "List the memories of this project.", { page: { type: "number" } }, [], async (args, place) => requests.list(place, { page: args["page"], json: true, durable: true })),
    define("update_memory", "Replace a memory's text.", { id: string3, text: string3 }, ["id", "text"], async (args, place) => requests.update(textArg(args, "id") ?? "", textArg(args, "text") ?? "", place, true)),
    define("delete_memory", "Delete one memory for good.", { id: string3 }, ["id"], async (args, place) => {
      const id = textArg(args, "id");
      return id ? requests.remove([id], place) : wrong("delete_memory needs an id.");
    }),
    define("mem0_handoff", HANDOFF_DESCRIPTION, { action: string3, resource: string3 }, [], async (args, place) => {
      const answer = await handoff.answer(handoffArguments(args), place, async () => host.session(place.sessionId, directory));
      return { text: answer.text, isError: !answer.ok };
    })
  ];
  await host.call("tool", "transform", (editor) => {
    const add = isRecord(editor) ? editor["add"] : void 0;
    if (typeof add === "function") for (const tool of tools2) add.call(editor, tool);
  });
}
var HostContext = class {
  #ctx;
  constructor(ctx) {
    this.#ctx = isRecord(ctx) ? ctx : {};
  }
  fields(name) {
    const value = this.#ctx[name];
    return isRecord(value) ? value : {};
  }
  /** Calls `ctx.<domain>.<method>(…)`; `undefined` when there is none or it throws. */
  async call(domain, method, ...args) {
    const owner = this.#ctx[domain];
    const call = owner?.[method];
    if (typeof call !== "function") return void 0;
    try {
      return await call.apply(owner, args);
    } catch {
      return void 0;
    }
  }
  /** Asks once whether a session belongs to a sub-agent. */
  async isChild(id, sessions) {
    const session = sessions.of(id);
    if (session.turn.length === 0 && !session.isChild) {
      const found2 = await this.call("session", "get", { sessionID: id });
      const data = isRecord(found2) && isRecord(found2["data"]) ? found2["data"] : found2;
      session.isChild = isRecord(data) && Boolean(data["parentID"]);
    }
    return session.isChild;
  }
  /** The session's active messages, where the host gives them. */
  async session(id, cwd) {
    const context = id ? await this.call("session", "context", { sessionID: id }) : void 0;
    const list = isRecord(context) ? context["messages"] ?? context["data"] : context;
    const messages = messagesOf(list);
    if (!id || messages.length === 0) return "this OpenCode does not give plugins a session's context (ctx.session.context).";
    return { messages: { source: { host: "opencode", session_id: id, title: `OpenCode session ${id}`, cwd }, messages } };
  }
};
function keep(blocks, id, context) {
  blocks.set(id, context);
  const oldest = blocks.keys().next();
  if (blocks.size > MAX_BLOCKS && !oldest.done) blocks.delete(oldest.value);
}
function guarded2(act) {
  return async (event) => {
    try {
      if (isRecord(event)) await act(event);
    } catch {
    }
  };
}

// opencode/src/index.ts
var index_default = { id: "mem0", server, setup };
export {
  index_default as default
};
