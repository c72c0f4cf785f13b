// The two ways mem0-code gets into a host: its package through the host's own plugin commands, and
// `mem0-code install`.

import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { commandOf, kimiHome } from './hosts.mjs';
import { write } from './lab.mjs';
import { expect } from './suite.mjs';

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));
/** Hosts whose plugin commands take a market; what they call it and how a plugin is taken from it. */
const MARKET = {
  'claude-code': { file: join('.claude-plugin', 'marketplace.json'), add: ['plugin', 'install'] },
  codex: { file: join('.agents', 'plugins', 'marketplace.json'), add: ['plugin', 'add'] },
};

/** Each way: `prepare` once a lab, then `put` it into one host. */
export const WAYS = {
  package: {
    // A copy of what a user's clone holds, and the binary where the packages' launcher looks for it.
    prepare({ lab, binary }) {
      for (const part of ['.claude-plugin', '.agents', 'plugins']) {
        expect(existsSync(join(REPOSITORY, part)), `the repository has no ${part}/`);
        cpSync(join(REPOSITORY, part), join(lab.root, 'market', part), { recursive: true, verbatimSymlinks: true });
      }
      lab.place(binary);
    },
    async put({ lab }, host) {
      const market = join(lab.root, 'market');
      if (host.id === 'kimi') return putIntoKimi(lab, join(market, 'plugins', 'kimi'));
      const { file, add } = MARKET[host.id];
      const about = JSON.parse(readFileSync(join(market, file), 'utf8'));
      await hostCommand(lab, host, 'plugin', 'marketplace', 'add', market);
      await hostCommand(lab, host, ...add, `mem0@${about.name}`);
      const listed = await hostCommand(lab, host, 'plugin', 'list');
      expect(listed.stdout.includes('mem0'), 'the host does not list the plugin', listed.stdout + listed.stderr);
    },
  },

  install: {
    prepare({ lab, hosts }) {
      const programs = join(lab.root, 'programs');
      mkdirSync(programs, { recursive: true });
      for (const host of hosts) symlinkSync(host.installed, join(programs, commandOf(host)));
      lab.path = `${programs}:${process.env.PATH}`;
    },
    async put({ product, lab }, host) {
      const first = await product.cli(['install', host.id], { env: host.env(lab) });
      expect(first.code === 0, `install exits with ${first.code}`, first.stdout + first.stderr);
      const again = await product.cli(['install', host.id], { env: host.env(lab) });
      expect(again.code === 0, `a second install exits with ${again.code}`, again.stdout + again.stderr);
    },
  },
};

/**
 * `/plugins install FOLDER` is only in Kimi Code's screen; this leaves what it leaves (seen with 2.1.0): a copy in the
 * managed folder and a row in `installed.json`.
 */
function putIntoKimi(lab, folder) {
  const { name } = JSON.parse(readFileSync(join(folder, 'kimi.plugin.json'), 'utf8'));
  const root = join(kimiHome(lab), 'plugins', 'managed', name);
  cpSync(folder, root, { recursive: true, verbatimSymlinks: true });
  const row = { id: name, root, source: 'local-path', enabled: true, installedAt: '2026-12-01T00:00:00.000Z', originalSource: folder };
  write(join(kimiHome(lab), 'plugins', 'installed.json'), { version: 1, plugins: [row] });
}

/** Runs one of the host's own management commands; fails the check when the host refuses. */
export async function hostCommand(lab, host, ...args) {
  const done = await lab.run([host.installed, ...args], { env: host.env(lab), limitMs: 90_000 });
  expect(done.code === 0, `${host.id} ${args.join(' ')} exits with ${done.code}`, done.stdout + done.stderr);
  return done;
}
