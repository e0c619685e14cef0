import { readFile } from 'node:fs/promises';
import type { ObjectChange } from '@berth/kube/cache/object-store';
import { Reflector } from '@berth/kube/cache/reflector';
import { findCondition, setCondition } from '@berth/kube/model/condition-list';
import { CERTIFICATE_REQUEST, LEASE, MANAGED_CLUSTER_ADDON, SECRET } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import { ADDON_NAME_LABEL, type AgentIdentity } from '@berth/ocm/registration/names';
import { errorText } from '@berth/runtime/errors';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { Backoff } from '@berth/runtime/loop/backoff';
import { DONE, ReconcileLoop, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import { sleep } from '@berth/runtime/loop/sleep';
import { isJudgedByLease, judgeLease } from '../../rules/addons/addon-health.ts';
import {
  type AddonPlace,
  addonPlace,
  type AddonRegistration,
  addonRegistrations,
  type ClusterAddon,
  declaredStatus,
} from '../../rules/addons/addon-registrations.ts';
import { tokenInfrastructure } from '../../rules/addons/addon-token.ts';
import type { HubEntry } from '../../rules/registration/hub-entry.ts';
import type { CredentialStore } from '../credentials/credential-store.ts';
import { requestsOf } from '../joining/advance-request.ts';
import type { RegistrationSettings } from '../options/registration-settings.ts';
import { AddonRecords } from './addon-records.ts';
import { DueTimes } from './due-times.ts';
import { keepSecret, SecretMemory, type SecretOutcome } from './keep-secret.ts';
import { SharedWatches, type WatchTarget } from './shared-watches.ts';

export interface AddonOptions {
  readonly hub: KubeApi;
  /** The managed cluster. */
  readonly cluster: KubeApi;
  /** The cluster that the agent runs in, which also runs hosted add-ons. */
  readonly hosting: KubeApi;
  readonly identity: AgentIdentity;
  readonly entry: HubEntry;
  readonly store: CredentialStore;
  readonly settings: RegistrationSettings;
}

const LOOP = {
  name: 'add-ons',
  concurrency: 4,
  backoff: { initialMs: 500, maxMs: 60_000 },
  // A missing right may be granted.
  inputRetryMs: 0,
};

const LOAD_RETRY = { initialMs: 500, maxMs: 30_000 };

/**
 * The agent's part of add-ons: for each ManagedClusterAddOn of its cluster it makes the Secrets with which the add-on's
 * agent reaches the hub, and reports by its lease whether it is alive. Watches are shared by all add-ons of a cluster,
 * and there is one timer for all of them.
 * Source: open-cluster-management.io/ocm `pkg/registration/spoke/addon`.
 */
export class AddonAgent {
  readonly #options: AddonOptions;
  readonly #addons: Reflector;
  readonly #watches: SharedWatches;
  readonly #loop: ReconcileLoop;
  readonly #due: DueTimes;
  readonly #records: AddonRecords;
  readonly #memories = new Map<string, SecretMemory>();
  readonly #isHealthSuspended: () => boolean;

  /** @param isHealthSuspended whether the hub reports the health of the cluster, and so of its add-ons, as unknown */
  constructor(options: AddonOptions, isHealthSuspended: () => boolean) {
    this.#options = options;
    this.#isHealthSuspended = isHealthSuspended;
    const { hub, identity, store, settings } = options;
    const { clock, random } = settings;
    const log = settings.log.child({ cluster: identity.cluster });
    this.#records = new AddonRecords(store);
    const following = { kind: MANAGED_CLUSTER_ADDON, namespace: identity.cluster, clock, random, log };
    this.#addons = new Reflector({ api: hub, ...following });
    this.#watches = new SharedWatches({
      settings: { clock, random, log },
      onChange: (target, change) => this.#onChange(target, change),
      onListed: (keys) => keys.forEach((key) => this.#loop.add(key)),
    });
    this.#loop = new ReconcileLoop({
      ...LOOP,
      ...{ clock, random, log },
      reconcile: (key, signal) => this.#reconcile(key, signal),
    });
    this.#due = new DueTimes(clock, (key) => this.#loop.add(key));
  }

  /** Runs until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#load(signal);
    const { cluster } = this.#options.identity;
    this.#addons.store.onChange((change) => this.#onAddon(change));
    const running = this.#addons.run(signal);
    await this.#addons.whenSynced(signal);
    if (!signal.aborted)
      for (const { addon } of this.#records.list())
        if (this.#addons.store.get(`${cluster}/${addon}`) === undefined)
          this.#loop.add(keyOf('credentials', addon));
    await running;
    this.#due.close();
    await Promise.all([this.#loop.close(), this.#watches.close()]);
  }

  /** Watches beside that of the add-ons themselves. */
  get openWatches(): number {
    return this.#watches.size;
  }

  /** The hub reports the health of the cluster again. */
  resumeHealth(): void {
    for (const { metadata } of this.#addons.store.list()) this.#loop.add(keyOf('health', metadata.name));
  }

  async #load(signal: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#options.settings;
    const backoff = new Backoff(LOAD_RETRY, random);
    while (!signal.aborted)
      try {
        return await this.#records.load();
      } catch (error) {
        const { place } = this.#options.store;
        log.warn('the Secrets of add-ons cannot be read yet', { place, problem: errorText(error) });
        await sleep(clock, backoff.nextMs(), signal);
      }
  }

  #onAddon({ before, after }: ObjectChange): void {
    const { name } = (after ?? before)?.metadata ?? { name: '' };
    const [was, is] = [before, after].map((one) => one && registrationInputs(one as unknown as ClusterAddon));
    if (was !== is) this.#loop.add(keyOf('credentials', name), true);
    this.#loop.add(keyOf('health', name));
  }

  #onChange({ server, kind }: WatchTarget, { before, after }: ObjectChange): void {
    const metadata: KubeObject['metadata'] = (after ?? before)?.metadata ?? { name: '' };
    const { name, namespace = '', labels } = metadata;
    if (kind === LEASE) this.#loop.add(keyOf('health', name));
    else if (kind === SECRET) {
      const record = this.#records.get({ isHosted: server === 'hosting', namespace, name });
      if (record !== undefined) this.#loop.add(keyOf('credentials', record.addon));
    } else this.#loop.add(keyOf('credentials', labels?.[ADDON_NAME_LABEL] ?? ''));
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<ReconcileOutcome> {
    const { duty, name } = partsOf(key);
    const found = this.#addons.store.get(`${this.#options.identity.cluster}/${name}`);
    const addon = found as unknown as ClusterAddon | undefined;
    const dueAtMs =
      duty === 'health' ? await this.#judgeHealth(key, addon) : await this.#keepSecrets(key, addon, signal);
    this.#due.set(key, dueAtMs);
    return DONE;
  }

  /** @returns when the next pass is due */
  async #judgeHealth(key: string, addon: ClusterAddon | undefined): Promise<number | undefined> {
    if (addon === undefined || !isJudgedByLease(addon)) {
      this.#watches.use(key, []);
      return undefined;
    }
    const place = addonPlace(addon, addon.metadata.name);
    const target = { ...this.#at(place), kind: LEASE, namespace: place.namespace, transform: reduceLease };
    const [leases] = this.#watches.use(key, [target]);
    // A lease that could not be read says nothing.
    if (leases?.synced !== true || this.#isHealthSuspended()) return undefined;
    const nowMs = this.#options.settings.clock.now();
    let verdict = judgeLease(addon, leases.store.get(`${place.namespace}/${place.name}`), nowMs);
    const isReported = isSameCondition(addon, verdict.condition);
    // A silent watch must not make an add-on look dead.
    if (!isReported && verdict.condition.status !== 'True')
      verdict = judgeLease(addon, await target.api.get(LEASE, place), nowMs);
    await this.#report(addon, [verdict.condition]);
    return verdict.staleAtMs;
  }

  /** @returns when the next pass is due */
  async #keepSecrets(
    key: string,
    known: ClusterAddon | undefined,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { name } = partsOf(key);
    // Nothing is removed before the hub has said which add-ons the cluster has.
    if (!this.#addons.synced) return undefined;
    // An add-on's agent may need its access to the hub while the add-on is being deleted.
    if (known?.metadata.deletionTimestamp !== undefined) return undefined;
    const { identity, settings } = this.#options;
    const { driver } = settings.addons;
    const addon = known && (await this.#declare(known));
    const wanted = addon === undefined ? [] : addonRegistrations(addon, { identity, driver });
    const targets = new Map<string, WatchTarget>();
    for (const { secret } of wanted) {
      const at = this.#at(secret);
      const target = { ...at, kind: SECRET, namespace: secret.namespace, transform: reduceSecret };
      targets.set(`${at.server} ${secret.namespace}`, target);
    }
    const failures: unknown[] = [];
    await this.#removeOthers(name, wanted).catch((error: unknown) => failures.push(error));
    const outcomes: SecretOutcome[] = [];
    for (const registration of wanted)
      try {
        outcomes.push(await this.#keep({ addon, registration, key, targets }, signal));
      } catch (error) {
        failures.push(error);
      }
    this.#watches.use(key, [...targets.values()]);
    if (addon !== undefined) await this.#report(addon, reportedConditions(outcomes));
    if (failures.length > 0) throw failures[0];
    return Math.min(...outcomes.map(({ dueAtMs = Infinity }) => dueAtMs));
  }

  async #keep(
    pass: {
      readonly addon: ClusterAddon | undefined;
      readonly registration: AddonRegistration;
      readonly key: string;
      readonly targets: Map<string, WatchTarget>;
    },
    signal: AbortSignal,
  ): Promise<SecretOutcome> {
    const { addon, registration, key, targets } = pass;
    const { hub, identity, settings } = this.#options;
    const { random } = settings;
    const memoryKey = JSON.stringify(registration.secret);
    const memory = this.#memories.get(memoryKey) ?? new SecretMemory(random);
    this.#memories.set(memoryKey, memory);
    const requests = async (): Promise<Reflector> => {
      const labelSelector = requestsOf(identity.cluster);
      targets.set('requests', { api: hub, server: 'hub', kind: CERTIFICATE_REQUEST, labelSelector });
      const reflector = this.#watches.use(key, [...targets.values()]).at(-1) as Reflector;
      await reflector.whenListedOrRefused(signal);
      if (!reflector.synced && reflector.failure !== undefined) throw reflector.failure.error;
      return reflector;
    };
    const task = {
      ...{ registration, hub, memory, settings, requests },
      cluster: this.#at(registration.secret).api,
      clusterName: identity.cluster,
      entry: await this.#portableEntry(),
      records: this.#records,
      infrastructure: tokenInfrastructure(addon?.status?.conditions),
    };
    return keepSecret(task, signal);
  }

  /** Deletes the Secrets that this hub asked for and does not want any more. */
  async #removeOthers(addon: string, wanted: readonly AddonRegistration[]): Promise<void> {
    const { hub, identity, settings } = this.#options;
    for (const record of this.#records.list()) {
      const { secret } = record;
      const isWanted = wanted.some((one) => jsonEqual(one.secret, secret));
      if (record.addon !== addon || record.server !== hub.server || isWanted) continue;
      const isDeleted = await this.#at(secret).api.delete(SECRET, secret);
      await this.#records.remove(secret);
      this.#memories.delete(JSON.stringify(secret));
      const place = `${secret.namespace}/${secret.name}`;
      if (isDeleted)
        settings.log.info('Secret of an add-on deleted', { cluster: identity.cluster, addon, place });
    }
  }

  async #declare(addon: ClusterAddon): Promise<ClusterAddon> {
    const { identity, settings } = this.#options;
    const change = declaredStatus(addon, { cluster: identity.cluster, driver: settings.addons.driver });
    return change === undefined ? addon : this.#patch(addon, change);
  }

  async #report(before: ClusterAddon, conditions: readonly Condition[]): Promise<void> {
    const now = formatRfc3339(instantFromEpochMs(this.#options.settings.clock.now()));
    // Another pass may have written since.
    const newest = this.#addons.store.get(`${this.#options.identity.cluster}/${before.metadata.name}`);
    const addon = (newest as unknown as ClusterAddon | undefined) ?? before;
    const known = addon.status?.conditions ?? [];
    const next = conditions.reduce<readonly Condition[]>((list, one) => setCondition(list, one, now), known);
    if (!jsonEqual(next, known)) await this.#patch(addon, { conditions: next });
  }

  /** The agent may change the status alone. */
  async #patch({ metadata }: ClusterAddon, status: object): Promise<ClusterAddon> {
    const { uid, resourceVersion, name } = metadata;
    const key = { namespace: this.#options.identity.cluster, name };
    const patch = { metadata: { uid, resourceVersion }, status };
    const options = { subresource: 'status' } as const;
    const written = await this.#options.hub.mergePatch(MANAGED_CLUSTER_ADDON, key, patch, options);
    this.#addons.putWritten(written);
    return written;
  }

  #at({ isHosted }: AddonPlace): { readonly api: KubeApi; readonly server: 'managed' | 'hosting' } {
    const { cluster, hosting } = this.#options;
    return isHosted ? { api: hosting, server: 'hosting' } : { api: cluster, server: 'managed' };
  }

  /** A pod of an add-on has no files of this machine. */
  async #portableEntry(): Promise<HubEntry> {
    const { entry } = this.#options;
    if (!entry.caFile || entry.caData) return { ...entry, caFile: undefined };
    return { ...entry, caFile: undefined, caData: (await readFile(entry.caFile)).toString('base64') };
  }
}

type Duty = 'credentials' | 'health';

function keyOf(duty: Duty, addon: string): string {
  return `${duty}/${addon}`;
}

function partsOf(key: string): { readonly duty: Duty; readonly name: string } {
  const slash = key.indexOf('/');
  return { duty: key.slice(0, slash) as Duty, name: key.slice(slash + 1) };
}

/** The fields of an add-on that its Secrets depend on. */
function registrationInputs({ metadata, spec, status }: ClusterAddon): string {
  const { uid, deletionTimestamp, annotations } = metadata;
  const { namespace, registrations, kubeClientDriver, conditions } = status ?? {};
  const infrastructure = tokenInfrastructure(conditions);
  return JSON.stringify([
    ...[uid, deletionTimestamp, annotations, spec?.installNamespace],
    ...[namespace, registrations, kubeClientDriver, infrastructure],
  ]);
}

/** All registrations of an add-on share its conditions: a problem counts, else the newest credentials. */
function reportedConditions(outcomes: readonly SecretOutcome[]): readonly Condition[] {
  const ranked = [...outcomes].sort((a, b) => (a.issuedAtMs ?? Infinity) - (b.issuedAtMs ?? Infinity));
  return ranked.flatMap(({ condition }) => condition ?? []);
}

function isSameCondition(addon: ClusterAddon, { type, ...condition }: Condition): boolean {
  const { status, reason, message } = findCondition(addon.status?.conditions, type) ?? {};
  return jsonEqual({ status, reason, message }, { ...condition });
}

/** Of the leases and Secrets in a namespace only what is read is kept, and of a Secret no data. */
function reduceLease({ apiVersion, kind, metadata, ...lease }: KubeObject): KubeObject {
  const { renewTime } = (lease['spec'] ?? {}) as { readonly renewTime?: string };
  return { apiVersion, kind, metadata: identityOf(metadata), spec: { renewTime } };
}

function reduceSecret({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  return { apiVersion, kind, metadata: identityOf(metadata) };
}

function identityOf({
  namespace,
  name,
  uid,
  resourceVersion,
}: KubeObject['metadata']): KubeObject['metadata'] {
  return { namespace, name, uid, resourceVersion };
}
