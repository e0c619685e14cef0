import { setImmediate as nextTurn } from 'node:timers/promises';
import { ConflictError, TransientError } from '@berth/runtime/errors';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Placement } from '@berth/ocm/kind/placement';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type { Clock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
import { predictOutcome } from '../../core/publish/machine/pass/decide-from-facts.ts';
import type {
  PassEnd,
  PlacementAction,
  PlacementEvent,
} from '../../core/publish/machine/state/placement-event.ts';
import { decisionPageOf, hasGroup } from '../../core/publish/pages/decision-page.ts';
import type { FinalPage } from '../../core/publish/pages/plan-pages.ts';
import type { PublishedDecision } from '../../core/publish/pages/published-placements.ts';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { ControllerEventBody } from '../events/controller-events.ts';
import type { PageWritten } from '../events/placement-events.ts';
import type { PassFactsReader } from './pass-facts-reader.ts';
import type { PageRequests } from './page-requests.ts';
import type { PreviousRecords } from './recorded-publications.ts';
import type { PlacementStates } from '../../core/publish/machine/placement-states.ts';
import type { PlanApprovals } from './plan-approvals.ts';
import type { PublishStateStore } from './publish-state-store.ts';

export interface PublisherOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly states: PlacementStates;
  readonly facts: PassFactsReader;
  readonly requests: PageRequests;
  readonly publishStates: PublishStateStore;
  readonly previousRecords: Pick<PreviousRecords, 'drop'>;
  /** Loads the state of a placement that another process published. Awaited before each pass. */
  readonly recall?: ((placement: Placement) => Promise<void>) | undefined;
  /** Resolves when what is about to be published is stored. */
  readonly whenStored: () => Promise<void>;
  readonly approvals: Pick<PlanApprovals, 'judged'>;
  /** The newest result of a placement; undefined until it is scheduled. */
  readonly resultOf: (placement: string) => ScheduleResult | undefined;
  /** Called when the newest result of a placement is published, held, or cannot be published for now. */
  readonly onResultHandled: (placement: string) => void;
  /**
   * Whether a placement that is not on the hub may be applied again: Git declares it, or this is
   * not known yet.
   */
  readonly mayBeReapplied: (placement: string) => boolean;
  /** Whether endpoints serve the placement. */
  readonly isServed: (placement: string) => boolean;
  /**
   * Records the decision and its inputs.
   * @returns the hash of the record
   */
  readonly record: (entry: PublishedDecision) => string;
  readonly emit: (event: ControllerEventBody) => void;
  /** Called after each complete pass with the published clusters. */
  readonly onFinalPages: (placement: string, pages: readonly FinalPage[]) => void;
  /** Called for each confirmed write of a page. */
  readonly onPageWritten?: ((written: PageWritten) => void) | undefined;
  readonly decideAgain: (cause: 'decisions' | 'inputs', placement: string) => void;
  readonly enqueue: (placement: string) => void;
}

/** How long Berth waits until it checks again whether a deleted placement was applied again. */
const REAPPLY_RECHECK_MS = 5_000;

/**
 * Applies the actions of each placement's state machine, and sends the responses to it as events.
 * It decides nothing itself.
 */
export class PlacementPublisher {
  readonly #options: PublisherOptions;

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  /**
   * Runs one pass over a placement.
   * @param key `namespace/name` of the placement
   * @throws the error of an action; the pass must be repeated
   */
  async reconcile(key: string): Promise<ReconcileOutcome> {
    const { facts, recall, resultOf, onResultHandled } = this.#options;
    const placement = facts.placement(key);
    if (placement?.metadata.deletionTimestamp !== undefined || placement === undefined)
      return this.#gone(key);
    if (mayBePublished(placement, resultOf(key))) await recall?.(placement);
    const result = resultOf(key);
    const end = await this.#pass(key, { kind: 'reconcile', facts: facts.of(key, placement, result) });
    // The rest of a change that waits for the hub is still made, and later decisions count on it.
    const goesOn = end.kind === 'requeue' || (end.kind === 'failed' && isTriedAgain(end.error));
    if (!goesOn && resultOf(key) === result) onResultHandled(key);
    if (end.kind === 'failed') throw end.error;
    return end.kind === 'done' ? DONE : end;
  }

  /**
   * Handles a placement that is deleted or being deleted. If Git declares it, it is applied again;
   * until then its pages stay, and endpoints serve it. The pages of every other placement are
   * deleted.
   */
  async #gone(key: string): Promise<ReconcileOutcome> {
    const { facts, requests, onResultHandled, onFinalPages, mayBeReapplied, isServed } = this.#options;
    const pages = facts.pages(key);
    onResultHandled(key);
    if (mayBeReapplied(key)) {
      if (!isServed(key))
        onFinalPages(key, pages.map((page) => decisionPageOf(page, undefined)).filter(hasGroup));
      return { kind: 'requeue', afterMs: REAPPLY_RECHECK_MS };
    }
    await this.#pass(key, { kind: 'gone' });
    if (facts.placement(key) === undefined) await requests.deleteKept(pages);
    return DONE;
  }

  /** Handles an event of the placement that occurs outside of a pass. */
  handle(key: string, event: PlacementEvent): void {
    for (const action of this.#step(key, event)) void this.#begin(key, action);
  }

  /** The clusters that the pages would list if the result were published now. Changes nothing. */
  outcomeOf(key: string, result: ScheduleResult): readonly string[] {
    const { facts, states, clock } = this.#options;
    const placement = facts.placement(key);
    if (placement === undefined) return result.selected;
    return predictOutcome(states.of(key), facts.of(key, placement, result), result, clock.now());
  }

  /** Sends the event and then each response to the state machine, until the pass ends. */
  #pass(key: string, first: PlacementEvent): Promise<PassEnd> {
    return new Promise((resolve) => {
      const carryOut = (actions: readonly PlacementAction[]): void => {
        for (const action of actions) {
          if (action.kind === 'end') resolve(action.end);
          else this.#begin(key, action)?.then(send, abandon);
        }
      };
      const send = (event: PlacementEvent): void => {
        try {
          carryOut(this.#step(key, event));
        } catch (error) {
          abandon(error);
        }
      };
      // A defect ends this pass, but no other.
      const abandon = (error: unknown): void => {
        carryOut(this.#step(key, { kind: 'abandoned', error }));
        resolve({ kind: 'failed', error });
      };
      send(first);
    });
  }

  #step(key: string, event: PlacementEvent): readonly PlacementAction[] {
    const { states, clock } = this.#options;
    return states.step(key, event, clock.now());
  }

  /** Applies the action. Returns the response that the state machine waits for, if there is one. */
  #begin(key: string, action: PlacementAction): Promise<PlacementEvent> | undefined {
    const { publishStates, previousRecords, approvals, onFinalPages, decideAgain, enqueue } = this.#options;
    switch (action.kind) {
      case 'read-pages':
      case 'fence-page':
        return this.#request(key, action).catch((error: unknown) => failed('pages', error));
      case 'write-page':
        return this.#options
          .whenStored()
          .then(() => this.#request(key, action))
          .catch((error: unknown) => failed('pages', error));
      case 'patch-status':
        return this.#request(key, action).catch((error: unknown) => failed('status', error));
      case 'annotate-placement':
        return this.#annotate(key, action).catch((error: unknown) => failed('annotation', error));
      case 'yield':
        return nextTurn().then(() => ({ kind: 'resumed' }));
      case 'persist':
        return this.#persist(key, action);
      case 'record':
        return this.#record(action.entry);
      case 'remember':
        return void publishStates.set(key, action.state);
      case 'forget':
        return void publishStates.delete(key);
      case 'drop-record':
        return void previousRecords.drop(key);
      case 'judge-plans':
        return void approvals.judged(key, action.plans, action.outcome);
      case 'final-pages':
        return void onFinalPages(key, action.pages);
      case 'decide-again':
        return void decideAgain(action.cause, key);
      case 'enqueue':
        return void enqueue(key);
      default:
        return void this.#emit(key, action);
    }
  }

  async #request(
    key: string,
    action: Extract<PlacementAction, { kind: 'read-pages' | 'fence-page' | 'write-page' | 'patch-status' }>,
  ): Promise<PlacementEvent> {
    const { requests, facts } = this.#options;
    switch (action.kind) {
      case 'read-pages': {
        const pages = await requests.list(action.placement);
        return { kind: 'pages-read', pages, seen: facts.pages(key) };
      }
      case 'fence-page':
        return { kind: 'page-fenced', page: await requests.fence(action.page) };
      case 'write-page': {
        const after = await requests.write(action);
        this.#reportWritten(key, action, after);
        return { kind: 'page-written', after, seen: facts.page(key, action.write.page) };
      }
      case 'patch-status': {
        const after = await requests.patchStatus(action.placement, action.status);
        return {
          kind: 'status-written',
          after,
          seen: facts.placement(key) as unknown as KubeObject | undefined,
        };
      }
    }
  }

  #reportWritten(
    key: string,
    { placement, write, before }: Extract<PlacementAction, { kind: 'write-page' }>,
    after: KubeObject | undefined,
  ): void {
    if (write.kind === 'label') return;
    const { onPageWritten, resultOf } = this.#options;
    const uid = (after ?? before)?.metadata.uid ?? '';
    onPageWritten?.({ placement, change: write.kind, page: write.page, uid, result: resultOf(key) });
  }

  async #annotate(
    key: string,
    { placement }: Extract<PlacementAction, { kind: 'annotate-placement' }>,
  ): Promise<PlacementEvent> {
    const { requests, log } = this.#options;
    const after = await requests.annotate(placement);
    log.info('the placement is annotated as decided by Berth, so that other schedulers leave it', {
      placement: key,
    });
    return { kind: 'placement-annotated', after };
  }

  async #persist(
    key: string,
    { state }: Extract<PlacementAction, { kind: 'persist' }>,
  ): Promise<PlacementEvent> {
    const { publishStates, log } = this.#options;
    await publishStates.persist(key, state).catch((error: unknown) =>
      // A full disk loses what Berth remembers, but no decision.
      log.error('this removal is not stored, so it counts only until this process ends', {
        placement: key,
        error,
      }),
    );
    return { kind: 'persisted' };
  }

  async #record(entry: PublishedDecision): Promise<PlacementEvent> {
    try {
      return { kind: 'recorded', hash: this.#options.record(entry) };
    } catch (error) {
      return failed('record', error);
    }
  }

  #emit(
    key: string,
    action: Extract<
      PlacementAction,
      { kind: 'report-published' | 'report-held' | 'report-found' | 'report-restored' | 'end' }
    >,
  ): void {
    const { emit, log } = this.#options;
    switch (action.kind) {
      case 'report-published': {
        const { clusters, writes, record, entry } = action;
        const { added, removed } = entry;
        return emit({ kind: 'published', placement: key, clusters, added, removed, writes, record });
      }
      case 'report-held': {
        const { reason, message, code } = action.hold;
        return emit({ kind: 'held', placement: key, reason, message, token: code, isKnown: action.isKnown });
      }
      case 'report-found':
        return log.info('found a publication without a record, recorded now', {
          placement: key,
          record: action.record,
        });
      case 'report-restored':
        return log.warn('others changed what is published; it is restored', {
          placement: key,
          pages: action.pages,
        });
      case 'end':
        return;
    }
  }
}

function failed(of: 'pages' | 'status' | 'annotation' | 'record', error: unknown): PlacementEvent {
  return { kind: 'failed', of, error, mayArrive: error instanceof TransientError };
}

/** Whether the pass may publish the result. Only then is the state of other processes loaded. */
function mayBePublished({ metadata }: Placement, result: ScheduleResult | undefined): boolean {
  const isOfPlacement = result !== undefined && result.placement.metadata.uid === metadata.uid;
  return isOfPlacement && result.outcome !== 'skipped' && metadata.deletionTimestamp === undefined;
}

/** Whether the same write may succeed without any change. */
function isTriedAgain(error: unknown): boolean {
  return error instanceof TransientError || error instanceof ConflictError;
}
