import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { GitProgramRepository } from '../../packages/git-reader/src/program/git-program-repository.ts';
import { DEFAULT_MANIFEST_LIMITS } from '../../src/controllers/sources/manifests/source-content.ts';
import { readFiles } from '../../src/controllers/sources/reading/file-readings.ts';
import { ParsePool } from '../../src/controllers/sources/parsing/parse-pool.ts';
import { GitFixture } from '../../packages/git-reader/test/git-fixture.ts';

// The threads run the built code.
const DIST = path.join(import.meta.dirname, '../../dist/src/controllers/sources/parsing');
const WORKER = pathToFileURL(path.join(DIST, 'parse-worker.js'));
const configMap = (name: string, value = '1') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {value: "${value}"}\n`;

describe('parsing in threads', () => {
  let fixture: GitFixture;
  let repository: GitProgramRepository;
  let files: { path: string; id: string }[];
  const dir = mkdtempSync(path.join(tmpdir(), 'berth-threads-'));
  const pools: ParsePool[] = [];
  beforeAll(async () => {
    fixture = new GitFixture();
    const commit = fixture.commit({
      ...Object.fromEntries(
        Array.from({ length: 600 }, (_, i) => [`f${i}.yaml`, configMap(`c${i}`, String(i))]),
      ),
      'a-poison.yaml': configMap('poison'),
      'broken.yaml': 'a: [',
      'latin1.yaml': Buffer.from('a: \xe9\n', 'latin1'),
    });
    repository = new GitProgramRepository({ gitDir: fixture.dir, ambient: process.env });
    files = (await repository.listTree(commit)).map(({ path: file, id }) => ({ path: file, id }));
  });
  afterEach(async () => {
    await Promise.all(pools.splice(0).map((pool) => pool.close()));
  });
  afterAll(async () => {
    await repository.close();
    fixture.remove();
    rmSync(dir, { recursive: true, force: true });
  });

  const poolOf = (options: ConstructorParameters<typeof ParsePool>[0]) => {
    const pool = new ParsePool({ threads: 2, workerFile: WORKER, ...options });
    pools.push(pool);
    return pool;
  };
  const read = async (pool?: ParsePool, chosen = files) => {
    const got = new Map<string, unknown>();
    const tools = { limits: DEFAULT_MANIFEST_LIMITS, pool, threadsFromBytes: 0 };
    await readFiles(repository, chosen, tools, (file, { parsed }) => got.set(file, parsed));
    return new Map([...got].sort(([a], [b]) => (a < b ? -1 : 1)));
  };
  /** A worker that does something else when it is given the poisoned file. */
  const poisoned = (what: string): URL => {
    const file = path.join(dir, `${Math.random()}.mjs`);
    const code = `import { parentPort } from 'node:worker_threads';
      const on = parentPort.on.bind(parentPort);
      parentPort.on = (name, handler) =>
        on(name, (files) => { if (Buffer.from(files.bytes).includes('poison')) { ${what} } handler(files); });
      await import(${JSON.stringify(WORKER.href)});`;
    writeFileSync(file, code);
    return pathToFileURL(file);
  };

  it('comes to the same as parsing here', async () => {
    const pool = poolOf({});
    expect(pool.available).toBe(true);
    expect(await read(pool)).toEqual(await read());
  });

  it.each([
    ['ends', 'process.exit(0)', /ended with 0/],
    ['throws', "throw new RangeError('poisoned')", /poisoned/],
    ['runs out of memory', 'const held = []; for (;;) held.push(new Array(100_000).fill(0.5))', /memory/],
    ['never answers', 'for (;;);', /took longer/],
  ])('a thread that %s at a file costs that file, says so, and nothing else', async (_name, what, reason) => {
    const got = await read(
      poolOf({ workerFile: poisoned(what), batchTimeoutMs: what === 'for (;;);' ? 1_500 : undefined }),
    );
    const here = await read();
    expect(got.get('a-poison.yaml')).toMatchObject({
      manifests: [],
      problems: [
        {
          severity: 'error',
          code: 'source.parser-crash',
          message: expect.stringMatching(reason) as string,
        },
      ],
    });
    expect([...got].filter(([file]) => file !== 'a-poison.yaml')).toEqual(
      [...here].filter(([file]) => file !== 'a-poison.yaml'),
    );
  });

  it('whose threads take long to start does not blame the files', async () => {
    // More than the limit for both; each of them alone stays below it.
    const work = `const used = () => process.cpuUsage().user + process.cpuUsage().system;
      for (const until = used() + 1_100_000; used() < until; );`;
    const slow = path.join(dir, 'slow.mjs');
    writeFileSync(slow, `{ ${work} } await import(${JSON.stringify(poisoned(work).href)});`);
    const pool = poolOf({ workerFile: pathToFileURL(slow), batchTimeoutMs: 2_000, threads: 1 });
    const one = files.filter((file) => file.path === 'a-poison.yaml');
    expect(await read(pool, one)).toEqual(await read(undefined, one));
  });

  it('whose threads cannot even start fails the reading, and does not shorten it', async () => {
    const broken = path.join(dir, 'broken.mjs');
    writeFileSync(broken, "throw new Error('cannot start')");
    const reading = read(poolOf({ workerFile: pathToFileURL(broken) }));
    await expect(reading).rejects.toMatchObject({ name: 'TransientError', code: 'fleet.parser' });
  });

  it('that is closed meanwhile fails the reading, and does not shorten it', async () => {
    const pool = poolOf({ workerFile: poisoned('for (;;);') });
    const reading = read(pool);
    setTimeout(() => void pool.close(), 200);
    await expect(reading).rejects.toMatchObject({ name: 'TransientError', code: 'fleet.closed' });
  });
});
