// What a broken mem0-code does to a host: nothing. Each fault is a program in place of the binary.

import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect } from '../suite.mjs';
import { say, shell } from './checks.mjs';

const PROMPT = 'Please run the check of this project and tell me how it went.';
const ANSWER = 'The check went well.';
/** How often a hanging binary may be called in a session: after one event the host is left alone. */
const MAX_HANGS = 1;

/** Each fault as a shell script; `log` gets a line a start, to see that it was called at all. */
const FAULTS = {
  missing: undefined,
  hanging: (log) => `#!/bin/sh\necho "$@" >> '${log}'\nexec sleep 600\n`,
  'hanging-tree': (log) => `#!/bin/sh\necho "$@" >> '${log}'\nsleep 600 &\nsleep 600\n`,
  crashing: (log) => `#!/bin/sh\necho "$@" >> '${log}'\nkill -SEGV $$\n`,
  garbage: (log) => `#!/bin/sh\necho "$@" >> '${log}'\nhead -c 200000 /dev/urandom\n`,
  flooding: (log) => `#!/bin/sh\necho "$@" >> '${log}'\nexec yes '{"context": "flood"}'\n`,
  'wrong-json': (log) => `#!/bin/sh\necho "$@" >> '${log}'\necho '[{"context": 3}, null]'\nexit 3\n`,
  unreadable: (log) => `#!/nonexistent/interpreter\n# ${log}\n`,
};

export async function faults(run) {
  const { suite, lab } = run;
  const [host] = run.hosts;
  let cwd;
  let usual;
  await suite.check(host.id, 'faults-load', {}, async () => {
    cwd = await lab.project('faulty', 'https://git.example.com/team/faulty.git');
    await run.put(host);
    await session(run, host, cwd, {}); // the first start of a host does more than later ones
    usual = await session(run, host, cwd, {});
    return { note: `without a binary: ${usual.seconds.toFixed(1)} s` };
  });
  for (const [name, script] of Object.entries(FAULTS)) {
    await suite.check(host.id, `fault-${name}`, { after: ['faults-load'] }, async () => {
      const log = join(lab.root, `${name}.log`);
      const program = join(lab.root, `fault-${name}`);
      if (script) {
        writeFileSync(program, script(log));
        chmodSync(program, 0o755);
      }
      const done = await session(run, host, cwd, script ? { MEM0_CODE_BIN: program } : {});
      expect(name === 'missing' || name === 'unreadable' || existsSync(log), 'the binary was never called');
      const added = done.seconds - usual.seconds;
      const nCalls = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').length : 0;
      if (name.startsWith('hanging')) expect(nCalls <= MAX_HANGS, `the host waited for it ${nCalls} times`, () => readFileSync(log, 'utf8'));
      await sleep(500);
      const left = await run.processes(/fault-|sleep 600/);
      expect(left.length === 0, 'it is still running', left);
      return { note: `called ${nCalls} times; the session took ${added >= 0 ? '+' : ''}${added.toFixed(1)} s` };
    });
  }
}

/** A session that must go as if there were no package at all. */
async function session(run, host, cwd, env) {
  const done = await run.talk(host, { cwd, prompt: PROMPT, env, steps: [shell('printf works'), say(ANSWER)] });
  expect(done.stdout.includes(ANSWER), 'the answer did not reach the person', done.stdout.slice(-2000) + done.stderr.slice(-2000));
  expect(done.main.length === 2, `the model was asked ${done.main.length} times, not 2`);
  expect(!/mem0|flood/i.test(done.stdout), 'something of ours is in the output', done.stdout.slice(-2000));
  return done;
}
