// One round of ingest.bench.mjs in a fresh process: MODE ROOT COMMIT FILES CACHE; prints wall and CPU time, children included.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { GitProgramMirror } from '../../.cache/modules/packages/git-reader/src/program/git-program-mirror.js';
import { DEFAULT_MANIFEST_LIMITS } from '../../.cache/modules/src/controllers/sources/manifests/source-content.js';
import { readFiles } from '../../.cache/modules/src/controllers/sources/reading/file-readings.js';
import { SourceReader } from '../../.cache/modules/src/controllers/sources/reading/source-reader.js';
import { ParsePool } from '../../.cache/modules/src/controllers/sources/parsing/parse-pool.js';
import { ParsedCache } from '../../.cache/modules/src/controllers/sources/parsing/parsed-cache.js';

const [mode, root, tip, files, cacheName = ''] = process.argv.slice(2);
const mirrorDir = path.join(root, 'mirror.git');
const log = { debug() {}, info() {}, warn: console.error, error: console.error, child: () => log };
const first = /^first-(\d+)$/.exec(cacheName)?.[1];
let wallMs;
const timed = async (action) => {
  const startedAt = performance.now();
  await action();
  wallMs = performance.now() - startedAt;
};

if (mode === 'baseline') {
  const ids = readFileSync(path.join(root, 'ids'));
  const json = readFileSync(path.join(root, 'json'), 'utf8').split('\n');
  await timed(async () => {
    await new Promise((resolve) => {
      const child = spawn('git', ['cat-file', '--batch'], { env: { ...process.env, GIT_DIR: mirrorDir, GIT_CONFIG_GLOBAL: '/dev/null' } });
      child.stdout.on('data', () => undefined);
      child.on('close', resolve);
      child.stdin.end(`${ids}\n`);
    });
    for (const text of json) JSON.parse(text);
  });
} else {
  const mirror = await GitProgramMirror.open({ url: path.join(root, 'origin.git'), mirrorDir, ambient: process.env });
  const cache = mode === 'here' || first !== undefined ? undefined : new ParsedCache({ dir: path.join(root, cacheName), log });
  const pool = mode === 'threads' ? new ParsePool() : undefined;
  if (first === undefined)
    await timed(async () => {
      const fleet = await new SourceReader(mirror, { cache, pool }).read(tip);
      if (fleet.objects.length !== Number(files) || fleet.problems.length > 0) throw new Error(`${fleet.objects.length} objects, ${fleet.problems[0]?.message}`);
    });
  else {
    const listed = (await mirror.listTree(tip)).slice(0, Number(first));
    await timed(() => readFiles(mirror, listed, { limits: DEFAULT_MANIFEST_LIMITS, pool, threadsFromBytes: 0 }, () => undefined));
  }
  await cache?.close();
  await pool?.close();
  await mirror.close();
}
const { userCPUTime, systemCPUTime } = process.resourceUsage();
console.log(JSON.stringify({ wallMs, cpuMs: (userCPUTime + systemCPUTime) / 1000 }));
