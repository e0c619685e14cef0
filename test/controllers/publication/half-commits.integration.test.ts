import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TransientError } from '@berth/runtime/errors';
import { MANAGED_CLUSTER, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { InterceptedKubeApi } from '@berth/test-kit/intercepted-kube-api';
import { baseFiles, cluster, placement, yaml } from '../../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../../app/serve/served-fleet.ts';

/** A hub on which a test decides what becomes of each change of a Placement’s spec. */
class HubWithSlowPlacements extends InterceptedKubeApi {
  beforePlacement = async (): Promise<void> => undefined;

  /** @returns lets the changes go on */
  hold(): () => void {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    this.beforePlacement = () => released;
    return () => release();
  }

  protected async write<T>(request: () => Promise<T>, right: string): Promise<T> {
    if (right === 'patch placements') await this.beforePlacement();
    return request();
  }
}

const inRing = (...rings: string[]) => ({
  predicates: [
    {
      requiredClusterSelector: {
        labelSelector: { matchExpressions: [{ key: 'ring', operator: 'In', values: rings }] },
      },
    },
  ],
});
/** Eight clusters, the first ones in another ring. */
const rings = (moved: number, to = 'b') =>
  yaml(...[1, 2, 3, 4, 5, 6, 7, 8].map((n) => cluster(`c${n}`, { labels: { ring: n <= moved ? to : 'a' } })));

describe('a commit of which half is on the hub', () => {
  let fleet: ServedFleet;
  let api: HubWithSlowPlacements;
  const seen: number[] = [];
  let stop: AbortController;
  beforeEach(async () => {
    stop = new AbortController();
    fleet = await ServedFleet.create();
    api = new HubWithSlowPlacements(fleet.hub.api);
    fleet.git.commit({
      ...baseFiles,
      'clusters.yaml': rings(0),
      'web.yaml': yaml(placement('web', inRing('a'))),
    });
    await fleet.serve({ api });
    await fleet.published('web');
    const { resourceVersion } = await fleet.hub.api.list(PLACEMENT_DECISION);
    seen.length = 0;
    const { signal } = stop;
    void (async () => {
      const pages = fleet.hub.api.watch(PLACEMENT_DECISION, { resourceVersion, signal });
      for await (const event of pages) if (event.type === 'modified') seen.push(countOf(event.object));
    })().catch(() => undefined);
  });
  afterEach(async () => {
    stop.abort();
    await fleet.close();
  });

  const countOf = (page: KubeObject) => (page['status'] as { decisions: unknown[] }).decisions.length;
  /** What a commit says that gives two clusters another label and lets the placement follow them. */
  const followedByPlacement = {
    'clusters.yaml': rings(2),
    'web.yaml': yaml(placement('web', inRing('a', 'b'))),
  };
  const specOf = async () => JSON.stringify((await fleet.read('web')).spec);
  const inOtherRing = (count: number) =>
    fleet.until(async () => {
      const { items } = await fleet.hub.api.list(MANAGED_CLUSTER, { labelSelector: 'ring=b' });
      return items.length === count ? true : undefined;
    });
  const followed = () => fleet.until(async () => (/"b"/.test(await specOf()) ? true : undefined));

  it('takes no cluster away that both commits have, however long the rest of it takes', async () => {
    const release = api.hold();
    fleet.git.commit(followedByPlacement);
    await inOtherRing(2);
    await fleet.advance(500);
    expect(seen).toEqual([]);
    release();
    await followed();
    await fleet.advance(300);
    expect(await fleet.decisions('web')).toHaveLength(8);
    expect(seen).toEqual([]);
    expect(fleet.events.filter(({ kind }) => kind === 'published')).toHaveLength(1);
  });

  it('nor while the hub refuses the rest of it for a moment', async () => {
    let failures = 3;
    api.beforePlacement = async () => {
      if (failures-- > 0)
        throw new TransientError('busy', { code: 'kube.serviceunavailable', subject: 'hub' });
    };
    fleet.git.commit(followedByPlacement);
    await followed();
    await fleet.advance(300);
    expect(failures).toBe(-1);
    expect(seen).toEqual([]);
  });

  it('nor when the controller dies half way and another one begins with what is there', async () => {
    let die: (error: Error) => void = () => undefined;
    const death = new Promise<void>((_, reject) => (die = reject));
    death.catch(() => undefined);
    api.beforePlacement = () => death;
    fleet.git.commit(followedByPlacement);
    await inOtherRing(2);
    die(new TransientError('gone', { code: 'kube.network', subject: 'hub' }));
    await fleet.stop();
    await fleet.serve();
    await followed();
    await fleet.advance(300);
    expect(seen).toEqual([]);
    expect(await fleet.decisions('web')).toHaveLength(8);
  });

  it('adds no cluster either that neither commit has', async () => {
    const withOthers = (ring: string) =>
      yaml(...[1, 2, 3, 4].map((n) => cluster(`d${n}`, { labels: { ring, tier: 'lab' } })));
    const labelSelector = { matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['lab'] }] };
    const narrowed = { predicates: [{ requiredClusterSelector: { labelSelector } }] };
    fleet.git.commit({ 'others.yaml': withOthers('b') });
    await inOtherRing(4);
    const release = api.hold();
    fleet.git.commit({ 'others.yaml': withOthers('a'), 'web.yaml': yaml(placement('web', narrowed)) });
    await inOtherRing(0);
    await fleet.advance(500);
    release();
    await fleet.until(async () => (/"lab"/.test(await specOf()) ? true : undefined));
    await fleet.advance(300);
    expect(seen).toEqual([]);
  });

  it('is not waited for when what is missing will not come by itself', async () => {
    fleet.git.commit({
      'clusters.yaml': rings(2),
      'other.yaml': yaml({
        apiVersion: 'example.org/v1',
        kind: 'Widget',
        metadata: { name: 'w', namespace: 'team-a' },
      }),
    });
    await fleet.until(() => (seen.at(-1) === 6 ? true : undefined));
  });
});
