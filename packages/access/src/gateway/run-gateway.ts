import { setMaxListeners } from 'node:events';
import { createAddOnManager } from '@berth/addon';
import { createIfAbsent } from '@berth/kube/create-if-absent';
import { CLUSTER_MANAGEMENT_ADDON, kind } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import type { SleepingClock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
import { onAbort } from '@berth/runtime/loop/sleep';
import {
  API_SERVICE,
  AUTHORITY_SECRET,
  CLUSTER_GATEWAYS,
  clusterGateways,
  clusterGatewaysAddOn,
  gatewayApiService,
} from '../addon/cluster-gateway.ts';
import { keptAuthority } from '../server/kept-authority.ts';
import { runGatewayAddOns } from './gateway-add-ons.ts';
import { startGatewayServer } from './gateway-server.ts';
import { Gateways } from './gateways.ts';

/** Leads to a process that runs in no pod of the hub. */
const ADDRESS_SERVICE = 'cluster-gateway-address';
const SERVICE = kind('', 'v1', 'Service', 'Namespaced');
const SERVICE_PORT = 443;
const FIELD_MANAGER = 'berth-gateway';
const DAY_MS = 86_400_000;
const CERTIFICATE_MS = 30 * DAY_MS;

export interface GatewayOptions {
  readonly hub: KubeApi;
  /** Of the Secret with its authority, its Service, and the user server's ConfigMap. It must exist. */
  readonly namespace: string;
  /** Of Secrets that people write. */
  readonly secretNamespace: string;
  readonly listen: { readonly host: string; readonly port: number };
  /**
   * How the hub's API server gets here: a Service of the namespace that leads here, or an address (default: where this process listens),
   * for which a Service is written.
   */
  readonly service?: string | undefined;
  readonly reachedAt?: { readonly host: string; readonly port: number } | undefined;
  readonly impersonate: boolean;
  /** Each request must also be allowed on the hub. */
  readonly authorize: boolean;
  readonly clock: SleepingClock;
  readonly random: () => number;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * The API of ClusterGateways on a hub: its server, its place among the hub's APIs, and the manager of the add-on that gives clusters a
 * gateway. Certificates of the server are made from the authority each day, for 30 days.
 * @returns its address `HOST:PORT`; `ended` resolves after the signal
 * @throws InputError if it cannot listen, or the namespace is missing; the errors of the API
 */
export async function startGateway(options: GatewayOptions): Promise<RunningGateway> {
  const stop = new AbortController();
  onAbort(options.signal, () => stop.abort());
  // Each kind that is followed listens to it.
  setMaxListeners(0, stop.signal);
  try {
    return await start({ ...options, signal: stop.signal });
  } catch (error) {
    stop.abort();
    throw error;
  }
}

interface RunningGateway {
  readonly address: string;
  readonly ended: Promise<void>;
}

async function start(options: GatewayOptions): Promise<RunningGateway> {
  const { hub, namespace, clock, random, log, signal } = options;
  const pair = await keptAuthority(hub, { namespace, name: AUTHORITY_SECRET }, clock.now());
  const authority = new CertificateAuthority(pair);
  const hosts = [options.service ?? ADDRESS_SERVICE].map((name) => `${name}.${namespace}.svc`);
  const material = async () => {
    const issued = await authority.issueServing(hosts, clock.now(), CERTIFICATE_MS, CLUSTER_GATEWAYS);
    return { cert: issued.certPem, key: issued.keyPem };
  };
  const gateways = new Gateways(options);
  const followed = gateways.run(signal);
  await gateways.whenRead(signal);
  if (gateways.frontProxy() === undefined && !signal.aborted)
    log.warn('the hub does not say how it forwards requests, so none is served', {
      ConfigMap: 'kube-system/extension-apiserver-authentication',
      hint: 'kube-apiserver needs --requestheader-client-ca-file and the other flags of its aggregation layer',
    });
  const server = await startGatewayServer({
    ...{ ...options.listen, tls: await material(), gateways, log, impersonate: options.impersonate },
    authorizeOn: options.authorize ? hub : undefined,
  });
  const renew = (): void => {
    void material().then((renewed) => server.renew(renewed));
    cancel = clock.schedule(DAY_MS, renew);
  };
  let cancel = clock.schedule(DAY_MS, renew);
  const closed = new Promise<void>((resolve) =>
    onAbort(signal, () => {
      cancel();
      void server.close().then(resolve);
    }),
  );
  await register(options, server, pair.certPem);
  const manager = createAddOnManager({ addOns: [clusterGateways()], hub, clock, random, log });
  await createIfAbsent(hub, CLUSTER_MANAGEMENT_ADDON, clusterGatewaysAddOn());
  const ended = Promise.all([
    followed,
    manager.run(signal),
    runGatewayAddOns({ hub, gateways, clock, random, log }, signal),
    closed,
  ]).then(() => undefined);
  return { address: server.address, ended };
}

/** Tells the hub that this process serves the API, and how it gets here. */
async function register(
  { hub, namespace, service, reachedAt }: GatewayOptions,
  bound: { readonly host: string; readonly port: number },
  caPem: string,
): Promise<void> {
  const how = { fieldManager: FIELD_MANAGER, force: true };
  const at = reachedAt ?? bound;
  if (service === undefined)
    await hub.apply(
      SERVICE,
      {
        ...{ apiVersion: 'v1', kind: SERVICE.kind, metadata: { namespace, name: ADDRESS_SERVICE } },
        spec: { type: 'ExternalName', externalName: at.host },
      },
      how,
    );
  const target =
    service === undefined ? { name: ADDRESS_SERVICE, port: at.port } : { name: service, port: SERVICE_PORT };
  await hub.apply(API_SERVICE, gatewayApiService({ service: { namespace, ...target }, caPem }), how);
}
