// The packages by themselves: types, tests, bundles that are current and whole, archives npm would publish.

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { makeLab } from '../lab.mjs';
import { expect } from '../suite.mjs';

const SHIMS = fileURLToPath(new URL('../../shims', import.meta.url));
const LIMIT_MS = 600_000;

export async function packages(suite, hosts, { keep } = {}) {
  const lab = await makeLab({ keep });
  const check = (name, after, body) => suite.check('packages', name, { after }, body);
  const npm = async (...args) => {
    const done = await lab.run(['npm', ...args], { cwd: SHIMS, limitMs: LIMIT_MS, env: { HOME: process.env.HOME } });
    expect(done.code === 0, `npm ${args.join(' ')} exits with ${done.code}`, (done.stdout + done.stderr).slice(-4000));
    return done;
  };
  try {
    await check('dependencies', [], async () => {
      if (!existsSync(join(SHIMS, 'node_modules', 'esbuild'))) await npm('ci', '--no-audit', '--no-fund');
    });
    await check('types', ['dependencies'], () => npm('run', 'types'));
    await check('tests', ['dependencies'], async () => {
      const { stdout } = await npm('test');
      return { note: stdout.match(/# (tests|pass|fail) \d+/g)?.join(', ') };
    });
    await check('bundles-are-current-and-whole', ['dependencies'], () => npm('run', 'check'));
    for (const host of hosts) {
      await check(`archive-${host.id}`, ['dependencies'], async () => {
        // Loaded only now: it needs the workspace's own tools.
        const { packHost } = await import('../../shims/scripts/pack.mjs');
        const archive = packHost(host.id, join(lab.root, 'packed'));
        const folder = join(lab.root, 'unpacked', host.id);
        mkdirSync(folder, { recursive: true });
        const done = await lab.run(['tar', 'xzf', archive, '--strip-components=1', '-C', folder]);
        expect(done.code === 0, 'the archive cannot be unpacked', done.stderr);
        // Nothing is installed around it: whatever it imports has to be in it.
        const source = `const one = await import(${JSON.stringify(join(folder, 'dist', 'index.js'))}); console.log(Object.keys(one).join());`;
        const loaded = await lab.run([process.execPath, '--input-type=module', '-e', source], { cwd: folder });
        expect(loaded.code === 0, 'the package cannot be loaded by itself', loaded.stderr);
        return { note: `exports ${loaded.stdout.trim()}` };
      });
    }
  } finally {
    await lab.close();
  }
}
