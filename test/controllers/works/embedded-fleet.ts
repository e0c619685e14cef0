import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { NAMESPACE } from '@berth/kube/model/kinds';
import { OCM_HUB } from '../../fakes/embedded-hub.ts';
import { startHub } from '@berth/embedded-hub/start-hub';
import { Fleet } from './work-fleet.ts';

/** Milliseconds in which the hub, in this process, answers and tells its watches, with a busy machine in mind. */
const ANSWER_MS = 30;

/** A fleet whose hub is the embedded one, over HTTP, with the namespaces of its clusters. */
export async function startEmbeddedFleet(
  namespaces: readonly string[],
): Promise<{ readonly fleet: Fleet; readonly close: () => Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-fleet-'));
  const hub = await startHub({ ...OCM_HUB, dataDir });
  const config = loadKubeConfig({ file: hub.adminKubeconfigPath });
  const api = new HttpKubeApi({ config, clock: systemClock });
  for (const name of namespaces)
    await api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const fleet = new Fleet(api, ANSWER_MS);
  return {
    fleet,
    close: async () => {
      await fleet.stop();
      api.close();
      await hub.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
