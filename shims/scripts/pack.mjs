#!/usr/bin/env node
// Packs the host packages, and the platform packages that carry the binary, as npm would publish them.
//
//   node scripts/pack.mjs --out DIR [--binary PLATFORM-ARCH=PATH ...]
//
// Versions come from the workspace's Cargo.toml. With a binary for a platform its package `@mem0-code/cli-PLATFORM-ARCH` is
// made; the host packages name every platform package as an optional dependency, so that npm takes the one that fits.

import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { HOSTS, ROOT } from './about.mjs';

export const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64'];
const REPOSITORY = join(ROOT, '..');

/** The version of the whole product. */
export function version() {
  return /^version = "([^"]+)"/m.exec(readFileSync(join(REPOSITORY, 'Cargo.toml'), 'utf8'))[1];
}

/** A host package's manifest as it is published. */
export function manifest(host, withPlatforms = true) {
  const { devDependencies: _, ...about } = JSON.parse(readFileSync(join(ROOT, host, 'package.json'), 'utf8'));
  const platforms = Object.fromEntries(PLATFORMS.map((platform) => [`@mem0-code/cli-${platform}`, version()]));
  const openclaw = about.openclaw && withPlatforms
    ? { openclaw: { ...about.openclaw, install: { ...about.openclaw.install, requiredPlatformPackages: Object.keys(platforms) } } }
    : {};
  return { ...about, version: version(), ...openclaw, ...(withPlatforms ? { optionalDependencies: platforms } : {}) };
}

/** The manifest of the package that carries the binary for one platform. */
export function platformManifest(platform) {
  const [os, cpu] = platform.split('-');
  return {
    name: `@mem0-code/cli-${platform}`, version: version(), description: `The mem0-code program for ${platform}`,
    license: 'Apache-2.0', os: [os], cpu: [cpu], files: ['bin', 'LICENSE'], preferUnplugged: true,
  };
}

/** Packs one host into `out` and returns the archive's path. */
export function packHost(host, out, { withPlatforms = true } = {}) {
  return staged((stage) => {
    const about = manifest(host, withPlatforms);
    for (const file of about.files) {
      const source = file === 'LICENSE' ? join(REPOSITORY, file) : join(ROOT, host, file);
      if (existsSync(source)) cpSync(source, join(stage, file), { recursive: true });
    }
    write(join(stage, 'package.json'), about);
    return npmPack(stage, out);
  });
}

/** Packs the binary for one platform. */
export function packPlatform(platform, binary, out) {
  return staged((stage) => {
    write(join(stage, 'package.json'), platformManifest(platform));
    copyFileSync(join(REPOSITORY, 'LICENSE'), join(stage, 'LICENSE'));
    mkdirSync(join(stage, 'bin'));
    const target = join(stage, 'bin', platform.startsWith('win32') ? 'mem0-code.exe' : 'mem0-code');
    copyFileSync(binary, target);
    chmodSync(target, 0o755);
    return npmPack(stage, out);
  });
}

function staged(make) {
  const stage = mkdtempSync(join(tmpdir(), 'mem0-code-pack-'));
  try {
    return make(stage);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

function npmPack(stage, out) {
  mkdirSync(out, { recursive: true });
  const printed = execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', resolve(out)], { cwd: stage, encoding: 'utf8' });
  return join(resolve(out), printed.trim().split('\n').at(-1));
}

function write(path, value) {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { out: { type: 'string' }, binary: { type: 'string', multiple: true, default: [] } } });
  if (!values.out) {
    console.error('usage: pack.mjs --out DIR [--binary PLATFORM-ARCH=PATH ...]');
    process.exit(2);
  }
  for (const host of HOSTS) console.log(packHost(host, values.out));
  for (const one of values.binary) {
    const [platform, path] = one.split('=');
    if (!PLATFORMS.includes(platform) || !path) throw new Error(`--binary ${one}: not PLATFORM-ARCH=PATH; there are ${PLATFORMS.join(', ')}`);
    console.log(packPlatform(platform, path, values.out));
  }
}
