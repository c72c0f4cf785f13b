import assert from "node:assert/strict";
import { test } from "node:test";

import { Fake } from "../../common/test/fake.ts";
import * as plugin from "../src/index.ts";

class Ctx {
  listeners = new Map<string, (...args: any[]) => any>();
  registered = new Map<string, any>();
  disposals: (() => void)[] = [];
  tools = { register: (tool: any) => this.registered.set(tool.name, tool) };
  commands = { register: (command: any) => this.registered.set(`/${command.name}`, command) };
  on(name: string, listener: (...args: any[]) => any) { this.listeners.set(name, listener); }
  effect(act: () => () => void) { this.disposals.push(act()); }
  inject(_services: string[], act: (ctx: Ctx) => void) { act(this); }
  fire(name: string, ...args: any[]) { return this.listeners.get(name)?.(...args); }
}

const session = (extra: object = {}) => ({ header: { id: "s1", cwd: "/", ...extra }, events: [], deriveMessages: () => [] });
const user = (text: string, kind = "user") => ({ id: "u", role: "user", content: [{ type: "text", text }], source: { kind } });
const assistant = (text: string) => ({ type: "assistant/message", data: { message: { content: [{ type: "reasoning", text: "hm" }, { type: "text", text }] } } });

function loaded(): Ctx {
  const ctx = new Ctx();
  plugin.apply(ctx as any, undefined);
  return ctx;
}

test("a durable turn is told, and the block joins the incoming messages", async (t) => {
  const fake = new Fake({ prompt: "recalled {{ x }}" });
  t.after(() => fake.close());
  const ctx = loaded();
  const s = session();
  const signal = new AbortController().signal;
  ctx.fire("agent/session-start", { agent: { session: s }, source: "startup" });
  const messages = [user("fix it"), user("snapshot", "plugin")];
  const decision = await ctx.fire("agent/pre-step", { agent: { session: s }, messages, signal }, async () => ({ kind: "enter", messages }));
  assert.equal(decision.messages.length, 3);
  assert.deepEqual({ ...decision.messages[2], id: "" }, { id: "", role: "user", content: [{ type: "text", text: "recalled {{ x }}" }], source: { kind: "plugin", plugin: "mem0" } });
  // A later step of the turn has no incoming messages, and asks nothing.
  await ctx.fire("agent/pre-step", { agent: { session: s }, messages: [], signal }, async () => ({ kind: "enter", messages: [] }));
  ctx.fire("session/event", s, { type: "turn/start", data: {} });
  for (const message of messages) ctx.fire("session/event", s, { type: "user/message", data: message });
  ctx.fire("tools/result", { name: "bash", arguments: { command: "x" }, agent: { session: s } }, { isError: false, content: [{ type: "text", text: "oops" }], value: { exitCode: 3 } });
  ctx.fire("session/event", s, assistant("Fixed."));
  ctx.fire("session/event", s, { type: "assistant/message", data: { interrupted: true, message: { content: [{ type: "text", text: "half" }] } } });
  ctx.fire("session/event", s, { type: "turn/end", data: { reason: { kind: "completed" } } });
  ctx.fire("session/event", s, { type: "compaction/start", data: {} });
  await fake.settled(5);
  ctx.disposals.forEach((dispose) => dispose());
  assert.deepEqual(fake.events, ["prompt", "session-start", "tool", "turn-end", "pre-compact", "session-end"]);
  assert.equal(fake.of("tool")[0]?.["tool"].exit_code, 3);
  assert.deepEqual(fake.of("turn-end")[0]?.["messages"], [{ role: "user", content: "fix it" }, { role: "assistant", content: "Fixed." }]);
});

test("sub-agents, rejected steps and calls inside tools are left out", async (t) => {
  const fake = new Fake({ prompt: "recalled" });
  t.after(() => fake.close());
  const ctx = loaded();
  const signal = new AbortController().signal;
  for (const child of [session({ origin: "subagent" }), session({ delegationDepth: 1 })]) {
    const messages = [user("count the files of this folder")];
    const decision = await ctx.fire("agent/pre-step", { agent: { session: child }, messages, signal }, async () => ({ kind: "enter", messages }));
    assert.equal(decision.messages.length, 1);
    ctx.fire("session/event", child, { type: "turn/end", data: { reason: { kind: "completed" } } });
  }
  const messages = [user("hello")];
  assert.deepEqual(await ctx.fire("agent/pre-step", { agent: { session: session() }, messages, signal }, async () => ({ kind: "reject" })), { kind: "reject" });
  ctx.fire("tools/result", { name: "bash", parent: Symbol("code"), agent: { session: session() } }, { content: [] });
  for (const event of ["session/event", "tools/result", "agent/session-start", "session/disposed"]) ctx.fire(event, undefined, undefined);
  ctx.disposals.forEach((dispose) => dispose());
  assert.deepEqual(fake.calls, []);
});

test("tools answer with text, also when they fail", async (t) => {
  const fake = new Fake({}, "found");
  t.after(() => fake.close());
  const ctx = loaded();
  const exec = { agent: { session: session() }, callId: "c", rootCallId: "c", signal: new AbortController().signal };
  const run = (name: string, args: object, how = exec) => ctx.registered.get(name).execute(args, how);
  assert.equal(await run("search_memory", { query: "x" }), "found");
  assert.match(await run("search_memory", {}), /^search_memory failed: /);
  assert.match(await run("search_memory", { query: "x", userId: "somebody" }), /failed/);
  assert.match(await run("mem0_handoff", {}, { ...exec, rootCallId: "other" }), /not inside another tool/);
  const forget = await ctx.registered.get("/mem0-forget").handler({ agent: { session: session() }, rawInput: " ", signal: exec.signal });
  assert.equal(forget.kind, "success");
  assert.equal(fake.of("command").at(-1)?.["args"], "--harness deepseek forget --preview");
});
