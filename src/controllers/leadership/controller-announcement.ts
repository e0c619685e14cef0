import { createIfAbsent } from '@berth/kube/create-if-absent';
import { InputError } from '@berth/runtime/errors';
import { LEASE, NAMESPACE } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Logger } from '@berth/runtime/logger';
import { DEFAULT_NAMESPACE } from '../../core/sync/apply-set.ts';
import {
  CONTROLLER_LABEL,
  type ControllerDuties,
  announcementLease,
  readDuties,
  sharedDuties,
} from '../../core/registration/install/controller-announcement.ts';
import type { AnnouncedSettings } from './announced-settings.ts';
import { sleep } from '@berth/runtime/loop/sleep';
import type { Supervisor } from '@berth/runtime/loop/supervisor';

export interface ControllerAnnouncementOptions {
  readonly api: KubeApi;
  /** Name of the Lease: the same after a restart, and another one for every other controller. */
  readonly name: string;
  /** Unique for each start of a process. */
  readonly identity: string;
  readonly duties: ControllerDuties;
  readonly settings: AnnouncedSettings;
  readonly clock: Clock;
  readonly log: Logger;
  /** Awaited before anything is said. Default: no wait. */
  readonly mayBegin?: ((signal: AbortSignal) => Promise<void>) | undefined;
}

const RENEW_MS = 10_000;
/** A Lease that did not change for so many looks belongs to a controller that ended. */
const SILENT_LOOKS = 3;
/** A hub that does not answer must not keep the process from ending. */
const RELEASE_LIMIT_MS = 1_000;
const OPTIONS = { fieldManager: 'berth', metadataOnly: true } as const;

interface Seen {
  readonly version: string;
  readonly unchanged: number;
  readonly isAlive: boolean;
}

/**
 * Says on the hub what this controller writes there, once it leads, and notices others that write the same: those that
 * share no Lease with it. It stops nobody: controllers with other duties may run beside each other, and two with the same come to the same
 * decisions, while a restart must not wait for the Lease of its predecessor. The Lease stays when the process ends, so
 * that a plan knows which placements Berth decides.
 */
export class ControllerAnnouncement {
  readonly #options: ControllerAnnouncementOptions;
  readonly #seen = new Map<string, Seen>();
  #warnings: readonly string[] = [];
  #refused = false;
  #isWritten = false;

  constructor(options: ControllerAnnouncementOptions) {
    this.#options = options;
  }

  /** Until the supervisor closes. */
  start(supervisor: Supervisor): void {
    supervisor.start('announcement of this controller', (signal) => this.#run(signal));
  }

  /** Other controllers that write the same, as text for users. */
  warnings(): readonly string[] {
    return this.#warnings;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, identity, mayBegin } = this.#options;
    await mayBegin?.(signal);
    if (signal.aborted) return;
    while (!signal.aborted) {
      await this.#renewAndLook();
      await sleep(clock, RENEW_MS, signal);
    }
    const limit = new AbortController();
    const released = this.#write('', identity).catch(() => undefined);
    await Promise.race([released, sleep(clock, RELEASE_LIMIT_MS, limit.signal)]);
    limit.abort();
  }

  async #renewAndLook(): Promise<void> {
    const { api, identity, log } = this.#options;
    try {
      const labelSelector = CONTROLLER_LABEL;
      const { items } = await api.list(LEASE, { namespace: DEFAULT_NAMESPACE, labelSelector });
      this.#look(items);
      await this.#write(identity);
      this.#isWritten = true;
      this.#refused = false;
    } catch (error) {
      // The next look tries again. An outage of the hub is reported once for the whole process.
      if (!(error instanceof InputError) || this.#refused) return;
      this.#refused = true;
      log.warn('other controllers on this hub cannot be noticed', { error });
    }
  }

  /** @param holder the identity that must be in the Lease, or nothing is written; default: any */
  async #write(identity: string, holder?: string): Promise<void> {
    const { api, name, duties, settings, clock } = this.#options;
    const lease = announcementLease(
      {
        name,
        identity,
        duties,
        settings: JSON.stringify(settings),
        durationSeconds: (SILENT_LOOKS * RENEW_MS) / 1_000,
        renewedAtMs: clock.now(),
      },
      DEFAULT_NAMESPACE,
    );
    const key = { namespace: DEFAULT_NAMESPACE, name };
    if (holder !== undefined && holderOf(await api.get(LEASE, key)) !== holder) return;
    const { labels, annotations } = lease.metadata;
    try {
      await api.mergePatch(LEASE, key, { metadata: { labels, annotations }, spec: lease['spec'] }, OPTIONS);
    } catch (error) {
      if (!(error instanceof InputError) || error.code !== 'kube.notfound') throw error;
      await this.#create(lease);
    }
  }

  /** The namespace is made only where it is missing: not every controller has a right on namespaces. */
  async #create(lease: KubeObject): Promise<void> {
    const { api } = this.#options;
    try {
      await createIfAbsent(api, LEASE, lease, OPTIONS);
    } catch (error) {
      if (!(error instanceof InputError) || error.code !== 'kube.notfound') throw error;
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: DEFAULT_NAMESPACE } };
      await createIfAbsent(api, NAMESPACE, namespace, OPTIONS);
      await createIfAbsent(api, LEASE, lease, OPTIONS);
    }
  }

  /** Whether a Lease is renewed is seen by its changes, never by its times, which another clock wrote. */
  #look(leases: readonly KubeObject[]): void {
    const { name, duties, log } = this.#options;
    const found: string[] = [];
    for (const lease of leases) {
      if (lease.metadata.name === name ? !this.#isTaken(lease) : !this.#isAlive(lease)) continue;
      const shared = sharedDuties(duties, readDuties(lease));
      if (shared.length === 0) continue;
      found.push(
        `another controller writes to this hub (${holderOf(lease)}): both ${shared.join(', and both ')}. End one of them, or give them different duties`,
      );
    }
    found.sort();
    for (const text of found)
      if (!this.#warnings.includes(text))
        log.warn('another controller writes the same', { explanation: text });
    if (this.#warnings.length > 0 && found.length === 0)
      log.info('no other controller writes the same any more');
    this.#warnings = found;
  }

  /** Whether another process writes the Lease of this one. Before the first write it is that of the predecessor. */
  #isTaken(lease: KubeObject): boolean {
    return this.#isWritten && !['', this.#options.identity].includes(holderOf(lease));
  }

  #isAlive(lease: KubeObject): boolean {
    const { name, resourceVersion: version = '' } = lease.metadata;
    const before = this.#seen.get(name);
    const unchanged = before?.version === version ? before.unchanged + 1 : 0;
    // Seen for the first time, it may be of a controller that ended long ago.
    const isChanged = before !== undefined && unchanged === 0;
    const isAlive =
      holderOf(lease) !== '' && (isChanged || (before?.isAlive === true && unchanged < SILENT_LOOKS));
    this.#seen.set(name, { version, unchanged, isAlive });
    return isAlive;
  }
}

function holderOf(lease: KubeObject | undefined): string {
  return ((lease?.['spec'] ?? {}) as { readonly holderIdentity?: string }).holderIdentity ?? '';
}
