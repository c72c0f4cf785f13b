// A reader of SQLite files, just enough to see what mem0-code stored: every row of an ordinary table,
// write-ahead log included. It opens nothing for writing and takes no lock, so looking never disturbs a
// hook or a worker, and it needs neither the binary under test nor a newer Node. Format: the pages
// "Database File Format" and "WAL-mode File Format" of SQLite's documentation.

import { existsSync, readFileSync } from 'node:fs';

const LEAF = 0x0d;
const INTERIOR = 0x05;

/**
 * All rows of a table, in rowid order, as objects by column name.
 * @returns {object[]} empty when the file or the table does not exist. Blobs come as Buffers.
 * @throws when the file is not a database, or the table has no rowid.
 */
export function readTable(path, table) {
  if (!existsSync(path)) return [];
  // A checkpoint between our two reads can mix two states; a second look settles it.
  for (let attempt = 0; ; attempt++) {
    try {
      const page = openPages(path);
      const found = rows(page, 1).find(({ values }) => values[0] === 'table' && values[1] === table);
      if (!found) return [];
      const columns = columnsOf(String(found.values[4]));
      return rows(page, found.values[3]).map(({ rowid, values }) =>
        Object.fromEntries(columns.map(({ name, isRowid }, index) => [name, isRowid ? rowid : values[index] ?? null])));
    } catch (error) {
      if (attempt === 2) throw new Error(`${path}: ${error.message}`);
    }
  }
}

/** Returns a function from page number (1-based) to `{data, usable}`, newest committed version of each page. */
function openPages(path) {
  const wal = existsSync(`${path}-wal`) ? readFileSync(`${path}-wal`) : Buffer.alloc(0);
  const file = readFileSync(path);
  const inWal = committedFrames(wal);
  const first = inWal.get(1) ?? file;
  if (first.toString('latin1', 0, 15) !== 'SQLite format 3') throw new Error('not a database');
  const size = first.readUInt16BE(16) === 1 ? 65536 : first.readUInt16BE(16);
  const usable = size - first[20];
  return (number) => ({ data: inWal.get(number) ?? file.subarray((number - 1) * size, number * size), usable });
}

function committedFrames(wal) {
  const pages = new Map();
  if (wal.length < 32) return pages;
  const size = wal.readUInt32BE(8);
  const salts = wal.toString('hex', 16, 24);
  let pending = [];
  for (let at = 32; at + 24 + size <= wal.length; at += 24 + size) {
    if (wal.toString('hex', at + 8, at + 16) !== salts) break; // left over from before the last reset
    pending.push([wal.readUInt32BE(at), wal.subarray(at + 24, at + 24 + size)]);
    if (wal.readUInt32BE(at + 4) === 0) continue;
    for (const [number, data] of pending) pages.set(number, data);
    pending = [];
  }
  return pages;
}

/** Walks one table's tree; each row is `{rowid, values}`. */
function rows(page, root) {
  const out = [];
  const visit = (number) => {
    const { data, usable } = page(number);
    const head = number === 1 ? 100 : 0;
    const kind = data[head];
    if (kind !== LEAF && kind !== INTERIOR) throw new Error(`page ${number} is not of a table with rowids`);
    const cells = data.readUInt16BE(head + 3);
    const pointers = head + (kind === LEAF ? 8 : 12);
    for (let index = 0; index < cells; index++) {
      const at = data.readUInt16BE(pointers + 2 * index);
      if (kind === INTERIOR) visit(data.readUInt32BE(at));
      else out.push(cell(page, data, at, usable));
    }
    if (kind === INTERIOR) visit(data.readUInt32BE(head + 8));
  };
  visit(root);
  return out;
}

function cell(page, data, start, usable) {
  const [length, afterLength] = varint(data, start);
  const [rowid, at] = varint(data, afterLength);
  return { rowid: plain(rowid), values: record(payload(page, data, at, Number(length), usable)) };
}

/** A cell's payload, followed through its overflow pages. */
function payload(page, data, at, length, usable) {
  const most = usable - 35;
  if (length <= most) return data.subarray(at, at + length);
  const least = Math.floor(((usable - 12) * 32) / 255) - 23;
  const kept = least + ((length - least) % (usable - 4));
  const local = kept <= most ? kept : least;
  const parts = [data.subarray(at, at + local)];
  let next = data.readUInt32BE(at + local);
  for (let left = length - local; left > 0; ) {
    const { data: more } = page(next);
    const take = Math.min(left, usable - 4);
    parts.push(more.subarray(4, 4 + take));
    left -= take;
    next = more.readUInt32BE(0);
  }
  return Buffer.concat(parts);
}

const INT_SIZES = [0, 1, 2, 3, 4, 6, 8];

function record(data) {
  const [headerLength, first] = varint(data, 0);
  const values = [];
  let body = Number(headerLength);
  for (let at = first; at < Number(headerLength); ) {
    const [wide, next] = varint(data, at);
    const type = Number(wide);
    at = next;
    if (type === 0) values.push(null);
    else if (type <= 6) {
      const size = INT_SIZES[type];
      values.push(size === 8 ? plain(data.readBigInt64BE(body)) : data.readIntBE(body, size));
      body += size;
    } else if (type === 7) {
      values.push(data.readDoubleBE(body));
      body += 8;
    } else if (type === 8 || type === 9) values.push(type - 8);
    else {
      const size = Math.floor((type - 12) / 2);
      const bytes = data.subarray(body, body + size);
      values.push(type % 2 ? bytes.toString('utf8') : bytes);
      body += size;
    }
  }
  return values;
}

function varint(data, start) {
  let value = 0n;
  for (let index = 0; index < 9; index++) {
    const byte = data[start + index];
    if (byte === undefined) throw new Error('a number runs past its page');
    if (index === 8) return [(value << 8n) | BigInt(byte), start + 9];
    value = (value << 7n) | BigInt(byte & 0x7f);
    if (byte < 0x80) return [value, start + index + 1];
  }
  return [value, start + 9];
}

function plain(big) {
  return Number.isSafeInteger(Number(big)) ? Number(big) : big;
}

/** Column names from a CREATE TABLE statement; a lone INTEGER PRIMARY KEY is the rowid itself. */
function columnsOf(sql) {
  if (/\bWITHOUT\s+ROWID\b/i.test(sql)) throw new Error('the table has no rowid');
  const inner = sql.slice(sql.indexOf('(') + 1, sql.lastIndexOf(')')).replace(/--[^\n]*/g, '').replace(/\/\*[\s\S]*?\*\//g, '');
  const parts = [];
  let depth = 0;
  let quote = '';
  let part = '';
  for (const letter of inner) {
    if (quote) quote = letter === quote ? '' : quote;
    else if (letter === '"' || letter === "'" || letter === '`') quote = letter;
    else if (letter === '(') depth++;
    else if (letter === ')') depth--;
    if (letter === ',' && depth === 0 && !quote) {
      parts.push(part);
      part = '';
    } else part += letter;
  }
  parts.push(part);
  return parts
    .map((text) => text.trim())
    .filter((text) => text && !/^(PRIMARY|UNIQUE|CHECK|FOREIGN|CONSTRAINT)\b/i.test(text))
    .map((text) => ({
      name: text.match(/^["`[]?([^\s"`\]]+)/)[1],
      isRowid: /^\S+\s+INTEGER\s+PRIMARY\s+KEY\b/i.test(text),
    }));
}
