import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { HttpKubeApi, type HttpKubeApiOptions } from '@berth/kube/http-kube-api';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { RotatingKubeConfig } from '@berth/kube/config/rotating-kube-config';
import type { HubOptions } from '@berth/embedded-hub/hub-options';
import { OCM_HUB_KINDS } from '@berth/ocm/definition/ocm-crds';
import { ocmChecks } from '../../src/controllers/admission/cluster-checks.ts';
import { agentRightsCheck } from '../../src/controllers/admission/hub-admission.ts';
import { startHub } from '@berth/embedded-hub/start-hub';

/** What a hub has to be told of OCM. Works are not checked. */
export const OCM_HUB = { kinds: OCM_HUB_KINDS, admission: [agentRightsCheck, ...ocmChecks] };

/** A real embedded hub in a directory of its own, and a client of it. */
export async function startEmbeddedHub(
  options: Partial<HttpKubeApiOptions> = {},
  hubOptions: Partial<HubOptions> = {},
) {
  const dataDir = mkdtempSync(join(tmpdir(), 'berth-hub-'));
  const hub = await startHub({ dataDir, ...OCM_HUB, ...hubOptions });
  const config = loadKubeConfig({ file: hub.adminKubeconfigPath });
  const api = new HttpKubeApi({ config, clock: systemClock, ...options });
  return {
    api,
    hub,
    kubeconfig: hub.adminKubeconfigPath,
    /** A client of somebody else. */
    as: (token: string) =>
      new HttpKubeApi({ config: new RotatingKubeConfig(config, { token }), clock: systemClock }),
    close: async () => {
      api.close();
      await hub.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
