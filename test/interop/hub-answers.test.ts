import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { ocmCrds } from '@berth/ocm/definition/ocm-crds';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { afterEach, describe } from 'vitest';
import { hubAnswers } from '../app/serve/previews/hub-answers-scenarios.ts';
import { createCrds } from './create-crds.ts';
import { CONTROL_PLANE_PROGRAMS, startControlPlane } from './peers/control-plane.ts';
import { hasPeers } from './peers/peer-programs.ts';

/** A kube-apiserver looks for changed policies once a second. */
const SETTLE_MS = 1_700;

describe.skipIf(!hasPeers(...CONTROL_PLANE_PROGRAMS))('a plan on a real hub knows what it does with', () => {
  const opened: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of opened.splice(0)) await close();
  });

  hubAnswers(async () => {
    const hub = await startControlPlane();
    await createCrds(hub.client, ocmCrds());
    const api = new HttpKubeApi({ config: loadKubeConfig({ file: hub.kubeconfig }), clock: systemClock });
    const dataDir = mkdtempSync(join(tmpdir(), 'berth-answers-'));
    opened.push(
      async () => api.close(),
      async () => hub.stop(),
      async () => rmSync(dataDir, { recursive: true, force: true }),
    );
    // fixed wait: the server reads policies in the background and does not say when
    const settled = (): Promise<void> => pause(SETTLE_MS);
    return { api, kubeconfig: hub.kubeconfig, dataDir, settled, atEnd: (end) => void opened.push(end) };
  });
});
