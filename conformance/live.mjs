// The hosted Platform, or any server that speaks its API: one fact stored, found, and taken away again. It spends the
// user's quota, so it runs only when asked for, with the key in MEM0_API_KEY (and MEM0_API_URL for another server).

import { randomBytes } from 'node:crypto';

import { until } from './lab.mjs';
import { expect } from './suite.mjs';

const LIMIT_MS = 120_000;

export async function live({ suite, lab, product }) {
  const key = process.env.MEM0_API_KEY;
  const user = `conformance-${randomBytes(6).toString('hex')}`;
  const marker = `quartz-${randomBytes(4).toString('hex')}`;
  const env = { MEM0_API_KEY: key, MEM0_CODE_USER_ID: user, ...(process.env.MEM0_API_URL && { MEM0_API_URL: process.env.MEM0_API_URL }) };
  let project;
  const cli = async (...args) => {
    const done = await product.cli(args, { cwd: project, env, limitMs: LIMIT_MS });
    // A key never reaches the report.
    const seen = (done.stdout + done.stderr).replaceAll(key ?? '\u0000', '[REDACTED]');
    expect(done.code === 0, `${args[0]} exits with ${done.code}`, seen);
    return seen;
  };
  await suite.check('live-platform', 'doctor', {}, async () => {
    project = await lab.project('live', 'https://git.example.com/team/live.git');
    await cli('doctor');
  });
  await suite.check('live-platform', 'add', { after: ['doctor'] }, () => cli('add', `The code name of this project is ${marker}.`));
  await suite.check('live-platform', 'search', { after: ['add'] }, async () => {
    const found = await until(async () => (await cli('search', 'code name of this project')).includes(marker), LIMIT_MS, 3_000);
    expect(found, 'the fact is not found');
  });
  await suite.check('live-platform', 'forget', { after: ['doctor'] }, () => cli('forget', '--yes', '--remote'));
}
