import type { PlanSide } from '../../../src/core/preview/plan-input.ts';
import { planWorkloads } from '../../../src/core/preview/workload-plans.ts';
import { REPLICA_SET_LABEL, WORK_PLACEMENT_LABEL } from '@berth/ocm/kind/manifest-work-replica-set';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { makePlan } from '../../../src/core/preview/make-plan.ts';
import { renderPlanMarkdown } from '../../../src/core/preview/comment/render-plan-markdown.ts';
import { renderPlanText } from '../../../src/core/preview/views/render-plan-text.ts';
import { applicationSet, cluster, judges, placement, replicaSet, side } from './plan-fixture.ts';

const golden = (name: string, text: string) => {
  const file = path.join(import.meta.dirname, 'golden', name);
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, text);
  expect(text).toBe(readFileSync(file, 'utf8'));
};

const CLUSTERS = [cluster('c1'), cluster('c2'), cluster('c3')];
const base = side(
  'aaaa',
  [
    ...CLUSTERS,
    placement('web'),
    placement('db'),
    placement('gone'),
    replicaSet('web', 'web'),
    applicationSet('apps', 'web'),
  ],
  {
    web: ['c1', 'c2'],
    db: ['c1'],
    gone: ['c3'],
  },
);
const head = side(
  'bbbb',
  [
    cluster('c1', 'spec: {taints: [{key: maintenance, effect: NoSelect}]}\n'),
    ...CLUSTERS.slice(1),
    placement('web'),
    placement('db', '{numberOfClusters: 1}'),
    placement('new'),
    replicaSet('web', 'web', 'v2'),
    replicaSet('cache', 'new'),
    applicationSet('apps', 'web'),
  ],
  { web: ['c2', 'c3'], db: { misconfigured: ':incorrect priority <b>policy</b> @team' }, new: ['c2'] },
);

describe('a plan without a known cluster', () => {
  const blind = makePlan(side('aaaa', [placement('web')], {}), side('bbbb', [placement('new')], {}), judges);

  it('says so first, with the flags that help, and does not say that nothing moves', () => {
    const [ends, warning, headline] = renderPlanText(blind).split('\n');
    expect(ends).toBe('aaaa → bbbb');
    expect(warning).toMatch(/^! No cluster is known, .* need --hub or --inventory\.$/);
    expect(headline).toBe('2 placements would change: no cluster is known.');
    expect(renderPlanText(blind)).not.toContain('Not evaluated');
    expect(renderPlanMarkdown(blind)).toContain('2 placements would change: no cluster is known');
  });

  it('says nothing about clusters where there is no placement either', () => {
    expect(renderPlanText(makePlan(side('aaaa', [], {}), side('bbbb', [], {}), judges))).not.toContain(
      'known',
    );
  });
});

describe('a plan whose head adds a cluster', () => {
  const head = side('bbbb', [placement('web'), cluster('c1')], { web: ['c1'] });
  const base = side('aaaa', [placement('web')], { web: ['c1'] });

  it('says that the hub has it already', () => {
    const withHub = { ...base, snapshot: head.snapshot };
    expect(renderPlanText(makePlan(withHub, head, judges))).toContain(
      '+ ManagedCluster c1 (already on the hub)',
    );
  });

  it('says nothing where it is new', () => {
    expect(renderPlanText(makePlan(base, head, judges))).toMatch(/\+ ManagedCluster c1$/m);
  });
});

describe('a plan whose head approves the removals', () => {
  const released = (code: string) =>
    placement('web').replace(
      'namespace: shop',
      `namespace: shop, annotations: {berth.dev/release: '${code}'}`,
    );
  const planned = (code: string, clusters: readonly string[]) =>
    makePlan(
      side('aaaa', [...CLUSTERS, placement('web')], { web: ['c1', 'c2'] }),
      side('bbbb', [...CLUSTERS, released(code)], { web: clusters }),
      judges,
    );

  it('says which annotation does', () => {
    const text = renderPlanText(planned('an old one, shop/web:2:1', ['c1']));
    expect(text).toContain('approved by berth.dev/release: "shop/web:2:1"');
  });

  it.each([
    ['another change', 'shop/web:2:0', ['c1']],
    ['a change that is held', 'shop/web:2:0', []],
    ['no removal', 'shop/web:2:2', ['c1', 'c2']],
  ])('does not say so for %s', (_name, code, clusters) => {
    expect(renderPlanText(planned(code, clusters))).not.toContain('approved by');
  });
});

describe('a plan', () => {
  const plan = makePlan(base, head, judges);

  it('tells what moves, and why', () => {
    expect(plan).toMatchObject({
      hasChanges: true,
      summary: { placements: 3, placementsChanged: 4, clusters: 3, added: 2, removed: 3, held: 1 },
      placements: [
        {
          name: 'db',
          change: 'changed',
          definitionChanged: true,
          removed: [{ cluster: 'c1' }],
          held: { reason: 'WouldEmpty' },
        },
        {
          name: 'gone',
          change: 'deleted',
          removed: [{ cluster: 'c3', because: 'the placement is deleted' }],
          after: undefined,
        },
        { name: 'new', change: 'created', added: [{ cluster: 'c2' }], before: undefined },
        {
          name: 'web',
          change: 'changed',
          definitionChanged: false,
          added: [{ cluster: 'c3', because: 'rank 1 of 2 for shop/web' }],
          removed: [{ cluster: 'c1', because: 'tainted maintenance', causes: ['ManagedCluster c1'] }],
          kept: 1,
        },
      ],
      workloads: [
        { kind: 'ApplicationSet', name: 'apps', change: 'moved', added: ['c3'], removed: ['c1'], kept: 1 },
        { kind: 'ManifestWorkReplicaSet', name: 'cache', change: 'created', added: ['c2'], removed: [] },
        {
          kind: 'ManifestWorkReplicaSet',
          name: 'web',
          change: 'changed',
          added: ['c3'],
          removed: ['c1'],
          kept: 1,
        },
      ],
    });
    expect(
      plan.objects.map(({ change, ref, fields }) => `${change} ${ref.kind} ${ref.name} ${fields.join(',')}`),
    ).toEqual([
      'changed ManagedCluster c1 spec.taints',
      'created ManifestWorkReplicaSet cache ',
      'changed ManifestWorkReplicaSet web spec.manifestWorkTemplate',
      'changed Placement db spec.numberOfClusters',
      'deleted Placement gone ',
      'created Placement new ',
    ]);
  });

  it('reads well on a terminal and in a pull request', () => {
    golden('plan.txt', renderPlanText(plan));
    golden('plan.md', renderPlanMarkdown(plan));
  });

  it('makes no new work for a cluster that is gone, and keeps the works that are there', () => {
    const held = { web: ['c1', 'gone'] };
    const documents = [cluster('c1'), placement('web'), replicaSet('old', 'web')];
    const works = ['c1', 'gone'].map((namespace) => ({
      metadata: {
        ...{ name: 'shop-old', namespace },
        labels: {
          'work.open-cluster-management.io/manifestworkreplicaset': 'shop.old',
          'work.open-cluster-management.io/placementname': 'web',
        },
      },
    }));
    const { workloads } = makePlan(
      { ...side('aaaa', documents, held), works },
      side('bbbb', [...documents, replicaSet('new', 'web')], held),
      judges,
    );
    expect(workloads).toMatchObject([{ name: 'new', change: 'created', added: ['c1'], removed: [] }]);
  });

  it('of equal sides is empty, however the files are ordered', () => {
    const shuffled = side(
      'cccc',
      [
        applicationSet('apps', 'web'),
        placement('gone'),
        ...CLUSTERS.toReversed(),
        placement('db'),
        replicaSet('web', 'web'),
        placement('web'),
      ],
      {
        web: ['c2', 'c1'],
        db: ['c1'],
        gone: ['c3'],
      },
    );
    const none = makePlan(base, shuffled, judges);
    expect(none).toMatchObject({ hasChanges: false, placements: [], workloads: [], objects: [] });
    golden('no-changes.txt', renderPlanText(none));
  });
});

describe('the comment on a pull request', () => {
  it('cannot be broken out of by names and messages', () => {
    const text = renderPlanMarkdown(makePlan(base, head, judges));
    expect(text).toContain('incorrect priority &lt;b&gt;policy&lt;/b&gt; @\u200bteam');
    expect(text).not.toMatch(/<b>|[^\u200b]@team/);
  });

  it('leaves whole sections out when it would be too long, and says so', () => {
    const many = Array.from({ length: 400 }, (_, i) => `p${String(i).padStart(3, '0')}`);
    const decide = (name: string) => Object.fromEntries(many.map((placementName) => [placementName, [name]]));
    const documents = [...CLUSTERS, ...many.map((name) => placement(name))];
    const text = renderPlanMarkdown(
      makePlan(side('a', documents, decide('c1')), side('b', documents, decide('c2')), judges),
      {
        maxLength: 20_000,
      },
    );
    expect(text.length).toBeLessThanOrEqual(20_000);
    expect(text).toMatch(/_\d+ more sections do not fit in a comment/);
    expect(text.match(/<details>/g)?.length).toBe(text.match(/<\/details>/g)?.length);
  });
});

it('a work stays where another placement selects the cluster, also if that gets no work there', () => {
  const documents = (ref: string, ...clusters: string[]) => [
    ...[placement('a'), placement('b'), replicaSet('web', ref)],
    ...clusters.map((name) => cluster(name)),
  ];
  const decisions = { a: ['c1', 'c2'], b: ['c1'] };
  const workOn = (namespace: string) => ({
    metadata: {
      ...{ namespace, name: 'web-a' },
      labels: { [REPLICA_SET_LABEL]: 'shop.web', [WORK_PLACEMENT_LABEL]: 'a' },
    },
  });
  const base = side('main', documents('a', 'c1', 'c2'), decisions);
  const works = ['c1', 'c2'].map(workOn) as unknown as PlanSide['works'];
  const head = side('head', documents('b', 'c2'), decisions);
  expect(planWorkloads({ ...base, works }, head)).toMatchObject([
    { name: 'web', added: [], removed: ['c2'], kept: 1 },
  ]);
});
