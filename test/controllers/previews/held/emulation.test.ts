import { PLACEMENT } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { RefusingKubeApi } from '@berth/test-kit/refusing-kube-api';
import { describe, expect, it } from 'vitest';
import { emulationOf } from '../../../../src/controllers/previews/held/hub-trials.ts';
import { FIELD_MANAGER } from '../../../../src/core/sync/applied/field-names.ts';
import { placement } from '../../../app/serve/fleet-fixture.ts';

const owns = (manager: string, field: string) => ({
  ...{ manager, operation: 'Apply', apiVersion: 'cluster.open-cluster-management.io/v1beta1' },
  ...{ fieldsType: 'FieldsV1', fieldsV1: { 'f:spec': { [`f:${field}`]: {} } } },
});

/** A placement on the hub, whose number belongs to an autoscaler. */
function scaled(name: string, managedFields?: readonly object[]): KubeObject {
  const { metadata, ...rest } = placement(name, { numberOfClusters: 2, clusterSets: ['old'] });
  return {
    ...rest,
    metadata: {
      ...metadata,
      uid: `uid-${name}`,
      ...(managedFields !== undefined && { managedFields }),
    },
  };
}

const OWNED = [owns('autoscaler', 'numberOfClusters'), owns(FIELD_MANAGER, 'clusterSets')];

async function trialsOn(api: KubeApi, objects: readonly KubeObject[]) {
  const { trials } = emulationOf({ objects: [] }, { api, annotatePlacements: false });
  if (trials === undefined) throw new Error('the hub is read');
  const emulated = await trials(objects);
  return (object: KubeObject, takesFields = false) =>
    emulated.apply({ object, source: 'fleet', takesFields });
}

class CountingKubeApi extends RefusingKubeApi {
  lists = 0;

  protected override read<T>(request: () => Promise<T>, right: string): Promise<T> {
    if (right.startsWith('list ')) this.lists++;
    return super.read(request, right);
  }
}

describe('a hub that is not asked', () => {
  const wanted = placement('web', { numberOfClusters: 3, clusterSets: ['new'] });

  it('leaves the fields of other managers', async () => {
    const hub = new FakeKubeApi();
    await hub.create(PLACEMENT, scaled('web', OWNED));
    const tryOne = await trialsOn(hub, [wanted]);
    expect(await tryOne(wanted)).toMatchObject({
      kind: 'held',
      object: { spec: { numberOfClusters: 2, clusterSets: ['new'] } },
      left: [{ name: '.spec.numberOfClusters', managers: ['autoscaler'] }],
    });
    expect(await tryOne(wanted, true)).toMatchObject({
      object: { spec: { numberOfClusters: 3 } },
      left: [],
    });
    expect((await hub.list(PLACEMENT)).items[0]).toMatchObject({ spec: { clusterSets: ['old'] } });
  });

  it('does not say what it makes of an object whose owners are not known', async () => {
    const hub = new FakeKubeApi();
    await hub.create(PLACEMENT, scaled('web'));
    const tryOne = await trialsOn(hub, [wanted]);
    expect(await tryOne(wanted)).toMatchObject({ kind: 'unknown' });
  });

  it('refuses a field that the kind does not have', async () => {
    const tryOne = await trialsOn(new FakeKubeApi(), []);
    expect(await tryOne(placement('web', { zone: 'a' }))).toMatchObject({
      kind: 'refused',
      because: expect.stringContaining('.spec.zone: field not declared in schema') as string,
    });
  });

  it('is read once, also where that fails', async () => {
    const hub = new CountingKubeApi(new FakeKubeApi(), 'kube.forbidden');
    hub.refused.add('list placements');
    const many = Array.from({ length: 50 }, (_, at) => placement(`p${at}`));
    const tryOne = await trialsOn(hub, many);
    for (const one of many) expect(await tryOne(one)).toMatchObject({ kind: 'unknown' });
    expect(hub.lists).toBe(2);
  });
});
