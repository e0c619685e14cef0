import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type AddOnDefinition, createAddOnManager } from '@berth/addon';
import { createIfAbsent } from '@berth/kube/create-if-absent';
import { KubeLeaseStore } from '@berth/kube/kube-lease-store';
import { LeaderElector } from '@berth/kube/leader-election/leader-elector';
import { DEFAULT_TIMING } from '@berth/kube/leader-election/lease';
import { CLUSTER_MANAGEMENT_ADDON, CONFIG_MAP } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import type { SleepingClock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
import { onAbort } from '@berth/runtime/loop/sleep';
import { startTunnelServer } from '@berth/tunnel/server/tunnel-server';
import {
  CLUSTER_PROXY,
  clusterOfAgent,
  clusterProxy,
  clusterProxyAddOn,
  USER_SERVER_CONFIG,
} from '../addon/cluster-proxy.ts';
import { Callers, ExposedServices, ServedClusters } from './ask-hub.ts';
import { keptAuthority } from './kept-authority.ts';
import { startUserServer } from './user-server.ts';

/** The authority of agents, of the tunnel and of the user server. */
const AUTHORITY_SECRET = 'cluster-proxy-authority';
const DAY_MS = 86_400_000;
const CERTIFICATE_MS = 30 * DAY_MS;

export interface AccessServerOptions {
  readonly hub: KubeApi;
  /** Of the Secret with the authority and the ConfigMap for users. It must exist. */
  readonly namespace: string;
  /** Where people connect to, and where agents do. */
  readonly users: { readonly host: string; readonly port: number };
  readonly agents: { readonly host: string; readonly port: number };
  /** Other addresses that people and agents use, if they do not reach where this process listens: `https://HOST:PORT`, `HOST:PORT`. */
  readonly publicUrl?: string | undefined;
  readonly agentAddress?: string | undefined;
  /** Of the agent's container. */
  readonly image: string;
  /** How many of these processes are behind the two addresses. */
  readonly replicas: number;
  readonly clock: SleepingClock;
  readonly random: () => number;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export interface AccessServer {
  /** `https://HOST:PORT` of the user server. */
  readonly url: string;
  /** `HOST:PORT` for agents. */
  readonly agentAddress: string;
  /** Resolves after the signal, when all has ended. */
  readonly ended: Promise<void>;
}

/**
 * The hub's side of access to clusters: the tunnel's server, the user server before it, and the manager of the add-on whose agents are
 * the other end. Agents are connected to each replica; one of them is the manager. Certificates of the servers are made from the authority each day, for 30 days.
 * @throws InputError if it cannot listen, or the namespace is missing; the errors of the API
 */
export async function startAccessServer(options: AccessServerOptions): Promise<AccessServer> {
  const { hub, namespace, clock, log, signal } = options;
  const pair = await keptAuthority(hub, { namespace, name: AUTHORITY_SECRET }, clock.now());
  const authority = new CertificateAuthority(pair);
  const hosts = [
    ...new Set([
      ...['localhost', '127.0.0.1', options.users.host, options.agents.host],
      ...(options.publicUrl === undefined
        ? []
        : [new URL(options.publicUrl).hostname.replace(/^\[|\]$/g, '')]),
      ...(options.agentAddress === undefined
        ? []
        : [options.agentAddress.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')]),
    ]),
  ].filter((host) => host !== '0.0.0.0' && host !== '::');
  const material = async () => {
    const { certPem, keyPem } = await authority.issueServing(
      hosts,
      clock.now(),
      CERTIFICATE_MS,
      CLUSTER_PROXY,
    );
    return { ca: pair.certPem, cert: certPem, key: keyPem };
  };
  const tls = await material();
  const tunnel = await startTunnelServer({
    agents: { ...options.agents, tls, clusterOf: clusterOfAgent },
    ...{ servers: options.replicas, clock, log },
  });
  const users = await startUserServer({
    ...{ ...options.users, tls, tunnel, clock, log },
    ...{ callers: new Callers(hub, clock), clusters: new ServedClusters(hub, clock) },
    services: new ExposedServices(hub, namespace, { clock, log }),
  });
  const renew = (): void => {
    void material().then((renewed) => {
      tunnel.renew(renewed);
      users.renew(renewed);
    });
    cancel = clock.schedule(DAY_MS, renew);
  };
  let cancel = clock.schedule(DAY_MS, renew);
  const agentAddress = options.agentAddress ?? tunnel.agentAddress;
  const url = options.publicUrl ?? users.url;
  await announce(hub, namespace, { url, 'ca.crt': pair.certPem });
  const ended = Promise.all([
    manage(options, clusterProxy({ authority: pair, agentAddress, image: options.image })),
    new Promise<void>((resolve) => onAbort(signal, resolve)),
  ]).then(async () => {
    cancel();
    await users.close();
    await tunnel.close();
  });
  return { url, agentAddress, ended };
}

/** The manager of the add-on, in one of the replicas at a time. What two would write is the same. */
async function manage(options: AccessServerOptions, addOn: AddOnDefinition): Promise<void> {
  const { hub, namespace, clock, random, log, signal } = options;
  const store = new KubeLeaseStore(hub, { namespace, name: `${CLUSTER_PROXY}-manager` });
  while (!signal.aborted) {
    const identity = `${hostname()}_${randomUUID()}`;
    const elector = new LeaderElector({ store, identity, timing: DEFAULT_TIMING, clock, random, log });
    const lost = new AbortController();
    const term = AbortSignal.any([signal, lost.signal]);
    elector.start();
    await elector.whenHeld(signal);
    void elector.whenLost(term).then(() => lost.abort());
    if (!signal.aborted) await createAddOnManager({ addOns: [addOn], hub, clock, random, log }).run(term);
    await elector.close();
  }
}

/** Tells people where the user server is, and describes the add-on, unless somebody has. */
async function announce(
  hub: KubeApi,
  namespace: string,
  data: Readonly<Record<string, string>>,
): Promise<void> {
  const configMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name: USER_SERVER_CONFIG },
    data,
  };
  await hub.apply(CONFIG_MAP, configMap, { fieldManager: 'berth-proxy', force: true });
  await createIfAbsent(hub, CLUSTER_MANAGEMENT_ADDON, clusterProxyAddOn());
}
