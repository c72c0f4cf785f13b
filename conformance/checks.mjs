// What has to be true of mem0-code inside real hosts, one check a promise. `scenario` tells one story, in
// order, in one lab: a fact is stated in one session, and everything after asks who may know it and how.

import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { FENCE, fences, mentions, texts, toolResults } from './conversation.mjs';
import { until } from './lab.mjs';
import { WORKER_LIMIT_MS } from './product.mjs';
import { Skip, expect } from './suite.mjs';
import { WAYS } from './ways.mjs';

export const MARKER = 'cobalt-orchid-731';
const FACT = `Please note: the acceptance marker for this project is ${MARKER}.`;
const QUESTION = 'What is the acceptance marker for this project?';
const FOLLOW_UP = 'Thank you. And which file would you write that marker into?';
const ASSIGNMENT = 'List the files of this folder and report how many there are (errand 58).';
const WORKS = 'printf works';
const FAILS = 'echo oops >&2; exit 3';

/** How the status skill is named to the model, whichever way it got there. */
const SKILL = { 'claude-code': /\bmem0:status\b/, codex: /\bmem0[:-]status\b/, kimi: /(^|\W)status\W[^\n]*\n?[^\n]*memory/im };

const say = (text) => ({ text });
const shell = (command) => ({ tool: 'shell', args: { command } });

/**
 * Tells the whole story with mem0-code put into the hosts in one way.
 * @param {{suite, way, lab, product, hosts, binary}} run `hosts` are installed, in order; the first states the fact.
 */
export async function scenario(run) {
  const { suite, way, lab, product, hosts } = run;
  const [origin] = hosts;
  const check = (name, after, body) => suite.check(way, name, { after }, body);
  const each = async (name, after, body, only) => {
    for (const host of hosts.filter((one) => !only || only.includes(one.id))) {
      await check(`${name}-${host.id}`, typeof after === 'function' ? after(host) : after, () => body(host));
    }
  };

  let widgets, clone, worktree, gadgets, fork;
  await check('prepare', [], async () => {
    widgets = await lab.project('widgets', 'https://git.example.com/team/widgets.git');
    clone = await lab.project('second/widgets', 'git@git.example.com:team/widgets');
    gadgets = await lab.project('gadgets', 'https://git.example.com/team/gadgets.git');
    fork = await lab.project('fork/widgets', 'https://git.example.com/another/widgets.git');
    worktree = join(lab.root, 'work', 'widgets-side');
    await lab.git(widgets, 'worktree', 'add', '-q', '-b', 'side', worktree);
    await WAYS[way].prepare(run);
  });
  await each('installed', ['prepare'], (host) => WAYS[way].put(run, host));
  const installed = hosts.map((host) => `installed-${host.id}`);

  // The fact is stated, with one command that works and one that fails.
  await check('capture', [installed[0]], async () => {
    const session = await talk(run, origin, { cwd: widgets, prompt: FACT, steps: [shell(WORKS), shell(FAILS), say('Noted.')] });
    expect(session.requests.length >= 3, `the model was asked ${session.requests.length} times, not 3`);
    expect(!session.requests.some((request) => fences(request).length), 'memory was injected into the very first session');
    const rows = product.since(origin, 0);
    const kinds = rows.map((row) => row.kind);
    for (const kind of ['session_start', 'user_prompt', 'tool_result', 'assistant_stop']) {
      expect(kinds.includes(kind), `no ${kind} was recorded`, () => `recorded: ${kinds.join(', ')}\n${product.logs(origin)}`);
    }
    expect(kinds.filter((kind) => /^tool_/.test(kind)).length >= 2, 'fewer than two tool calls were recorded', kinds);
    expect(rows.some((row) => row.kind === 'user_prompt' && row.payload.text === FACT), 'the prompt was not recorded as it was typed', rows.map((row) => row.payload));
  });
  await check('worker-outlives-host', ['capture'], async () => {
    await settle(run, origin);
    expect(product.flushes(origin).some((row) => row.status === 'semantic-succeeded'), 'no batch was stored', () => product.flushes(origin));
    const status = await product.cli(['--harness', origin.id, 'status', '--json'], { cwd: widgets });
    expect(status.code === 0, `status exits with ${status.code}`, status.stderr);
    const told = JSON.parse(status.stdout);
    expect(told.events >= 4, 'status does not count what was recorded', told);
    for (const count of ['pending_packets', 'unfinished_packets', 'gave_up']) expect(told[count] === 0, `status says ${count}: ${told[count]}`, told);
  });

  // Who knows it.
  const stored = ['worker-outlives-host'];
  const told = (host) => [...stored, `installed-${host.id}`];
  await each('recall', told, (host) => recalled(run, host, widgets));
  await each('recall-other-checkout', told, (host) => recalled(run, host, clone));
  await each('recall-worktree', told, (host) => recalled(run, host, worktree));
  await each('absent-elsewhere', told, (host) => absent(run, host, gadgets));
  await each('absent-in-fork', told, (host) => absent(run, host, fork));

  // How it is told.
  const recalledBy = (host) => [`recall-${host.id}`];
  await each('same-bytes', recalledBy, async (host) => {
    await settleAll(run);
    const restore = lab.snapshot();
    const first = await ask(run, host, widgets);
    await settleAll(run);
    restore();
    const second = await ask(run, host, widgets);
    const [one, two] = [first, second].map((session) => fences(session.requests[0]).join('\n'));
    expect(one.includes(MARKER), 'nothing was injected', one);
    expect(one === two, 'the same state gave different bytes', `${one}\n-----\n${two}`);
  });
  await each('second-prompt-injects-nothing', recalledBy, async (host) => {
    const first = await ask(run, host, widgets);
    const next = await talk(run, host, { cwd: widgets, prompt: FOLLOW_UP, resume: true, steps: [say('README.md')] });
    const [before, after] = [first.requests[0], next.requests[0]].map((request) => fences(request).length);
    expect(mentions(next.requests[0], QUESTION), 'the host did not resume the session');
    expect(before === 1, `the first prompt carried ${before} blocks of memory`);
    expect(after <= before, `the second prompt carries ${after} blocks of memory`);
  });
  await each('injected-text-is-not-stored', recalledBy, async (host) => {
    await settle(run, host);
    const prompts = product.since(host, 0, 'user_prompt', 'assistant_stop').filter((row) => row.payload_json.includes('<mem0-memory'));
    expect(prompts.length === 0, 'injected text was recorded as conversation', prompts.map((row) => row.payload));
    const list = await product.cli(['list', '--json'], { cwd: widgets });
    expect(list.code === 0, `list exits with ${list.code}`, list.stderr);
    expect(list.stdout.includes(MARKER), 'list does not show the fact', list.stdout.slice(0, 2000));
    expect(!list.stdout.includes('<mem0-memory'), 'injected text was stored as a memory', list.stdout.slice(0, 4000));
  });
  await each('mcp-search', told, async (host) => {
    const found = await searched(run, host, widgets);
    expect(found.includes(MARKER), 'search_memories did not return the fact', found);
  });
  await each('mcp-search-elsewhere', (host) => [`mcp-search-${host.id}`], async (host) => {
    const found = await searched(run, host, gadgets);
    expect(!found.includes(MARKER), 'search_memories told the fact in another repository', found);
  });

  await each('skill-listed', (host) => [`installed-${host.id}`], async (host) => {
    const session = await talk(run, host, { cwd: gadgets, prompt: 'Which skills do you have?', steps: [say('Several.')] });
    const seen = texts(session.requests[0]).join('\n') + JSON.stringify(session.requests[0].body.tools ?? []);
    expect(SKILL[host.id].test(seen), 'the skill that tells the state of memory is not among what the model is told', seen.slice(-4000));
  });

  // What is known about a session afterwards.
  await each('failed-command', told, async (host) => {
    const mark = product.mark(host);
    await talk(run, host, { cwd: widgets, prompt: 'Please run the two checks of this project now.', steps: [shell(WORKS), shell(FAILS), say('One failed.')] });
    await settle(run, host);
    const outcome = (command) => product.since(host, mark, 'tool_result', 'tool_failure').filter((row) => row.payload.command?.includes(command)).map((row) => row.payload.failed);
    expect(outcome(FAILS).length > 0 && outcome(FAILS).every((failed) => failed === true), 'the failing command is not known as failed', () => product.told(host, mark));
    expect(outcome(WORKS).length > 0 && outcome(WORKS).every((failed) => failed !== true), 'the working command counts as failed', () => product.told(host, mark));
  });
  // Kimi Code's hooks do not say which agent they are about, so nothing is claimed for it.
  await each('subagent', told, (host) => subagent(run, host, widgets), ['claude-code', 'codex']);
  await each('subagent-run', (host) => [`subagent-${host.id}`], (host) => subagentRun(run, host), ['claude-code', 'codex']);
  await each('secrets', told, (host) => secret(run, host, widgets));
  await each('compact', told, (host) => compact(run, host, widgets), ['claude-code']);
  await each('hooks-clean', told, (host) => hooksClean(run, host));
  await each('interrupt', told, (host) => interrupted(run, host, widgets));

  await check('private-files', stored, () => {
    // The home itself may be older than mem0-code, and the binary is no secret.
    const open = everythingKept(run).filter(({ path, stat }) => stat.mode & 0o077 && path !== lab.mem0Dir && !path.startsWith(join(lab.mem0Dir, 'bin')));
    expect(open.length === 0, 'others can read these', open.map(({ path, stat }) => `${(stat.mode & 0o777).toString(8)} ${path}`));
  });

  await check('nothing-left', stored, async () => {
    await settleAll(run);
    // A watcher of an idle session may sleep on; it is bounded by the idle time set for this lab.
    const left = await until(async () => ((await product.workers()).length ? undefined : []), WORKER_LIMIT_MS, 500);
    expect(left, 'workers are still running', await product.workers());
  });

  if (way === 'install') {
    await each('uninstall', (host) => [`installed-${host.id}`], async (host) => {
      const gone = await product.cli(['uninstall', host.id], { env: host.env(lab) });
      expect(gone.code === 0, `uninstall exits with ${gone.code}`, gone.stdout + gone.stderr);
      const mark = product.mark(host);
      const session = await talk(run, host, { cwd: widgets, prompt: QUESTION, steps: [say('I do not know.')] });
      expect(product.mark(host) === mark, 'hooks still run', () => product.told(host, mark));
      expect(!session.requests.some((request) => mentions(request, MARKER)), 'memory is still injected');
      expect(!JSON.stringify(session.requests.map((request) => request.body.tools)).includes('search_memories'), 'the MCP server is still there');
    });
  }
}

let count = 0;

/** One session; fails unless the host ended well and the script was used up. */
async function talk({ lab, way }, host, { name = `${way}-${host.id}-${++count}`, ...how }) {
  const session = await lab.session(host, { name, ...how });
  const seen = () => `stdout: ${session.stdout.slice(-1500)}\nstderr: ${session.stderr.slice(-1500)}`;
  expect(!session.timedOut, `${host.id} did not end in time`, seen);
  expect(how.interruptWhen || session.code === 0, `${host.id} exits with ${session.signal ?? session.code}`, seen);
  expect(how.interruptWhen || session.stepsLeft === 0, `${session.stepsLeft} steps of the script were not taken`, seen);
  expect(session.requests.length > 0, `${host.id} asked the model nothing`, seen);
  return session;
}

const ask = (run, host, cwd) => talk(run, host, { cwd, prompt: QUESTION, steps: [say('See above.')] });

async function settle({ product }, host) {
  const open = await product.unsettled(host);
  expect(!open, 'the worker did not finish in time', open);
}

async function settleAll(run) {
  for (const host of run.hosts) await settle(run, host);
}

async function recalled(run, host, cwd) {
  const { requests } = await ask(run, host, cwd);
  const blocks = fences(requests[0]);
  expect(blocks.length > 0, 'nothing was injected', () => `${texts(requests[0]).slice(-4).join('\n---\n').slice(-3000)}\n${run.product.logs(host)}`);
  expect(blocks.some((block) => block.includes(MARKER)), 'the fact is not among what was injected', blocks);
  const outside = texts(requests[0]).map((text) => text.replace(FENCE, '')).filter((text) => text.includes(MARKER));
  expect(outside.length === 0, 'the fact is also outside our fence', outside);
}

async function absent(run, host, cwd) {
  const { requests } = await ask(run, host, cwd);
  const found = requests.filter((request) => mentions(request, MARKER));
  expect(found.length === 0, 'the fact reached the model in another repository', () => fences(found[0]));
}

async function searched(run, host, cwd) {
  const prompt = 'Search your memory for the marker, would you?';
  const steps = [{ tool: /search_memories$/, args: { query: 'acceptance marker for this project' } }, say('Done.')];
  const { requests } = await talk(run, host, { cwd, prompt, steps });
  expect(requests.length >= 2, 'the model was not asked again after the tool call', () => texts(requests[0]).slice(-2));
  const results = toolResults(requests.at(-1));
  expect(results.length > 0, 'the tool gave no result', () => texts(requests.at(-1)).slice(-2));
  return results.at(-1);
}

async function subagent(run, host, cwd) {
  const { product } = run;
  const started = ({ messages, input }) => /"name":"(Agent|Task|spawn_agent)"/.test(JSON.stringify(messages ?? input));
  const child = (body) => !started(body) && JSON.stringify(body.messages ?? body.input).includes(ASSIGNMENT);
  const main = (body) => !child(body);
  const start = host.id === 'codex'
    ? [
        { tool: 'spawn_agent', args: { message: ASSIGNMENT }, when: main },
        { tool: 'wait_agent', when: main, args: (body) => ({ targets: [JSON.stringify(body).match(/agent_id[\\": ]+([0-9a-f-]{36})/)?.[1]], timeout_ms: 20_000 }) },
      ]
    : [{ tool: /^(Agent|Task)$/, args: { description: 'count files', prompt: ASSIGNMENT, subagent_type: host.id === 'kimi' ? 'coder' : 'general-purpose' }, when: main }];
  const steps = [{ ...shell('ls'), when: child }, { text: 'There is one file.', when: child }, ...start, { text: 'The errand is done.', when: main }];
  const prompt = 'Please have a helper count the files of this folder.';
  const mark = product.mark(host);
  await talk(run, host, { cwd, prompt, steps });
  await settle(run, host);
  const rows = product.since(host, mark);
  const prompts = rows.filter((row) => row.kind === 'user_prompt').map((row) => row.payload.text);
  expect(prompts.length === 1 && prompts[0] === prompt, 'something that no human typed was recorded as a prompt', prompts);
  const inside = rows.filter((row) => /^tool_/.test(row.kind) && row.payload.agent_role === 'subagent');
  expect(inside.length > 0, "the sub-agent's command was not recorded as its own", rows.map((row) => row.payload));
  run.subagentRows = { ...run.subagentRows, [host.id]: rows };
}

/** The run itself, as the session of the check above left it: one start, one stop, the same agent. */
function subagentRun({ subagentRows }, host) {
  const ids = (kind) => subagentRows[host.id].filter((row) => row.kind === kind).map((row) => row.payload.agent_id);
  const [start] = ids('subagent_start');
  expect(start && ids('subagent_stop').includes(start), "the sub-agent's run was not recorded", subagentRows[host.id].map((row) => row.kind));
}

/** A key typed into a prompt and printed by a command, made up here and now, must be nowhere afterwards. */
async function secret(run, host, cwd) {
  const key = `sk-${randomBytes(18).toString('hex')}`;
  await talk(run, host, {
    cwd, prompt: `Please note: the staging service is reached with api_key=${key}, keep that in mind.`,
    steps: [shell(`echo "{\\"token\\": \\"${key}\\"}"`), say(`Noted: ${key}.`)],
  });
  await settle(run, host);
  const found = everythingKept(run).filter(({ path, stat }) => stat.isFile() && readFileSync(path).includes(key)).map(({ path }) => path);
  expect(found.length === 0, 'a secret was written to disk', found);
}

async function compact(run, host, cwd) {
  const { product } = run;
  const summary = 'Summary of errand 77: nothing is left to do.';
  await talk(run, host, { cwd, prompt: 'Please remember that errand 77 is about compaction.', steps: [say('I will.')] });
  const mark = product.mark(host);
  await talk(run, host, { cwd, prompt: '/compact', resume: true, steps: [] });
  await settle(run, host);
  const rows = product.since(host, mark);
  expect(!rows.some((row) => /^subagent_/.test(row.kind)), 'compaction left a sub-agent run', rows.map((row) => row.payload));
  const after = await talk(run, host, { cwd, prompt: 'What did errand 77 turn out to be about?', resume: true, steps: [say(summary)] });
  await settle(run, host);
  const prompts = product.since(host, mark, 'user_prompt').map((row) => row.payload.text);
  expect(prompts.every((text) => !/being continued from a previous conversation|<command-name>/.test(text)), "the host's summary was recorded as a prompt", prompts);
  expect(prompts.some((text) => text.startsWith('What did errand 77')), 'the prompt after compaction was not recorded', prompts);
  expect(after.requests.every((request) => fences(request).length <= 1), 'memory was injected twice');
}

/** No hook of ours may have failed in any session so far, and none may have logged an error. */
function hooksClean({ lab, product, way }, host) {
  const complaints = [];
  const stops = [];
  if (host.id === 'codex') {
    for (const name of readdirSync(lab.root).filter((one) => one.startsWith(`${way}-codex-`) && one.endsWith('.out'))) {
      complaints.push(...(readFileSync(join(lab.root, name), 'utf8').match(/^hook: .*Failed.*$/gm) ?? []).map((line) => `${name}: ${line}`));
    }
  } else if (host.id === 'claude-code') {
    const projects = join(lab.home, '.claude', 'projects');
    for (const { path } of all(projects).filter((one) => one.path.endsWith('.jsonl'))) {
      const text = readFileSync(path, 'utf8');
      const failed = /^.*("type":"hook_(non_blocking_error|blocking_error|error_during_execution|cancelled)"|"hookErrors":\[[^\]]).*$/gm;
      complaints.push(...(text.match(failed) ?? []).map((line) => line.slice(0, 600)));
      stops.push(...[...text.matchAll(/"hookInfos":\[\{[^\]]*?"durationMs":(\d+)/g)].map((match) => Number(match[1])));
    }
  }
  expect(complaints.length === 0, 'the host reports failed hooks', complaints.slice(0, 5));
  const log = join(product.folder(host), 'plugin-errors.log');
  const errors = existsSync(log) ? readFileSync(log, 'utf8').trim() : '';
  expect(errors === '', 'hooks logged errors', errors.slice(0, 2000));
  // The host's own clock, process start included; a figure to look at, not a bar: the machine may be busy.
  return stops.length > 0 && { note: `Stop hooks as the host measured them: ${Math.min(...stops)}-${Math.max(...stops)} ms (${stops.length})` };
}

async function interrupted(run, host, cwd) {
  const { lab, product } = run;
  const flag = join(lab.root, `${host.id}-running`);
  const prompt = 'Start the long check, please, and wait for it.';
  const mark = product.mark(host);
  await talk(run, host, {
    cwd, prompt, steps: [shell(WORKS), shell(`touch '${flag}'; sleep 60`), say('Never said.')], limitMs: 45_000,
    async interruptWhen() {
      if (!(await until(() => existsSync(flag), 30_000))) throw new Skip('the tool never started');
      await sleep(500);
    },
  });
  const rows = product.since(host, mark);
  expect(rows.some((row) => row.kind === 'user_prompt' && row.payload.text === prompt), 'the prompt is lost', rows.map((row) => row.kind));
  expect(rows.some((row) => row.kind === 'tool_result' && row.payload.command?.includes(WORKS)), 'the finished command is lost', rows.map((row) => row.payload));
  await settle(run, host);
}

/** Every file and folder mem0-code keeps in this lab. */
function everythingKept({ lab, product, hosts }) {
  const roots = new Set([lab.mem0Dir, ...hosts.map((host) => product.folder(host))]);
  return [...new Map([...roots].flatMap(all).map((entry) => [entry.path, entry])).values()];
}

/** Everything below a folder, itself included, as `{path, stat}`; links are not followed. */
function all(path) {
  if (!existsSync(path)) return [];
  const stat = lstatSync(path);
  return [{ path, stat }, ...(stat.isDirectory() ? readdirSync(path).flatMap((name) => all(join(path, name))) : [])];
}
