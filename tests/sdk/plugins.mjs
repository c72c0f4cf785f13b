// The genuine npm packages against `mem0-code serve`: the SDK itself, and the tools of two plugins built on it.
// Usage: node plugins.mjs URL, in the folder they are installed in.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const url = process.argv[2];
const require = createRequire(`${process.cwd()}/`);
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const text = (result) => (typeof result === "string" ? result : JSON.stringify(result));

async function sdk() {
  const module = await load("mem0ai");
  const MemoryClient = module.MemoryClient ?? module.default?.MemoryClient ?? module.default;
  const client = new MemoryClient({ apiKey: "local", host: url });
  const filters = { user_id: "js ada" };
  const added = await client.add([{ role: "user", content: "Remember that the kiln is called otter-9." }], { userId: "js ada" });
  assert.equal(added.status, "SUCCEEDED");
  const found = await client.search("what is the kiln called", { filters, topK: 3 });
  assert.match(found.results[0].memory, /otter-9/);
  const page = await client.getAll({ filters, page: 1, pageSize: 1 });
  assert.ok(page.count >= 1 && page.results.length === 1);
  const id = added.results[0].id;
  const changed = await client.update(id, { text: "The kiln is called otter-10." });
  assert.match(changed.memory, /otter-10/);
  assert.deepEqual((await client.history(id)).map((change) => change.event), ["ADD", "UPDATE"]);
  assert.equal((await client.get(id)).id, id);
  assert.ok((await client.users()).results.some((entity) => entity.name === "js ada"));
  await client.delete(id);
  await assert.rejects(client.get(id));
  await client.deleteAll({ userId: "js ada" });
  assert.equal((await client.getAll({ filters })).count, 0);
  return client;
}

async function pi(client) {
  const { buildToolExecute } = await import(pathToFileURL("node_modules/@mem0/pi-agent-plugin/dist/index.js").href);
  const execute = buildToolExecute(client, { userId: "js pi", appId: "kiln", runId: "s1" }, "project");
  await execute({ action: "add", content: "Remember that the glaze is called finch-2." });
  assert.match(text(await execute({ action: "search", query: "what is the glaze called" })), /finch-2/);
  const listed = await execute({ action: "get_all" });
  assert.ok(listed.details.totalCount >= 1);
  const all = await client.getAll({ filters: { AND: [{ user_id: "js pi" }, { app_id: "kiln" }] } });
  const { id } = all.results[0];
  await execute({ action: "update", memory_id: id, content: "The glaze is called finch-3." });
  await execute({ action: "delete", memory_id: id });
  await execute({ action: "delete_all" });
  assert.equal((await execute({ action: "get_all" })).details.totalCount, 0);
}

async function deepseek() {
  const { apply } = await import(pathToFileURL("node_modules/@mem0/deepseek-plugin/dist/index.js").href);
  const tools = new Map();
  const listeners = new Map();
  const context = {
    on: (event, listener) => listeners.set(event, listener),
    effect: () => {},
    tools: { register: (tool) => tools.set(tool.name ?? tool.definition?.name, tool) },
    systemPrompt: { register: () => {}, section: () => {} },
  };
  apply(context, { apiKey: "local", host: url, userId: "js dsh" });
  const run = (name, input) => tools.get(name).execute(input, {});
  assert.doesNotMatch(text(await run("add_memory", { text: "Remember that the lathe is called wren-6." })), /failed/);
  assert.match(text(await run("search_memory", { query: "what is the lathe called" })), /wren-6/);
}

const client = await sdk();
await pi(client);
await deepseek();
console.log("npm: mem0ai, @mem0/pi-agent-plugin and @mem0/deepseek-plugin passed");
process.exit(0);
