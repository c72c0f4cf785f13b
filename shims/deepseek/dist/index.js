// Built from shims/ of mem0-code by `npm run build`; not edited by hand.

// deepseek/src/index.ts
import { randomUUID as randomUUID2 } from "node:crypto";

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
      const [type, name2] = key.split("\n");
      return { type, name: name2, total_memories };
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
  async searchScope(scope, place) {
    return said(await this.#run(scope ? ["config", "set", SCOPE_KEY, scope] : ["config", "get", SCOPE_KEY], place));
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
    if (!allowed.some((name2) => own[name2] === value)) {
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

// deepseek/src/commands.ts
import { randomUUID } from "node:crypto";

// deepseek/src/tools.ts
var string = (description) => ({ type: "string", description });
var identity = { userId: string("Only this session's own user; leave it out"), agentId: string("Only this session's own project; leave it out") };
function registerTools(ctx, requests, handoff) {
  const define = (name2, description, properties, required, act) => ({
    name: name2,
    description,
    parameters: { type: "object", properties, required },
    output: { schema: { type: "string" }, render: (_args, value) => [{ type: "text", text: String(value) }] },
    execute: async (given, exec) => {
      const args = isRecord(given) ? given : {};
      const place = placeOf(exec);
      const reply = await widened(requests, { user_id: args["userId"], agent_id: args["agentId"] }, place) ?? await act(args, place, exec);
      return reply.isError ? `${name2} failed: ${reply.text}` : reply.text;
    }
  });
  ctx.tools.register(define(
    "search_memory",
    GUIDANCE,
    { query: string("One focused question"), limit: { type: "integer", description: "Most results, 1 to 20; 10 when absent" }, ...identity, runId: string("Only this session") },
    ["query"],
    async (args, place) => {
      const query = textArg(args, "query");
      if (!query) return wrong("it needs a query.");
      const runId = textArg(args, "runId");
      return requests.search(query, { ...place, sessionId: runId ?? place.sessionId }, { topK: args["limit"] ?? 10, scope: runId ? "session" : void 0 });
    }
  ));
  ctx.tools.register(define(
    "add_memory",
    "Store one fact for later sessions of every agent. One sentence that will make sense months from now; no secrets.",
    { text: string("The fact"), ...identity, runId: string("Ignored: where and when is known") },
    ["text"],
    async (args, place) => requests.add(textArg(args, "text") ?? "", place)
  ));
  ctx.tools.register(define(
    "mem0_handoff",
    HANDOFF_DESCRIPTION,
    { action: { type: "string", enum: ["save", "list", "resume"], description: "What to do; save when absent" }, resource: string("Path of a saved session, for resume") },
    [],
    async (args, place, exec) => {
      const session = exec.agent?.session;
      if (!session || exec.rootCallId !== exec.callId) return wrong("it has to be called by the agent itself, not inside another tool.");
      const answer = await handoff.answer(handoffArguments(args), place, async () => active(session, exec.callId));
      return { text: answer.text, isError: !answer.ok };
    }
  ));
}
function active(session, callId) {
  const titled = session.events.findLast((event) => event.type === "session/title");
  const title = isRecord(titled?.data) ? textArg(titled.data, "title") : void 0;
  const { id, cwd } = session.header;
  const source = { host: "deepseek", session_id: id, title: title ?? `DeepSeek session ${id}`, cwd: cwd ?? process.cwd() };
  return { messages: { source, ...callId ? { exclude_call_id: callId } : {}, messages: session.deriveMessages() } };
}
function placeOf(exec) {
  const header = exec.agent?.session.header;
  return { cwd: header?.cwd, sessionId: header?.id, signal: exec.signal };
}

// deepseek/src/commands.ts
function registerCommands(ctx, requests, handoff) {
  const command = (name2, description, hint, act) => ctx.commands.register({
    name: `mem0-${name2}`,
    description,
    ...hint === void 0 ? {} : { input: { hint } },
    handler: async (call) => resultOf(await act(call.rawInput.trim(), placeOf2(call), call))
  });
  command("remember", "Store one fact in memory now", "the fact", (args, place) => requests.add(args, place));
  command("search", "Search the memory of earlier sessions", "the question", (args, place) => requests.search(args, place, { topK: 10 }));
  command("tour", "Show what is remembered about this project", void 0, (_args, place) => requests.list(place, { durable: true }));
  command("status", "Show whether memory works here and what it holds", void 0, (_args, place) => requests.status(place));
  command("pause", "Stop saving and searching memories in the Harness", void 0, (_args, place) => requests.pause(place));
  command("resume", "Save and search memories in the Harness again", void 0, (_args, place) => requests.resume(place));
  command("forget", "Show what would be deleted about this repository; `yes` deletes it", "yes", (args, place) => forget(requests, args, place));
  command("handoff", "Hand this session to another agent: save, list, or resume <path>", "save | list | resume <path>", async (args, place, { agent }) => {
    const answer = await handoff.answer(args, place, async () => active(agent.session));
    if (answer.ok && answer.action === "resume") {
      agent.inject({
        id: randomUUID(),
        role: "user",
        content: [{ type: "text", text: answer.text }],
        source: { kind: "plugin", plugin: "mem0" }
      });
      return { text: "The session was put into this one; go on from it.", isError: false };
    }
    return { text: answer.text, isError: !answer.ok };
  });
}
async function forget(requests, args, place) {
  if (args === "yes") return requests.forget(place);
  const preview = await requests.forgetPreview(place);
  return preview.isError ? preview : { text: `${preview.text}

\`/mem0-forget yes\` deletes it.`, isError: false };
}
function placeOf2({ agent, signal }) {
  const { id, cwd } = agent.session.header;
  return { cwd, sessionId: id, signal };
}
function resultOf({ text, isError }) {
  return isError ? { kind: "error", text } : { kind: "success", text };
}

// deepseek/src/index.ts
var name = "mem0";
var inject = ["tools"];
var MAX_MESSAGES = 400;
function apply(ctx, config) {
  const memory = new Memory({ host: "deepseek", from: import.meta.url, binary: textArg(isRecord(config) ? config : {}, "binary") });
  const requests = new Requests(memory);
  const handoff = new Handoff(memory, "deepseek");
  const turns = /* @__PURE__ */ new Map();
  const begun = /* @__PURE__ */ new Map();
  const about = (session) => ({ session_id: session.header.id, cwd: session.header.cwd });
  const isMain = (session) => session.header.origin !== "subagent" && (session.header.delegationDepth ?? 0) === 0;
  ctx.on("agent/session-start", quiet(({ agent, source }) => {
    if (isMain(agent.session)) begun.set(agent.session, source);
  }));
  ctx.on("agent/pre-step", async ({ agent, messages, signal }, next) => {
    const decision = await next();
    try {
      const prompt = textOf(messages.filter(isPersons).flatMap(({ content }) => content));
      if (decision.kind !== "enter" || !prompt.trim() || signal.aborted || !isMain(agent.session)) return decision;
      const context = await memory.tell("prompt", { ...about(agent.session), prompt });
      const reason = begun.get(agent.session);
      if (begun.delete(agent.session)) void memory.tell("session-start", { ...about(agent.session), reason });
      return context ? { ...decision, messages: [...decision.messages, recalled(context)] } : decision;
    } catch {
      return decision;
    }
  });
  ctx.on("session/event", quiet((session, event) => {
    if (!isMain(session)) return;
    switch (event.type) {
      case "turn/start":
        turns.set(session, []);
        break;
      case "user/message":
        if (isPersons(event.data)) say(turns, session, "user", textOf(event.data.content));
        break;
      case "assistant/message":
        if (!event.data.interrupted) say(turns, session, "assistant", textOf(event.data.message.content));
        break;
      case "turn/end": {
        const messages = turns.get(session) ?? [];
        turns.set(session, []);
        void memory.tell("turn-end", { ...about(session), messages, outcome: event.data.reason.kind });
        break;
      }
      default:
        if (event.type === "compaction/start") void memory.tell("pre-compact", about(session));
    }
  }));
  ctx.on("tools/result", quiet((exec, result) => {
    const session = exec.agent?.session;
    if (!session || !isMain(session) || exec.parent) return void 0;
    const value = "value" in result ? result.value : void 0;
    void memory.tell("tool", {
      ...about(session),
      tool: {
        name: exec.name,
        input: exec.arguments,
        output: outputOf(result.content),
        exit_code: isRecord(value) ? numberOf(value["exitCode"]) : void 0,
        failed: result.isError
      }
    });
    return void 0;
  }));
  ctx.on("session/disposed", quiet((session) => {
    begun.delete(session);
    if (!turns.delete(session)) return;
    void memory.tell("session-end", about(session));
  }));
  ctx.effect(() => () => {
    for (const session of turns.keys()) memory.tellNow("session-end", about(session));
    turns.clear();
  });
  registerTools(ctx, requests, handoff);
  ctx.inject(["commands"], (scoped) => registerCommands(scoped, requests, handoff));
}
function isPersons(message) {
  return message.source.kind === "user";
}
function recalled(text) {
  return {
    id: randomUUID2(),
    role: "user",
    content: [{ type: "text", text }],
    source: { kind: "plugin", plugin: name }
  };
}
function say(turns, session, role, content) {
  if (!content.trim()) return;
  const turn = turns.get(session) ?? [];
  turn.push({ role, content });
  if (turn.length > MAX_MESSAGES) turn.shift();
  turns.set(session, turn);
}
function quiet(observe) {
  return (...args) => {
    try {
      observe(...args);
    } catch {
    }
    return void 0;
  };
}
export {
  apply,
  inject,
  name
};
