import { eventAbout, type EventContent } from '@berth/kube/model/event';
import { CONFIG_MAP, EVENT } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatMicroTime, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import type { Leadership } from '@berth/kube/leader-election/leadership';
import type { Clock } from '@berth/runtime/clock/clock';
import { BerthError, ConflictError, errorText, InputError } from '@berth/runtime/errors';
import type { Logger } from '@berth/runtime/logger';
import { sleep } from '@berth/runtime/loop/sleep';
import { heldEvent, releasedEvent } from '../../core/publish/pages/placement-event-content.ts';
import { parentOfSource } from '../../core/sync/apply-set.ts';
import { RENEWAL_MS, renewEvent } from './controller-events.ts';

export interface SourceEventsOptions {
  readonly api: Pick<KubeApi, 'create' | 'get' | 'mergePatch'>;
  /** Of the ConfigMaps that are the parents of what sources applied. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Only the leader writes. Default: this process does. */
  readonly leadership?: Pick<Leadership, 'isHeld'> | undefined;
}

/** What Events say of a source, after each round of its repository. */
export interface SourceState {
  readonly name: string;
  readonly lastError: unknown;
  /** Undefined: the last attempt succeeded. */
  readonly failingSinceMs: number | undefined;
  readonly outcome:
    | {
        readonly pruneHeld: { readonly message: string; readonly token: string } | undefined;
        readonly released?: { readonly token: string; readonly by: string } | undefined;
      }
    | undefined;
}

/** An Event that is renewed while what it says lasts. */
interface Lasting {
  readonly event: Said;
  readonly sinceMs: number;
}

interface Said {
  readonly source: string;
  readonly content: EventContent;
  /** The end of the name of the Event: the same after a restart. */
  readonly suffix: string;
}

interface Told {
  readonly failing?: Lasting | undefined;
  readonly held?: Lasting | undefined;
  readonly released?: string | undefined;
}

/**
 * Writes Events about sources: one that fails and recovers, and deletions that are held and released. They regard the ConfigMap that
 * is the parent of the source's objects on the hub. They are best effort: nothing waits for them, and refused ones are dropped. Their
 * names follow from what they say, so that a restart writes none again.
 */
export class SourceEvents {
  readonly #options: SourceEventsOptions;
  readonly #told = new Map<string, Told>();
  /** How often each Event was seen by this process. */
  readonly #counts = new Map<string, number>();
  #written: Promise<void> = Promise.resolve();

  constructor(options: SourceEventsOptions) {
    this.#options = options;
  }

  look(states: readonly SourceState[]): void {
    if (this.#options.leadership?.isHeld === false) return;
    for (const state of states) this.#told.set(state.name, this.#tell(state, this.#told.get(state.name)));
  }

  /** Renews the Events of what lasts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, leadership } = this.#options;
    while (!signal.aborted) {
      await sleep(clock, RENEWAL_MS, signal);
      if (signal.aborted || leadership?.isHeld === false) continue;
      for (const { failing, held } of this.#told.values())
        for (const lasting of [failing, held])
          if (lasting !== undefined) this.#enqueue(lasting.event, lasting);
    }
    await this.#written;
  }

  /** @param before undefined: this process has not looked at the source yet, and an Event may be there already */
  #tell({ name: source, lastError, failingSinceMs, outcome }: SourceState, before: Told | undefined): Told {
    const nowMs = this.#options.clock.now();
    const isNew = before !== undefined;
    let failing: Lasting | undefined;
    if (failingSinceMs !== undefined) {
      const content = failingEvent(errorText(lastError));
      const suffix = `failing-${lastError instanceof BerthError ? lastError.code : 'error'}`;
      failing = { event: { source, content, suffix }, sinceMs: failingSinceMs };
      // The words of one failure may differ each time; its code says whether it is another one.
      if (before?.failing?.event.suffix !== suffix) this.#enqueue(failing.event, isNew);
    } else if (before?.failing !== undefined)
      this.#enqueue(
        { source, content: recoveredEvent(nowMs - before.failing.sinceMs), suffix: 'recovered' },
        true,
      );
    const { pruneHeld, released } = outcome ?? {};
    let held: Lasting | undefined;
    if (pruneHeld !== undefined) {
      const event = {
        source,
        content: heldEvent({ reason: 'DeletionsHeld', ...pruneHeld }),
        suffix: `held-${pruneHeld.token}`,
      };
      const isKnown = before?.held?.event.suffix === event.suffix;
      held = { event, sinceMs: isKnown ? before.held.sinceMs : nowMs };
      if (!isKnown) this.#enqueue(event, isNew);
    }
    if (released !== undefined && released.token !== before?.released)
      this.#enqueue(
        { source, content: releasedEvent(released), suffix: `released-${released.token}` },
        isNew,
      );
    return { failing, held, released: released?.token ?? before?.released };
  }

  /** @param how a boolean: whether it is new, or may be an Event that an earlier process wrote; else how long it lasts */
  #enqueue(said: Said, how: boolean | Lasting): void {
    this.#written = this.#written.then(() => this.#write(said, how));
  }

  async #write(said: Said, how: boolean | Lasting): Promise<void> {
    const { api, clock, log } = this.#options;
    const nowMs = clock.now();
    try {
      const event = await this.#eventOf(said, typeof how === 'boolean' ? nowMs : how.sinceMs);
      if (typeof how !== 'boolean') return await renewEvent(api, event, { sinceMs: how.sinceMs, nowMs });
      const { name } = event.metadata;
      const count = (this.#counts.get(name) ?? 0) + 1;
      this.#counts.set(name, count);
      await api.create(EVENT, event, { metadataOnly: true }).catch(async (error: unknown) => {
        if (!(error instanceof ConflictError)) throw error;
        if (how) await this.#countUp(event, Math.max(count, 2));
      });
    } catch (error) {
      // The namespace comes with the first object that is applied.
      if (error instanceof InputError && error.code === 'kube.notfound') return;
      const level = error instanceof InputError ? 'warn' : 'debug';
      log[level]('an Event was not written', { source: said.source, reason: said.content.reason, error });
    }
  }

  /** The same has happened again, within the hour for which an Event stays. */
  async #countUp({ metadata: { namespace = '', name } }: KubeObject, count: number): Promise<void> {
    const { api, clock } = this.#options;
    const series = { count, lastObservedTime: formatMicroTime(instantFromEpochMs(clock.now())) };
    await api.mergePatch(EVENT, { namespace, name }, { series }, { metadataOnly: true });
  }

  async #eventOf({ source, content, suffix }: Said, nowMs: number): Promise<KubeObject> {
    const { api, namespace } = this.#options;
    const { name } = parentOfSource(source, namespace);
    // A source that was never read, or that another tool applies, has none.
    const uid = (await api.get(CONFIG_MAP, { namespace, name }))?.metadata.uid ?? '';
    const writer = { controller: 'berth', instance: 'berth', nowMs, suffix };
    return eventAbout({ kind: CONFIG_MAP, namespace, name, uid }, content, writer);
  }
}

const ACTION = 'FollowCommit';
const MAX_NOTE_LENGTH = 1_000;

/** A source cannot be fetched, read or applied. */
function failingEvent(text: string): EventContent {
  const note = `The source cannot be followed, so what its last commit says stays: ${text}`;
  return { type: 'Warning', reason: 'SourceFailing', action: ACTION, note: note.slice(0, MAX_NOTE_LENGTH) };
}

function recoveredEvent(failedForMs: number): EventContent {
  const note = `The source can be followed again, after ${Math.ceil(failedForMs / 1_000)} s`;
  return { type: 'Normal', reason: 'SourceRecovered', action: ACTION, note };
}
