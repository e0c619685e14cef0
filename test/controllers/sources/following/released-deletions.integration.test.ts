import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TransientError } from '@berth/runtime/errors';
import { CONFIG_MAP, MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { ObjectKey } from '@berth/kube/model/kube-api';
import { baseFiles, binding, clusterSet, namespace, yaml } from '../../../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../../../app/serve/served-fleet.ts';
import { interceptedApi } from './intercepted-api.ts';

describe('a release of deletions', () => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    fleet.git.commit(baseFiles);
  });
  afterEach(() => fleet.close());

  const without = { 'clusters.yaml': undefined };
  const heldNow = async (after = 0): Promise<string> => {
    const { message } = await fleet.event(
      'sync-problem',
      (event) => event.message.includes('left Git'),
      after,
    );
    return /--token ([0-9a-f]{12})/.exec(message)?.[1] ?? '';
  };
  const release = (code: string) =>
    fleet.berth(
      ...[
        'release',
        '--source',
        'fleet',
        '--kubeconfig',
        fleet.hub.kubeconfig,
        '--as',
        'Grace',
        '--token',
        code,
      ],
    );
  const left = async () =>
    (await fleet.hub.api.list(MANAGED_CLUSTER)).items.map(({ metadata }) => metadata.name);
  const pruned = (after = 0) => fleet.event('synced', (event) => event.pruned > 0, after);
  const annotations = async () =>
    (await fleet.hub.api.get(CONFIG_MAP, { namespace: 'berth-system', name: 'berth-fleet' }))?.metadata
      .annotations ?? {};

  it('counts once: the same objects, lost again, are held under another code', async () => {
    await fleet.serve();
    await fleet.event('synced');
    fleet.git.commit(without);
    const code = await heldNow();
    expect((await release(code)).code).toBe(0);
    await pruned();
    const again = { 'clusters.yaml': baseFiles['clusters.yaml'] };
    let seen = fleet.events.length;
    fleet.git.commit(again);
    await fleet.event('synced', ({ applied }) => applied === 6, seen);
    seen = fleet.events.length;
    fleet.git.commit(without);
    const second = await heldNow(seen);
    expect(second).not.toBe(code);
    expect(await left()).toHaveLength(6);
    expect((await release(code)).code).toBe(1);

    // The code of a release in Git stays there, and counts once as well.
    const carrier = {
      ...clusterSet,
      metadata: { ...clusterSet.metadata, annotations: { 'berth.dev/release': second } },
    };
    fleet.git.commit({ 'set.yaml': yaml(namespace('team-a'), carrier, binding()) });
    expect(await pruned(seen)).toMatchObject({ pruned: 6, released: { token: second } });
    seen = fleet.events.length;
    fleet.git.commit(again);
    await fleet.event('synced', ({ applied }) => applied === 6, seen);
    seen = fleet.events.length;
    fleet.git.commit(without);
    expect([code, second]).not.toContain(await heldNow(seen));
    expect(await left()).toHaveLength(6);
  });

  it('holds for the rest when not all of it could be deleted, also in the next process', async () => {
    const api = interceptedApi(fleet.hub.api, (method, args) => {
      if (method === 'delete' && /c[2-6]/.test((args[1] as ObjectKey).name))
        throw new TransientError('busy', { code: 'kube.busy', subject: 'hub' });
    });
    await fleet.serve({ api });
    await fleet.event('synced');
    fleet.git.commit(without);
    const code = await heldNow();
    await release(code);
    expect(await pruned()).toMatchObject({ pruned: 1, released: { token: code } });
    await fleet.stop();
    expect(await left()).toEqual(['c2', 'c3', 'c4', 'c5', 'c6']);

    await fleet.serve();
    expect(await pruned()).toMatchObject({
      pruned: 5,
      released: {
        token: code,
        by: expect.stringMatching(
          /^Grace \(Kubernetes user [a-z:]+, as recorded by the client\) at /,
        ) as string,
      },
    });
    expect(fleet.events.filter(({ kind }) => kind === 'sync-problem')).toEqual([]);
    await fleet.until(async () =>
      (await annotations())['berth.dev/released-objects'] === '' ? true : undefined,
    );
    expect((await annotations())['berth.dev/spent-tokens']).toBe(code);
  });
});
