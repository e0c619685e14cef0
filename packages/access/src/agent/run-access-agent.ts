import { keepLease } from '@berth/addon/agent';
import { Reflector } from '@berth/kube/cache/reflector';
import type { KubeConfig } from '@berth/kube/config/kube-config';
import { CONFIG_MAP, type KindInfo, SECRET } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { isKeyPair } from '@berth/kube/proxy/tls-material';
import { secretTexts } from '@berth/kube/secret-texts';
import type { Clock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
import { onAbort, WaitList } from '@berth/runtime/loop/sleep';
import { startTunnelAgent, type TunnelAgent } from '@berth/tunnel/agent/tunnel-agent';
import { AGENT_CONFIG, agentSecret, CLUSTER_PROXY } from '../addon/cluster-proxy.ts';
import { API_ADDRESS } from '../server/kept-connections.ts';
import { ClusterEnd } from './cluster-end.ts';

export interface AccessAgentOptions {
  /** The API server of the cluster, with the agent's account. */
  readonly cluster: KubeApi;
  readonly config: KubeConfig;
  /** In which the add-on is installed. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** What the add-on and the cluster's own agent have written for this agent. */
interface Setup {
  readonly cluster: string;
  readonly host: string;
  readonly port: number;
  readonly ca: string;
}

interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/**
 * The agent of the add-on on a cluster: opens the tunnel to the hub and serves the cluster's API in it. It waits for its configuration
 * and its certificate, and follows both. The lease of the add-on is renewed while the tunnel is open. Resolves after the signal.
 */
export async function runAccessAgent(options: AccessAgentOptions): Promise<void> {
  const { cluster, namespace, clock, random, log, signal } = options;
  const changes = new WaitList();
  const follow = (kind: KindInfo, name: string) => {
    const one = { kind, namespace, fieldSelector: `metadata.name=${name}` };
    const reflector = new Reflector({ api: cluster, ...one, clock, log, random });
    reflector.store.onChange(() => changes.wake());
    void reflector.run(signal);
    return () => reflector.store.get(`${namespace}/${name}`);
  };
  const configMap = follow(CONFIG_MAP, AGENT_CONFIG);
  log.info('the agent waits for its configuration', { ConfigMap: `${namespace}/${AGENT_CONFIG}` });
  await changes.until(() => setupOf(configMap()) !== undefined, signal);
  if (signal.aborted) return;
  const setup = setupOf(configMap()) as Setup;
  const secretName = agentSecret(setup.cluster);
  const secret = follow(SECRET, secretName);
  log.info('the agent waits for its certificate', { Secret: `${namespace}/${secretName}` });
  await changes.until(() => certificateOf(secret()) !== undefined, signal);
  const end = new ClusterEnd(options);
  try {
    await runTunnels(options, { setup, end, changes, configMap, secret });
  } finally {
    end.close();
  }
}

interface Followed {
  readonly setup: Setup;
  readonly end: ClusterEnd;
  readonly changes: WaitList;
  readonly configMap: () => KubeObject | undefined;
  readonly secret: () => KubeObject | undefined;
}

/** One tunnel after the other: another address, or another authority, begins another one. */
async function runTunnels(options: AccessAgentOptions, followed: Followed): Promise<void> {
  const { cluster, namespace, clock, log, signal } = options;
  const { changes, configMap, secret } = followed;
  let { setup } = followed;
  let servers = 0;
  const isOpen = async (): Promise<boolean> => servers > 0;
  const lease = keepLease({ cluster, name: CLUSTER_PROXY, namespace, health: [isOpen], signal, clock, log });
  while (!signal.aborted) {
    let certificate = certificateOf(secret()) as Certificate;
    const stop = new AbortController();
    onAbort(signal, () => stop.abort());
    const { host, port, ca } = setup;
    const agent: TunnelAgent = startTunnelAgent({
      ...{ server: { host, port }, tls: () => ({ ca, ...certificate }), hosts: [setup.cluster] },
      resolve: (address) => (address === API_ADDRESS ? (channel) => followed.end.serve(channel) : undefined),
      ...{ clock, random: options.random, log, signal: stop.signal },
      onChange: (count) => {
        servers = count;
      },
    });
    const isOther = (): boolean => JSON.stringify(setupOf(configMap()) ?? setup) !== JSON.stringify(setup);
    while (!signal.aborted && !isOther()) {
      await changes.until(() => isOther() || isRenewed(certificate, certificateOf(secret())), signal);
      const renewed = certificateOf(secret());
      if (!isRenewed(certificate, renewed)) continue;
      certificate = renewed;
      log.info('the tunnel gets a new certificate');
      agent.renew();
    }
    stop.abort();
    await agent.ended;
    setup = setupOf(configMap()) ?? setup;
  }
  await lease;
}

function isRenewed(before: Certificate, after: Certificate | undefined): after is Certificate {
  return after !== undefined && after.cert !== before.cert;
}

/** Undefined while it is missing or incomplete. */
function setupOf(configMap: KubeObject | undefined): Setup | undefined {
  const { cluster, server, 'ca.crt': ca } = (configMap?.['data'] ?? {}) as Readonly<Record<string, string>>;
  const [, host, port] = /^\[?(.+?)\]?:(\d+)$/.exec(server ?? '') ?? [];
  return cluster && ca && host ? { cluster, host, port: Number(port), ca } : undefined;
}

/** Undefined while it is missing or half written. */
function certificateOf(secret: KubeObject | undefined): Certificate | undefined {
  const { 'tls.crt': cert, 'tls.key': key } = secret === undefined ? {} : secretTexts(secret);
  return cert && key && isKeyPair(cert, key) ? { cert, key } : undefined;
}
