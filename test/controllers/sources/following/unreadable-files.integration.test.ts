import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import { yaml } from '../../../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../../../app/serve/served-fleet.ts';

const settings = (name: string) =>
  yaml({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } });
const MKDOCS = { 'mkdocs.yml': 'site_name: fleet\nemoji: !!python/name:twemoji\n' };

describe('a source with a file that cannot be read', () => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    fleet.git.commit({ 'a.yaml': settings('a'), 'b.yaml': settings('b'), ...MKDOCS });
  });
  afterEach(() => fleet.close());

  const exists = async (name: string) =>
    (await fleet.hub.api.get(CONFIG_MAP, { namespace: 'default', name })) !== undefined;

  it('deletes what leaves Git if the file never declared an object', async () => {
    await fleet.serve();
    await fleet.event('synced', ({ applied }) => applied === 2);
    fleet.git.commit({ 'b.yaml': undefined });
    await fleet.event('synced', ({ pruned }) => pruned === 1);
    expect([await exists('a'), await exists('b')]).toEqual([true, false]);
  });

  it('keeps an object whose file was renamed and broken while the data directory was lost', async () => {
    await fleet.serve({ http: fleet.http() });
    await fleet.event('synced', ({ applied }) => applied === 2);
    await fleet.stop();
    fleet.git.run('mv', 'b.yaml', 'c.yaml');
    fleet.git.commit({ 'c.yaml': `${settings('b')}data: [\n` });
    const dataDir = mkdtempSync(join(tmpdir(), 'berth-new-'));
    await fleet.serve({ dataDir, http: fleet.http() });
    await fleet.event('synced');
    // The next commit is compared with the one that declared the object, too.
    const seen = fleet.events.length;
    fleet.git.commit({ 'a.yaml': `${settings('a')}data: {x: "1"}\n` });
    await fleet.event('synced', ({ applied }) => applied === 1, seen);
    expect(await exists('b')).toBe(true);
    expect((await fleet.status()).stdout).toMatch(
      /ConfigMap default\/b: left Git and stays: c\.yaml cannot be read/,
    );
    await fleet.stop();
    rmSync(dataDir, { recursive: true });
  });
});
