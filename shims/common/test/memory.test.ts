import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";

import { findBinary, PATH_FILE } from "../src/binary.ts";
import { Memory, said } from "../src/memory.ts";
import { run } from "../src/process.ts";
import { messagesOf, outputOf, textOf } from "../src/protocol.ts";
import { Requests, widened } from "../src/requests.ts";

const root = mkdtempSync(join(tmpdir(), "shim-"));
after(() => rmSync(root, { recursive: true, force: true }));

let count = 0;

function program(body: string): string {
  const path = join(root, `program-${count++}`);
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

function memory(body: string): { memory: Memory; log: string } {
  const log = join(root, `log-${count}`);
  const binary = program(`LOG='${log}'\n${body}`);
  const env = { PATH: process.env["PATH"], HOME: join(root, "nobody"), MEM0_CODE_BIN: binary };
  return { memory: new Memory({ host: "pi", from: import.meta.url, env }), log };
}

const about = { session_id: "s", cwd: "/work" };

test("an event is told as JSON and its context comes back", async () => {
  const { memory: told, log } = memory(`echo "$@" > "$LOG"; cat >> "$LOG"; echo '{"context":"units are metres"}'`);
  assert.equal(await told.tell("prompt", { ...about, prompt: "what are units?" }), "units are metres");
  const [args, payload] = readFileSync(log, "utf8").split("\n");
  assert.equal(args, "hook pi prompt");
  assert.deepEqual(JSON.parse(payload as string), { ...about, prompt: "what are units?" });
});

test("events of one session stay in order, those of others do not wait", async () => {
  const { memory: told, log } = memory(`read -r line; case "$line" in *first*) sleep 0.3;; esac; echo "$3" >> "$LOG"`);
  await Promise.all([
    told.tell("prompt", { ...about, prompt: "first" }),
    told.tell("tool", about),
    told.tell("turn-end", about),
    told.tell("pre-compact", { ...about, session_id: "other" }),
  ]);
  const order = readFileSync(log, "utf8").trim().split("\n");
  assert.equal(order[0], "pre-compact");
  assert.deepEqual(order.slice(1), ["prompt", "tool", "turn-end"]);
});

test("nothing a binary prints or does reaches the host", async () => {
  for (const body of ["exit 3", "kill -SEGV $$", "echo nonsense", "echo '[1]'", "echo '{\"context\": 3}'", "head -c 3000000 /dev/zero", "exec true", "echo '{\"context\":\"x\"}'; exit 1"]) {
    const { memory: told } = memory(body);
    assert.equal(await told.tell("prompt", { ...about, prompt: "x".repeat(2_000_000) }), "", body);
  }
});

test("a missing binary is nothing, and is found once it is there", async () => {
  const home = join(root, "home");
  const told = new Memory({ host: "pi", from: pathToFileURL(join(root, "none/dist/index.js")).href, env: { HOME: home, PATH: "/usr/bin" } });
  assert.equal(told.binary, undefined);
  assert.equal(await told.tell("prompt", about), "");
  assert.match(said(await told.command(["status"])).text, /not installed/);
});

test("a hanging binary is ended with all it started, and then left alone", { timeout: 20_000 }, async () => {
  const { memory: told, log } = memory(`echo called >> "$LOG"; sleep 617 & sleep 617`);
  const began = Date.now();
  assert.equal(await told.tell("session-end", about), "");
  assert.ok(Date.now() - began < 2_500);
  assert.equal(await told.tell("prompt", about), "");
  told.tellNow("session-end", about);
  assert.equal(readFileSync(log, "utf8"), "called\n");
  const left = await run("/bin/sh", { args: ["-c", "ps -Ao args= | grep -c '[s]leep 617'"], limitMs: 5_000 });
  assert.equal(left.stdout.trim(), "0");
});

test("at the host's very end a hanging binary is waited for once", { timeout: 20_000 }, () => {
  const { memory: told, log } = memory(`echo called >> "$LOG"; exec sleep 30`);
  const began = Date.now();
  for (let session = 0; session < 5; session++) told.tellNow("session-end", { ...about, session_id: String(session) });
  assert.ok(Date.now() - began < 3_000);
  assert.equal(readFileSync(log, "utf8"), "called\n");
});

test("a command can be called off", async () => {
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 100);
  const { memory: told } = memory("exec sleep 30");
  assert.equal((await told.command(["search", "x"], { signal: stop.signal })).code, null);
});

test("the binary: named by the person, the installer, the package, the home, PATH", () => {
  const place = join(root, "place");
  const dist = join(place, "package/dist");
  const home = join(place, "home");
  mkdirSync(dist, { recursive: true });
  writeFileSync(join(dist, "index.js"), "");
  const put = (path: string) => {
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, "");
    chmodSync(path, 0o755);
    return path;
  };
  const from = pathToFileURL(join(dist, "index.js")).href;
  const find = (env: NodeJS.ProcessEnv, setting?: string) => findBinary({ from, env: { HOME: home, ...env }, setting });
  assert.equal(find({ PATH: "relative:." }), undefined);
  const onPath = put(join(place, "path/mem0-code"));
  assert.equal(find({ PATH: join(place, "path") }), onPath);
  const inHome = put(join(home, ".mem0/bin/mem0-code"));
  assert.equal(find({ PATH: join(place, "path") }), inHome);
  const moved = put(join(place, "moved/bin/mem0-code"));
  assert.equal(find({ MEM0_DIR: join(place, "moved") }), moved);
  const inPackage = put(join(place, "package/bin/mem0-code"));
  assert.equal(find({}), inPackage);
  const installed = put(join(place, "installed"));
  writeFileSync(join(place, "package", PATH_FILE), `${installed}\n`);
  assert.equal(find({}), installed);
  const setting = put(join(place, "setting"));
  assert.equal(find({}, setting), setting);
  const named = put(join(place, "named"));
  assert.equal(find({ MEM0_CODE_BIN: named }, setting), named);
  chmodSync(named, 0o644);
  assert.equal(find({ MEM0_CODE_BIN: named }, setting), setting);
});

test("messages are reduced to what people and models said", () => {
  assert.equal(textOf([{ type: "text", text: "a" }, { type: "image", data: "x" }, { type: "text", text: 3 }, null, "b"]), "a");
  assert.equal(textOf(undefined), "");
  assert.deepEqual(messagesOf([{ role: "system", content: "x" }, { role: "assistant", content: "b", stopReason: "stop" }, 3, null]), [
    { role: "assistant", content: "b", stop_reason: "stop" },
  ]);
  assert.deepEqual(messagesOf("text"), []);
  const long = outputOf(`start${"x".repeat(200_000)}end`);
  assert.ok(long.length < 61_000 && long.startsWith("start") && long.endsWith("end"));
});

test("requests are command lines", async () => {
  const { memory: told } = memory(`for word in "$@"; do printf '<%s>' "$word"; done; cat`);
  const requests = new Requests(told);
  const place = { cwd: root, sessionId: "s1" };
  const text = async (reply: Promise<{ text: string }>) => (await reply).text;
  assert.equal(await text(requests.search("--yes", place, { topK: 99 })), "<--harness><pi><search><--top-k><20><--><--yes>");
  assert.equal(await text(requests.search("x", place, { scope: "session", json: true })), "<--harness><pi><search><--run-id><s1><--json><--><x>");
  assert.match(await text(requests.search("x", place, { scope: "global" })), /beyond this project/);
  assert.equal(await text(requests.add("-rf $HOME", place)), "<--harness><pi><add><->-rf $HOME");
  assert.match(await text(requests.add(" ", place)), /nothing to remember/);
  assert.equal(await text(requests.remove(["-a", "b"], place)), "<--harness><pi><delete><--><-a><b>");
  assert.equal(await text(requests.forget(place)), "<--harness><pi><forget><--remote><--yes>");
});

test("a tool cannot reach another's memories", async () => {
  const { memory: told } = memory(`echo '{"user_id":"dev","app_id":"widgets","project_id":"p1"}'`);
  const requests = new Requests(told);
  assert.equal(await widened(requests, { user_id: undefined, app_id: "" }, {}), undefined);
  assert.equal(await widened(requests, { user_id: "dev", app_id: "widgets", agent_id: "p1" }, {}), undefined);
  for (const named of [{ user_id: "*" }, { user_id: "root" }, { app_id: "gadgets" }, { agent_id: "dev" }, { run_id: "x" }]) {
    assert.equal((await widened(requests, named, {}))?.isError, true, JSON.stringify(named));
  }
});
