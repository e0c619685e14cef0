import { describe, expect, it } from 'vitest';
import { withAddOnContents } from '../../../../src/core/preview/addons/addon-contents.ts';
import { addOnFutures } from '../../../../src/core/preview/addons/plan-addons.ts';
import { contentChanges } from '../../../../src/core/preview/content-changes.ts';
import { makePlan } from '../../../../src/core/preview/make-plan.ts';
import { rolloutText } from '../../../../src/core/preview/plan-text.ts';
import { publishedOf } from '../../../../src/core/preview/workload-plans.ts';
import { cluster, judges, placement, side } from '../plan-fixture.ts';

const ADDON = 'addon.open-cluster-management.io/v1alpha1';
const CLUSTERS = ['c1', 'c2', 'c3'];
const FLEET = CLUSTERS.map((name) => cluster(name, 'spec: {hubAcceptsClient: true}\n'));

const template = (name: string, image: string): string => `apiVersion: ${ADDON}
kind: AddOnTemplate
metadata: {name: ${name}}
spec:
  addonName: hello
  agentSpec:
    workload:
      manifests:
      - apiVersion: apps/v1
        kind: Deployment
        metadata: {name: agent, namespace: hello}
        spec: {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: agent, image: 'hello:${image}', args: ['--size={{SIZE}}']}]}}}
`;
const config = (name: string, size: string): string => `apiVersion: ${ADDON}
kind: AddOnDeploymentConfig
metadata: {name: ${name}, namespace: shop}
spec: {customizedVariables: [{name: SIZE, value: ${size}}]}
`;

interface AddOn {
  readonly template?: string | undefined;
  /** By placement: the configuration, and the strategy. */
  readonly placements: Readonly<Record<string, { readonly config?: string; readonly strategy?: string }>>;
}

const GROUP = 'addon.open-cluster-management.io';

function addOn({ template: name, placements }: AddOn): string {
  const of = (resource: string, rest: string): string => `{group: ${GROUP}, resource: ${resource}, ${rest}}`;
  const supported = [
    ...(name === undefined ? [] : [of('addontemplates', `defaultConfig: {name: ${name}}`)]),
    of('addondeploymentconfigs', 'defaultConfig: {namespace: shop, name: small}'),
  ];
  const strategies = Object.entries(placements).map(([key, { config: own, strategy }]) => {
    const configs =
      own === undefined
        ? ''
        : `, configs: [${of('addondeploymentconfigs', `namespace: shop, name: ${own}`)}]`;
    return `{namespace: shop, name: ${key}${configs}${strategy === undefined ? '' : `, rolloutStrategy: ${strategy}`}}`;
  });
  return `apiVersion: ${ADDON}
kind: ClusterManagementAddOn
metadata: {name: hello}
spec: {supportedConfigs: [${supported.join()}], installStrategy: {type: Placements, placements: [${strategies.join()}]}}
`;
}

const WEB = { web: {} };
const BASE = [
  addOn({ template: 'v5', placements: WEB }),
  template('v5', 'v5'),
  template('v6', 'v6'),
  config('small', 's'),
];

function planned(
  before: readonly string[],
  after: readonly string[],
  decided: readonly [
    Readonly<Record<string, readonly string[]>>,
    Readonly<Record<string, readonly string[]>>,
  ] = [{ web: CLUSTERS }, { web: CLUSTERS }],
) {
  const sides = [before, after].map((documents, at) => {
    const own = decided[at] ?? {};
    const made = side(
      'aaaa',
      [...FLEET, ...Object.keys(own).map((name) => placement(name)), ...documents],
      own,
    );
    return { ...made, published: publishedOf(made) };
  });
  const [base, head] = sides;
  if (base === undefined || head === undefined) throw new Error('two sides');
  const futures = addOnFutures({ sides: [base, head], hub: undefined, judging: undefined });
  const plan = makePlan(futures.before, futures.after, judges);
  const { workloads, rollouts, notEvaluated } = withAddOnContents(plan, futures, undefined);
  return {
    workloads: workloads.map(({ change, added, changedOn }) => ({ change, added, changedOn })),
    texts: contentChanges({ ...plan, workloads, objects: [] }).map(
      ({ subject, text }) => `${subject}: ${text}`,
    ),
    rollouts: rollouts.map((one) => `${one.placement} ${rolloutText(one)}`),
    notes: notEvaluated.filter((note) => note.includes('add-on')),
  };
}

describe('the contents of add-ons in a plan', () => {
  it('are those of another template, on the clusters that keep the add-on', () => {
    const after = [addOn({ template: 'v6', placements: WEB }), ...BASE.slice(1)];
    expect(planned(BASE, after)).toEqual({
      workloads: [{ change: 'changed', added: [], changedOn: CLUSTERS }],
      texts: [
        'add-on hello: ManagedClusterAddOn hello AddOnTemplate v5 → v6, Deployment agent image v5 → v6, on c1, c2 and c3',
      ],
      rollouts: ['shop/web All, 1 batch: c1, c2, c3'],
      notes: [],
    });
  });

  it('are those of a template that is edited in place', () => {
    const after = [BASE[0] ?? '', template('v5', 'v7'), ...BASE.slice(2)];
    expect(planned(BASE, after).texts).toEqual(['add-on hello: image v5 → v7, on c1, c2 and c3']);
  });

  it('reach the clusters by the rollout of their placement', () => {
    const strategy = '{type: Progressive, progressive: {maxConcurrency: 1, minSuccessTime: 10m}}';
    const of = (version: string) => addOn({ template: version, placements: { web: { strategy } } });
    const { rollouts } = planned([of('v5'), ...BASE.slice(1)], [of('v6'), ...BASE.slice(1)]);
    expect(rollouts).toEqual(['shop/web Progressive, 3 batches, at least 30m: c1 → c2 → c3']);
  });

  it('are those of the last placement that selects a cluster', () => {
    const of = (name: string) => addOn({ template: 'v5', placements: { web: {}, db: { config: name } } });
    const rest = [...BASE.slice(1), config('big', 'xl')];
    const decided = { web: CLUSTERS, db: ['c3'] };
    const { texts, rollouts } = planned([of('small'), ...rest], [of('big'), ...rest], [decided, decided]);
    expect(texts).toEqual([
      'add-on hello: ManagedClusterAddOn hello AddOnDeploymentConfig shop/small → shop/big, Deployment agent args[0] --size=s → --size=xl, on c3',
    ]);
    expect(rollouts).toEqual(['shop/db All, 1 batch: c3']);
  });

  it('do not name clusters that get the add-on, but they are in its rollout', () => {
    const decided = [{ web: ['c1'] }, { web: ['c1', 'c2'] }] as const;
    expect(planned(BASE, BASE, decided)).toEqual({
      workloads: [{ change: 'moved', added: ['c2'], changedOn: [] }],
      texts: [],
      rollouts: ['shop/web All, 1 batch: c2'],
      notes: [],
    });
  });

  it('of an add-on with its own manager are its configurations', () => {
    const own = addOn({ placements: WEB });
    const { texts } = planned([own, config('small', 's')], [own, config('small', 'm')]);
    expect(texts).toEqual(['add-on hello: content of AddOnDeploymentConfig shop/small, on c1, c2 and c3']);
  });

  it('that cannot be rendered are named', () => {
    const { notes, workloads } = planned(BASE, [
      addOn({ template: 'v9', placements: WEB }),
      ...BASE.slice(1),
    ]);
    expect(workloads).toMatchObject([{ changedOn: CLUSTERS }]);
    expect(notes).toEqual([expect.stringContaining('What add-on hello is made of is not compared: ')]);
  });
});
