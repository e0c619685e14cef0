import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { runCli } from '../../src/app/cli/program.ts';
import { readSourceFolder } from '../../src/controllers/sources/reading/read-source-folder.ts';
import { NAMESPACE } from '@berth/kube/model/kinds';
import { PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import {
  DECISION_GROUP_INDEX_LABEL,
  DECISION_GROUP_NAME_LABEL,
  PLACEMENT_LABEL,
} from '@berth/ocm/kind/placement-decision';
import { APPLICATION, APPLICATION_SET } from '../../src/core/argocd/argocd-kinds.ts';
import { CUSTOM_RESOURCE_DEFINITION } from '@berth/kube/model/kinds';
import type { RunningHub } from '@berth/embedded-hub/hub-options';
import { OCM_HUB } from '../fakes/embedded-hub.ts';
import { startHub } from '@berth/embedded-hub/start-hub';
import { makeCliIo } from '../app/cli-harness.ts';
import { crd } from '../interop/argocd-objects.ts';

/** The guestbook's objects on the embedded hub, over TLS; explained by the CLI. */
describe('berth explain --hub', () => {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'berth-explain-hub-'));
  let running: RunningHub;
  let api: HttpKubeApi;

  beforeAll(async () => {
    running = await startHub({ ...OCM_HUB, dataDir: dir });
    api = new HttpKubeApi({
      config: loadKubeConfig({ file: running.adminKubeconfigPath }),
      clock: systemClock,
    });
    const { objects } = await readSourceFolder('examples/guestbook-fleet');
    for (const name of ['cluster1', 'cluster2', 'cluster3', 'guestbook'])
      await api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    for (const { object } of objects) {
      if (object.kind === 'Namespace' || object.kind === 'ManifestWorkReplicaSet') continue;
      const kind = await api.resolve(object.apiVersion, object.kind);
      if (kind === undefined) throw new Error(`${object.kind} is not served`);
      const created = await api.create(kind, object);
      if (object['status'] !== undefined)
        await api.update(kind, { ...created, status: object['status'] }, { subresource: 'status' });
    }
    const decision: KubeObject = {
      apiVersion: 'cluster.open-cluster-management.io/v1beta1',
      kind: 'PlacementDecision',
      metadata: {
        name: 'frontend-decision-1',
        namespace: 'guestbook',
        labels: { [PLACEMENT_LABEL]: 'frontend' },
      },
    };
    const made = await api.create(PLACEMENT_DECISION, decision);
    const status = { decisions: [{ clusterName: 'cluster3', reason: '' }] };
    await api.update(PLACEMENT_DECISION, { ...made, status }, { subresource: 'status' });
  });

  afterAll(async () => {
    api.close();
    await running.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const berth = async (...args: readonly string[]): Promise<string> => {
    const { io, stdout, stderr } = makeCliIo();
    const code = await runCli(['explain', ...args, '--kubeconfig', running.adminKubeconfigPath], io);
    return `${code} ${stdout()}${stderr()}`;
  };

  it('decides from what the hub holds, against the published decision', async () => {
    const text = await berth('guestbook/frontend', '--embedded');
    expect(text).toMatch(/^0 Placement guestbook\/frontend: 1 of 3 clusters selected/);
    expect(text).toContain('Since the last decision:');
    expect(text).toContain('+ cluster1: rank 1');
    expect(text).toContain('- cluster3: not in cluster set prod');
  });

  it('leaves a placement without the annotation of Berth to another controller', async () => {
    const text = await berth('guestbook/frontend');
    expect(text).toMatch(
      /^0 Placement guestbook\/frontend: 1 of 3 clusters published by another controller: cluster3/,
    );
    expect(text).toContain('Another controller decides this placement, because it carries no annotation');
    expect(text).not.toContain('cluster1');
  });

  it('explains one cluster', async () => {
    expect(await berth('guestbook/frontend', '--embedded', '--cluster', 'cluster3')).toContain(
      'What would select it',
    );
  });

  it('says when there is no such placement', async () => {
    expect(await berth('guestbook/nope')).toBe(
      '1 error: Placement guestbook/nope: there is no such Placement\n',
    );
  });

  it('tells the waves in which an ApplicationSet takes the placement', async () => {
    for (const one of [
      crd('applicationsets', 'ApplicationSet', { status: {} }),
      crd('applications', 'Application'),
    ])
      await api.create(CUSTOM_RESOURCE_DEFINITION, one as unknown as KubeObject);
    await expect.poll(() => api.list(APPLICATION_SET).then(({ items }) => items)).toEqual([]);
    const inGroup = { [DECISION_GROUP_INDEX_LABEL]: '1', [DECISION_GROUP_NAME_LABEL]: '' };
    const page = { namespace: 'guestbook', name: 'frontend-decision-1' };
    await api.mergePatch(PLACEMENT_DECISION, page, { metadata: { labels: inGroup } });
    const apiVersion = 'argoproj.io/v1alpha1';
    const waves = { 'guestbook/frontend': [{ served: ['cluster1'] }, { held: ['cluster3'] }] };
    const parameters = { placement: 'guestbook/frontend', waves: '2', soak: '10m' };
    const set = await api.create(APPLICATION_SET, {
      apiVersion,
      kind: 'ApplicationSet',
      metadata: {
        name: 'shop',
        namespace: 'guestbook',
        annotations: { 'berth.dev/waves': JSON.stringify(waves) },
      },
      spec: { generators: [{ plugin: { configMapRef: { name: 'berth' }, input: { parameters } } }] },
    });
    const owner = { apiVersion, kind: 'ApplicationSet', name: 'shop', uid: set.metadata.uid ?? '' };
    await api.create(APPLICATION, {
      apiVersion,
      kind: 'Application',
      metadata: { name: 'shop-cluster3', namespace: 'guestbook', ownerReferences: [owner] },
      spec: { destination: { name: 'cluster3' } },
      status: { health: { status: 'Degraded' }, sync: { status: 'Synced' } },
    });
    const text = await berth('guestbook/frontend', '--embedded');
    expect(text).toContain('Waves of ApplicationSet guestbook/shop:');
    expect(text).toMatch(/w1 +open +- +cluster3/);
    const data = JSON.parse(
      (await berth('guestbook/frontend', '--embedded', '-o', 'json')).slice(2),
    ) as object;
    expect(data).toMatchObject({
      waves: [{ applicationSet: 'guestbook/shop', waves: [{ wave: 0 }, { wave: 1, waiting: ['cluster3'] }] }],
    });
    expect(await berth('guestbook/frontend', '--embedded', '--cluster', 'cluster3')).toContain(
      'wave w1 of ApplicationSet guestbook/shop: waits: ',
    );
  });
});
