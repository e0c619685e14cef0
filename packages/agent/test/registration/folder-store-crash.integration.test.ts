import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { FolderStore } from '../../src/registration/credentials/folder-store.ts';
import { DiskLife } from '@berth/test-kit/mortal-disk';
import { SilentLogger } from '@berth/test-kit/silent-logger';

vi.mock('node:fs/promises', async (original) => {
  const { mortalFs } = await import('@berth/test-kit/mortal-disk');
  return mortalFs(await original());
});

const dirs: string[] = [];
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

const OLD = { 'tls.crt': 'old', 'tls.key': 'old', 'certificate-request.json': 'open' };
const NEW = { 'tls.crt': 'new', 'tls.key': 'new', kubeconfig: 'new' };

it.each([
  { when: 'before', losesPower: false },
  { when: 'after', losesPower: false },
  { when: 'before', losesPower: true },
  { when: 'after', losesPower: true },
] as const)(
  'a death $when each change of a file leaves the old credentials or the new ones, power lost: $losesPower',
  async (how) => {
    for (let at = 1, reached = true; reached; at++) {
      const dir = mkdtempSync(join(tmpdir(), 'berth-credentials-'));
      dirs.push(dir);
      await new FolderStore(dir, new SilentLogger()).write(OLD);
      const life = new DiskLife(dir, { at, ...how });
      await life.survives(
        new FolderStore(dir, new SilentLogger()).write({ ...NEW, 'certificate-request.json': undefined }),
      );
      reached = life.dead;
      await life.end();
      const found = await new FolderStore(dir, new SilentLogger()).read();
      expect([OLD, NEW], `at change ${at}`).toContainEqual(found);
      if (!reached) expect(found).toEqual(NEW);
      expect(readdirSync(dir).filter((name) => name.endsWith('.tmp') || name.startsWith('.'))).toEqual([]);
    }
  },
);

it('keeps both of two writes at a time, of the certificate and of an add-on', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-folder-'));
  dirs.push(dir);
  const life = new DiskLife(dir);
  const store = new FolderStore(dir, new SilentLogger());
  await life.survives(Promise.all([store.write(NEW), store.write({ 'addon-secrets.json': '[]' })]));
  await life.end();
  expect(await new FolderStore(dir, new SilentLogger()).read()).toEqual({
    ...NEW,
    'addon-secrets.json': '[]',
  });
});
