import type { ObjectCache } from '@berth/kube/cache/object-cache';
import { eventAbout, type EventContent } from '@berth/kube/model/event';
import { EVENT, type KindInfo, PLACEMENT, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { Placement } from '@berth/ocm/kind/placement';
import type { Clock } from '@berth/runtime/clock/clock';
import { ConflictError, InputError } from '@berth/runtime/errors';
import type { Logger } from '@berth/runtime/logger';
import { sleep } from '@berth/runtime/loop/sleep';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { GITOPS_CLUSTERS } from '../../core/argocd/argocd-kinds.ts';
import { undecidedEvent, unattendedGitOpsEvent } from '../../core/addon/install/unattended-object.ts';
import { placementOfDecision } from '@berth/ocm/kind/placement-decision';
import { RENEWAL_MS, renewEvent } from './controller-events.ts';

export interface UnattendedOptions {
  readonly hub: Pick<KubeApi, 'list' | 'create' | 'mergePatch' | 'resolve'>;
  readonly cache: ObjectCache;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly decides: 'own' | 'all';
  /** Whether GitOpsClusters are looked at: somebody else acts on them, if anybody does. */
  readonly looksAtGitOps: boolean;
  /** Awaited before each look. */
  readonly mayBegin: (signal: AbortSignal) => Promise<void>;
}

/** A look costs a list of GitOpsClusters, which are few. */
const LOOK_EVERY_MS = 60_000;

interface Unattended {
  readonly kind: KindInfo;
  readonly object: KubeObject;
  readonly content: EventContent;
}

/** Says in Events on which objects nothing acts, and what has to run: placements that nobody decides, and GitOpsClusters. */
export function watchUnattended(options: UnattendedOptions): {
  /** As text for users. */
  readonly warnings: () => readonly string[];
  readonly close: () => Promise<void>;
} {
  const { clock, random, log } = options;
  const supervisor = new Supervisor({ clock, random, log });
  const watch = new UnattendedWatch(options);
  supervisor.start('unattended objects', async (signal) => {
    while (!signal.aborted) {
      await sleep(clock, LOOK_EVERY_MS, signal);
      await options.mayBegin(signal);
      if (!signal.aborted) await watch.look();
    }
  });
  return { warnings: () => watch.warnings(), close: () => supervisor.close() };
}

class UnattendedWatch {
  readonly #options: UnattendedOptions;
  /** By object: when its Event was written last, by this process. */
  #toldMs: ReadonlyMap<string, number> = new Map();
  #warnings: readonly string[] = [];

  constructor(options: UnattendedOptions) {
    this.#options = options;
    options.cache.of(PLACEMENT);
    options.cache.of(PLACEMENT_DECISION);
  }

  warnings(): readonly string[] {
    return this.#warnings;
  }

  async look(): Promise<void> {
    const found = [...this.#placements(), ...(await this.#gitOpsClusters())];
    const told = new Map<string, number>();
    for (const one of found) {
      const key = one.object.metadata.uid ?? '';
      told.set(key, await this.#tell(one, this.#toldMs.get(key)));
    }
    this.#toldMs = told;
    this.#warnings = found.map(
      ({ kind, object, content }) => `${kind.kind} ${namespacedName(object.metadata)}: ${content.note}`,
    );
  }

  #placements(): readonly Unattended[] {
    const { cache, decides, clock } = this.#options;
    const [placements, decisions] = [cache.of(PLACEMENT), cache.of(PLACEMENT_DECISION)];
    if (!placements.synced || !decisions.synced) return [];
    const decided = new Set(decisions.store.list().map(placementOfDecision));
    return placements.store.list().flatMap((object) => {
      const hasDecisions = decided.has(namespacedName(object.metadata));
      const now = { decides, nowMs: clock.now() };
      const content = undecidedEvent(object as Placement, hasDecisions, now);
      return content === undefined ? [] : [{ kind: PLACEMENT, object, content }];
    });
  }

  async #gitOpsClusters(): Promise<readonly Unattended[]> {
    const { hub, clock, looksAtGitOps } = this.#options;
    if (!looksAtGitOps) return [];
    const found = new Map<string, Unattended>();
    for (const kind of GITOPS_CLUSTERS)
      for (const object of await listIfServed(hub, kind)) {
        const content = unattendedGitOpsEvent(object, clock.now());
        if (content !== undefined) found.set(object.metadata.uid ?? '', { kind, object, content });
      }
    return [...found.values()];
  }

  /** @returns when the Event was written last */
  async #tell({ kind, object, content }: Unattended, toldMs: number | undefined): Promise<number> {
    const { hub, clock, log } = this.#options;
    const nowMs = clock.now();
    if (toldMs !== undefined && nowMs - toldMs < RENEWAL_MS) return toldMs;
    const { namespace = '', name, uid = '', creationTimestamp } = object.metadata;
    const sinceMs = Math.min(Date.parse(creationTimestamp ?? '') || nowMs, nowMs);
    const suffix = `${content.reason.toLowerCase()}-${uid.slice(0, 8)}`;
    const writer = { controller: 'berth', instance: 'berth', nowMs, suffix };
    const event = eventAbout({ kind, namespace, name, uid }, content, writer);
    try {
      if (toldMs === undefined) await hub.create(EVENT, event, { metadataOnly: true });
      else await renewEvent(hub, event, { sinceMs, nowMs });
    } catch (error) {
      // A conflict: another process has said so.
      if (!(error instanceof ConflictError))
        log.warn('an Event was not written', { object: namespacedName(object.metadata), error });
    }
    return nowMs;
  }
}

/** @returns none if the hub has no such kind, or does not show it */
async function listIfServed(
  hub: UnattendedOptions['hub'],
  { group, version, kind }: KindInfo,
): Promise<readonly KubeObject[]> {
  const served = await hub.resolve(`${group}/${version}`, kind);
  if (served === undefined) return [];
  try {
    return (await hub.list(served)).items;
  } catch (error) {
    if (error instanceof InputError) return [];
    throw error;
  }
}
