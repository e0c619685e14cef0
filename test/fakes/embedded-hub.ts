import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { HttpKubeApi, type HttpKubeApiOptions } from '@berth/kube/http-kube-api';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import type { HubOptions } from '@berth/embedded-hub/hub-options';
import { startHub } from '@berth/embedded-hub/start-hub';

/** A real embedded hub in a directory of its own, and a client of it. */
export async function startEmbeddedHub(
  options: Partial<HttpKubeApiOptions> = {},
  hubOptions: Partial<HubOptions> = {},
) {
  const dataDir = mkdtempSync(join(tmpdir(), 'berth-hub-'));
  const hub = await startHub({ dataDir, ...hubOptions });
  const config = loadKubeConfig({ file: hub.adminKubeconfigPath });
  const api = new HttpKubeApi({ config, clock: systemClock, ...options });
  return {
    api,
    hub,
    kubeconfig: hub.adminKubeconfigPath,
    close: async () => {
      api.close();
      await hub.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
