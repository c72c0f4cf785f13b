// Runs checks one after another, times them, and tells the outcome: a line each on stdout, the whole as JSON.
// A check passes, fails, or is skipped; what could not be tried is skipped with its reason, never passed.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Longest detail kept in the report, in characters. */
const DETAIL_LIMIT = 8_000;

/** Thrown by a check that cannot be tried here. */
export class Skip extends Error {}

/** Fails the running check unless `claim` holds; `detail` (text or function) says what was seen. */
export function expect(claim, message, detail) {
  if (claim) return;
  const more = typeof detail === 'function' ? detail() : detail;
  throw new Error(more === undefined ? message : `${message}\n${typeof more === 'string' ? more : JSON.stringify(more, null, 1)}`);
}

/** The checks of one run. */
export class Suite {
  checks = [];
  #list;

  /** With `list`, nothing is run and every check is `planned`. */
  constructor({ list = false } = {}) {
    this.#list = list;
  }

  /**
   * Runs one check. `after` names checks it builds on: unless all passed it is skipped. `about` are fields of its row in
   * the report. `body` may return `{note}`, something worth reading although all is well.
   */
  async check(group, name, { after = [], about = {} }, body) {
    const entry = { name: `${group}/${name}`, group, ...about, status: 'planned' };
    this.checks.push(entry);
    if (this.#list) return void print('PLAN', entry);
    const began = Date.now();
    const missing = after.find((one) => !this.passed(`${group}/${one}`));
    try {
      if (missing) throw new Skip(`needs ${group}/${missing}, which did not pass`);
      const value = await body();
      entry.status = 'passed';
      if (value?.note) entry.output = value.note;
    } catch (error) {
      entry.status = error instanceof Skip ? 'skipped' : 'failed';
      entry.output = (error.constructor === Error || error instanceof Skip ? error.message : error.stack).slice(0, DETAIL_LIMIT);
    } finally {
      entry.duration_seconds = Math.round(Date.now() - began) / 1000;
      print({ passed: 'PASS', failed: 'FAIL', skipped: 'SKIP' }[entry.status], entry);
    }
  }

  passed(name) {
    return this.checks.some((entry) => entry.name === name && entry.status === 'passed');
  }

  /** `failed` if any check failed, `passed` if some passed and none failed, `skipped` if none could be tried. */
  get status() {
    if (this.#list) return 'planned';
    if (this.checks.some((entry) => entry.status === 'failed')) return 'failed';
    return this.checks.some((entry) => entry.status === 'passed') ? 'passed' : 'skipped';
  }

  /** Prints the table and the last line, and writes the report when asked for; returns the exit code. */
  finish(reportPath, about) {
    const count = (status) => this.checks.filter((entry) => entry.status === status).length;
    if (!this.#list) console.log(`\n${table(this.checks)}`);
    console.log(`\nConformance: ${this.status} (${this.checks.length} checks: ${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped)`);
    if (reportPath) {
      mkdirSync(dirname(reportPath), { recursive: true });
      writeFileSync(reportPath, `${JSON.stringify({ status: this.status, ...about, checks: this.checks }, null, 2)}\n`);
    }
    return ['passed', 'planned'].includes(this.status) ? 0 : 1;
  }
}

/** What came of each group, a line each. */
function table(checks) {
  const groups = [...new Set(checks.map(({ group }) => group))];
  const rows = groups.map((group) => {
    const own = checks.filter((entry) => entry.group === group);
    const counts = ['passed', 'failed', 'skipped'].map((status) => own.filter((entry) => entry.status === status).length);
    return [group, ...counts, own.reduce((sum, { duration_seconds: seconds = 0 }) => sum + seconds, 0).toFixed(1)];
  });
  const all = [['group', 'passed', 'failed', 'skipped', 'seconds'], ...rows];
  const widths = all[0].map((_, column) => Math.max(...all.map((row) => String(row[column]).length)));
  return all.map((row) => row.map((cell, column) => (column ? String(cell).padStart(widths[column]) : cell.padEnd(widths[0]))).join('  ')).join('\n');
}

function print(word, { name, duration_seconds: seconds, output }) {
  console.log(`${word} ${name}${seconds === undefined ? '' : ` (${seconds.toFixed(1)}s)`}`);
  if (output) console.log(output.split('\n').map((line) => `     ${line}`).join('\n'));
}
