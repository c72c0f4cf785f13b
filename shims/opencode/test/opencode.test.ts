import assert from "node:assert/strict";
import { test } from "node:test";

import { Fake } from "../../common/test/fake.ts";
import plugin from "../src/index.ts";

const part = (text: string, extra: object = {}) => ({ id: "prt_0", sessionID: "s1", messageID: "m1", type: "text", text, ...extra });

async function loaded(): Promise<any> {
  return plugin.server({ client: {}, directory: "/" } as any);
}

const created = (id: string, parentID?: string) => ({ event: { type: "session.created", properties: { info: { id, parentID } } } });
const idle = (sessionID: string) => ({ event: { type: "session.idle", properties: { sessionID } } });

test("a turn is told, with the block as a part of the prompt", async (t) => {
  const fake = new Fake({ prompt: "recalled" });
  t.after(() => fake.close());
  const hooks = await loaded();
  await hooks.event(created("s1"));
  const parts = [part("what now?"), part("host's own", { synthetic: true })];
  await hooks["chat.message"]({ sessionID: "s1" }, { message: { id: "m1" }, parts });
  assert.equal(parts.length, 3);
  const injected = parts[2] as any;
  assert.deepEqual({ ...injected, id: "" }, { id: "", sessionID: "s1", messageID: "m1", type: "text", text: "recalled", synthetic: true });
  assert.match(injected.id, /^prt_[0-9a-f]{12}[0-9A-Za-z]{14}$/);
  await hooks["tool.execute.after"]({ tool: "bash", sessionID: "s1", args: { command: "x" } }, { title: "", output: "oops", metadata: { exit: 3 } });
  await hooks["tool.execute.after"]({ tool: "probe_echo", sessionID: "s1", args: {} }, { content: [{ type: "text", text: "hi" }] });
  await hooks["experimental.text.complete"]({ sessionID: "s1" }, { text: "Done." });
  await hooks.event(idle("s1"));
  await hooks.dispose();
  assert.deepEqual(fake.events, ["prompt", "session-start", "tool", "tool", "turn-end", "session-end"]);
  assert.equal(fake.of("prompt")[0]?.["prompt"], "what now?");
  assert.deepEqual(fake.of("tool").map((call) => [call["tool"].output, call["tool"].exit_code]), [["oops", 3], ["hi", undefined]]);
  assert.deepEqual(fake.of("turn-end")[0]?.["messages"], [{ role: "user", content: "what now?" }, { role: "assistant", content: "Done." }]);
});

test("sub-agents and the host's summaries are left out", async (t) => {
  const fake = new Fake();
  t.after(() => fake.close());
  const hooks = await loaded();
  await hooks.event(created("s1"));
  await hooks["chat.message"]({ sessionID: "s1" }, { message: { id: "m" }, parts: [part("go")] });
  await hooks.event(created("child", "s1"));
  await hooks["chat.message"]({ sessionID: "child" }, { message: { id: "m" }, parts: [part("count the files")] });
  await hooks["experimental.text.complete"]({ sessionID: "child" }, { text: "three" });
  await hooks["tool.execute.after"]({ tool: "bash", sessionID: "child", args: {} }, { output: "" });
  await hooks.event(idle("child"));
  await hooks["experimental.session.compacting"]({ sessionID: "s1" });
  await hooks["experimental.text.complete"]({ sessionID: "s1" }, { text: "summary" });
  await hooks.event({ event: { type: "session.compacted", properties: { sessionID: "s1" } } });
  await hooks["experimental.text.complete"]({ sessionID: "s1" }, { text: "Done." });
  await hooks.event(idle("s1"));
  assert.deepEqual(fake.events, ["prompt", "session-start", "pre-compact", "turn-end"]);
  assert.deepEqual(fake.of("turn-end")[0]?.["messages"].map((one: any) => one.content), ["go", "Done."]);
});

test("a failed turn says so, and nothing thrown reaches the host", async (t) => {
  const fake = new Fake();
  t.after(() => fake.close());
  const hooks = await loaded();
  await hooks.event({ event: { type: "session.error", properties: { sessionID: "s1" } } });
  await hooks.event(idle("s1"));
  assert.equal(fake.of("turn-end")[0]?.["outcome"], "failed");
  for (const bad of [undefined, null, {}, { event: null }]) await hooks.event(bad);
  await hooks["chat.message"](null, undefined);
  await hooks["chat.message"]({ sessionID: "s1" }, { message: null, parts: null });
});

test("commands are added, and never replace the person's", async () => {
  const hooks = await loaded();
  const config: any = { command: { "mem0-search": { template: "mine" } } };
  await hooks.config(config);
  assert.equal(config.command["mem0-search"].template, "mine");
  assert.match(config.command["mem0-handoff"].template, /\$ARGUMENTS/);
});

test("deleting everything asks through the host", async (t) => {
  const fake = new Fake({}, "two memories");
  t.after(() => fake.close());
  const { tool } = await loaded();
  const context = (ask: () => Promise<void>) => ({ directory: "/", sessionID: "s1", ask });
  await assert.rejects(tool.delete_all_memories.execute({}, context(async () => { throw new Error("refused"); })), /refused/);
  assert.deepEqual(fake.of("command").map((call) => call["args"]), ["--harness opencode forget --preview"]);
  await tool.delete_all_memories.execute({}, context(async () => {}));
  assert.equal(fake.of("command").at(-1)?.["args"], "--harness opencode forget --remote --yes");
});

/** A host of the second generation, as far as its documentation tells. */
class Host {
  hooks = new Map<string, (event: any) => Promise<void>>();
  tools: any[] = [];
  events: any[] = [];
  wake: (() => void) | undefined;
  isDone = false;
  location = { directory: "/" };
  session = {
    hook: (name: string, act: any) => { this.hooks.set(`session.${name}`, act); },
    get: async ({ sessionID }: any) => ({ data: { id: sessionID, parentID: sessionID === "child" ? "s1" : undefined } }),
  };
  tool = {
    hook: (name: string, act: any) => { this.hooks.set(`tool.${name}`, act); },
    transform: (act: any) => act({ add: (tool: any) => this.tools.push(tool) }),
  };
  event = { subscribe: () => this.stream() };
  async *stream() {
    while (!this.isDone) {
      while (this.events.length) yield this.events.shift();
      await new Promise<void>((done) => { this.wake = done; });
    }
  }
  emit(type: string, data: object) {
    this.events.push({ type, data });
    this.wake?.();
  }
}

test("the second generation: recall at every model call, turns from events", async (t) => {
  const fake = new Fake({ prompt: "recalled" });
  t.after(() => fake.close());
  const host = new Host();
  const stop = await plugin.setup(host);
  assert.ok(host.tools.some((tool) => tool.name === "search_memories" && tool.options.codemode === false));
  await host.hooks.get("session.prompt")?.({ sessionID: "s1", prompt: { text: "what now?" } });
  await host.hooks.get("session.prompt")?.({ sessionID: "child", prompt: { text: "count" } });
  for (let step = 0; step < 2; step++) {
    const event = { sessionID: "s1", system: [] as any[] };
    await host.hooks.get("session.context")?.(event);
    assert.deepEqual(event.system, [{ type: "text", text: "recalled" }]);
  }
  host.emit("session.text.ended", { sessionID: "s1", text: "Done." });
  host.emit("session.execution.succeeded", { sessionID: "s1" });
  await fake.settled(2);
  assert.deepEqual(fake.of("turn-end")[0]?.["messages"], [{ role: "user", content: "what now?" }, { role: "assistant", content: "Done." }]);
  host.isDone = true;
  host.wake?.();
  await stop();
  assert.deepEqual(fake.events, ["prompt", "turn-end", "session-end"]);
});

test("the second generation with nothing that was expected", async (t) => {
  const fake = new Fake();
  t.after(() => fake.close());
  for (const ctx of [undefined, null, {}, { session: {}, tool: { transform: () => { throw new Error("other"); } }, event: { subscribe: () => 3 } }]) {
    await (await plugin.setup(ctx))();
  }
  assert.deepEqual(fake.calls, []);
});
