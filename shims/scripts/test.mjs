#!/usr/bin/env node
// Bundles the tests and runs them with Node's own test runner.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { build } from 'esbuild';

import { HOSTS, ROOT } from './about.mjs';

const out = mkdtempSync(join(ROOT, '.tests-'));
try {
  const tests = ['common', ...HOSTS].flatMap((name) => {
    const folder = join(ROOT, name, 'test');
    try {
      return readdirSync(folder).filter((file) => file.endsWith('.test.ts')).map((file) => ({ in: join(folder, file), out: `${name}-${file.slice(0, -3)}` }));
    } catch {
      return [];
    }
  });
  await build({
    entryPoints: tests, bundle: true, format: 'esm', platform: 'node', target: 'node20', outdir: out, outExtension: { '.js': '.mjs' },
    sourcemap: 'inline', logLevel: 'error',
  });
  const files = readdirSync(out).map((file) => join(out, file));
  const done = spawnSync(process.execPath, ['--test-concurrency=1', '--enable-source-maps', '--test', ...files], { stdio: 'inherit', cwd: ROOT });
  process.exitCode = done.status ?? 1;
} finally {
  rmSync(out, { recursive: true, force: true });
}
