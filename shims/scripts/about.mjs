// What the scripts have in common. Needs nothing that has to be installed.

import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The workspace's folder. */
export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** The packages, by their folders. */
export const HOSTS = ['pi', 'opencode', 'deepseek', 'openclaw'];
