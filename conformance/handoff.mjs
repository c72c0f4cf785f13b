#!/usr/bin/env node
// A session of one real host goes on in another, natively: a session with a command that works and one that fails is run,
// saved, written as a session of each other host, continued there with the command mem0-code prints, and what reaches the
// model has the earlier conversation, in order, with its calls and results as calls and results; then that session can be
// saved again. The row `document` is a
// conversation no single host would write: parallel calls, pictures, odd ids, shapes of outputs only one host knows.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { makeLab } from './lab.mjs';
import { RESUMABLE, installResumable } from './resumable.mjs';

const USAGE = `Continues sessions of real coding agents in others, offline, against a scripted model.

  conformance/handoff.mjs [options]

  --binary PATH   the mem0-code to test (default: target/release/mem0-code)
  --from HOST     only sessions of this host, or document; may be repeated (${Object.keys(RESUMABLE).join(', ')})
  --into HOST     only into this host; may be repeated
  --report FILE   write the outcome as JSON
  --keep          keep the temporary machines and say where they are

Exit: 0 all tried pairs passed, 1 one failed or none could be tried, 2 bad usage.`;

// What the model says and sees; each is found in no other place than its own.
const ASKED = 'Look at the two files. The release word is PERIWINKLE.';
const WORKED = 'alpha-42';
const FAILED = 'gone-43';
const ANSWERED = 'One file is there and one is missing.';
const NEXT = 'What was the release word?';
const SCRIPT = () => [
  { tool: 'shell', args: { command: 'echo alpha-$((40 + 2))' } },
  { tool: 'shell', args: { command: 'cat gone-$((40 + 3)).txt' } },
  { text: ANSWERED },
];

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGO4o6EBRAwQCgAjrgSxn17XlQAAAABJRU5ErkJggg==';
const user = (...content) => ({ type: 'message', role: 'user', content });
const said = (text) => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] });
const call = (call_id, name, args) => ({ type: 'function_call', call_id, name, arguments: JSON.stringify(args) });
const result = (call_id, output, more) => ({ type: 'function_call_output', call_id, output, ...more });
const ITEMS = [
  user({ type: 'input_text', text: '<summary>\\nEarlier: 决定 to ship. \\u2028 🚀\\n</summary>' }),
  user({ type: 'input_text', text: ASKED }, { type: 'input_image', image_url: `data:image/png;base64,${PNG}` }),
  said('Both at once.'),
  call('é b', 'mcp__files__read', { path: 'é.txt', deep: [1, { two: null }] }),
  call('functions.run:0', 'ToolSearch', { query: 'select:x' }),
  result('é b', [{ type: 'text', text: WORKED }, { type: 'text', text: 'second' }, { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }]),
  result('functions.run:0', [{ type: 'text', text: FAILED }, { type: 'tool_reference', tool_name: 'x' }], { is_error: true }),
  said(ANSWERED),
];

/** Not a host: a neutral document, saved as it is. */
const DOCUMENT = {
  id: 'document',
  installed: [],
  configure() {},
  save(lab, cwd) {
    const path = join(lab.root, 'document.json');
    const source = { host: 'notebook', session_id: 'n-1', title: 'Files', cwd };
    writeFileSync(path, JSON.stringify({ format: 'mem0.session-handoff.v1', source, items: ITEMS }));
    return ['--bundle', path];
  },
};

process.exitCode = await main(process.argv.slice(2));

async function main(argv) {
  let options;
  try {
    const list = { type: 'string', multiple: true };
    options = parseArgs({
      args: argv,
      options: { binary: { type: 'string' }, from: list, into: list, report: { type: 'string' }, keep: { type: 'boolean' }, help: { type: 'boolean' } },
    }).values;
    for (const id of [...(options.from ?? []), ...(options.into ?? [])]) if (!RESUMABLE[id] && id !== DOCUMENT.id) throw new Error(`no host ${id}`);
  } catch (error) {
    console.error(`error: ${error.message}\n\n${USAGE}`);
    return 2;
  }
  if (options.help) {
    console.log(USAGE);
    return 0;
  }
  const binary = resolve(options.binary ?? fileURLToPath(new URL('../target/release/mem0-code', import.meta.url)));
  if (!existsSync(binary)) {
    console.error(`error: no binary at ${binary}\nhint: run \`cargo build --release\`, or name one with --binary`);
    return 1;
  }
  const from = options.from ?? [...Object.keys(RESUMABLE), DOCUMENT.id];
  const into = options.into ?? Object.keys(RESUMABLE);
  const hosts = { document: DOCUMENT };
  for (const id of new Set([...from, ...into].filter((id) => !hosts[id]))) {
    const { installed, reason } = await installResumable(RESUMABLE[id]);
    if (installed) hosts[id] = { ...RESUMABLE[id], installed };
    else console.log(`SKIP  ${id}: ${reason}`);
  }
  const outcomes = [];
  for (const source of from.filter((id) => hosts[id])) {
    const targets = into.filter((id) => hosts[id] && id !== source);
    outcomes.push(...(await sessionOf(hosts[source], targets.map((id) => hosts[id]), { binary, keep: options.keep })));
  }
  matrix(from, into, outcomes);
  if (options.report) writeFileSync(options.report, `${JSON.stringify(outcomes, null, 2)}\n`);
  return outcomes.length > 0 && outcomes.every(({ failure }) => !failure) ? 0 : 1;
}

/** Runs a session of one host and continues it in each of the others. */
async function sessionOf(source, targets, { binary, keep }) {
  const lab = await makeLab({ keep, hosts: [source, ...targets] });
  if (keep) console.log(`      ${source.id}: ${lab.root}`);
  const outcomes = [];
  const tell = (target, failure, seconds) => {
    outcomes.push({ from: source.id, into: target.id, failure, seconds });
    console.log(`${failure ? 'FAIL' : 'PASS'}  ${source.id} -> ${target.id}${failure ? `: ${failure}` : ''} (${seconds.toFixed(1)} s)`);
  };
  try {
    const cwd = await lab.project('rocket-invoice');
    const what = source.save ? source.save(lab, cwd) : await recorded(lab, source, cwd);
    const saved = await product(lab, binary, cwd, 'save', ...what);
    for (const target of targets) {
      const began = Date.now();
      const failure = await continued(lab, binary, cwd, saved.resource, target).then(() => undefined, (error) => error.message);
      tell(target, failure, (Date.now() - began) / 1000);
    }
  } catch (error) {
    for (const target of targets.slice(outcomes.length)) tell(target, error.message, 0);
  } finally {
    await lab.close();
  }
  return outcomes;
}

/** Runs a session of a host; how it is named to `handoff save`. */
async function recorded(lab, source, cwd) {
  const first = await session(lab, source, { name: `from-${source.id}`, cwd, steps: SCRIPT(), prompt: ASKED });
  if (first.code !== 0 || first.stepsLeft) throw new Error(`the session itself: exit ${first.code}, ${first.stepsLeft} steps left: ${tail(first)}`);
  return ['--source', source.source, '--session', await source.transcript(lab, { host: source, cwd })];
}

async function continued(lab, binary, cwd, resource, target) {
  const resumed = await product(lab, binary, cwd, 'resume', resource, '--into', target.source);
  const [last, ...before] = resumed.commands.reverse();
  for (const [, ...args] of before.reverse()) {
    const done = await lab.run([...target.installed, ...args], { cwd, env: target.env(lab), limitMs: 120_000 });
    if (done.code !== 0) throw new Error(`${args[0]}: exit ${done.code}: ${tail(done)}`);
  }
  const name = `${basename(resource, '.json')}-into-${target.id}`;
  const done = await session(lab, target, { name, cwd, steps: [{ text: 'PERIWINKLE.' }], prompt: NEXT, rest: last.slice(1) });
  if (done.code !== 0) throw new Error(`exit ${done.code}: ${tail(done)}`);
  const request = done.requests.find(({ body }) => JSON.stringify(body.messages ?? body.input).includes(NEXT) && body.tools?.length);
  if (!request) throw new Error('no model request with the next prompt');
  const history = request.body.messages ?? request.body.input;
  const text = JSON.stringify(history);
  let at = -1;
  for (const word of [ASKED, WORKED, FAILED, ANSWERED, NEXT]) {
    const place = text.indexOf(word, at + 1);
    if (place < 0) throw new Error(`the model request does not have "${word}" where it belongs`);
    at = place;
  }
  const { calls, results } = tools(history);
  if (calls < 2 || results < 2) throw new Error(`the model request has ${calls} calls and ${results} results as such`);
  if (!done.stdout.includes('PERIWINKLE.')) throw new Error(`the answer did not come back: ${tail(done)}`);
  await savedAgain(lab, binary, cwd, resource, target);
}

/** What the other host has gone on with can be handed over again, with nothing of the beginning missing. */
async function savedAgain(lab, binary, cwd, resource, target) {
  const transcript = await target.transcript(lab, { host: target, cwd });
  const again = await product(lab, binary, cwd, 'save', '--source', target.source, '--session', transcript);
  const [before, after] = [resource, again.resource].map((path) => JSON.parse(readFileSync(path, 'utf8')).items);
  const kinds = (items) => items.slice(0, before.length).map((item) => `${item.type} ${item.role ?? item.is_error ?? ''}`).join(', ');
  if (kinds(after) !== kinds(before)) throw new Error(`saved again it begins with ${kinds(after)}, not with ${kinds(before)}`);
  const added = JSON.stringify(after.slice(before.length));
  if (!added.includes(NEXT) || !added.includes('PERIWINKLE.')) throw new Error('saved again it lacks what was said last');
}

/** Calls and results that stand in a history as such, in any of the three dialects. */
function tools(history) {
  const blocks = history.flatMap((message) => (Array.isArray(message.content) ? message.content : []));
  const typed = (type) => [...history, ...blocks].filter((block) => block.type === type).length;
  const chat = history.flatMap((message) => message.tool_calls ?? []).length;
  return {
    calls: typed('tool_use') + typed('function_call') + chat,
    results: typed('tool_result') + typed('function_call_output') + history.filter((message) => message.role === 'tool').length,
  };
}

function session(lab, host, { name, cwd, steps, prompt, rest }) {
  return lab.session(host, { name, cwd, steps, prompt, rest });
}

async function product(lab, binary, cwd, ...args) {
  const done = await lab.run([binary, 'handoff', ...args, '--json'], { cwd, env: { CODEX_HOME: lab.codexHome } });
  if (done.code !== 0) throw new Error(`mem0-code handoff ${args[0]}: ${done.stderr.trim().slice(-300)}`);
  return JSON.parse(done.stdout);
}

const tail = ({ stdout, stderr }) => `${stdout}\n${stderr}`.trim().slice(-300);

function matrix(from, into, outcomes) {
  const cell = (source, target) => {
    const outcome = outcomes.find((one) => one.from === source && one.into === target);
    if (source === target) return '.';
    return outcome ? (outcome.failure ? 'FAIL' : 'pass') : '-';
  };
  const widths = into.map((id) => Math.max(id.length, 4));
  console.log(`\n${'from \\ into'.padEnd(12)} ${into.map((id, index) => id.padEnd(widths[index])).join('  ')}`);
  for (const source of from) {
    console.log(`${source.padEnd(12)} ${into.map((target, index) => cell(source, target).padEnd(widths[index])).join('  ')}`);
  }
}
