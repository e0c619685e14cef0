import { join } from 'node:path';
import { HistoryReader } from '../../adapters/store/history-reader.ts';
import { HistoryStore } from '../../adapters/store/history-store.ts';
import { JsonFileMap } from '../../adapters/store/json-file.ts';
import { sha256 } from '../../adapters/store/world-digest.ts';
import type { PublishState } from '../../core/publish/publish-state.ts';
import { HubRecords } from './publish/hub-records.ts';
import { PlanApprovals, type SourcePlans } from './publish/plan-approvals.ts';
import { UnrecordedPublications } from './publish/unrecorded-publications.ts';
import { type ServeFleetOptions, sourceNameOf } from './serve-options.ts';
import type { ReadCommit } from './sync/source-ledger.ts';

/** What a controller keeps in its data directory, for the one that comes after it. */
export interface ControllerState {
  readonly memory: JsonFileMap<PublishState>;
  readonly approvals: PlanApprovals;
  readonly commits: JsonFileMap<ReadCommit>;
  readonly history: HistoryStore;
  readonly unrecorded: UnrecordedPublications;
  /** Absent on an embedded hub, where the data directory is as safe as the hub, and where somebody else decides. */
  readonly hubRecords: HubRecords | undefined;
  /** Writes what waits. */
  close(): Promise<void>;
}

/** Whether an entry of a data directory is the controller's. */
export function isControllerData(name: string): boolean {
  return /^(git|history|parsed|commit-status|credentials|(approved-plans|publish-state|commits|hub-records)\.json.*)$/.test(
    name,
  );
}

/** Of the newest record of which the hub has all that came before. */
const THROUGH = 'through';

export function openControllerState(options: ServeFleetOptions): ControllerState {
  const { api, dataDir, clock, log, maxRecords, embedded, schedule } = options;
  const open = <T>(name: string) => new JsonFileMap<T>(join(dataDir, name), clock, log);
  const plans = open<SourcePlans>('approved-plans.json');
  const memory = open<PublishState>('publish-state.json');
  const commits = open<ReadCommit>('commits.json');
  const onHub = open<string>('hub-records.json');
  const through = { get: () => onHub.get(THROUGH), set: (hash: string) => onHub.set(THROUGH, hash) };
  const hubRecords =
    embedded === true || schedule === 'upstream'
      ? undefined
      : new HubRecords({ api, clock, log, digest: sha256, through });
  const dir = join(dataDir, 'history');
  const history = new HistoryStore({ dir, maxRecords: maxRecords ?? 1_000, log });
  const records = new HistoryReader(dir).list().then((read) => {
    hubRecords?.resume(read);
    return read;
  });
  return {
    memory,
    approvals: new PlanApprovals(plans, clock, options.sources.map(sourceNameOf)),
    commits,
    history,
    unrecorded: new UnrecordedPublications({ memory, digest: sha256, log, records }),
    hubRecords,
    close: async () => {
      await Promise.all([history.flush(), hubRecords?.close()]);
      await Promise.all([memory, plans, commits, onHub].map((file) => file.close()));
    },
  };
}
