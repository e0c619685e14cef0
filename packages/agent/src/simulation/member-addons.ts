import type { KubeConfig } from '@berth/kube/config/kube-config';
import { createIfAbsent } from '@berth/kube/create-if-absent';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { CERTIFICATE_REQUEST, NAMESPACE } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { DEFAULT_INSTALL_NAMESPACE } from '@berth/ocm/kind/addon';
import {
  AGENT_NAMESPACE,
  type AgentIdentity,
  agentGroups,
  agentUser,
  HUB_KUBECONFIG_SECRET,
} from '@berth/ocm/registration/names';
import type { MonotonicClock } from '@berth/runtime/clock/clock';
import { BugError, errorText } from '@berth/runtime/errors';
import type { Logger } from '@berth/runtime/logger';
import { sleep } from '@berth/runtime/loop/sleep';
import { AddonAgent } from '../registration/addons/run-addons.ts';
import { hubEntryOf } from '../registration/credentials/credential-store.ts';
import { SecretStore } from '../registration/credentials/secret-store.ts';
import type { RegistrationSettings } from '../registration/options/registration-settings.ts';

export interface MemberAddonsOptions {
  /** The administrator's kubeconfig of the hub, and a client with it. */
  readonly hubConfig: KubeConfig;
  readonly hub: KubeApi;
  readonly clusterName: string;
  readonly cluster: KubeApi;
  readonly clock: MonotonicClock;
  readonly log: Logger;
}

const RETRY_MS = 1_000;
const ADMINISTRATORS = 'system:masters';

/**
 * Gives the add-ons of a simulated member their Secrets, and reports their health, as the agent of a real cluster does.
 * A simulated member never asked for a certificate of its own, so it works as the administrator; but it asks for the
 * certificates of add-ons under the name of its agent, because add-ons' managers approve no other requests.
 */
export async function runMemberAddons(options: MemberAddonsOptions, signal: AbortSignal): Promise<void> {
  const { hubConfig, hub, clusterName, cluster, clock, log } = options;
  const identity: AgentIdentity = { cluster: clusterName, agent: 'simulated' };
  const groups = [...agentGroups(clusterName), ADMINISTRATORS];
  const impersonate = { user: agentUser(identity), groups };
  const asAgent = new HttpKubeApi({ config: hubConfig, clock, impersonate, maxRequests: 2 });
  const settings: RegistrationSettings = {
    ...{ clock, log, random: Math.random, env: {} },
    connect: () => {
      throw new BugError('opens no other connections', { code: 'member.connect', subject: clusterName });
    },
    ...{ expirationSeconds: undefined, clientConfigs: [], annotations: {}, hubTimeoutMs: Infinity },
    claims: { maxCustom: 0, reservedSuffixes: [] },
    addons: { driver: 'csr', tokenSeconds: 0 },
  };
  const store = new SecretStore(cluster, { namespace: AGENT_NAMESPACE, name: HUB_KUBECONFIG_SECRET });
  const api = requestingAs(hub, asAgent);
  const entry = hubEntryOf(hubConfig);
  const addons = new AddonAgent(
    { hub: api, cluster, hosting: cluster, identity, entry, store, settings },
    () => false,
  );
  try {
    await createNamespaces(options, signal);
    if (!signal.aborted) await addons.run(signal);
  } finally {
    asAgent.close();
  }
}

/** Those that an installed agent has. */
async function createNamespaces(
  { clusterName, cluster, clock, log }: MemberAddonsOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted)
    try {
      for (const name of [AGENT_NAMESPACE, DEFAULT_INSTALL_NAMESPACE])
        await createIfAbsent(cluster, NAMESPACE, {
          apiVersion: 'v1',
          kind: 'Namespace',
          metadata: { name },
        });
      return;
    } catch (error) {
      if (signal.aborted) return;
      log.debug('namespaces of a simulated member are not there yet', {
        clusterName,
        problem: errorText(error),
      });
      await sleep(clock, RETRY_MS, signal);
    }
}

/** The hub as the administrator sees it, at which another client asks for certificates. */
function requestingAs(hub: KubeApi, requester: KubeApi): KubeApi {
  return {
    server: hub.server,
    get: (...request) => hub.get(...request),
    list: (...request) => hub.list(...request),
    watch: (...request) => hub.watch(...request),
    create: (kind, ...request) => (kind === CERTIFICATE_REQUEST ? requester : hub).create(kind, ...request),
    update: (...request) => hub.update(...request),
    mergePatch: (...request) => hub.mergePatch(...request),
    apply: (...request) => hub.apply(...request),
    delete: (...request) => hub.delete(...request),
    resolve: (...request) => hub.resolve(...request),
  };
}
