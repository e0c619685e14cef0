import { describe, expect, it } from 'vitest';
import { MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { type Life, MortalKubeApi } from '@berth/test-kit/mortal-kube-api';
import { OWNER_LABEL } from '../src/rules/applied/ownership.ts';
import { AgentHarness, CONFIG_MAP, configMap, workOf } from './agent-harness.ts';

// Server-side apply makes an object in one request and owns it in the next. These agents die between the two.

const WORK = { namespace: 'cluster1', name: 'web' };
const GRACE_MS = 600_000;

const serverSide = (...manifests: readonly KubeObject[]): ManifestWorkSpec => ({
  ...workOf(...manifests),
  manifestConfigs: [
    {
      resourceIdentifier: { resource: 'configmaps', name: '*', namespace: '*' },
      updateStrategy: { type: 'ServerSideApply' },
    },
  ],
});

const ORPHANED: ManifestWorkSpec = {
  ...workOf(configMap('b')),
  deleteOption: { propagationPolicy: 'Orphan' },
};

/** Finalizer, AppliedManifestWork, apply, and the write that would have put the owner reference there. */
const WRITES_UNTIL_OWNED = 4;

async function unownedObject(spec = serverSide(configMap('b'))): Promise<AgentHarness> {
  const harness = new AgentHarness();
  const life: Life = { dead: false, writesLeft: WRITES_UNTIL_OWNED, lastIsDone: false };
  await harness.start({
    hub: new MortalKubeApi(harness.hub, life),
    cluster: new MortalKubeApi(harness.cluster, life),
  });
  await harness.applyWork('web', spec);
  expect(life.dead).toBe(true);
  const { labels, ownerReferences } = (await harness.configMap('b'))!.metadata;
  expect({ labels, ownerReferences }).toEqual({
    labels: { [OWNER_LABEL]: (await harness.applied('web'))?.metadata.uid },
    ownerReferences: undefined,
  });
  return harness;
}

async function vanish({ hub }: AgentHarness): Promise<void> {
  await hub.mergePatch(MANIFEST_WORK, WORK, { metadata: { finalizers: [] } });
  await hub.delete(MANIFEST_WORK, WORK);
}

async function replaceSpec({ hub }: AgentHarness, spec: ManifestWorkSpec): Promise<void> {
  const work = await hub.get(MANIFEST_WORK, WORK);
  await hub.update(MANIFEST_WORK, { ...work!, spec });
}

interface Case {
  readonly name: string;
  /** While no agent lives. */
  readonly does: (harness: AgentHarness) => Promise<unknown>;
  /** What the next agent makes of it: owners of the object by work; undefined: it is gone. */
  readonly owners: readonly string[] | undefined;
}

const cases: readonly Case[] = [
  { name: 'nothing happens', does: async () => undefined, owners: ['web'] },
  {
    name: 'the work is deleted',
    does: ({ hub }) => hub.delete(MANIFEST_WORK, WORK),
    owners: undefined,
  },
  { name: 'the work vanishes', does: vanish, owners: undefined },
  {
    name: 'the object leaves the work',
    does: (harness) => replaceSpec(harness, serverSide(configMap('other'))),
    owners: undefined,
  },
  {
    name: 'another strategy is to apply it',
    does: (harness) => replaceSpec(harness, workOf(configMap('b'))),
    owners: ['web'],
  },
  {
    name: 'the work orphans it, and is applied again',
    does: (harness) => replaceSpec(harness, ORPHANED),
    owners: [],
  },
  {
    name: 'the work orphans it, and is deleted before it is applied again',
    does: async (harness) => {
      await replaceSpec(harness, ORPHANED);
      await harness.hub.delete(MANIFEST_WORK, WORK);
    },
    owners: [],
  },
  {
    name: 'somebody else makes the object again, and the work is deleted',
    does: async ({ hub, cluster }) => {
      await cluster.delete(CONFIG_MAP, { namespace: 'default', name: 'b' });
      await cluster.create(CONFIG_MAP, configMap('b'));
      await hub.delete(MANIFEST_WORK, WORK);
    },
    owners: [],
  },
];

describe('an agent dies between applying an object and owning it', () => {
  it.each(cases)('$name', async ({ does, owners }) => {
    const harness = await unownedObject();
    await does(harness);
    await harness.start({ evictionGraceMs: GRACE_MS });
    await harness.settle(2 * GRACE_MS);
    const object = await harness.configMap('b');
    expect(object?.metadata.ownerReferences?.map(({ name }) => name.slice(65)) ?? []).toEqual(owners ?? []);
    expect(object === undefined).toBe(owners === undefined);
    expect(object?.metadata.labels?.[OWNER_LABEL]).toBeUndefined();
    await harness.stop();
  });

  it('and its successor owns it, though the mark of ignored fields says that nothing is to be applied', async () => {
    const ignoreFields = [{ condition: 'OnSpokePresent' as const, jsonPaths: ['.data.x'] }];
    const spec = serverSide(configMap('b'));
    const [config] = spec.manifestConfigs ?? [];
    const updateStrategy = { type: 'ServerSideApply' as const, serverSideApply: { ignoreFields } };
    const harness = await unownedObject({ ...spec, manifestConfigs: [{ ...config!, updateStrategy }] });
    const uid = (await harness.applied('web'))?.metadata.uid;
    await harness.start();
    const { labels = {}, ownerReferences, annotations } = (await harness.configMap('b'))!.metadata;
    expect(labels).toEqual({});
    expect(ownerReferences?.map((owner) => owner.uid)).toEqual([uid]);
    expect(Object.keys(annotations ?? {})).toEqual(['open-cluster-management.io/config-spec-hash']);
    expect(harness.cluster.writes.filter((line) => line.startsWith('APPLY'))).toHaveLength(1);
    await harness.stop();
  });

  it('is not fooled by a manifest that brings the label', async () => {
    const harness = new AgentHarness();
    await harness.start();
    const labels = { [OWNER_LABEL]: 'uid-1', app: 'b' };
    const labelled = { ...configMap('b'), metadata: { namespace: 'default', name: 'b', labels } };
    for (const spec of [workOf(labelled), serverSide(labelled)]) {
      await harness.applyWork('web', spec);
      expect((await harness.configMap('b'))?.metadata.labels).toEqual({ app: 'b' });
    }
    await harness.stop();
  });
});
