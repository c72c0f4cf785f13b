// The story of one host: a fact is stated in a session and known in the next, and nowhere else.

import { existsSync, readFileSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { FENCE, mentions, texts } from '../conversation.mjs';
import { until } from '../lab.mjs';
import { expect } from '../suite.mjs';
import { blocks } from './session.mjs';

export const MARKER = 'cobalt-orchid-731';
export const FACT = `Please note: the acceptance marker for this project is ${MARKER}.`;
export const QUESTION = 'What is the acceptance marker for this project?';
const FOLLOW_UP = 'Thank you. And which file would you write that marker into?';
const WORKS = 'printf works';
const FAILS = 'echo oops >&2; exit 3';
const REMOTE = 'https://git.example.com/team/widgets.git';
/** Nothing but workers may run this long after the host, in milliseconds. */
const AFTER_MS = 10_000;

export const say = (text) => ({ text });
export const shell = (command) => ({ tool: 'shell', args: { command } });

export async function scenario(run) {
  const { suite, lab, product } = run;
  const [host] = run.hosts;
  const check = (name, after, body) => suite.check(host.id, name, { after }, body);
  let widgets, clone, gadgets;

  await check('load', [], async () => {
    widgets = await lab.project('widgets', REMOTE);
    clone = await lab.project('second/widgets', 'git@git.example.com:team/widgets');
    gadgets = await lab.project('gadgets', 'https://git.example.com/team/gadgets.git');
    run.placeBinary();
    await run.put(host);
  });
  await check('capture', ['load'], async () => {
    const session = await run.talk(host, { cwd: widgets, prompt: FACT, steps: [shell(WORKS), shell(FAILS), say('Noted.')] });
    expect(session.main.length >= 3, `the model was asked ${session.main.length} times, not 3`);
    expect(!session.requests.some((request) => blocks(request).length), 'memory was injected into the very first session');
    const rows = product.since(host, 0);
    const seen = () => `${rows.map((row) => `${row.kind} ${row.payload_json.slice(0, 300)}`).join('\n')}\n${product.logs(host)}`;
    const prompts = rows.filter((row) => row.kind === 'user_prompt').map((row) => row.payload.text);
    // OpenCode's command line puts quotation marks around a prompt of several words.
    expect(prompts.length === 1 && prompts[0].replace(/^"|"$/g, '') === FACT, 'the prompt was not recorded once, as it was typed', seen);
    const outcome = (command) => rows.filter((row) => /^tool_/.test(row.kind) && row.payload.command?.includes(command)).map((row) => row.payload.failed);
    expect(JSON.stringify(outcome(FAILS)) === '[true]', 'the failing command is not known as failed, once', seen);
    expect(JSON.stringify(outcome(WORKS)) === '[false]', 'the working command is not known as good, once', seen);
    const answers = rows.filter((row) => row.kind === 'assistant_stop');
    expect(answers.length === 1 && answers[0].payload.text === 'Noted.', 'the turn was not recorded once', seen);
  });
  await check('worker-outlives-host', ['capture'], async () => {
    await run.settle(host);
    expect(product.flushes(host).some((row) => row.status === 'semantic-succeeded'), 'no batch was stored', () => [product.flushes(host), product.logs(host)]);
    const list = await product.cli(['list', '--json'], { cwd: widgets });
    expect(list.stdout.includes(MARKER), 'list does not show the fact', list.stdout + list.stderr);
  });

  const stored = ['worker-outlives-host'];
  await check('recall', stored, () => recalled(run, host, widgets));
  await check('recall-other-checkout', stored, () => recalled(run, host, clone));
  await check('absent-elsewhere', stored, async () => {
    const { requests } = await run.talk(host, { cwd: gadgets, prompt: QUESTION });
    const found = requests.filter((request) => mentions(request, MARKER));
    expect(found.length === 0, 'the fact reached the model in another repository', () => blocks(found[0]));
  });
  if (!host.alwaysNew) {
    await check('same-bytes-later', ['recall'], async () => {
      const first = await run.talk(host, { cwd: widgets, prompt: QUESTION, steps: [shell('ls'), say('See above.')] });
      const next = await run.talk(host, { cwd: widgets, prompt: FOLLOW_UP, resume: true });
      expect(mentions(next.main.at(-1), QUESTION), 'the host did not resume the session');
      const all = [...first.main, ...next.main].map((request) => blocks(request));
      expect(all.every((one) => one.length === 1), 'a request does not carry exactly one block', all);
      expect(new Set(all.flat()).size === 1, 'the block changed within a session', [...new Set(all.flat())]);
    });
  }
  if (host.id === 'deepseek') {
    // The host reads some prompt texts as templates and gives up on a whole prompt when one is malformed.
    await check('braces', stored, async () => {
      await run.talk(host, { cwd: gadgets, prompt: `Please note: the gadget release reads \${{ env.GADGET_TAG }} and {{ page }} from its template.` });
      await run.settle(host);
      return recalled(run, host, gadgets, '{{ page }}', 'What does the gadget release read from its template?');
    });
  }
  await check('injected-text-is-not-stored', ['recall'], async () => {
    await run.settle(host);
    const rows = product.since(host, 0).filter((row) => row.payload_json.includes('<mem0-memory'));
    expect(rows.length === 0, 'injected text was recorded', rows.map((row) => row.payload));
    const list = await product.cli(['list', '--json'], { cwd: widgets });
    expect(!list.stdout.includes('<mem0-memory'), 'injected text was stored as a memory', list.stdout.slice(0, 3000));
  });
  await check('short-prompt', stored, async () => {
    const { requests } = await run.talk(host, { cwd: widgets, prompt: 'marker?' });
    expect(!requests.some((request) => blocks(request).length), 'a prompt under 20 characters was answered with memory');
  });
  await check('tool-search', stored, async () => {
    const tool = { pi: 'mem0_memory', opencode: 'search_memories', deepseek: 'search_memory', openclaw: 'memory_search' }[host.id];
    const args = { query: 'acceptance marker for this project', ...(host.id === 'pi' ? { action: 'search' } : {}) };
    const session = await run.talk(host, { cwd: widgets, prompt: 'Look it up in memory.', steps: [{ tool, args }, say('Done.')] });
    expect(JSON.stringify(session.main.at(-1).body).includes(MARKER), 'the tool did not return the fact', () => texts(session.main.at(-1)).slice(-3));
    await run.settle(host);
  });
  await check('paused', stored, async () => {
    await product.cli(['--harness', host.id, 'pause']);
    const mark = product.mark(host);
    const { requests } = await run.talk(host, { cwd: widgets, prompt: QUESTION });
    expect(!requests.some((request) => blocks(request).length), 'memory was injected while paused');
    expect(product.mark(host) === mark, 'something was recorded while paused', () => product.told(host, mark));
    await product.cli(['--harness', host.id, 'resume']);
  });
  await check('no-errors-logged', stored, () => {
    const log = join(product.folder(host), 'plugin-errors.log');
    const errors = existsSync(log) ? readFileSync(log, 'utf8').trim() : '';
    expect(errors === '', 'hooks logged errors', errors.slice(0, 2000));
  });
  await check('private-files', stored, () => {
    const open = all(lab.mem0Dir).filter(({ path, stat }) => stat.mode & 0o077 && path !== lab.mem0Dir && !path.startsWith(join(lab.mem0Dir, 'bin')));
    expect(open.length === 0, 'others can read these', open.map(({ path, stat }) => `${(stat.mode & 0o777).toString(8)} ${path}`));
  });
  await check('nothing-left', stored, async () => {
    await sleep(1_000);
    const left = await until(async () => ((await run.processes(/mem0-code|bin\/(opencode|node) /)).length ? undefined : []), AFTER_MS, 500);
    expect(left, 'processes are still running', await run.processes(/./));
  });
}

/** The fact is in the first request of a new session, inside our fence and nowhere else. */
export async function recalled(run, host, cwd, marker = MARKER, question = QUESTION) {
  const { main, seconds } = await run.talk(host, { cwd, prompt: question, steps: [say('See above.')] });
  const found = blocks(main[0]);
  expect(found.length === 1, `the first request carries ${found.length} blocks`, () => `${texts(main[0]).slice(-4).join('\n---\n').slice(-3000)}\n${run.product.logs(host)}`);
  expect(found[0].includes(marker), 'the fact is not among what was injected', found);
  const outside = texts(main[0]).map((text) => text.replace(FENCE, '')).filter((text) => text.includes(marker));
  expect(outside.length === 0, 'the fact is also outside our fence', outside);
  return { note: `session: ${seconds.toFixed(1)} s` };
}

/** Everything below a folder, itself included, as `{path, stat}`; links are not followed. */
export function all(path) {
  if (!existsSync(path)) return [];
  const stat = lstatSync(path);
  return [{ path, stat }, ...(stat.isDirectory() ? readdirSync(path).flatMap((name) => all(join(path, name))) : [])];
}
