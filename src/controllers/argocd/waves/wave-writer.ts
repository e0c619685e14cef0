import { APPLICATION_SET } from '../../../core/argocd/argocd-kinds.ts';
import type { HeldWaves } from '../../../core/argocd/waves/plan-waves.ts';
import { planWaveRecord, type RecordPlan } from '../../../core/argocd/waves/plan-wave-record.ts';
import type { WaveEvent } from '../../../core/argocd/waves/wave-event.ts';
import {
  parseWaveRecord,
  renderWaveRecord,
  type WaveRecord,
  WAVES_ANNOTATION,
} from '../../../core/argocd/waves/wave-record.ts';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { PublishedPlacements } from '../../../core/publish/pages/published-placements.ts';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WaveView } from './wave-view.ts';

export interface WaveWriterOptions {
  readonly hub: KubeApi;
  readonly clock: Clock;
  readonly published: PublishedPlacements;
  readonly view: WaveView;
  readonly onWaves?: ((event: WaveEvent) => void) | undefined;
}

/** The waves of one placement that are held now. */
export interface HeldPlacementWaves extends HeldWaves {
  readonly applicationSet: string;
  readonly placement: string;
  /** Since when the reason has been the same; milliseconds since the epoch. */
  readonly sinceMs: number;
}

interface Memory {
  readonly uid: string | undefined;
  /** What this process last saw written. It is kept because a user may remove the annotation. */
  readonly record: WaveRecord | undefined;
  readonly held: readonly HeldPlacementWaves[];
  readonly problems: readonly string[];
}

const FIELD_MANAGER = 'berth-argocd';
/** The hub does not notify Berth when it answers again. */
const UNKNOWN_RECHECK_MS = 15_000;

/** Plans the waves of ApplicationSets, one at a time, and writes them to the ApplicationSet. */
export class WaveWriter {
  readonly #options: WaveWriterOptions;
  readonly #memory = new Map<string, Memory>();

  constructor(options: WaveWriterOptions) {
    this.#options = options;
  }

  held(): readonly HeldPlacementWaves[] {
    return [...this.#memory.values()].flatMap(({ held }) => held);
  }

  /** What a user has to correct, as sentences. */
  problems(): readonly string[] {
    return [...this.#memory].flatMap(([key, { problems }]) =>
      problems.map((problem) => `waves of ApplicationSet ${key}: ${problem}`),
    );
  }

  forget(key: string): void {
    this.#memory.delete(key);
  }

  /**
   * Stores the record of an ApplicationSet, which another process may have written. It is used even if a user removes
   * the annotation later.
   */
  note(key: string, { metadata }: KubeObject): void {
    const text = metadata.annotations?.[WAVES_ANNOTATION];
    const record = text === undefined ? undefined : parseWaveRecord(text);
    if (record === undefined) return;
    const known = this.#knownOf(key, metadata.uid);
    this.#memory.set(key, { held: [], problems: [], ...known, uid: metadata.uid, record });
  }

  async reconcile(key: string): Promise<ReconcileOutcome> {
    const { view, published, clock } = this.#options;
    const object = view.applicationSet(key);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined || !published.complete)
      return DONE;
    const uses = view.usesOf(object);
    const written = object.metadata.annotations?.[WAVES_ANNOTATION];
    if (uses.rules.size + uses.refused.size === 0) {
      this.forget(key);
      if (written !== undefined) await this.#write(object, null);
      return DONE;
    }
    const healthProblem = view.healthProblem();
    const known = this.#knownOf(key, object.metadata.uid);
    const plan = planWaveRecord({
      ...uses,
      before: (written === undefined ? undefined : parseWaveRecord(written)) ?? known?.record,
      publishedOf: (placement) => published.get(placement),
      applications: view.applicationsOf(object),
      healthProblem,
      nowMs: clock.now(),
    });
    const text = renderWaveRecord(plan.record);
    const tooLong =
      text === undefined ? ['they are longer than an annotation may be: use fewer clusters'] : [];
    if (text !== undefined && text !== written && plan.record.size > 0) await this.#write(object, text);
    this.#remember(key, object, { ...plan, problems: [...plan.problems, ...tooLong] });
    if (plan.held.size === 0) return DONE;
    const waits = [plan.againAfterMs, healthProblem === undefined ? undefined : UNKNOWN_RECHECK_MS];
    const afterMs = Math.min(...waits.map((ms) => ms ?? Infinity));
    return afterMs === Infinity ? DONE : { kind: 'requeue', afterMs: Math.ceil(afterMs) };
  }

  /** Nothing is written if the version differs from the one that was read: the next pass reads it again. */
  async #write({ metadata }: KubeObject, text: string | null): Promise<void> {
    const { name, namespace = '', uid, resourceVersion } = metadata;
    await this.#options.hub.mergePatch(
      APPLICATION_SET,
      { namespace, name },
      { metadata: { uid, resourceVersion, annotations: { [WAVES_ANNOTATION]: text } } },
      { fieldManager: FIELD_MANAGER, metadataOnly: true },
    );
  }

  #remember(key: string, { metadata }: KubeObject, { record, held, opened, problems }: RecordPlan): void {
    const { clock, onWaves } = this.#options;
    const before = this.#knownOf(key, metadata.uid);
    const applicationSet = namespacedName(metadata);
    const now = [...held].map(([placement, one]): HeldPlacementWaves => {
      const same = before?.held.find(
        (earlier) => earlier.placement === placement && isSameHold(earlier, one),
      );
      return { ...one, applicationSet, placement, sinceMs: same?.sinceMs ?? clock.now() };
    });
    this.#memory.set(key, { uid: metadata.uid, record, held: now, problems });
    for (const [placement, served] of opened) {
      const one = now.find((hold) => hold.placement === placement);
      const earlier = before?.held.find((hold) => hold.placement === placement);
      const isChanged =
        one === undefined ? earlier !== undefined : earlier === undefined || !isSameHold(earlier, one);
      if (served.length === 0 && !isChanged) continue;
      const { clusters = [], message } = one ?? {};
      onWaves?.({ applicationSet, placement, served, waiting: clusters.length, message });
    }
  }

  /** An ApplicationSet that was deleted and created again counts as another one. */
  #knownOf(key: string, uid: string | undefined): Memory | undefined {
    const known = this.#memory.get(key);
    return known?.uid === uid ? known : undefined;
  }
}

function isSameHold(a: HeldWaves, b: HeldWaves): boolean {
  return a.wave === b.wave && a.waitsFor === b.waitsFor && a.reason === b.reason;
}
