import pLimit from 'p-limit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deleteMembers } from '../../../../src/controllers/sources/pruning/hub-prune.ts';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { startEmbeddedHub } from '../../../fakes/embedded-hub.ts';

const KEY = { namespace: 'default', name: 'a' };

describe('the deletion of members', () => {
  let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
  beforeEach(async () => {
    hub = await startEmbeddedHub();
  });
  afterEach(() => hub.close());

  const create = (): Promise<KubeObject> =>
    hub.api.create(CONFIG_MAP, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...KEY } });
  const parts = () => ({
    api: hub.api,
    source: 'fleet',
    declarations: { isDeclaredElsewhere: () => false },
    limit: pLimit(4),
  });

  it('spares an object that somebody made again under the same name', async () => {
    const listed = await create();
    await hub.api.delete(CONFIG_MAP, KEY, {});
    const other = await create();
    const told: KubeObject[] = [];
    const { deleted, problems } = await deleteMembers(parts(), [listed], (object) => told.push(object));
    expect([deleted, told, problems.length]).toEqual([[], [], 1]);
    expect((await hub.api.get(CONFIG_MAP, KEY))?.metadata.uid).toBe(other.metadata.uid);
  });

  it('deletes the object that was listed', async () => {
    const listed = await create();
    const { deleted, problems } = await deleteMembers(parts(), [listed], () => undefined);
    expect([deleted, problems]).toEqual([[listed], []]);
    expect(await hub.api.get(CONFIG_MAP, KEY)).toBeUndefined();
  });
});
