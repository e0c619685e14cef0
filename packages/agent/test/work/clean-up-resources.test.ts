import { describe, expect, it } from 'vitest';
import { kindOfResource } from '../../src/rules/applied/applied-resources.ts';
import { cleanUpResources } from '../../src/work/clean-up-resources.ts';
import type { AppliedResource } from '@berth/ocm/kind/applied-manifest-work';
import type { KubeObject, OwnerReference } from '@berth/kube/model/object-meta';
import { appliedWorkOwner, OWNER_LABEL } from '../../src/rules/applied/ownership.ts';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';

const OURS = appliedWorkOwner('hash-web', 'ours');
const OTHER_WORK = appliedWorkOwner('hash-api', 'other');
const FOREIGN: OwnerReference = { apiVersion: 'v1', kind: 'Secret', name: 'keeper', uid: 'foreign' };
const RESOURCE: AppliedResource = {
  version: 'v1',
  resource: 'configmaps',
  namespace: 'app',
  name: 'settings',
};

interface Case {
  readonly name: string;
  /** Owners of the object on the cluster; undefined: there is none. */
  readonly owners: readonly OwnerReference[] | undefined;
  readonly recordedUid: string;
  /** Uid of the work in the owner label. */
  readonly label?: string;
  readonly stays?: boolean;
  /** Owners that are left; undefined: the object is gone. */
  readonly left: readonly OwnerReference[] | undefined;
}

const cases: readonly Case[] = [
  { name: 'an object that is missing', owners: undefined, recordedUid: 'x', left: undefined },
  { name: 'ours alone', owners: [OURS], recordedUid: 'uid', left: undefined },
  {
    name: 'ours, made again since its uid was recorded',
    owners: [OURS],
    recordedUid: 'old',
    left: undefined,
  },
  { name: 'ours, whose uid was never recorded', owners: [OURS], recordedUid: '', left: undefined },
  { name: 'an object of nobody', owners: [], recordedUid: 'uid', left: [] },
  { name: 'that of another work', owners: [OTHER_WORK], recordedUid: 'uid', left: [OTHER_WORK] },
  {
    name: 'ours, with an owner that is no work',
    owners: [FOREIGN, OURS],
    recordedUid: 'uid',
    left: undefined,
  },
  { name: 'ours and of another work', owners: [OURS, OTHER_WORK], recordedUid: 'uid', left: [OTHER_WORK] },
  { name: 'ours, to outlive the work', owners: [OURS], recordedUid: 'uid', stays: true, left: [] },
  { name: 'labelled by us', owners: [], label: 'ours', recordedUid: '', left: undefined },
  { name: 'labelled by another work', owners: [], label: 'other', recordedUid: '', left: [] },
  {
    name: 'labelled by us, of another work',
    owners: [OTHER_WORK],
    label: 'ours',
    recordedUid: '',
    left: [OTHER_WORK],
  },
  {
    name: 'labelled by us, to outlive the work',
    owners: [],
    label: 'ours',
    recordedUid: '',
    stays: true,
    left: [],
  },
];

describe('cleaning up what a work no longer wants', () => {
  it.each(cases)('$name', async ({ owners, label, recordedUid, stays = false, left }) => {
    const cluster = new FakeKubeApi();
    const kind = kindOfResource(RESOURCE);
    const labels = { app: 'x', ...(label === undefined ? {} : { [OWNER_LABEL]: label }) };
    const metadata = { namespace: 'app', name: 'settings', labels, ownerReferences: owners };
    if (owners !== undefined) await cluster.create(kind, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
    const recorded = { ...RESOURCE, uid: recordedUid };
    const cleanedUp = await cleanUpResources(cluster, [recorded], OURS, () => stays);
    expect(cleanedUp).toEqual({ pending: [], problems: [] });
    const live = await cluster.get(kind, { namespace: 'app', name: 'settings' });
    expect(live === undefined ? undefined : (live.metadata.ownerReferences ?? [])).toEqual(left);
    if (live !== undefined && label === 'ours') expect(live.metadata.labels).toEqual({ app: 'x' });
  });

  it('keeps an object that another work took after it was read', async () => {
    const cluster = new FakeKubeApi();
    const kind = kindOfResource(RESOURCE);
    await cluster.create(kind, configMapOf([OURS]));
    changeAfterReads(cluster, 1, [OURS, OTHER_WORK]);
    expect(await cleanUpResources(cluster, [RESOURCE], OURS)).toEqual({ pending: [], problems: [] });
    const live = await cluster.get(kind, { namespace: 'app', name: 'settings' });
    expect(live?.metadata.ownerReferences).toEqual([OTHER_WORK]);
  });

  it('tries again later when the object changes after each read', async () => {
    const cluster = new FakeKubeApi();
    const kind = kindOfResource(RESOURCE);
    await cluster.create(kind, configMapOf([OURS]));
    changeAfterReads(cluster, Infinity, [OURS]);
    expect(await cleanUpResources(cluster, [RESOURCE], OURS)).toEqual({ pending: [RESOURCE], problems: [] });
  });
});

function configMapOf(ownerReferences: readonly OwnerReference[]): KubeObject {
  const metadata = { namespace: 'app', name: 'settings', ownerReferences };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata };
}

/** After each of the next reads, somebody sets these owners and a label that is new each time. */
function changeAfterReads(
  cluster: FakeKubeApi,
  reads: number,
  ownerReferences: readonly OwnerReference[],
): void {
  const read = cluster.get.bind(cluster);
  let done = 0;
  cluster.get = async (kind, key) => {
    const live = await read(kind, key);
    if (done++ < reads)
      await cluster.mergePatch(kind, key, { metadata: { ownerReferences, labels: { change: `${done}` } } });
    return live;
  };
}
