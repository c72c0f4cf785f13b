import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Fake } from "../../common/test/fake.ts";
import plugin from "../src/index.ts";

class Api {
  hooks = new Map<string, (event: any, ctx: any) => any>();
  commands = new Map<string, any>();
  warnings: string[] = [];
  factory: any;
  names: string[] = [];
  registrationMode = "full";
  pluginConfig = {};
  config: object;
  logger = { warn: (text: string) => this.warnings.push(text) };
  capability: any;
  constructor(consent: boolean) { this.config = { plugins: { entries: { mem0: { hooks: { allowConversationAccess: consent } } } } }; }
  on(name: string, act: any) { this.hooks.set(name, act); }
  registerTool(factory: any, how: any) { this.factory = factory; this.names = how.names; }
  registerCommand(command: any) { this.commands.set(command.name, command); }
  registerMemoryCapability(capability: any) { this.capability = capability; }
  fire(name: string, event: object, ctx: object = {}) { return this.hooks.get(name)?.(event, { sessionId: "s1", sessionKey: "agent:main:x", workspaceDir: "/", trigger: "user", ...ctx }); }
}

function loaded(consent = true): Api {
  const api = new Api(consent);
  plugin.register?.(api as any);
  return api;
}

test("a conversation is told, and the block comes again with every prompt", async (t) => {
  const fake = new Fake();
  t.after(() => fake.close());
  const other = new Fake({ prompt: "recalled" });
  t.after(() => other.close());
  const api = loaded();
  assert.deepEqual(api.warnings, []);
  assert.deepEqual(await api.fire("before_prompt_build", { prompt: "history and all", currentUserMessage: "fix it", messages: [] }), { prependContext: "recalled" });
  await api.fire("after_tool_call", { toolName: "exec", params: { command: "x" }, result: { content: [{ type: "text", text: "oops" }], details: { status: "completed", exitCode: 3 } } });
  await api.fire("agent_end", { success: true, messages: [{ role: "user", content: "fix it" }, { role: "toolResult", content: "x" }, { role: "assistant", content: [{ type: "text", text: "Done." }] }] });
  await api.fire("before_compaction", { messageCount: 3 });
  await api.fire("session_end", {});
  assert.deepEqual(other.events, ["prompt", "tool", "turn-end", "pre-compact", "session-end"]);
  assert.equal(other.of("prompt")[0]?.["prompt"], "fix it");
  assert.deepEqual([other.of("tool")[0]?.["cwd"], other.of("tool")[0]?.["tool"].exit_code], ["/", 3]);
  assert.equal(other.of("turn-end")[0]?.["outcome"], "completed");
});

test("what another process recalled is asked for once, then kept", async (t) => {
  const fake = new Fake({ reminder: "recalled before" });
  t.after(() => fake.close());
  const api = loaded();
  for (let turn = 0; turn < 2; turn++) assert.deepEqual(await api.fire("before_prompt_build", { prompt: "and now?", messages: [] }), { prependContext: "recalled before" });
  assert.deepEqual(fake.events, ["prompt", "reminder", "prompt"]);
});

test("a session that was shown nothing asks once what it was shown", async (t) => {
  const fake = new Fake();
  t.after(() => fake.close());
  const api = loaded();
  for (let turn = 0; turn < 3; turn++) assert.equal(await api.fire("before_prompt_build", { prompt: "and now?", messages: [] }), undefined);
  assert.deepEqual(fake.events, ["prompt", "reminder", "prompt", "prompt"]);
});

test("turns nobody typed are left out", async (t) => {
  const fake = new Fake({ prompt: "recalled" });
  t.after(() => fake.close());
  const api = loaded();
  for (const ctx of [{ trigger: "cron" }, { trigger: "heartbeat" }, { sessionKey: "agent:main:subagent:1" }, { sessionKey: "agent:main:cron:a" }, { inputProvenance: { kind: "inter_session" } }]) {
    assert.equal(await api.fire("before_prompt_build", { prompt: "a prompt of some length", messages: [] }, ctx), undefined);
    await api.fire("agent_end", { success: true, messages: [] }, ctx);
    await api.fire("session_end", {}, ctx);
  }
  assert.deepEqual(fake.calls, []);
});

test("missing consent is said", () => {
  assert.match(loaded(false).warnings.join(), /allowConversationAccess/);
});

test("the manifest names every tool", () => {
  const manifest = JSON.parse(readFileSync("openclaw/openclaw.plugin.json", "utf8"));
  const api = loaded();
  assert.deepEqual([...manifest.contracts.tools].sort(), [...api.names].sort());
  assert.deepEqual(api.factory({ workspaceDir: "/" }).map((tool: any) => tool.name).sort(), [...api.names].sort());
  assert.equal(manifest.id, plugin.id);
});

test("a resumed handoff is given to the next prompt only", async (t) => {
  const fake = new Fake({}, JSON.stringify({ action: "resume", ok: true, text: "history" }));
  t.after(() => fake.close());
  const api = loaded();
  const { text } = await api.commands.get("mem0-handoff").handler({ sessionId: "s1", sessionKey: "agent:main:x", args: "resume /x.json" });
  assert.match(text, /next message/);
  assert.deepEqual(await api.fire("before_prompt_build", { prompt: "go on", messages: [] }), { prependContext: "history" });
  assert.equal(await api.fire("before_prompt_build", { prompt: "go on", messages: [] }), undefined);
});

test("deleting takes consent", async (t) => {
  const fake = new Fake({}, "two memories");
  t.after(() => fake.close());
  const tool = loaded().factory({ workspaceDir: "/" }).find((one: any) => one.name === "memory_delete");
  await tool.execute("c", { all: true });
  await tool.execute("c", { all: true, confirm: true });
  assert.deepEqual(fake.of("command").map((call) => call["args"]), ["--harness openclaw forget --preview", "--harness openclaw forget --remote --yes"]);
});
