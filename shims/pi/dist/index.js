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
function messageOf(message2) {
  if (!isRecord(message2) || message2["role"] !== "user" && message2["role"] !== "assistant") return void 0;
  const content = textOf(message2["content"]);
  const stop = message2["stopReason"];
  return { role: message2["role"], content, ...typeof stop === "string" ? { stop_reason: stop } : {} };
}
function messagesOf(messages) {
  if (!Array.isArray(messages)) return [];
  return messages.map(messageOf).filter((message2) => message2 !== void 0);
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

// pi/src/tools.ts
var ACTIONS = ["search", "add", "get_all", "update", "delete", "delete_all"];
function registerTools(pi, requests) {
  pi.registerTool({
    name: "mem0_memory",
    label: "Memory",
    description: GUIDANCE,
    promptSnippet: "Search and store memories of earlier sessions",
    parameters: {
      type: "object",
      properties: {
        action: { type: "string", enum: [...ACTIONS], description: "What to do" },
        query: { type: "string", description: "The question, for search" },
        content: { type: "string", description: "The fact to store, for add; the new text, for update" },
        memory_id: { type: "string", description: "The memory, for update and delete" },
        scope: { type: "string", enum: ["project", "session", "global"], description: "Where to look, for search and get_all" }
      },
      required: ["action"]
    },
    async execute(_id, params, signal, _onUpdate, ctx) {
      const place = { ...placeOf(ctx), signal };
      const reply = await act(requests, params, place, ctx);
      if (reply.isError) throw new Error(reply.text);
      return { content: [{ type: "text", text: reply.text }], details: void 0 };
    }
  });
}
function placeOf(ctx) {
  return { cwd: ctx.cwd, sessionId: ctx.sessionManager.getSessionId() };
}
async function act(requests, params, place, ctx) {
  const id = textArg(params, "memory_id");
  const content = textArg(params, "content");
  const query = textArg(params, "query");
  switch (params["action"]) {
    case "search":
      return query ? requests.search(query, place, { scope: params["scope"] }) : wrong("search needs a query.");
    case "add":
      return content ? requests.add(content, place) : wrong("add needs content.");
    case "get_all":
      if (params["scope"] === "global") return wrong("A tool cannot list beyond this project.");
      return requests.list(place, params["scope"] === "session" ? { filter: { run_id: place.sessionId } } : { durable: true });
    case "update":
      return id && content ? requests.update(id, content, place) : wrong("update needs memory_id and content.");
    case "delete":
      return id ? requests.remove([id], place) : wrong("delete needs memory_id.");
    case "delete_all":
      return forgetAll(requests, place, ctx);
    default:
      return wrong(`There is no action ${JSON.stringify(params["action"])}; there are ${ACTIONS.join(", ")}.`);
  }
}
async function forgetAll(requests, place, ctx) {
  if (!ctx.hasUI) return wrong("Deleting needs a person to agree, and there is nobody to ask in this mode.");
  const preview = await requests.forgetPreview(place);
  if (preview.isError) return preview;
  if (!await ctx.ui.confirm("Forget this repository?", preview.text)) return { text: "Nothing was deleted.", isError: false };
  return requests.forget(place);
}

// pi/src/commands.ts
function registerCommands(pi, requests) {
  const command = (name, description, act2) => pi.registerCommand(`mem0-${name}`, {
    description,
    handler: async (args, ctx) => show(pi, ctx, await act2(args.trim(), ctx))
  });
  command("remember", "Store one fact in memory now", (args, ctx) => requests.add(args, placeOf(ctx)));
  command("search", "Search the memory of earlier sessions", (args, ctx) => requests.search(args, placeOf(ctx), { topK: 10 }));
  command("tour", "Show what is remembered about this project", (_args, ctx) => requests.list(placeOf(ctx), { durable: true }));
  command("status", "Show whether memory works here and what it holds", (_args, ctx) => requests.status(placeOf(ctx)));
  command("scope", "Show how far a search reaches, or set it: repo, dir or mine", (args, ctx) => requests.searchScope(args, placeOf(ctx)));
  command("pause", "Stop saving and searching memories in Pi", (_args, ctx) => requests.pause(placeOf(ctx)));
  command("resume", "Save and search memories in Pi again", (_args, ctx) => requests.resume(placeOf(ctx)));
  command("forget", "Delete one memory, found by a question, or all of this repository", (args, ctx) => args ? forgetOne(requests, args, ctx) : forgetAll(requests, placeOf(ctx), ctx));
}
function show(pi, ctx, { text, isError }) {
  if (ctx.hasUI) ctx.ui.notify(text, isError ? "error" : "info");
  else pi.sendMessage({ customType: "mem0-notice", content: text, display: true });
}
async function forgetOne(requests, query, ctx) {
  if (!ctx.hasUI) return { text: "Deleting needs a person to agree, and there is nobody to ask in this mode.", isError: true };
  const found2 = await requests.find(query, placeOf(ctx));
  if (!Array.isArray(found2)) return found2;
  const chosen = await choose(found2, ctx);
  if (!chosen) return { text: found2.length === 0 ? "No matching memories found." : "Nothing was deleted.", isError: false };
  return requests.remove([chosen.id], placeOf(ctx));
}
async function choose(found2, ctx) {
  const [only] = found2;
  if (found2.length === 0 || !only) return void 0;
  if (found2.length === 1) return await ctx.ui.confirm("Delete this memory?", only.memory) ? only : void 0;
  const labels = found2.map((memory, index) => `${index + 1}. ${memory.memory.replace(/\s+/g, " ").slice(0, 200)}`);
  const label = await ctx.ui.select("Which memory is to be deleted?", labels);
  return label === void 0 ? void 0 : found2[labels.indexOf(label)];
}

// pi/src/handoff.ts
var HANDOFF_HOST = "pi-agent";
function registerHandoff(pi, handoff) {
  pi.registerCommand("mem0-handoff", {
    description: "Hand this session to another agent: save, list, or resume <path>",
    handler: async (args, ctx) => {
      if (!ctx.isIdle()) return show(pi, ctx, { text: "Handoff failed: wait until the agent has finished.", isError: true });
      const answer = await handoff.answer(args, placeOf(ctx), async () => saved(ctx));
      if (answer.ok && answer.action === "resume") {
        pi.sendMessage({ customType: "mem0-handoff", content: answer.text, display: true }, { triggerTurn: true });
        return;
      }
      show(pi, ctx, { text: answer.text, isError: !answer.ok });
    }
  });
  pi.registerTool({
    name: "mem0_handoff",
    label: "Handoff",
    description: HANDOFF_DESCRIPTION,
    promptSnippet: "Hand this session to another agent, or continue one",
    parameters: {
      type: "object",
      properties: {
        action: { type: "string", enum: ["save", "list", "resume"], description: "What to do; save when absent" },
        resource: { type: "string", description: "Path of a saved session, for resume" }
      }
    },
    async execute(callId, params, signal, _onUpdate, ctx) {
      const place = { ...placeOf(ctx), signal };
      const answer = await handoff.answer(handoffArguments(params), place, async () => active(ctx, callId));
      if (!answer.ok) throw new Error(answer.text);
      return { content: [{ type: "text", text: answer.text }], details: void 0 };
    }
  });
}
function saved(ctx) {
  const transcript = ctx.sessionManager.getSessionFile();
  return transcript ? { transcript } : active(ctx, void 0);
}
function active(ctx, callId) {
  const manager = ctx.sessionManager;
  const id = manager.getSessionId();
  const path = manager.getSessionFile();
  const messages = manager.buildContextEntries().flatMap((entry) => message(entry));
  const source = {
    host: HANDOFF_HOST,
    session_id: id,
    title: manager.getSessionName() ?? `Pi session ${id}`,
    cwd: manager.getCwd(),
    ...path ? { path } : {}
  };
  return { messages: { source, ...callId ? { exclude_call_id: callId } : {}, messages } };
}
function message(entry) {
  if (!isRecord(entry)) return [];
  const user = (text) => typeof text === "string" && text ? [{ role: "user", content: text }] : [];
  switch (entry["type"]) {
    case "message": {
      const inner = entry["message"];
      if (!isRecord(inner)) return [];
      if (inner["role"] === "bashExecution") {
        return inner["excludeFromContext"] ? [] : user(`Ran \`${String(inner["command"])}\`
${String(inner["output"] ?? "")}`);
      }
      if (inner["role"] === "custom") return [{ role: "user", content: inner["content"] }];
      return inner["role"] === "branchSummary" || inner["role"] === "compactionSummary" ? user(inner["summary"]) : [inner];
    }
    case "custom_message":
      return entry["customType"] === "mem0-memory" ? [] : [{ role: "user", content: entry["content"] }];
    case "compaction":
    case "branch_summary":
      return user(entry["summary"]);
    default:
      return [];
  }
}

// pi/src/index.ts
var RECALLED = "mem0-memory";
var MAX_MESSAGES = 400;
function extension(pi) {
  const memory = new Memory({ host: "pi", from: import.meta.url });
  const requests = new Requests(memory);
  let turn = [];
  const about = (ctx) => ({
    session_id: ctx.sessionManager.getSessionId(),
    cwd: ctx.cwd,
    transcript_path: ctx.sessionManager.getSessionFile()
  });
  pi.on("session_start", async (event, ctx) => {
    await memory.tell("session-start", { ...about(ctx), reason: event.reason, model: ctx.model?.id });
  });
  pi.on("before_agent_start", async (event, ctx) => {
    if (event.messageType === "custom") return void 0;
    const context = await memory.tell("prompt", { ...about(ctx), prompt: event.prompt });
    return context ? { message: { customType: RECALLED, content: context, display: false } } : void 0;
  });
  pi.on("tool_result", (event, ctx) => {
    const structured = isRecord(event.structuredContent) ? event.structuredContent : {};
    void memory.tell("tool", {
      ...about(ctx),
      tool: {
        name: event.toolName,
        input: event.input,
        output: typeof structured["output"] === "string" ? outputOf(structured["output"]) : outputOf(event.content),
        exit_code: numberOf(structured["exit_code"]),
        failed: event.isError
      }
    });
  });
  pi.on("agent_end", (event) => {
    turn = [...turn, ...messagesOf(event.messages)].slice(-MAX_MESSAGES);
  });
  pi.on("agent_settled", async (event, ctx) => {
    const messages = turn;
    turn = [];
    await memory.tell("turn-end", { ...about(ctx), messages, outcome: event.aborted ? "aborted" : "completed" });
  });
  pi.on("session_before_compact", async (_event, ctx) => {
    await memory.tell("pre-compact", about(ctx));
    return void 0;
  });
  pi.on("session_shutdown", async (_event, ctx) => {
    await memory.tell("session-end", about(ctx));
  });
  registerTools(pi, requests);
  registerCommands(pi, requests);
  registerHandoff(pi, new Handoff(memory, HANDOFF_HOST));
}
export {
  extension as default
};
