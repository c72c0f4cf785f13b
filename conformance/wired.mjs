// `mem0-code install` for the hosts that load JavaScript: the files it leaves are enough for the real host to load the
// module, record a session and give the fact back in the next one; `doctor` agrees; `uninstall` takes it out again.

import { cpSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { fences } from './conversation.mjs';
import { hostCache } from './hosts.mjs';
import { expect } from './suite.mjs';

const MARKER = 'amber-lintel-418';
const FACT = `Please note: the acceptance marker for this project is ${MARKER}.`;
const QUESTION = 'What is the acceptance marker for this project?';

/** Files of the user's that install adds to, below the home. */
const TOUCHED = { openclaw: ['.openclaw/openclaw.json'], deepseek: ['.dsh/cordis.patch.yml'] };

const say = (text) => ({ text });

export async function wired({ suite, lab, product, hosts: [host], binary }) {
  const check = (name, after, body) => suite.check('wired', `${host.id}-${name}`, { after: after.map((one) => `${host.id}-${one}`) }, body);
  lab.path = [host.nodeBin, host.bin, process.env.PATH].filter(Boolean).join(':');
  let project;
  await check('install', [], async () => {
    project = await lab.project('docks', 'https://git.example.com/team/docks.git');
    keepLibrary(lab, host);
    const done = await lab.run([binary, 'install', host.id], { env: host.env(lab), limitMs: 60_000 });
    expect(done.code === 0 && /: installed/.test(done.stdout), `install exits with ${done.code}`, done.stdout + done.stderr);
  });
  await check('capture', ['install'], async () => {
    await talk(lab, host, project, FACT, 'Noted.');
    const open = await product.unsettled(host);
    expect(!open, 'the worker did not finish in time', open);
    expect(product.since(host, 0, 'user_prompt').length > 0, 'the prompt was not recorded', () => product.logs(host));
  });
  await check('recall', ['capture'], async () => {
    const requests = await talk(lab, host, project, QUESTION, 'See above.');
    expect(requests.flatMap(fences).some((block) => block.includes(MARKER)), 'the fact is not in the model request', () => product.logs(host));
  });
  await check('doctor', ['install'], async () => {
    const done = await product.cli(['doctor', '--json'], { env: host.env(lab) });
    const checks = Object.entries(JSON.parse(done.stdout).checks).filter(([name]) => name.endsWith(`_${host.id}`));
    expect(checks.length >= 4, 'doctor says too little', checks);
    expect(checks.every(([, one]) => one.ok), 'doctor finds fault', checks.filter(([, one]) => !one.ok));
  });
  await check('uninstall', ['install'], async () => {
    const done = await product.cli(['uninstall', host.id], { env: host.env(lab) });
    expect(done.code === 0, `uninstall exits with ${done.code}`, done.stdout + done.stderr);
    for (const file of (TOUCHED[host.id] ?? []).map((one) => join(lab.home, one)).filter(existsSync)) {
      expect(!/"mem0"|id: mem0|\/mem0-code["'/]/.test(readFileSync(file, 'utf8')), `${file} still names us`, readFileSync(file, 'utf8'));
    }
    const mark = product.mark(host);
    const requests = await talk(lab, host, project, QUESTION, 'I do not know.');
    expect(product.mark(host) === mark, 'the module still runs');
    expect(requests.flatMap(fences).length === 0, 'memory is still injected');
  });
}

let count = 0;

/** One session of one turn; its model requests. */
async function talk(lab, host, cwd, prompt, answer) {
  const name = `wired-${host.id}-${++count}`;
  lab.model.begin(name, [say(answer)]);
  // Its other way of getting a package is not used here.
  const argv = host.argv(host.installed, { prompt, lab, cwd }).filter((word, index, all) => word !== '--patch' && all[index - 1] !== '--patch');
  const done = await lab.run(argv, { cwd, limitMs: host.limitMs ?? 120_000, env: host.env(lab) });
  writeFileSync(join(lab.root, `${name}.out`), `${done.stdout}\n--- stderr\n${done.stderr}`);
  const seen = () => `exit ${done.signal ?? done.code}\nstdout: ${done.stdout.slice(-1500)}\nstderr: ${done.stderr.slice(-1500)}`;
  expect(done.code === 0, `${host.id} did not end well`, seen);
  const requests = lab.model.of(name);
  expect(requests.length > 0, `${host.id} asked the model nothing`, seen);
  return requests;
}

/** OpenCode fetches its plugin library before its first request; what an earlier run got is used again. */
function keepLibrary(lab, host) {
  const kept = join(hostCache(), `${host.id}-${host.version}-config`);
  if (host.id !== 'opencode' || !existsSync(kept)) return;
  const config = join(lab.home, '.config', 'opencode');
  for (const name of readdirSync(kept).filter((one) => one !== 'plugins')) cpSync(join(kept, name), join(config, name), { recursive: true, verbatimSymlinks: true });
}
