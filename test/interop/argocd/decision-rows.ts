import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { beforeAll, describe, expect, it } from 'vitest';
import { CONFIG_MAP, MANAGED_CLUSTER, PLACEMENT, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { cluster } from '../../app/serve/fleet-fixture.ts';
import {
  APPLICATION_SET,
  ARGO_NAMESPACE,
  clusterSecret,
  inArgo,
  ROLE,
  ROLE_BINDING,
  SECRET,
} from './argo-installation.ts';
import { CLUSTERS, type GeneratorWorld, until } from './generator-world.ts';

const GENERATOR = {
  apiVersion: 'cluster.open-cluster-management.io/v1beta1',
  kind: 'placementdecisions',
  statusListKey: 'decisions',
  matchKey: 'clusterName',
};
const PLACEMENT_LABEL = 'cluster.open-cluster-management.io/placement';

/** A page that no placement has: Berth leaves it alone. */
const page = (name: string, set: string): KubeObject => ({
  apiVersion: 'cluster.open-cluster-management.io/v1beta1',
  kind: 'PlacementDecision',
  metadata: { name, namespace: ARGO_NAMESPACE, labels: { set } },
});
const decisions = (...items: readonly object[]) => ({ status: { decisions: items } });
const decided = (clusterName: string, more: object = {}) => ({ clusterName, reason: '', ...more });

/** The generator of decision resources: section by section of docs/argocd.md, with the real controller. */
export function decisionRows(world: () => GeneratorWorld): void {
  const names = async (set: string) => Object.keys(await world().applications(set)).sort();
  const selecting = (label: string, value: string, configMapRef = 'decisions') => ({
    clusterDecisionResource: { configMapRef, labelSelector: { matchLabels: { [label]: value } } },
  });
  const write = async (name: string, ...items: readonly object[]) =>
    world().api.mergePatch(PLACEMENT_DECISION, { namespace: ARGO_NAMESPACE, name }, decisions(...items), {
      subresource: 'status',
    });
  /** An ApplicationSet of its own page, with an Application for each of the clusters. */
  const prepared = async (set: string, ...clusters: readonly string[]) => {
    await world().create(PLACEMENT_DECISION, page(set, set));
    await write(set, ...clusters.map((name) => decided(name)));
    await world().applicationSet(set, [selecting('set', set)]);
    const wanted = clusters.map((name) => `${set}-${name}`);
    await expect.poll(() => names(set)).toEqual(wanted);
    return world().applications(set);
  };

  describe('OCM’s own ConfigMap, Role, RoleBinding, Placement and ApplicationSet, word for word,', () => {
    const objects = parseAllDocuments(
      readFileSync(join(import.meta.dirname, 'ocm-guestbook.yaml'), 'utf8'),
    ).map((document) => document.toJS() as KubeObject);
    const [config, role, roleBinding, placement, set] = objects as [
      KubeObject,
      KubeObject,
      KubeObject,
      KubeObject,
      KubeObject,
    ];

    it('are refused before the Role is there', async () => {
      await world().create(CONFIG_MAP, config);
      await world().create(APPLICATION_SET, set);
      await expect
        .poll(async () => (await world().refresh('guestbook-app')).error)
        .toMatch(/placementdecisions.* is forbidden/);
      expect(await names('guestbook-app')).toEqual([]);
    });

    it('generate an Application for each cluster, from what Berth publishes', async () => {
      await world().create(ROLE, role);
      await world().create(ROLE_BINDING, roleBinding);
      await world().create(PLACEMENT, {
        ...placement,
        metadata: { ...placement.metadata, annotations: { 'berth.dev/scheduler': 'berth' } },
      });
      // As OCM's page assumes: the clusters are available.
      await until(async () => {
        const { items } = await world().api.list(MANAGED_CLUSTER);
        for (const { metadata, spec } of items)
          if ((spec as { taints?: unknown }).taints !== undefined)
            await world().patch(MANAGED_CLUSTER, metadata.name, { spec: { taints: null } });
        expect(await world().published('guestbook-app-placement', ARGO_NAMESPACE)).toEqual([...CLUSTERS]);
      });
      await expect.poll(async () => (await world().refresh('guestbook-app')).outcome).toBe('done');
      await expect
        .poll(() => names('guestbook-app'))
        .toEqual(CLUSTERS.map((name) => `${name}-guestbook-app`));
    });
  });

  describe('the generator of decision resources', () => {
    beforeAll(async () => {
      await world().create(CONFIG_MAP, inArgo('v1', 'ConfigMap', 'decisions', { data: GENERATOR }));
      for (const [name, key] of [
        ['other-list', 'statusListKey'],
        ['no-key', 'matchKey'],
      ] as const) {
        const { [key]: _, ...data } = GENERATOR;
        await world().create(CONFIG_MAP, inArgo('v1', 'ConfigMap', name, { data }));
      }
    });

    it('keeps the Applications when no object matches', async () => {
      const before = await prepared('no-object', 'c1', 'c2');
      await world().remove(PLACEMENT_DECISION, 'no-object');
      await expect
        .poll(async () => (await world().refresh('no-object')).error)
        .toMatch(/no clusterDecisionResources found/);
      expect(await world().applications('no-object')).toEqual(before);
    });

    it('deletes all of them when an object lists nothing', async () => {
      await prepared('empty-list', 'c1', 'c2');
      await write('empty-list');
      await world().refresh('empty-list');
      await expect.poll(() => names('empty-list')).toEqual([]);
    });

    it('panics and keeps them when the status has another list than the ConfigMap says', async () => {
      const before = await prepared('other', 'c1', 'c2');
      const generators = [selecting('set', 'other', 'other-list')];
      await world().patch(APPLICATION_SET, 'other', { spec: { generators } });
      await expect.poll(() => world().controller.log()).toMatch(/Recovered from panic: interface conversion/);
      expect(await world().applications('other')).toEqual(before);
      await world().remove(APPLICATION_SET, 'other');
    });

    it('deletes all of them when the ConfigMap has no matchKey', async () => {
      await prepared('keyless', 'c1', 'c2');
      const generators = [selecting('set', 'keyless', 'no-key')];
      await world().patch(APPLICATION_SET, 'keyless', { spec: { generators } });
      await expect.poll(() => names('keyless')).toEqual([]);
    });

    it('leaves a cluster out that Argo CD does not know, and says so in its log only', async () => {
      const before = await prepared('unknown', 'c1', 'c2');
      await write('unknown', decided('c1'), decided('c2'), decided('nobody'));
      expect(await world().refresh('unknown')).toEqual({ outcome: 'done', error: '' });
      expect(await world().applications('unknown')).toEqual(before);
      expect(world().controller.log()).toMatch(/nobody/);
    });

    it('deletes the Application of a cluster whose Secret is removed or gets another name', async () => {
      await prepared('secret', 'c3', 'c4');
      await world().remove(SECRET, 'cluster-c4');
      await expect
        .poll(async () => (await world().refresh('secret'), names('secret')))
        .toEqual(['secret-c3']);
      await world().create(SECRET, clusterSecret('c4'));
      await expect
        .poll(async () => (await world().refresh('secret'), names('secret')))
        .toEqual(['secret-c3', 'secret-c4']);
      await world().patch(SECRET, 'cluster-c4', { stringData: { name: 'c4-renamed' } });
      await expect
        .poll(async () => (await world().refresh('secret'), names('secret')))
        .toEqual(['secret-c3']);
      await world().patch(SECRET, 'cluster-c4', { stringData: { name: 'c4' } });
    });

    it('keeps both Applications of a cluster on two pages, and does not write them', async () => {
      const before = await prepared('twice', 'c1', 'c2');
      await world().create(PLACEMENT_DECISION, page('twice-2', 'twice'));
      await write('twice-2', decided('c1'));
      await expect.poll(async () => (await world().refresh('twice')).error).toMatch(/duplicate name/);
      expect(await world().applications('twice')).toEqual(before);
    });

    it('keeps the Application of a cluster that two Secrets name', async () => {
      const before = await prepared('ambiguous', 'c1', 'c2');
      await world().create(
        SECRET,
        clusterSecret('c2', { secret: 'cluster-c2-again', server: 'https://other:6443' }),
      );
      await expect
        .poll(async () => (await world().refresh('ambiguous')).error)
        .toMatch(/2 clusters with the same name/);
      expect(await world().applications('ambiguous')).toEqual(before);
      await world().remove(SECRET, 'cluster-c2-again');
      await expect.poll(async () => (await world().refresh('ambiguous')).error).toBe('');
    });

    it('says in an error that both name and selector are given, or none', async () => {
      const { clusterDecisionResource } = selecting('set', 'no-object');
      const both = { clusterDecisionResource: { ...clusterDecisionResource, name: 'x' } };
      await world().applicationSet('both', [both]);
      await expect
        .poll(async () => (await world().refresh('both')).error)
        .toMatch(/there is a problem with the definition/);
      await world().applicationSet('neither', [{ clusterDecisionResource: { configMapRef: 'decisions' } }]);
      await expect
        .poll(async () => (await world().refresh('neither')).error)
        .toMatch(/there is a problem with the definition/);
      expect([...(await names('both')), ...(await names('neither'))]).toEqual([]);
    });

    // Argo CD 3.2 and older, and 3.3 before 3.3.9, panic: seen with 3.2.11.
    it('reads a number in a decision as a text, since Argo CD 3.3.9', async () => {
      const before = await prepared('number', 'c1', 'c2');
      const panics = (): number => world().controller.log().split('Recovered from panic').length;
      const logged = panics();
      await write('number', decided('c1', { score: 7 }), decided('c2'));
      expect(await world().refresh('number')).toMatchObject({ outcome: 'done' });
      expect(await world().applications('number')).toEqual(before);
      expect(panics()).toBe(logged);
      await world().remove(APPLICATION_SET, 'number');
    });
  });

  describe('one bad cluster Secret', () => {
    it('makes every ApplicationSet of decision resources fail, and deletes nothing', async () => {
      const before = await prepared('beside-bad', 'c1', 'c2');
      await world().create(SECRET, clusterSecret('bad', { config: 'not JSON' }));
      await expect.poll(async () => (await world().refresh('beside-bad')).outcome).toBe('failed');
      expect(await world().applications('beside-bad')).toEqual(before);
      await world().remove(SECRET, 'cluster-bad');
      await expect.poll(async () => (await world().refresh('beside-bad')).outcome).toBe('done');
    });
  });

  describe('Berth’s pages, seen through Argo CD', () => {
    const wanted = (...clusters: readonly string[]) => clusters.map((name) => `pages-${name}`);
    const look = async () => (await world().refresh('pages'), names('pages'));

    it('hold: nothing is deleted; release: exactly what the decision says', async () => {
      await world().place('pages', ARGO_NAMESPACE);
      await world().applicationSet('pages', [selecting(PLACEMENT_LABEL, 'pages')]);
      await expect.poll(() => names('pages')).toEqual(wanted(...CLUSTERS));
      const before = await world().applications('pages');
      await world().choose('pages', ARGO_NAMESPACE, ['c1']);
      const code = await world().heldCode('pages', ARGO_NAMESPACE);
      await look();
      expect(await world().applications('pages')).toEqual(before);
      const annotations = { 'berth.dev/release': code };
      await world().patch(PLACEMENT, 'pages', { metadata: { annotations } });
      await expect.poll(look).toEqual(wanted('c1'));
    });

    it('a move: the new page is read at any moment, and no Application is deleted that stays', async () => {
      const before = await world().applications('pages');
      await world().choose('pages', ARGO_NAMESPACE, ['c1', 'c2', 'c3']);
      await expect.poll(look).toEqual(wanted('c1', 'c2', 'c3'));
      expect((await world().applications('pages'))['pages-c1']).toBe(before['pages-c1']);
    });

    it('Berth stopped or restarted: nothing changes', async () => {
      const before = await world().applications('pages');
      await world().stopBerth();
      await look();
      expect(await world().applications('pages')).toEqual(before);
      const running = await world().serve();
      await running.whenReady();
      await look();
      expect(await world().applications('pages')).toEqual(before);
    });

    it('a cluster is deleted from the hub: its Application goes when the decision goes', async () => {
      await world().create(MANAGED_CLUSTER, cluster('c5', { labels: { name: 'c5' } }));
      await world().create(SECRET, clusterSecret('c5'));
      await world().choose('pages', ARGO_NAMESPACE, ['c1', 'c2', 'c3', 'c5']);
      await expect.poll(look).toEqual(wanted('c1', 'c2', 'c3', 'c5'));
      await world().remove(MANAGED_CLUSTER, 'c5');
      await expect.poll(look).toEqual(wanted('c1', 'c2', 'c3'));
      await world().remove(SECRET, 'cluster-c5');
    });

    it('emptied without consent: nothing; with consent: all of them are deleted', async () => {
      const before = await world().applications('pages');
      await world().choose('pages', ARGO_NAMESPACE, []);
      const code = await world().heldCode('pages', ARGO_NAMESPACE);
      await look();
      expect(await world().applications('pages')).toEqual(before);
      await world().patch(PLACEMENT, 'pages', { metadata: { annotations: { 'berth.dev/release': code } } });
      await expect.poll(look).toEqual([]);
    });

    it('a placement that is deleted: its pages go, and the Applications stay', async () => {
      await world().place('leaving', ARGO_NAMESPACE, ['c1', 'c2']);
      await world().applicationSet('leaving', [selecting(PLACEMENT_LABEL, 'leaving')]);
      await expect.poll(() => names('leaving')).toEqual(['leaving-c1', 'leaving-c2']);
      const before = await world().applications('leaving');
      await world().remove(PLACEMENT, 'leaving');
      await expect
        .poll(async () => (await world().refresh('leaving')).error)
        .toMatch(/no clusterDecisionResources found/);
      expect(await world().applications('leaving')).toEqual(before);
    });
  });
}
