import { Reflector } from '@berth/kube/cache/reflector';
import {
  CONFIG_MAP,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  SECRET,
} from '@berth/kube/model/kinds';
import type { KubeApi, ListOptions } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { isBeingDeleted } from '@berth/kube/model/object-writes';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Clock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
import { failed, type Outcome } from '@berth/runtime/outcome';
import { CLUSTER_GATEWAYS } from '../addon/cluster-gateway.ts';
import { USER_SERVER_CONFIG } from '../addon/cluster-proxy.ts';
import { MANAGED_LABEL } from '../addon/managed-serviceaccount.ts';
import {
  CREDENTIAL_LABEL,
  type Gateway,
  gatewayOfAccount,
  gatewayOfSecret,
  healthPatch,
} from '../rules/cluster-gateway.ts';
import type { UserServerEntry } from '../rules/cluster-profile.ts';
import { AUTHENTICATION, type FrontProxy, frontProxyOf } from './front-proxy.ts';

export interface GatewaysOptions {
  readonly hub: KubeApi;
  /** In which the ConfigMap of the user server is. */
  readonly namespace: string;
  /** Of Secrets that people write. */
  readonly secretNamespace: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
}

/**
 * The gateways of a hub, and what else on it says how requests come and go. A gateway is a Secret that its label marks, or the account
 * that the add-on managed-serviceaccount keeps on a cluster that has the add-on cluster-gateway. The first wins.
 */
export class Gateways {
  readonly #options: GatewaysOptions;
  readonly #reads: Reflector[] = [];
  readonly #clusters: Reflector;
  readonly #addOns: Reflector;
  readonly #secrets: Reflector;
  readonly #accounts: Reflector;
  readonly #userServer: Reflector;
  readonly #authentication: Reflector;

  constructor(options: GatewaysOptions) {
    this.#options = options;
    const { namespace, secretNamespace } = options;
    const own = { fieldSelector: `metadata.name=${CLUSTER_GATEWAYS}` };
    this.#clusters = this.#read(MANAGED_CLUSTER);
    this.#addOns = this.#read(MANAGED_CLUSTER_ADDON, own);
    this.#secrets = this.#read(SECRET, { namespace: secretNamespace, labelSelector: CREDENTIAL_LABEL });
    this.#accounts = this.#read(SECRET, own);
    const named = (name: string) => ({ fieldSelector: `metadata.name=${name}` });
    this.#userServer = this.#read(CONFIG_MAP, { namespace, ...named(USER_SERVER_CONFIG) });
    const { namespace: system, name } = AUTHENTICATION;
    this.#authentication = this.#read(CONFIG_MAP, { namespace: system, ...named(name) });
  }

  #read(kind: KindInfo, scope: ListOptions = {}): Reflector {
    const { hub: api, clock, random, log } = this.#options;
    const reflector = new Reflector({ api, kind, clock, random, log, ...scope });
    this.#reads.push(reflector);
    return reflector;
  }

  /** Follows the hub until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#reads.map((reflector) => reflector.run(signal)));
  }

  /** Resolves when all has been read once, or when the signal aborts. */
  async whenRead(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#reads.map((reflector) => reflector.whenSynced(signal)));
  }

  /** Calls back with the name of a cluster whose add-on or account changed. */
  onChange(listener: (cluster: string) => void): void {
    for (const { store } of [this.#addOns, this.#accounts])
      store.onChange(({ before, after }) => listener((after ?? before)?.metadata.namespace ?? ''));
  }

  /** Undefined: the hub does not say how it forwards requests. */
  frontProxy(): FrontProxy | undefined {
    return frontProxyOf(this.#authentication.store.get(`${AUTHENTICATION.namespace}/${AUTHENTICATION.name}`));
  }

  onFrontProxy(listener: () => void): void {
    this.#authentication.store.onChange(listener);
  }

  /** Undefined: nobody has said where it is. */
  userServer(): UserServerEntry | undefined {
    const key = `${this.#options.namespace}/${USER_SERVER_CONFIG}`;
    const { url, 'ca.crt': ca } = (this.#userServer.store.get(key)?.['data'] ?? {}) as Partial<
      Record<string, string>
    >;
    return url && ca ? { url, ca } : undefined;
  }

  /** The add-on of a cluster that the hub accepts. */
  addOnOf(cluster: string): KubeObject | undefined {
    const addOn = this.#addOns.store.get(`${cluster}/${CLUSTER_GATEWAYS}`);
    const { spec } = this.#clusterOf(cluster) ?? {};
    return addOn === undefined || isBeingDeleted(addOn) || spec?.hubAcceptsClient !== true
      ? undefined
      : addOn;
  }

  /** @returns undefined if there is none; or why it cannot be used, as text for users */
  get(name: string): Outcome<Gateway> | undefined {
    const { secretNamespace } = this.#options;
    const secret = this.#secrets.store.get(`${secretNamespace}/${name}`);
    if (secret !== undefined) return gatewayOfSecret(secret, this.#clusterOf(name));
    if (this.addOnOf(name) === undefined) return undefined;
    const account = this.#accounts.store.get(`${name}/${CLUSTER_GATEWAYS}`);
    return account?.metadata.labels?.[MANAGED_LABEL] === 'true'
      ? gatewayOfAccount(account)
      : failed(`the add-on managed-serviceaccount has not brought a token of cluster ${name} yet`);
  }

  /** Those that can be used, by name. */
  list(): readonly Gateway[] {
    const names = [
      ...this.#secrets.store.list().map(({ metadata }) => metadata.name),
      ...this.#addOns.store.list().map(({ metadata }) => metadata.namespace ?? ''),
    ];
    return [...new Set(names)].sort().flatMap((name) => {
      const found = this.get(name);
      if (found === undefined || found.ok) return found === undefined ? [] : [found.value];
      this.#options.log.warn('a gateway cannot be used', { cluster: name, error: found.error });
      return [];
    });
  }

  /**
   * Notes the health of a gateway on its Secret.
   * @throws the errors of the API
   */
  async noteHealth({ secret }: Gateway, health: Gateway['health']): Promise<void> {
    await this.#options.hub.mergePatch(SECRET, secret, healthPatch(health));
  }

  #clusterOf(name: string): ManagedCluster | undefined {
    const cluster = this.#clusters.store.get(name);
    return cluster === undefined || isBeingDeleted(cluster)
      ? undefined
      : (cluster as unknown as ManagedCluster);
  }
}
