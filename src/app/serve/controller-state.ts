import { join } from 'node:path';
import type { Clock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
import { RecordLog } from '../../adapters/store/record-log.ts';
import { HistoryStore, HistoryReader } from '../../adapters/store/history-store.ts';
import { JsonFileMap } from '../../adapters/store/json-file.ts';
import { sha256 } from '@berth/runtime/sha256';
import type { SourcePlans } from '../../core/publish/approval/pending-plans.ts';
import type { Removal } from '../../core/publish/judge/removal-budget.ts';
import type { PublishState } from '../../core/publish/judge/publish-state.ts';
import type { PlacementMove } from '../../core/transition/unfinished-transition.ts';
import { HubTransition } from '../../controllers/publication/hub-transition.ts';
import { LastTransition } from '../../controllers/publication/last-transition.ts';
import type { DeletionRecord } from '../../core/sync/deletion-record.ts';
import type { HubPosition } from '../../core/sync/hub-position.ts';
import type { TimelineStep } from '../../core/timeline/timeline.ts';
import { isEarlierTerm } from '@berth/kube/leader-election/lease';
import { sleep } from '@berth/runtime/loop/sleep';
import { HubRecords } from '../../controllers/publication/hub-records.ts';
import {
  RecordedPublications,
  PreviousRecords,
} from '../../controllers/publication/recorded-publications.ts';
import { PlanApprovals } from '../../controllers/publication/plan-approvals.ts';
import { type ServeOptions } from '../settings/serve-options.ts';
import { sourceNameOf } from '../../controllers/sources/progress/source-options.ts';
import type { TakeOver } from '@berth/kube/leader-election/leadership';
import type { ReadCommit } from '../../controllers/sources/progress/source-ledger.ts';

/** The persistent state of a controller in its data directory. */
export interface ControllerState {
  readonly publishStates: JsonFileMap<PublishState>;
  readonly lastTransition: LastTransition;
  readonly approvals: PlanApprovals;
  readonly commits: JsonFileMap<ReadCommit>;
  /** How far the watches of the hub have got. */
  readonly hubPositions: JsonFileMap<HubPosition>;
  /** Recent removals of works of Argo CD's pull model, by group. */
  readonly pullRemovals: JsonFileMap<readonly Removal[]>;
  readonly history: HistoryStore;
  readonly deletions: RecordLog<DeletionRecord>;
  /** Events of clusters and works. */
  readonly timeline: RecordLog<TimelineStep>;
  /** Records of the previous process on this disk. */
  readonly previousRecords: PreviousRecords;
  /** Absent if another controller decides. */
  readonly hubRecords: HubRecords | undefined;
  /** Publications of other processes. Absent if another controller decides. */
  readonly recordedPublications: RecordedPublications | undefined;
  /**
   * Called when this process starts to write. If another process has led since a leader last used this data directory,
   * its record of publications is outdated: it is cleared, and read again from the records on the hub. One exception: a
   * hub that was restored from a backup may show an older term than the last one of this data directory. Then the
   * directory is newer, and it is kept.
   */
  takeOver(takeOver: TakeOver, hub: { readonly wasRestored: boolean }): void;
  /** Writes state files again that were deleted, until the signal aborts. */
  keep(signal: AbortSignal): Promise<void>;
  /** Writes what is not on disk yet. */
  close(): Promise<void>;
}

/** Whether an entry of a data directory belongs to the controller. */
export function isControllerData(name: string): boolean {
  return /^(git|history|parsed|commit-status|credentials|previews|dashboard|(approved-plans|publish-state|last-transition|commits|hub-records|hub-position|led-terms|pull-removals)\.json.*)$/.test(
    name,
  );
}

/** The key in hub-records.json of the newest record up to which the hub has all records. */
const THROUGH = 'through';
const KEEP_INTERVAL_MS = 10_000;
/** The number of deletions, and of timeline steps, that are kept. */
const MAX_LOGGED = 10_000;

export function openControllerState(options: ServeOptions): ControllerState {
  const { api, dataDir, clock, log, maxRecords, schedule, leadership } = options;
  const open = <T>(name: string) => new JsonFileMap<T>(join(dataDir, name), clock, log);
  const plans = open<SourcePlans>('approved-plans.json');
  const publishStates = open<PublishState>('publish-state.json');
  const transitions = open<readonly PlacementMove[]>('last-transition.json');
  const lease = leadership?.status()?.lease;
  const onHub = lease === undefined ? undefined : new HubTransition(api, lease, log);
  const lastTransition = new LastTransition(transitions, log, onHub);
  const commits = open<ReadCommit>('commits.json');
  const [sent, terms] = [open<string>('hub-records.json'), open<string>('led-terms.json')];
  const hubPositions = open<HubPosition>('hub-position.json');
  const pullRemovals = open<readonly Removal[]>('pull-removals.json');
  const writtenThrough = { get: () => sent.get(THROUGH), set: (hash: string) => sent.set(THROUGH, hash) };
  const hubRecords =
    schedule === 'upstream'
      ? undefined
      : new HubRecords({
          ...{ api, clock, log, digest: sha256, writtenThrough },
          mayWrite: () => leadership?.isHeld !== false,
        });
  const dir = join(dataDir, 'history');
  const history = new HistoryStore({ dir, maxRecords: maxRecords ?? 1_000, log });
  const logs = openLogs(dir, log);
  const records = new HistoryReader(dir).list().then((read) => {
    hubRecords?.resume(read);
    return read;
  });
  const recordedPublications =
    hubRecords && new RecordedPublications({ api, clock, log, digest: sha256, publishStates: publishStates });
  const previousRecords = new PreviousRecords(records, log);
  let tookOver: Promise<void> = Promise.resolve();
  const files = [publishStates, transitions, plans, commits, sent, terms, hubPositions, pullRemovals];
  return {
    keep: (signal) => restoreDeletedFiles(files, clock, signal),
    publishStates,
    lastTransition,
    approvals: new PlanApprovals(plans, clock, options.sources.map(sourceNameOf)),
    commits,
    hubPositions,
    pullRemovals,
    history,
    ...logs,
    previousRecords,
    hubRecords,
    recordedPublications,
    takeOver: ({ lease, term, previousTerm }, { wasRestored }) => {
      const last = terms.get(lease);
      const isNewest =
        last === previousTerm || (wasRestored && isEarlierTerm(previousTerm ?? '', last ?? ''));
      if (!isNewest) {
        publishStates.clear();
        if (wasRestored) lastTransition.forget();
        else lastTransition.takeOver();
        previousRecords.forget();
      }
      // The term marks the state as current, so it is written after outdated state was removed from
      // the disk. If a write fails, the next start treats the directory as outdated.
      const cleared = isNewest
        ? Promise.resolve()
        : Promise.all([publishStates.flush(), transitions.flush()]);
      tookOver = cleared.then(() => terms.persist(lease, term)).catch(() => undefined);
    },
    close: async () => {
      await tookOver;
      const ends = [history, logs.deletions, logs.timeline].map((one) => one.flush());
      await Promise.all([...ends, hubRecords?.close()]);
      await Promise.all(files.map((file) => file.close()));
    },
  };
}

function openLogs(dir: string, log: Logger): Pick<ControllerState, 'deletions' | 'timeline'> {
  const shared = { dir, maxRecords: MAX_LOGGED, log };
  return {
    deletions: new RecordLog<DeletionRecord>({ ...shared, name: 'deletions' }),
    timeline: new RecordLog<TimelineStep>({ ...shared, name: 'timeline' }),
  };
}

/** Checks the files periodically, and writes one again that was deleted. */
async function restoreDeletedFiles(
  files: readonly { keep(): Promise<void> }[],
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await Promise.all(files.map((file) => file.keep()));
    await sleep(clock, KEEP_INTERVAL_MS, signal);
  }
}
