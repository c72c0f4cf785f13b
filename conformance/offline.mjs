// The checks that need no host: payloads as hosts send them, and answers as hosts take them.

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { ANSWERS } from './answers.mjs';
import { FENCE } from './conversation.mjs';
import { Skip, expect } from './suite.mjs';

const FIXTURES = fileURLToPath(new URL('../tests/fixtures', import.meta.url));
const FACT = 'The release channel of this project is called heron-blue-204.';
const MARKER = 'heron-blue-204';
const QUESTION = 'What is the release channel of this project called, please?';
const NONSENSE = ['', '{', '[]', 'null', '"text"', '{"prompt": 7}', '\u0000\u0001', '{"session_id": {}, "cwd": []}'];

/** Every payload of every host, nonsense on every event, and memory in the host's own shape. */
export async function offline({ suite, lab, product, only }) {
  const project = await lab.project('gauges', 'https://git.example.com/team/gauges.git');
  // Nothing is sent on its own here: the packets stay where they can be seen.
  const hook = (host, event, input) => product.cli(['hook', host, event], { cwd: project, input, env: { MEM0_CODE_SPAWN: 'manual' } });
  for (const [host, answers] of Object.entries(ANSWERS).filter(([id]) => !only || only.includes(id))) {
    await suite.check('offline', `${host}-payloads`, { about: { host } }, async () => {
      const folder = join(FIXTURES, host);
      const names = existsSync(folder) ? readdirSync(folder).filter((name) => /^hook-[A-Za-z]+.*\.json$/.test(name)) : [];
      if (names.length === 0) throw new Skip(`no payloads of ${host} in tests/fixtures`);
      for (const name of names) {
        const text = readFileSync(join(folder, name), 'utf8').replaceAll('/home/dev/work/lantern', project);
        const event = JSON.parse(text).hook_event_name ?? name.match(/^hook-([A-Za-z]+)/)[1];
        allowed(answers, event, await hook(host, event, text), name);
      }
      expect(product.events({ id: host }).length > 0, 'none of the payloads left evidence');
      return { note: `${names.length} payloads` };
    });
    await suite.check('offline', `${host}-nonsense`, { about: { host } }, async () => {
      const events = [...new Set(answers.prompt(lab, project, QUESTION, 'none').map(([event]) => event)), 'PostToolUse', 'Stop', 'stop', 'PreToolUse', 'NoSuchEvent'];
      for (const event of events) {
        for (const input of NONSENSE) allowed(answers, event, await hook(host, event, input), JSON.stringify(input));
      }
    });
    await suite.check('offline', `${host}-recall`, { about: { host } }, async () => {
      const added = await product.cli(['add', FACT], { cwd: project });
      expect(added.code === 0, `add exits with ${added.code}`, added.stdout + added.stderr);
      for (const [event, payload] of answers.prompt(lab, project, QUESTION, `offline-${host}`)) {
        const done = await hook(host, event, JSON.stringify(payload));
        allowed(answers, event, done, event);
        const told = answers.told(done.stdout) ?? '';
        expect(told.includes(MARKER), `the answer to ${event} does not carry the fact`, done.stdout + done.stderr);
        expect((told.match(FENCE) ?? []).length === 1, 'the context is not one block between our markers', told);
      }
    });
  }
}

function allowed(answers, event, done, what) {
  expect(done.code === 0, `${what}: the hook exits with ${done.signal ?? done.code}`, done.stderr);
  expect(answers.allows(done.stdout, event), `${what}: ${event} was answered with what the host does not take`, JSON.stringify(done.stdout));
}
