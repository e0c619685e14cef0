import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/app/cli/program.ts';
import { GitFixture, tempDir } from '../../../packages/git-reader/test/git-fixture.ts';
import { makeCliIo } from '../cli-harness.ts';

/** So many that files are read from the cache. */
const CLUSTERS = 70;
const cluster = (name: string, region: string): string =>
  `apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\nmetadata: {name: ${name}, labels: {region: ${region}}}\nspec: {hubAcceptsClient: true}\n`;

describe('berth plan --cache', () => {
  let fixture: GitFixture;
  let cache: string;
  beforeEach(() => {
    fixture = new GitFixture();
    const names = Array.from({ length: CLUSTERS }, (_, at) => `cluster${at}`);
    fixture.commit(Object.fromEntries(names.map((name) => [`clusters/${name}.yaml`, cluster(name, 'eu')])));
    fixture.git('branch', 'change');
    fixture.commit({ 'clusters/cluster1.yaml': cluster('cluster1', 'us') }, { branch: 'change' });
    cache = path.join(tempDir(), 'cache');
  });
  afterEach(() => fixture.remove());

  async function plan(...args: string[]) {
    const { io, stdout, stderr } = makeCliIo({ cwd: fixture.dir, env: process.env });
    const code = await runCli(['plan', '--base', 'main', '--head', 'change', '-o', 'json', ...args], io);
    return { code, stdout: stdout(), stderr: stderr() };
  }
  const segments = (): string[] => readdirSync(cache).map((name) => path.join(cache, name));

  it('plans the same with an empty, a full and a broken cache, and repairs a broken one', async () => {
    const expected = await plan();
    expect(expected.code).toBe(2);
    expect(await plan('--cache', cache)).toEqual(expected);
    const [first = ''] = segments();
    const intact = readFileSync(first);
    expect(intact.includes('cluster69')).toBe(true);
    expect(await plan('--cache', cache)).toEqual(expected);
    for (const file of segments()) writeFileSync(file, 'berth-cache 1 another\nwrong');
    expect(await plan('--cache', cache)).toEqual(expected);
    const repaired = segments().map((file) => readFileSync(file));
    expect(repaired.some((bytes) => bytes.equals(intact))).toBe(true);
  });

  it('reads parsed files from the cache', async () => {
    await plan('--cache', cache);
    const [first = ''] = segments();
    // As a parser that reads another name would have written it, with a checksum that fits.
    const { decodeSegment, encodeSegment } = await import('../../../src/adapters/store/entry-cache.ts');
    const bytes = readFileSync(first);
    const stamp = bytes.toString('latin1', 'berth-cache 1 '.length, bytes.indexOf(0x0a));
    const records = decodeSegment(stamp, bytes) ?? [];
    expect(records.length).toBeGreaterThanOrEqual(CLUSTERS);
    const other = records.map(({ key, bytes: text }) => ({
      key,
      bytes: Buffer.from(text.toString('utf8').replace('"cluster1"', '"from-cache"')),
    }));
    for (const file of segments()) writeFileSync(file, encodeSegment(stamp, other));
    expect((await plan('--cache', cache)).stdout).toContain('from-cache');
  });

  it('is private', async () => {
    await plan('--cache', cache);
    expect(statSync(cache).mode & 0o777).toBe(0o700);
    for (const file of segments()) expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it.each([
    {
      name: 'in the repository, where a commit can put files',
      folder: () => path.join(fixture.dir, 'cache'),
      problem: 'is inside the repository',
    },
    {
      name: 'behind a link into the repository',
      folder: () => {
        mkdirSync(path.join(fixture.dir, 'folder'));
        symlinkSync(path.join(fixture.dir, 'folder'), cache);
        return cache;
      },
      problem: 'is inside the repository',
    },
    {
      name: 'that others can write',
      folder: () => {
        mkdirSync(cache);
        chmodSync(cache, 0o777);
        return cache;
      },
      problem: 'can be written by other users',
    },
    {
      name: 'that is a file',
      folder: () => {
        writeFileSync(cache, '');
        return cache;
      },
      problem: 'cannot be created',
    },
  ])('refuses a folder $name', async ({ folder, problem }) => {
    const { code, stderr } = await plan('--cache', folder());
    expect(code).toBe(1);
    expect(stderr).toContain(problem);
  });
});
