import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/adapters/clock/system-clock.ts';
import { HttpKubeApi, type HttpKubeApiOptions } from '../../src/adapters/kube/http-kube-api.ts';
import { loadKubeConfig } from '../../src/adapters/kube/config/load-kube-config.ts';
import type { HubOptions } from '../../src/hub/hub-options.ts';
import { startHub } from '../../src/hub/start-hub.ts';

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
