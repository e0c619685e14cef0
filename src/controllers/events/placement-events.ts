import { eventAbout, type EventContent, type EventSubject } from '@berth/kube/model/event';
import { EVENT, PLACEMENT, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { Placement } from '@berth/ocm/kind/placement';
import { PlacementEngine } from '@berth/placement/engine';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { PlacementTrace } from '@berth/placement/trace/trace';
import type { Clock } from '@berth/runtime/clock/clock';
import { errorText, InputError, TransientError } from '@berth/runtime/errors';
import type { Logger } from '@berth/runtime/logger';
import { type RateLimit, RateLimiter } from '@berth/runtime/loop/rate-limiter';
import { sleep, WakeUp } from '@berth/runtime/loop/sleep';
import { activeHold, holdCode } from '../../core/publish/approval/approval-code.ts';
import {
  failingEvent,
  heldEvent,
  type PageChange,
  pageEvent,
  recoveredEvent,
  releasedEvent,
  scoreEvent,
} from '../../core/publish/pages/placement-event-content.ts';
import { RENEWAL_MS, renewEvent } from './controller-events.ts';

export interface PlacementEventsOptions {
  readonly api: Pick<KubeApi, 'create' | 'mergePatch'>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
}

/** A page of a placement was written. */
export interface PageWritten {
  readonly placement: Placement;
  readonly change: PageChange;
  readonly page: string;
  readonly uid: string;
  /** The decision that the page belongs to; undefined for a page of a deleted placement. */
  readonly result: ScheduleResult | undefined;
}

/** The name of OCM's scheduler in Events. Source: open-cluster-management-io/ocm `pkg/placement/controllers/manager.go`. */
const CONTROLLER = 'placementController';
/** Rate limit of all placements; further events wait. */
const PACE: RateLimit = { perSecond: 10, burst: 50 };
/**
 * Rate limit of one placement; further events are dropped. Source: kubernetes/client-go
 * `tools/record/events_cache.go`, EventSourceObjectSpamFilter.
 */
const PLACEMENT_PACE = { everyMs: 300_000, burst: 25 };
/** Maximum number of waiting events; further ones are dropped. */
const MAX_WAITING = 500;

interface Waiting {
  readonly placement: Placement;
  /** Rendered when the event is written, so that dropped events cost nothing. */
  readonly content: () => EventContent & { readonly related?: EventSubject };
  /** The end of the name of an Event that is written once while it lasts. Default: a new name. */
  readonly suffix?: string | undefined;
}

/**
 * Writes Events about placements as OCM's scheduler does. They are best effort: nothing waits for
 * them, they are rate-limited, and refused ones are dropped.
 */
export class PlacementEvents {
  readonly #options: PlacementEventsOptions;
  readonly #waiting: Waiting[] = [];
  readonly #wakeUp = new WakeUp();
  readonly #pace: RateLimiter;
  /** By placement: when all of its events so far would be due at the rate of one placement. */
  readonly #dueUntilMs = new Map<string, number>();
  readonly #scores = new ClusterScores();
  /** Placements (`namespace/name`) whose last Event of this kind says that they fail. */
  readonly #failing = new Set<string>();
  #dropped = 0;

  constructor(options: PlacementEventsOptions) {
    this.#options = options;
    this.#pace = new RateLimiter(options.clock, PACE);
  }

  pageWritten({ placement, change, page, uid, result }: PageWritten): void {
    const { namespace = '', name } = placement.metadata;
    const related = { kind: PLACEMENT_DECISION, namespace, name: page, uid };
    this.#report(placement, () => ({
      ...pageEvent(change, { page, placement: name, namespace }, result?.status),
      related,
    }));
  }

  /**
   * Called when all pages of a decision are written.
   * @param snapshot the inputs of the decision
   */
  published(result: ScheduleResult, snapshot: Snapshot | undefined): void {
    if (result.outcome === 'skipped') return;
    this.#report(result.placement, () => scoreEvent(this.#scores.scoresOf(result, snapshot)));
  }

  /** A hold that the hub is not readable for has no Event: it concerns all placements. */
  held(placement: Placement, hold: Parameters<typeof heldEvent>[0]): void {
    if (hold.reason === 'InventoryStale') return;
    this.#report(placement, () => heldEvent(hold), heldSuffix(hold));
  }

  released(placement: Placement, release: Parameters<typeof releasedEvent>[0]): void {
    this.#report(placement, () => releasedEvent(release));
  }

  /** The decision cannot be written. A hub that does not answer has no Event: it concerns all placements. */
  failed(placement: Placement, error: unknown): void {
    const key = namespacedName(placement.metadata);
    if (error instanceof TransientError || this.#failing.has(key)) return;
    this.#failing.add(key);
    this.#report(placement, () => failingEvent(errorText(error)));
  }

  /**
   * Called after each pass that did not fail.
   * @param placement undefined: it was deleted
   */
  succeeded(key: string, placement: Placement | undefined): void {
    if (this.#failing.delete(key) && placement !== undefined) this.#report(placement, recoveredEvent);
  }

  /**
   * Renews the Events of holds that last, one after the other.
   * @param held the placements with a hold at this moment; empty while another process leads
   */
  async renew(held: () => readonly Placement[], signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    await sleep(clock, random() * RENEWAL_MS, signal);
    while (!signal.aborted) {
      for (const placement of held()) {
        await this.#pace.whenDue(signal);
        if (signal.aborted) return;
        await this.#renew(placement);
      }
      await sleep(clock, RENEWAL_MS, signal);
    }
  }

  async #renew(placement: Placement): Promise<void> {
    const found = activeHold(placement);
    if (found === undefined || found.reason === 'InventoryStale') return;
    const { reason = '', message = '', lastTransitionTime = '' } = found;
    const nowMs = this.#options.clock.now();
    const sinceMs = Math.min(Date.parse(lastTransitionTime) || nowMs, nowMs);
    const hold = { reason, message, token: holdCode(message) ?? '' };
    const event = { placement, content: () => heldEvent(hold), suffix: heldSuffix(hold) };
    try {
      await renewEvent(this.#options.api, this.#eventOf(event, sinceMs), { sinceMs, nowMs });
    } catch (error) {
      this.#notWritten(placement, error);
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const next = this.#waiting.shift();
      if (next === undefined) {
        this.#scores.forget();
        this.#logDropped();
        await this.#wakeUp.wait(signal);
        continue;
      }
      await this.#pace.whenDue(signal);
      if (!signal.aborted) await this.#write(next);
    }
  }

  #report(placement: Placement, content: Waiting['content'], suffix?: string): void {
    if (this.#waiting.length >= MAX_WAITING || !this.#isAllowed(namespacedName(placement.metadata))) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push({ placement, content, suffix });
    this.#wakeUp.call();
  }

  #isAllowed(key: string): boolean {
    const { everyMs, burst } = PLACEMENT_PACE;
    const nowMs = this.#options.clock.now();
    const untilMs = this.#dueUntilMs.get(key) ?? nowMs;
    // Also after the clock was set back.
    if (untilMs - nowMs > (burst - 1) * everyMs && untilMs - nowMs <= burst * everyMs) return false;
    for (const [other, otherUntilMs] of this.#dueUntilMs)
      if (otherUntilMs <= nowMs) this.#dueUntilMs.delete(other);
      else break;
    this.#dueUntilMs.delete(key);
    this.#dueUntilMs.set(key, Math.min(Math.max(untilMs, nowMs), nowMs + burst * everyMs) + everyMs);
    return true;
  }

  async #write(waiting: Waiting): Promise<void> {
    const { api, clock } = this.#options;
    try {
      await api.create(EVENT, this.#eventOf(waiting, clock.now()), { metadataOnly: true });
    } catch (error) {
      this.#notWritten(waiting.placement, error);
    }
  }

  #eventOf({ placement, content, suffix: given }: Waiting, nowMs: number): KubeObject {
    const { namespace = '', name, uid = '' } = placement.metadata;
    const unique = (): string => Math.floor(this.#options.random() * 2 ** 32).toString(16);
    const suffix = given ?? `${Math.floor(nowMs).toString(16)}${unique()}`;
    const writer = { controller: CONTROLLER, instance: 'berth', nowMs, suffix };
    return eventAbout({ kind: PLACEMENT, namespace, name, uid }, content(), writer);
  }

  #notWritten({ metadata }: Placement, error: unknown): void {
    const level = error instanceof InputError ? 'warn' : 'debug';
    this.#options.log[level]('an Event was not written', { placement: namespacedName(metadata), error });
  }

  #logDropped(): void {
    if (this.#dropped > 0)
      this.#options.log.debug('Events about placements were dropped', { events: this.#dropped });
    this.#dropped = 0;
  }
}

/** The end of the name of the one Event of a hold. */
function heldSuffix({ reason, token }: { readonly reason: string; readonly token: string }): string {
  return `held-${token === '' ? reason.toLowerCase() : token}`;
}

type Score = readonly [cluster: string, total: number];

/** In a larger snapshot only selected clusters have a score. Computing the others would block the process. */
const LIMITS = { clusters: 1_000, pages: 1_000 };

/**
 * The scores of clusters in a decision. The results of one transition come from few snapshots, so the engine of the last
 * snapshot is kept until `forget`. Making an engine for each result would take longer than publishing the result.
 */
class ClusterScores {
  #last: { readonly snapshot: Snapshot; readonly engine: PlacementEngine } | undefined;

  /**
   * Yields the scores of the selected clusters, best first, then those of the other feasible clusters. Scores that the
   * caller does not read are not computed.
   */
  *scoresOf(result: ScheduleResult, snapshot: Snapshot | undefined): Generator<Score> {
    const { selected, selectedScores } = result;
    for (let at = 0; at < selected.length; at++) yield [selected[at] ?? '', selectedScores[at] ?? 0];
    if (snapshot === undefined) return;
    if (snapshot.clusters.length > LIMITS.clusters || snapshot.decisions.length > LIMITS.pages) return;
    const trace = this.#trace(result, snapshot);
    const known = new Set(selected);
    for (const cluster of trace.ranking())
      if (!known.has(cluster)) yield [cluster, trace.score(cluster)?.total ?? 0];
  }

  forget(): void {
    this.#last = undefined;
  }

  #trace({ placement }: ScheduleResult, snapshot: Snapshot): PlacementTrace {
    if (this.#last?.snapshot !== snapshot)
      this.#last = { snapshot, engine: new PlacementEngine({ ...snapshot, placements: [] }) };
    return this.#last.engine.tryPlacement(placement).trace;
  }
}
