// What a recall adds to a prompt inside the host, with 10,000 memories: the package's own handler, timed from outside by a
// package that wraps it. What is measured is a whole process of the binary, its search, and the host's own scheduling.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect } from '../suite.mjs';
import { QUESTION, say } from './checks.mjs';

const N_MEMORIES = 10_000;
/** How often the handler is timed within one session of the host, each time for a session the package has not seen. */
const N_TIMES = 20;
/** Most a recall may add, in milliseconds, as its fastest: a busy machine makes others slower. */
const BUDGET_MS = 30;

/** Each host's wrapper: the package's entry is renamed to `inner.js`, and this takes its place. */
const TIMED = (log) => `
import { appendFileSync } from "node:fs";
let isDone = false;
/** Calls the handler again and again, as for new sessions, before the real call. */
const timed = (act, again) => async (...args) => {
  if (!isDone) {
    isDone = true;
    for (let index = 0; index < ${N_TIMES}; index++) {
      const others = again(args, "timed-" + index);
      const began = performance.now();
      const answer = await act(...others);
      appendFileSync(${JSON.stringify(log)}, JSON.stringify({ ms: performance.now() - began, answer: JSON.stringify(answer ?? others) }) + "\\n");
    }
  }
  return act(...args);
};
const on = (target, watched, again) => new Proxy(target, { get: (owner, key) => {
  const value = owner[key];
  if (key !== "on" || typeof value !== "function") return typeof value === "function" ? value.bind(owner) : value;
  return (name, act, ...rest) => value.call(owner, name, name === watched ? timed(act, again) : act, ...rest);
} });
`;
const WRAPPERS = {
  pi: `import inner from "./inner.js";
    const again = ([event, ctx], id) => [event, { cwd: ctx.cwd, sessionManager: { getSessionId: () => id, getSessionFile: () => undefined } }];
    export default (pi) => inner(on(pi, "before_agent_start", again));`,
  opencode: `import inner from "./inner.js";
    const again = ([input, output], id) => [{ ...input, sessionID: id }, { message: output.message, parts: [...output.parts] }];
    export default { ...inner, server: async (...args) => {
      const hooks = await inner.server(...args);
      return { ...hooks, "chat.message": timed(hooks["chat.message"], again) };
    } };`,
  deepseek: `import * as inner from "./inner.js"; export const name = inner.name, inject = inner.inject;
    const again = ([{ agent, ...about }], id) => [
      { ...about, agent: { session: { header: { id, cwd: agent.session.header.cwd } } } }, async () => ({ kind: "enter", messages: about.messages }),
    ];
    export const apply = (ctx, config) => inner.apply(on(ctx, "agent/pre-step", again), config);`,
  openclaw: `import inner from "./inner.js";
    const again = ([event, ctx], id) => [event, { ...ctx, sessionId: id }];
    export default { ...inner, register: (api) => inner.register(on(api, "before_prompt_build", again)) };`,
};

export async function latency(run) {
  const { suite, lab } = run;
  const [host] = run.hosts;
  const check = (name, after, body) => suite.check(host.id, name, { after }, body);
  const log = join(lab.root, 'times.jsonl');
  let project;

  await check('latency-load', [], async () => {
    project = await lab.project('widgets', 'https://git.example.com/team/widgets.git');
    run.placeBinary();
    const folder = await run.put(host);
    const entry = join(folder, 'dist', 'index.js');
    writeFileSync(join(folder, 'dist', 'inner.js'), readFileSync(entry));
    writeFileSync(entry, TIMED(log) + WRAPPERS[host.id]);
    await fill(run, project);
  });
  await check('latency', ['latency-load'], async () => {
    await run.talk(host, { cwd: project, prompt: QUESTION, steps: [say('See above.')] });
    const calls = readFileSync(log, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
    expect(calls.length === N_TIMES && calls.every(({ answer }) => answer.includes('cobalt-orchid-731')), 'not every call recalled the fact', calls);
    const times = calls.map(({ ms }) => ms).sort((a, b) => a - b);
    expect(times[0] <= BUDGET_MS, `a recall added ${times[0].toFixed(1)} ms at its fastest`, times);
    return { note: `recall at ${N_MEMORIES} memories: ${times[0].toFixed(1)} ms at its fastest, ${times[times.length >> 1].toFixed(1)} ms in the middle (${times.length})` };
  });
}

/** Fills the memory of a project: ten thousand turns, told to the binary as sessions, delivered by one worker. */
async function fill({ lab, product }, cwd) {
  const words = ['parser', 'schema', 'cache', 'queue', 'token', 'index', 'stream', 'socket', 'render', 'layout', 'deploy', 'metric'];
  const word = (seed) => words[seed % words.length];
  const messages = (start) => Array.from({ length: 1_000 }, (_, offset) => {
    const at = start + offset;
    return { role: at % 2 ? 'assistant' : 'user', content: `Step ${at}: the ${word(at)} of the ${word(at >> 2)} reads ${word(at >> 4)} ${at % 97} before the ${word(at >> 6)} is written.` };
  });
  const env = { MEM0_CODE_SPAWN: 'manual' };
  for (let start = 0; start < N_MEMORIES; start += 1_000) {
    const payload = { session_id: `fill-${start}`, cwd, messages: [...messages(start), { role: 'assistant', content: 'Done.' }] };
    for (const event of ['turn-end', 'session-end']) await product.cli(['hook', 'pi', event], { cwd, env, input: JSON.stringify(payload) });
  }
  const marker = { session_id: 'fill-marker', cwd, messages: [{ role: 'user', content: 'Please note: the acceptance marker for this project is cobalt-orchid-731.' }, { role: 'assistant', content: 'Noted.' }] };
  for (const event of ['turn-end', 'session-end']) await product.cli(['hook', 'pi', event], { cwd, env, input: JSON.stringify(marker) });
  const worked = await product.cli(['--harness', 'pi', 'worker'], { cwd, env, limitMs: 300_000 });
  expect(worked.code === 0, `worker exits with ${worked.code}`, worked.stdout + worked.stderr);
  const status = JSON.parse((await product.cli(['status', '--json'], { cwd })).stdout);
  expect(status.memory.memories >= N_MEMORIES, `only ${status.memory.memories} memories were made`, status.memory);
}
