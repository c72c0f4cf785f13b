// The packages as artefacts: what is committed is current and valid, a build is the same bytes twice, and what is wrong
// is named.

import { appendFileSync, cpSync, existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect } from './suite.mjs';

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));
const PLUGINS = join(REPOSITORY, 'plugins');
const COMMITTED = ['.agents', '.claude-plugin', '.cursor-plugin', 'plugins'];
const TARGET = 'x86_64-unknown-linux-gnu';

/** What is done to a copy of what is committed; every one must be named, with a failure. `at` is inside a package. */
const DAMAGE = {
  edited: { at: 'skills/search/SKILL.md', spoil: (path) => appendFileSync(path, 'more\n') },
  deleted: { at: 'skills/status/SKILL.md', spoil: (path) => rmSync(path) },
  added: { at: 'skills/search/notes.txt', spoil: (path) => writeFileSync(path, 'mine\n') },
  'linked-outside': { at: 'outside', spoil: (path) => symlinkSync('/etc', path) },
};

/** Checks of every package; built ones are left below `artifacts`. */
export async function packages({ suite, product, artifacts, only }) {
  await suite.check('packages', 'committed', {}, async () => {
    const done = await product.cli(['bundle', 'check', '--root', REPOSITORY]);
    expect(done.code === 0, 'what is committed is not what the templates give', done.stdout + done.stderr);
  });
  for (const folder of readdirSync(PLUGINS).sort()) {
    const host = existsSync(join(PLUGINS, folder, 'mcp.json')) && folder === 'mem0-agent-plugin' ? 'portable' : folder;
    if (only && !only.includes(host)) continue;
    const kind = host === 'portable' ? 'portable' : 'native';
    await suite.check('packages', `${host}-${kind}`, { about: { host, kind } }, async () => {
      const valid = await product.cli(['bundle', 'validate', join(PLUGINS, folder)]);
      expect(valid.code === 0, 'the committed package is not valid', valid.stdout + valid.stderr);
      const [one, two] = [join(artifacts, host), join(artifacts, `${host}-again`)];
      for (const out of [one, two]) {
        const built = await product.cli(['bundle', 'build', host, '--out', out, '--target', TARGET, '--binary', product.binary]);
        expect(built.code === 0, 'the package cannot be built', built.stdout + built.stderr);
      }
      expect(sameTree(one, two), 'two builds are not the same bytes');
      rmSync(two, { recursive: true });
      const carried = await product.cli(['bundle', 'validate', one]);
      expect(carried.code === 0, 'the package with the program inside is not valid', carried.stdout + carried.stderr);
    });
  }
  for (const [name, { at, spoil }] of Object.entries(DAMAGE)) {
    await suite.check('packages', `${name}-is-named`, {}, async () => {
      const copy = join(artifacts, `damaged-${name}`);
      mkdirSync(copy, { recursive: true });
      for (const part of COMMITTED.filter((one) => existsSync(join(REPOSITORY, one)))) {
        cpSync(join(REPOSITORY, part), join(copy, part), { recursive: true, verbatimSymlinks: true });
      }
      const path = join(copy, 'plugins', 'claude-code', at);
      spoil(path);
      const done = await product.cli(['bundle', 'check', '--root', copy]);
      rmSync(copy, { recursive: true });
      expect(done.code !== 0, 'the check passes all the same', done.stdout);
      expect((done.stdout + done.stderr).includes(relative(copy, path)), 'the file is not named', done.stdout + done.stderr);
    });
  }
}

function sameTree(one, two) {
  const names = readdirSync(one).sort();
  if (names.join('\n') !== readdirSync(two).sort().join('\n')) return false;
  return names.every((name) => {
    const [a, b] = [join(one, name), join(two, name)];
    if (lstatSync(a).mode !== lstatSync(b).mode) return false;
    return lstatSync(a).isDirectory() ? sameTree(a, b) : readFileSync(a).equals(readFileSync(b));
  });
}
