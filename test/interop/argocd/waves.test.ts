import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Application } from '../../../src/core/argocd/argocd-kinds.ts';
import { MANAGED_CLUSTER, PLACEMENT } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { hasPeers } from '../peers/peer-programs.ts';
import { HUB_KINDS } from '../peers/shared-hubs.ts';
import { APPLICATION, APPLICATION_SET } from './argo-installation.ts';
import { allowPages, PAGES_DATA } from './decision-pages.ts';
import { GeneratorWorld, selecting, template, until } from './generator-world.ts';

const EXAMPLE = join(import.meta.dirname, '../../../examples/argocd-waves');
const WAVES = 'berth.dev/waves';
const STAGES = { c1: 'canary', c2: 'early' };
const REFRESH = 'argocd.argoproj.io/refresh';
const LONG_AGO = '2020-01-01T00:00:00Z';
const ARGOCD = {
  namespace: 'argocd',
  refresh: true,
  waves: true,
  clusterSecrets: false,
  pull: false,
  pluginConfigMaps: ['berth'],
  clusterLabels: [],
};
const SWITCH = 'ARGOCD_APPLICATIONSET_CONTROLLER_ENABLE_PROGRESSIVE_SYNCS';

const read = (file: string): KubeObject => parse(readFileSync(join(EXAMPLE, file), 'utf8')) as KubeObject;

/** No application controller runs here: the test reports in its place. */
describe.each(HUB_KINDS)('waves with Argo CD’s ApplicationSet controller on $name', ({ programs, start }) => {
  const isBuilt = hasPeers('argocd', ...programs);
  let world: GeneratorWorld;
  const switchBefore = process.env[SWITCH];

  const applications = async (set: string): Promise<readonly string[]> =>
    Object.keys(await world.applications(set)).sort();
  const generates = (set: string, ...clusters: readonly string[]): Promise<void> =>
    until(async () => expect(await applications(set)).toEqual(clusters.map((name) => `${set}-${name}`)));
  const application = async (name: string): Promise<Application> => {
    const found = await world.api.get(APPLICATION, { namespace: 'argocd', name });
    if (found === undefined) throw new Error(`no Application ${name}`);
    return found;
  };
  const report = async (
    name: string,
    health: string,
    { sync = 'Synced', at = LONG_AGO, revision = 'abc', endsOperation = true } = {},
  ): Promise<void> => {
    const { spec } = await application(name);
    await world.patch(APPLICATION, name, {
      ...(endsOperation && { operation: null }),
      status: {
        health: { status: health, lastTransitionTime: at },
        sync: { status: sync, revision, comparedTo: { source: spec?.['source'], destination: {} } },
      },
    });
  };
  /** What the application controller does when it is asked: since Argo CD 3.6 a RollingSync asks, and waits for it. */
  const compared = async (set: string): Promise<void> => {
    const asked = (await world.applicationObjects(set)).filter(
      ({ metadata }) => metadata.annotations?.[REFRESH] !== undefined,
    );
    for (const { metadata } of asked)
      await world.patch(APPLICATION, metadata.name, {
        metadata: { annotations: { [REFRESH]: null, [`${REFRESH}-timestamp`]: null } },
        status: { reconciledAt: new Date().toISOString() },
      });
  };
  /** What the application controller does with an operation; it ended so long ago that the wave has soaked. */
  const synced = async (name: string): Promise<void> => {
    const now = new Date().toISOString();
    await world.patch(APPLICATION, name, {
      operation: null,
      status: {
        reconciledAt: now,
        health: { status: 'Healthy', lastTransitionTime: LONG_AGO },
        sync: { status: 'Synced' },
        operationState: { operation: { sync: {} }, phase: 'Succeeded', startedAt: now, finishedAt: LONG_AGO },
      },
    });
  };
  const operations = async (set: string): Promise<readonly string[]> => {
    await compared(set);
    return (await world.applicationObjects(set))
      .filter((object) => object['operation'] !== undefined)
      .map(({ metadata }) => metadata.name)
      .sort();
  };
  /** This Application alone is synced. The controller may set an operation twice before it reads the status: it is done again. */
  const syncsOnly = (name: string): Promise<void> =>
    until(async () => {
      const others = (await operations('shop')).filter((other) => other < name);
      for (const other of others) await synced(other);
      expect(await operations('shop')).toEqual([name]);
    });
  /** An operation that began in the second of its request counts as an earlier one: the controller asks again. */
  const becomes = (name: string, wanted: string): Promise<void> =>
    until(async () => {
      const set = name.split('-')[0] ?? '';
      if ((await operations(set)).includes(name)) await synced(name);
      expect((await rollout(set))[name]).toBe(wanted);
    });
  const rollout = async (set: string): Promise<Readonly<Record<string, string>>> => {
    const found = await world.api.get(APPLICATION_SET, { namespace: 'argocd', name: set });
    const { applicationStatus = [] } = (found?.['status'] ?? {}) as {
      readonly applicationStatus?: readonly {
        readonly application: string;
        readonly status: string;
        readonly step: string;
      }[];
    };
    return Object.fromEntries(
      applicationStatus.map(({ application: name, status, step }) => [name, `${status} in ${step}`]),
    );
  };

  beforeAll(async () => {
    process.env[SWITCH] = 'true';
    const hub = await start();
    world = await GeneratorWorld.start(hub);
    await world.stopBerth();
    await world.serve({ argocd: ARGOCD });
    for (const [name, stage] of Object.entries(STAGES))
      await world.patch(MANAGED_CLUSTER, name, { metadata: { labels: { stage } } });
    const { decisionStrategy } = read('placement.yaml')['spec'] as { readonly decisionStrategy: object };
    for (const name of ['web', 'shop'])
      await world.create(PLACEMENT, {
        ...read('placement.yaml'),
        metadata: { name, namespace: 'team-a', annotations: { 'berth.dev/scheduler': 'berth' } },
        spec: { ...selecting(['c1', 'c2', 'c3']), decisionStrategy },
      });
    for (const name of ['web', 'shop'])
      await until(async () => expect(await world.published(name, 'team-a')).toEqual(['c1', 'c2', 'c3']));
    await world.connect('berth');
  });
  afterAll(async () => {
    if (switchBefore === undefined) delete process.env[SWITCH];
    else process.env[SWITCH] = switchBefore;
    await world?.close();
  });

  describe.skipIf(!isBuilt)('that Berth serves', () => {
    const parameters = { placement: 'team-a/web', waves: '3', soak: '10m' };
    const plugin = { configMapRef: { name: 'berth' }, input: { parameters }, requeueAfterSeconds: 1_800 };
    const labels = { wave: '{{ .wave }}' };

    it('begin with the first, and each write wakes the controller', async () => {
      const metadata = template('web-{{ .clusterName }}', '{{ .name }}', { labels });
      await world.applicationSet('web', [{ plugin }], { template: metadata });
      await generates('web', 'c1');
      expect((await application('web-c1')).metadata.labels).toMatchObject({ wave: 'w0' });
      await report('web-c1', 'Healthy');
      await generates('web', 'c1', 'c2');
      expect((await application('web-c2')).metadata.labels).toMatchObject({ wave: 'w1' });
    });

    it('do not go on while the wave is not healthy, or has not soaked', async () => {
      await report('web-c2', 'Degraded');
      expect(await world.refresh('web')).toMatchObject({ outcome: 'done' });
      expect(await applications('web')).toEqual(['web-c1', 'web-c2']);
      await report('web-c2', 'Healthy', { at: new Date().toISOString() });
      expect(await world.refresh('web')).toMatchObject({ outcome: 'done' });
      expect(await applications('web')).toEqual(['web-c1', 'web-c2']);
    });

    it('take no Application away when an earlier wave fails, Berth starts again, or the note is lost', async () => {
      const before = await world.applications('web');
      await report('web-c1', 'Degraded');
      await world.refresh('web');
      await world.stopBerth();
      await world.serve({ argocd: ARGOCD });
      await until(async () => expect((await world.refresh('web')).outcome).toBe('done'));
      await world.patch(APPLICATION_SET, 'web', { metadata: { annotations: { [WAVES]: null } } });
      await until(async () => expect((await world.refresh('web')).outcome).toBe('done'));
      expect(await world.applications('web')).toEqual(before);
    });

    it('are an error, which keeps all, where Berth runs without them', async () => {
      const before = await world.applications('web');
      await world.stopBerth();
      const berth = await world.serve();
      await berth.whenReady();
      expect(await world.refresh('web')).toMatchObject({
        outcome: 'failed',
        error: expect.stringContaining('needs berth serve --argocd-waves') as string,
      });
      expect(await world.applications('web')).toEqual(before);
      await world.stopBerth();
      await world.serve({ argocd: ARGOCD });
    });

    it('go to the end, and a cluster that leaves goes at once', async () => {
      for (const name of ['web-c1', 'web-c2']) await report(name, 'Healthy');
      await generates('web', 'c1', 'c2', 'c3');
      await world.choose('web', 'team-a', ['c1', 'c3']);
      await generates('web', 'c1', 'c3');
      expect((await application('web-c3')).metadata.labels).toMatchObject({ wave: 'w2' });
    });
  });

  describe.skipIf(!isBuilt)('as steps of a RollingSync, as in examples/argocd-waves', () => {
    it('are synced one after the other', async () => {
      const example = read('applicationset.yaml');
      const spec = { ...(example['spec'] as object), syncPolicy: { preserveResourcesOnDeletion: true } };
      await world.create(APPLICATION_SET, { ...example, spec });
      for (const [at, name] of ['shop-c1', 'shop-c2', 'shop-c3'].entries()) {
        await until(async () => expect(await applications('shop')).toContain(name));
        await report(name, 'Missing', { sync: 'OutOfSync' });
        await syncsOnly(name);
        // The controller sets the operation before it writes the status, and may lose that write to a conflict.
        for (let looks = 0; looks < 50; looks++) {
          if ((await rollout('shop'))[name] === `Pending in ${at + 1}`) break;
          // fixed wait: the pace of a poll that may end without its state
          await sleep(100);
        }
        await becomes(name, `Healthy in ${at + 1}`);
      }
    });

    it('sync a change wave by wave', async () => {
      const names = ['shop-c1', 'shop-c2', 'shop-c3'];
      // Since Argo CD 3.3 a change is a new revision or another spec, not that something on the cluster differs.
      for (const name of names) await report(name, 'Healthy', { sync: 'OutOfSync', revision: 'def' });
      for (const name of names) {
        await syncsOnly(name);
        await becomes(name, `Healthy in ${names.indexOf(name) + 1}`);
      }
      await until(async () =>
        expect(Object.values(await rollout('shop'))).toEqual([
          'Healthy in 1',
          'Healthy in 2',
          'Healthy in 3',
        ]),
      );
    });

    it('do not begin again when a cluster joins: it alone is synced', async () => {
      await world.choose('shop', 'team-a', ['c1', 'c2', 'c3', 'c4']);
      await until(async () => expect(await applications('shop')).toContain('shop-c4'));
      expect((await application('shop-c4')).metadata.labels).toMatchObject({ wave: 'w2' });
      // The controller may have begun to sync it already.
      await report('shop-c4', 'Missing', { sync: 'OutOfSync', endsOperation: false });
      await syncsOnly('shop-c4');
      expect(await rollout('shop')).toMatchObject({
        'shop-c1': 'Healthy in 1',
        'shop-c2': 'Healthy in 2',
        'shop-c3': 'Healthy in 3',
      });
      await becomes('shop-c4', 'Healthy in 3');
    });

    it('come from decision resources with a generator for each group, which fails for an empty one', async () => {
      const { decisionStrategy } = read('placement.yaml')['spec'] as { readonly decisionStrategy: object };
      await world.create(PLACEMENT, {
        ...read('placement.yaml'),
        metadata: { name: 'pages', namespace: 'argocd', annotations: { 'berth.dev/scheduler': 'berth' } },
        // None of them is early.
        spec: { ...selecting(['c1', 'c3']), decisionStrategy },
      });
      await until(async () => expect(await world.published('pages', 'argocd')).toEqual(['c1', 'c3']));
      await allowPages(world);
      await world.connect('pages', PAGES_DATA);
      const ocm = 'cluster.open-cluster-management.io';
      const generatorOf = (group: string, wave: string) => ({
        clusterDecisionResource: {
          configMapRef: 'pages',
          labelSelector: {
            matchLabels: { [`${ocm}/placement`]: 'pages', [`${ocm}/decision-group-name`]: group },
          },
          values: { wave },
        },
      });
      const generators = [generatorOf('canary', 'w0'), generatorOf('', 'w2')];
      const labels = { wave: '{{ .values.wave }}' };
      await world.applicationSet('pages', generators, {
        template: template('pages-{{ .clusterName }}', '{{ .name }}', { labels }),
      });
      await generates('pages', 'c1', 'c3');
      expect((await application('pages-c1')).metadata.labels).toMatchObject({ wave: 'w0' });
      expect((await application('pages-c3')).metadata.labels).toMatchObject({ wave: 'w2' });
      const before = await world.applications('pages');
      const withEmpty = [...generators, generatorOf('early', 'w1')];
      await world.patch(APPLICATION_SET, 'pages', { spec: { generators: withEmpty } });
      await until(async () =>
        expect((await world.refresh('pages')).error).toContain('no clusterDecisionResources found'),
      );
      expect(await world.applications('pages')).toEqual(before);
    });

    it('leave an Application alone that is in no step', async () => {
      const elements = [
        { name: 'c1', wave: 'w0' },
        { name: 'c2', wave: 'w9' },
      ];
      const steps = [{ matchExpressions: [{ key: 'wave', operator: 'In', values: ['w0'] }] }];
      const labels = { wave: '{{ .wave }}' };
      await world.applicationSet('stray', [{ list: { elements } }], {
        template: template('stray-{{ .name }}', '{{ .name }}', { labels }),
        strategy: { type: 'RollingSync', rollingSync: { steps } },
      });
      await generates('stray', 'c1', 'c2');
      for (const name of ['stray-c1', 'stray-c2']) await report(name, 'Missing', { sync: 'OutOfSync' });
      await until(async () => expect(await operations('stray')).toEqual(['stray-c1']));
      await becomes('stray-c1', 'Healthy in 1');
      await world.refresh('stray');
      // The other one may be told twice.
      expect(await operations('stray')).not.toContain('stray-c2');
      expect((await rollout('stray'))['stray-c2']).toBe('Waiting in -1');
    });
  });
});
