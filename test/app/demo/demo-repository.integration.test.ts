import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DemoChange } from '../../../src/app/demo/demo-repository.ts';
import { openDemoRepository } from '../../../src/app/demo/demo-repository.ts';

const EXAMPLE = 'examples/guestbook-fleet';
const DRAIN: DemoChange = {
  branch: 'main',
  subject: 'Drain cluster1',
  file: 'clusters/cluster1.yaml',
  edit: (document) => document.setIn(['spec', 'taints'], [{ key: 'maintenance', effect: 'NoSelect' }]),
};

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'berth-demo-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const git = (url: string, ...args: string[]) =>
  execFileSync('git', args, { cwd: fileURLToPath(url), encoding: 'utf8' }).trim();

describe('openDemoRepository', () => {
  it('starts with one commit that holds the example', async () => {
    const repository = await openDemoRepository(dir, EXAMPLE);
    expect(git(repository.url, 'log', '--format=%s', 'main')).toBe('Place the guestbook');
    expect(git(repository.url, 'show', 'main:clusters/cluster1.yaml')).toBe(
      (await readFile(join(EXAMPLE, 'clusters/cluster1.yaml'), 'utf8')).trim(),
    );
  });

  it('commits a change once, keeps comments, and gives the same commit when asked again after a restart', async () => {
    const commit = await (await openDemoRepository(dir, EXAMPLE)).change(DRAIN);
    const again = await openDemoRepository(dir, EXAMPLE);
    expect(await again.change(DRAIN)).toBe(commit);
    expect(git(again.url, 'log', '--format=%s', 'main')).toBe('Drain cluster1\nPlace the guestbook');
    const text = git(again.url, 'show', 'main:clusters/cluster1.yaml');
    expect(text).toContain('# The platform team owns this file');
    expect(text).toContain('key: maintenance');
  });

  it('drops half an edit that a kill left in the work tree', async () => {
    const repository = await openDemoRepository(dir, EXAMPLE);
    await writeFile(join(repository.cloneDir, 'clusters/cluster1.yaml'), 'half an ed');
    await repository.change(DRAIN);
    expect(git(repository.url, 'show', 'main:clusters/cluster1.yaml')).toContain('kind: ManagedCluster');
  });

  it('keeps a change on another branch away from main', async () => {
    const repository = await openDemoRepository(dir, EXAMPLE);
    await repository.change({ ...DRAIN, branch: 'proposal' });
    expect(git(repository.url, 'log', '--format=%s', 'main')).toBe('Place the guestbook');
    expect(git(repository.url, 'log', '--format=%s', 'main..proposal')).toBe('Drain cluster1');
  });
});
