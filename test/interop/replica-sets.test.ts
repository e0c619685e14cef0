import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InputError } from '@berth/runtime/errors';
import type { KubeObject } from '@berth/kube/model/object-meta';
import {
  binding,
  cluster,
  clusterSet,
  namespace,
  placement,
  replicaSet,
} from '../app/serve/fleet-fixture.ts';
import { CONTROL_PLANE_PROGRAMS } from './peers/control-plane.ts';
import { hasPeers } from './peers/peer-programs.ts';
import { RealHub } from './peers/real-hub.ts';

const WORK = '/apis/work.open-cluster-management.io';
const REPLICA_SET = `${WORK}/v1alpha1/namespaces/team-a/manifestworkreplicasets/web`;
const ALL = ['c1', 'c2', 'c3'];
const QUIET_MS = 3_000;

/** Both wrote the status up to 60 times a second before. */
describe.skipIf(!hasPeers(...CONTROL_PLANE_PROGRAMS, 'ocm/work'))(
  'beside OCM’s replica set controller',
  () => {
    let hub: RealHub;
    beforeAll(async () => {
      hub = await RealHub.start();
      await hub.create(...['team-a', ...ALL].map(namespace), clusterSet, binding());
      await hub.create(...ALL.map((name) => cluster(name)));
      await hub.create(placement('web', {}, { 'berth.dev/scheduler': 'berth' }));
    });
    afterAll(() => hub?.close());

    it('stops after three rounds, and says which flag ends it', async () => {
      const berth = await hub.serve();
      await hub.until(() => berth.events.some(({ kind }) => kind === 'ready'));
      await hub.ocm('ocm/work', ['--feature-gates=ManifestWorkReplicaSet=true']);
      await hub.create(replicaSet);
      await hub.until(() =>
        berth.events.some((event) => event.kind === 'error' && isSecondWriter(event.error)),
      );
      await hub.until(async () =>
        JSON.stringify(await hub.call('GET', REPLICA_SET)).includes('SecondWriter'),
      );
      let version: string | undefined;
      await hub.until(async () => {
        const { metadata } = await hub.call('GET', REPLICA_SET);
        const isSame = metadata.resourceVersion === version;
        version = metadata.resourceVersion;
        // fixed wait: both wrote 60 times a second
        if (!isSame) await pause(QUIET_MS);
        return isSame;
      });
      const list = await hub.call('GET', `${WORK}/v1/manifestworks`);
      const namespaces = (list['items'] as KubeObject[]).map(({ metadata }) => metadata.namespace);
      expect([...new Set(namespaces)].sort()).toEqual(ALL);
    });
  },
);

function isSecondWriter(error: unknown): boolean {
  return (
    error instanceof InputError &&
    error.code === 'works.second-writer' &&
    error.message.includes('--no-works')
  );
}
