#!/usr/bin/env node
// Bundles each package into one file, dist/index.js. `--check` writes nothing and names what differs from a fresh build,
// and every import a bundle has that its host does not provide.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

import { HOSTS, ROOT } from "./about.mjs";

const BANNER = "// Built from shims/ of mem0-code by `npm run build`; not edited by hand.";

/** Returns a package's bundle and the modules it imports from outside itself. */
export async function bundle(host) {
  const built = await build({
    absWorkingDir: ROOT,
    entryPoints: [join(host, "src/index.ts")],
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    charset: "utf8",
    legalComments: "inline",
    banner: { js: BANNER },
    outfile: join(host, "dist/index.js"),
    metafile: true,
    write: false,
    logLevel: "error",
  });
  const [output] = Object.values(built.metafile.outputs);
  const imports = output.imports.filter((one) => one.external).map((one) => one.path);
  return { text: built.outputFiles[0].text, imports };
}

/** The imports that are neither of the runtime nor in the bundle: there must be none. */
export function foreign(imports) {
  return imports.filter((path) => !path.startsWith("node:") && !builtinModules.includes(path));
}

async function main(isCheck) {
  let isStale = false;
  for (const host of HOSTS) {
    const { text, imports } = await bundle(host);
    const path = join(ROOT, host, "dist/index.js");
    const outside = foreign(imports);
    if (outside.length > 0) {
      console.error(`${host}: imports ${outside.join(", ")} from outside the package`);
      isStale = true;
    }
    if (!isCheck) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      console.log(`${host}: ${text.length} bytes`);
    } else if (!existsSync(path) || readFileSync(path, "utf8") !== text) {
      console.error(`${host}: dist/index.js differs from a fresh build; run \`npm run build\` in shims/`);
      isStale = true;
    }
  }
  return isStale ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await main(process.argv.includes("--check"));
