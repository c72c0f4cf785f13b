// A session handed over from inside each host, with the tool its model has, and taken up again in a new session of it.

import { readFileSync } from 'node:fs';

import { texts } from '../conversation.mjs';
import { Skip, expect } from '../suite.mjs';
import { say, shell } from './checks.mjs';

const PROMPT = 'Please run the two checks of the lantern project and hand this session over.';
const WORKS = 'printf lantern-works';
const FAILS = 'echo lantern-oops >&2; exit 3';
const FORMAT = 'mem0.session-handoff.v1';

export async function handoff(run) {
  const { suite, lab, product } = run;
  const [host] = run.hosts;
  const check = (name, after, body) => suite.check(host.id, name, { after }, body);
  let project, resource;

  await check('handoff-load', [], async () => {
    const known = await product.cli(['handoff', 'command'], { input: JSON.stringify({ host: 'codex', arguments: 'list', cwd: lab.root }) });
    if (known.code !== 0) throw new Skip('this mem0-code has no `handoff command`');
    project = await lab.project('lantern', 'https://git.example.com/team/lantern.git');
    run.placeBinary();
    await run.put(host);
  });
  await check('handoff-save', ['handoff-load'], async () => {
    const steps = [shell(WORKS), shell(FAILS), { tool: 'mem0_handoff', args: { action: 'save' } }, say('Handed over.')];
    const session = await run.talk(host, { cwd: project, prompt: PROMPT, steps });
    const listed = await product.cli(['handoff', 'command'], { cwd: project, input: JSON.stringify({ host: 'codex', arguments: 'list', cwd: project }) });
    const { resources } = JSON.parse(listed.stdout);
    expect(resources?.length === 1, 'the session was not saved', () => [listed.stdout, texts(session.main.at(-1)).slice(-3)]);
    [{ resource }] = resources;
    const document = JSON.parse(readFileSync(resource, 'utf8'));
    expect(document.format === FORMAT, `the format is ${document.format}`);
    const text = JSON.stringify(document.items);
    for (const part of [PROMPT, WORKS, 'lantern-works', 'lantern-oops']) {
      expect(text.includes(JSON.stringify(part).slice(1, -1)) || text.includes(part), `${part} is not in what was saved`, text.slice(0, 4000));
    }
    const calls = document.items.filter((item) => item.type === 'function_call');
    const results = document.items.filter((item) => item.type === 'function_call_output');
    expect(calls.length === 2 && results.length === 2, `${calls.length} calls and ${results.length} results were saved, not 2`, document.items);
    expect(calls.every((call) => results.some((result) => result.call_id === call.call_id)), 'a call has no result', document.items);
    return { note: `${document.items.length} items` };
  });
  await check('handoff-resume', ['handoff-save'], async () => {
    const steps = [{ tool: 'mem0_handoff', args: () => ({ action: 'resume', resource }) }, say('I go on.')];
    const session = await run.talk(host, { cwd: project, prompt: 'Take up the session that was handed over.', steps });
    const seen = texts(session.main.at(-1)).join('\n');
    for (const part of [FORMAT, PROMPT, 'lantern-oops']) expect(seen.includes(part), `${part} did not reach the model`, () => seen.slice(-4000));
  });
}
