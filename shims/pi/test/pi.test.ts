import assert from "node:assert/strict";
import { test } from "node:test";

import { Fake } from "../../common/test/fake.ts";
import extension from "../src/index.ts";

type Handler = (event: any, ctx: any) => any;

class Pi {
  handlers = new Map<string, Handler>();
  tools = new Map<string, any>();
  commands = new Map<string, any>();
  sent: any[] = [];
  on(name: string, handler: Handler) { this.handlers.set(name, handler); }
  registerTool(tool: any) { this.tools.set(tool.name, tool); }
  registerCommand(name: string, command: any) { this.commands.set(name, command); }
  sendMessage(message: any, how: any) { this.sent.push({ ...message, ...how }); }
  fire(name: string, event: object = {}) { return this.handlers.get(name)?.({ type: name, ...event }, ctx()); }
}

const ctx = (extra: object = {}) => ({
  cwd: "/", hasUI: false, model: { id: "m" }, isIdle: () => true,
  sessionManager: { getSessionId: () => "s1", getSessionFile: () => "/s1.jsonl" }, ...extra,
});

function loaded(): Pi {
  const pi = new Pi();
  extension(pi as any);
  return pi;
}

test("a session is told in order, once a turn", async (t) => {
  const fake = new Fake({ prompt: "recalled" });
  t.after(() => fake.close());
  const pi = loaded();
  await pi.fire("session_start", { reason: "startup" });
  const injected = await pi.fire("before_agent_start", { messageType: "user", prompt: "fix it" });
  assert.deepEqual(injected, { message: { customType: "mem0-memory", content: "recalled", display: false } });
  assert.equal(await pi.fire("before_agent_start", { messageType: "custom", message: {} }), undefined);
  await pi.fire("tool_result", { toolName: "bash", input: { command: "make" }, isError: true, content: [], structuredContent: { output: "oops\n", exit_code: 2 } });
  // A retry: two low-level runs for one prompt.
  await pi.fire("agent_end", { messages: [{ role: "system", content: "x" }, { role: "user", content: "fix it" }, { role: "assistant", content: [{ type: "text", text: "br" }], stopReason: "error" }] });
  await pi.fire("agent_end", { messages: [{ role: "assistant", content: [{ type: "thinking", thinking: "hm" }, { type: "text", text: "Fixed." }], stopReason: "stop" }] });
  await pi.fire("agent_settled", { aborted: false });
  await pi.fire("session_before_compact");
  await pi.fire("session_shutdown", { reason: "quit" });
  assert.deepEqual(fake.events, ["session-start", "prompt", "tool", "turn-end", "pre-compact", "session-end"]);
  const [tool] = fake.of("tool");
  assert.deepEqual(tool?.["tool"], { name: "bash", input: { command: "make" }, output: "oops\n", exit_code: 2, failed: true });
  const [turn] = fake.of("turn-end");
  assert.equal(turn?.["outcome"], "completed");
  assert.equal(turn?.["transcript_path"], "/s1.jsonl");
  assert.deepEqual(turn?.["messages"].map((one: any) => [one.role, one.content, one.stop_reason]), [
    ["user", "fix it", undefined], ["assistant", "br", "error"], ["assistant", "Fixed.", "stop"],
  ]);
});

test("an aborted turn says so, and its messages are not the next one's", async (t) => {
  const fake = new Fake();
  t.after(() => fake.close());
  const pi = loaded();
  await pi.fire("agent_end", { messages: [{ role: "user", content: "first" }] });
  await pi.fire("agent_settled", { aborted: true });
  await pi.fire("agent_end", { messages: [{ role: "user", content: "second" }] });
  await pi.fire("agent_settled", { aborted: false });
  assert.deepEqual(fake.of("turn-end").map((turn) => [turn["outcome"], turn["messages"].length]), [["aborted", 1], ["completed", 1]]);
});

test("deleting asks the person, and is refused where there is nobody", async (t) => {
  const fake = new Fake({}, "two memories");
  t.after(() => fake.close());
  const pi = loaded();
  const tool = pi.tools.get("mem0_memory");
  await assert.rejects(tool.execute("c", { action: "delete_all" }, undefined, undefined, ctx()), /nobody to ask/);
  assert.deepEqual(fake.calls, []);
  const asked: string[] = [];
  const ui = (answer: boolean) => ({ hasUI: true, ui: { confirm: async (_title: string, text: string) => { asked.push(text); return answer; }, notify() {} } });
  const kept = await tool.execute("c", { action: "delete_all" }, undefined, undefined, ctx(ui(false)));
  assert.equal(kept.content[0].text, "Nothing was deleted.");
  await tool.execute("c", { action: "delete_all" }, undefined, undefined, ctx(ui(true)));
  assert.deepEqual(asked, ["two memories", "two memories"]);
  assert.deepEqual(fake.of("command").map((call) => call["args"]), [
    "--harness pi forget --preview", "--harness pi forget --preview", "--harness pi forget --remote --yes",
  ]);
});

test("the tool checks what it is given", async (t) => {
  const fake = new Fake({}, "found");
  t.after(() => fake.close());
  const tool = loaded().tools.get("mem0_memory");
  for (const params of [{ action: "search" }, { action: "add", content: " " }, { action: "update", memory_id: "a" }, { action: "delete" }, { action: "dream" }, { action: "search", query: "x", scope: "global" }]) {
    await assert.rejects(tool.execute("c", params, undefined, undefined, ctx()), Error, JSON.stringify(params));
  }
  assert.equal((await tool.execute("c", { action: "search", query: "x" }, undefined, undefined, ctx())).content[0].text, "found");
});
