// One memory for all: what Claude Code was told is known in each of these hosts, and the other way round.

import { symlinkSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { HOSTS, installHost } from '../hosts.mjs';
import { Skip, expect } from '../suite.mjs';
import { recalled, say } from './checks.mjs';
import { blocks } from './session.mjs';

const fact = (thing, marker) => `Please note: the ${thing} marker for this project is ${marker}.`;
const question = (thing) => `What is the ${thing} marker for this project?`;
/** A word and a marker a host, so that what one was told is not what another was. */
const THINGS = {
  'claude-code': ['acceptance', 'cobalt-orchid-731'], pi: ['staging', 'amber-falcon-264'], opencode: ['rollback', 'silver-maple-519'],
  deepseek: ['canary', 'indigo-otter-887'], openclaw: ['nightly', 'russet-heron-342'],
};

export async function cross(run) {
  const { suite, lab, product } = run;
  const check = (name, after, body) => suite.check('cross', name, { after }, body);
  let claude, project;

  await check('prepare', [], async () => {
    const host = HOSTS['claude-code'];
    const { binary, reason } = await installHost(host);
    if (!binary) throw new Skip(reason);
    claude = { ...host, installed: binary };
    const programs = join(lab.root, 'programs');
    mkdirSync(programs, { recursive: true });
    symlinkSync(binary, join(programs, 'claude'));
    lab.path = `${programs}:${lab.path}`;
    project = await lab.project('widgets', 'https://git.example.com/team/widgets.git');
    run.placeBinary();
    const done = await product.cli(['install', 'claude-code'], { env: host.env(lab) });
    expect(done.code === 0, `install exits with ${done.code}`, done.stdout + done.stderr);
    for (const one of run.hosts) await run.put(one);
  });
  await check('claude-code-is-told', ['prepare'], async () => {
    const session = await ofClaude(run, claude, project, fact(...THINGS['claude-code']));
    expect(session.code === 0, `claude exits with ${session.code}`, session.stderr);
    await run.settle(claude);
  });
  for (const host of run.hosts) {
    await check(`from-claude-code-to-${host.id}`, ['claude-code-is-told'], () => recalled(run, host, project, THINGS['claude-code'][1], question('acceptance')));
  }
  for (const host of run.hosts) {
    await check(`${host.id}-is-told`, ['prepare'], async () => {
      await run.talk(host, { cwd: project, prompt: fact(...THINGS[host.id]), steps: [say('Noted.')] });
      await run.settle(host);
    });
    await check(`from-${host.id}-to-claude-code`, [`${host.id}-is-told`], async () => {
      const [thing, marker] = THINGS[host.id];
      const session = await ofClaude(run, claude, project, question(thing));
      const found = session.requests.flatMap(blocks);
      expect(found.some((block) => block.includes(marker)), 'the fact is not among what was injected', found);
    });
  }
  // And among themselves, in a ring.
  for (const [index, host] of run.hosts.entries()) {
    const next = run.hosts[(index + 1) % run.hosts.length];
    if (next === host) continue;
    await check(`from-${host.id}-to-${next.id}`, [`${host.id}-is-told`], () => recalled(run, next, project, THINGS[host.id][1], question(THINGS[host.id][0])));
  }
}

function ofClaude({ lab }, claude, cwd, prompt) {
  return lab.session(claude, { name: `claude-${prompt.length}-${lab.model.requests.length}`, cwd, prompt, steps: [say('Noted.')] });
}
