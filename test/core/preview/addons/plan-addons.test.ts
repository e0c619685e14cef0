import { sha256 } from '@berth/runtime/sha256';
import { describe, expect, it } from 'vitest';
import {
  type AddOnJudging,
  type HubAddOns,
  planAddOns,
} from '../../../../src/core/preview/addons/plan-addons.ts';
import type { PlanSide } from '../../../../src/core/preview/plan-input.ts';
import { publishedOf } from '../../../../src/core/preview/workload-plans.ts';
import { cluster, placement, side } from '../plan-fixture.ts';

const ADDON = 'addon.open-cluster-management.io';
const NOW_MS = Date.parse('2026-03-01T12:00:00Z');
const addOn = (name: string, strategy: string) =>
  `apiVersion: ${ADDON}/v1alpha1\nkind: ClusterManagementAddOn\nmetadata: {name: ${name}}\nspec: {installStrategy: ${strategy}}\n`;
const on = (...names: readonly string[]): string =>
  `{type: Placements, placements: [${names.map((name) => `{namespace: shop, name: ${name}}`).join()}]}`;
const CLUSTERS = ['c1', 'c2', 'c3', 'c4', 'c5'];
const FLEET = CLUSTERS.map((name) => cluster(name, 'spec: {hubAcceptsClient: true}\n'));

/** Placements and their clusters; one without any is there and not decided. */
function fleet(
  placements: Readonly<Record<string, readonly string[] | undefined>>,
  addOns: readonly string[],
): PlanSide {
  const documents = [...FLEET, ...Object.keys(placements).map((name) => placement(name)), ...addOns];
  const decided = Object.fromEntries(Object.entries(placements).map(([name, list]) => [name, list ?? []]));
  const made = side('aaaa', documents, decided);
  const results = made.results.filter(
    ({ placement: { metadata } }) => placements[metadata.name] !== undefined,
  );
  return { ...made, results, published: publishedOf(made) };
}

const judged = (over: Partial<AddOnJudging> = {}): AddOnJudging => ({
  ...{ budget: { percent: 0, atLeast: 1 }, removalsOf: () => [], digest: sha256, nowMs: NOW_MS },
  ...over,
});

const installed = (name: string, clusters: readonly string[], annotations = {}): HubAddOns => ({
  managed: [],
  configs: [],
  installed: clusters.map((namespace) => ({
    apiVersion: `${ADDON}/v1alpha1`,
    kind: 'ManagedClusterAddOn',
    metadata: { namespace, name, annotations },
  })),
});

interface Given {
  readonly before: PlanSide;
  readonly after: PlanSide;
  readonly hub?: HubAddOns;
  readonly judging?: AddOnJudging | undefined;
}

function plan({ before, after, hub, ...given }: Given) {
  const judging = 'judging' in given ? given.judging : judged();
  const planned = planAddOns({ sides: [before, after], hub, judging });
  const placed = (of: typeof planned.before): Record<string, string> =>
    Object.fromEntries(
      [...of.values()].map(({ object, clusters }) => [object.metadata.name, clusters.join()]),
    );
  const held = planned.held.map(
    ({ addOn: name, clusters, message }) => `${name} ${clusters.join()}: ${message}`,
  );
  return { before: placed(planned.before), after: placed(planned.after), held, waiting: planned.waiting };
}

const hello = addOn('hello', on('web'));
const ALL = fleet({ web: CLUSTERS }, [hello]);

describe('the add-ons of a plan', () => {
  it('leave within the budget, and come to new clusters', () => {
    const after = fleet({ web: ['c1', 'c2', 'c3', 'c4'] }, [hello]);
    const few = fleet({ web: ['c1', 'c2', 'c3'] }, [hello]);
    expect(plan({ before: few, after })).toMatchObject({ after: { hello: 'c1,c2,c3,c4' }, held: [] });
    expect(plan({ before: ALL, after })).toEqual({
      ...{ before: { hello: CLUSTERS.join() }, after: { hello: 'c1,c2,c3,c4' } },
      ...{ held: [], waiting: [] },
    });
  });

  it('stay beyond it, all of them, and new clusters get them', () => {
    const before = fleet({ web: ['c1', 'c2', 'c3', 'c4'] }, [hello]);
    const after = fleet({ web: ['c1', 'c5'] }, [hello]);
    const { after: clusters, held } = plan({ before, after });
    expect(clusters).toEqual({ hello: CLUSTERS.join() });
    expect(held).toEqual([
      expect.stringMatching(
        /^hello c2,c3,c4: 3 of 5 clusters would lose add-on hello \(budget 1\): c2, c3, c4\. They keep it\. To approve this change, set .* run: berth release --addon hello --token [0-9a-f]{12}$/,
      ),
    ]);
  });

  it('count earlier removals, and those of the last minutes without the merge', () => {
    const after = fleet({ web: ['c1', 'c2', 'c3', 'c4'] }, [hello]);
    const removals = [{ atMs: NOW_MS - 60_000, count: 1 }];
    expect(
      plan({ before: ALL, after, judging: judged({ removalsOf: () => removals }) }).held.join(),
    ).toContain('1 of 5 clusters would lose add-on hello, after 1 in the last minutes');
    // The hub does not follow the base yet: c5 leaves without the merge.
    const due = fleet({ web: ['c1', 'c2', 'c3', 'c4'] }, [hello]);
    const next = fleet({ web: ['c1', 'c2', 'c3'] }, [hello]);
    const { held, waiting } = plan({ before: due, after: next, hub: installed('hello', CLUSTERS) });
    expect(held.join()).toContain('1 of 4 clusters would lose add-on hello, after 1 in the last minutes');
    expect(waiting).toEqual([{ kind: 'add-on', subject: 'hello', added: [], removed: ['c5'] }]);
  });

  it('that are held without the merge wait, and are no part of it', () => {
    const before = fleet({ web: ['c1', 'c2'] }, [hello]);
    const hub = installed('hello', CLUSTERS);
    expect(plan({ before, after: before, hub })).toMatchObject({
      held: [],
      waiting: [{ kind: 'add-on-held', subject: 'hello', clusters: ['c3', 'c4', 'c5'] }],
    });
    const after = fleet({ web: ['c1'] }, [hello]);
    expect(plan({ before, after, hub })).toMatchObject({
      held: [expect.stringContaining('hello c2,c3,c4,c5: 4 of 5')],
      waiting: [],
    });
  });

  it('leave when their release is on one of them', () => {
    const after = fleet({ web: ['c1', 'c2'] }, [hello]);
    const code = /token ([0-9a-f]{12})/.exec(plan({ before: ALL, after }).held.join())?.[1];
    const hub = installed('hello', CLUSTERS, { 'berth.dev/release': code });
    expect(plan({ before: ALL, after, hub })).toMatchObject({ after: { hello: 'c1,c2' }, held: [] });
  });

  it('of a hub alone follow the placements of Git', () => {
    const { items: managed } = { items: side('x', [hello], {}).objects.map(({ object }) => object) };
    const hub = { ...installed('hello', CLUSTERS), managed };
    const [before, after] = [fleet({ web: CLUSTERS }, []), fleet({ web: ['c1', 'c2'] }, [])];
    expect(plan({ before, after, hub }).held).toEqual([expect.stringContaining('hello c3,c4,c5')]);
  });

  it.each([
    { name: 'missing', after: fleet({}, [hello]) },
    { name: 'not decided', after: fleet({ web: undefined }, [hello]) },
    { name: 'not looked at any more', after: fleet({ web: ['c1'] }, [addOn('hello', '{type: Manual}')]) },
  ])('stay while their placement is $name', ({ after }) => {
    expect(plan({ before: ALL, after })).toMatchObject({ after: { hello: CLUSTERS.join() }, held: [] });
  });

  it('leave at once where Berth does not manage them, and with their ClusterManagementAddOn', () => {
    const after = fleet({ web: ['c1'] }, [hello]);
    expect(plan({ before: ALL, after, judging: undefined })).toMatchObject({
      after: { hello: 'c1' },
      held: [],
    });
    expect(plan({ before: ALL, after: fleet({ web: CLUSTERS }, []) })).toMatchObject({ after: {}, held: [] });
  });

  it('that people installed leave when placements decide', () => {
    const before = fleet({ web: ['c1', 'c2'] }, [addOn('hello', '{type: Manual}')]);
    const hub = installed('hello', ['c3', 'c4']);
    const after = fleet({ web: ['c1', 'c2'] }, [hello]);
    expect(plan({ before, after, hub }).held).toEqual([expect.stringContaining('hello c3,c4: 2 of 4')]);
  });
});
