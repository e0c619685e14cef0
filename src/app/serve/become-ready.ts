import type { Leadership } from '@berth/kube/leader-election/leadership';
import type { Clock } from '@berth/runtime/clock/clock';
import { sleep } from '@berth/runtime/loop/sleep';
import type { Supervisor } from '@berth/runtime/loop/supervisor';
import type { ControllerEventBody } from '../../controllers/events/controller-events.ts';
import type { HubInventory } from '../../controllers/inventory/hub-inventory.ts';
import { PublishPipeline } from '../../controllers/publication/publish-pipeline.ts';
import { UpstreamDecisions } from '../../controllers/publication/upstream-decisions.ts';
import type { RepositoryLoop } from '../../controllers/sources/following/repository-loop.ts';
import type { CommitBarrier } from '../../controllers/sources/progress/commit-barrier.ts';
import type { PublishedPlacements } from '../../core/publish/pages/published-placements.ts';
import type { ControllerState } from './controller-state.ts';
import type { ControllerHttp } from './http/controller-http.ts';
import type { Readiness } from './http/readiness.ts';

/** What is missing at the start is looked for again after this time. */
const LOOK_AGAIN_MS = 1_000;

export interface ReadyParts {
  readonly options: { readonly clock: Clock };
  readonly decider: PublishPipeline | UpstreamDecisions;
  readonly standby: Standby | undefined;
  readonly publishedPlacements: PublishedPlacements;
  readonly readiness: Readiness;
  readonly leadership: Leadership;
  readonly sources: readonly Pick<RepositoryLoop, 'status'>[];
  readonly http: ControllerHttp | undefined;
  readonly supervisor: Supervisor;
  readonly emit: (event: ControllerEventBody) => void;
}

/**
 * Reports when everything was read (or could not be read) and published once, unless the controller was stopped before.
 * What is missing then is reported, and again when nothing is missing.
 */
export async function becomeReady(parts: ReadyParts): Promise<void> {
  const { decider, standby, publishedPlacements, readiness, http, supervisor } = parts;
  const { signal } = supervisor;
  const sourcesRead = readiness.whenSourcesRead(signal);
  await decider.whenPublished(signal);
  await standby?.whenPublished(signal);
  // The plugin endpoint is available from here on, even if a forge is down.
  if (!signal.aborted) publishedPlacements.markComplete();
  await sourcesRead;
  if (signal.aborted) return;
  if (report(parts).length > 0)
    supervisor.start('what is missing at the start', (stop) => untilComplete(parts, stop));
  http?.prepare();
}

async function untilComplete(parts: ReadyParts, signal: AbortSignal): Promise<void> {
  while (missingParts(parts).length > 0 && !signal.aborted)
    await sleep(parts.options.clock, LOOK_AGAIN_MS, signal);
  if (!signal.aborted) report(parts);
}

function report(parts: ReadyParts): readonly string[] {
  const missing = missingParts(parts);
  const publishes = parts.decider instanceof PublishPipeline && parts.leadership.isHeld;
  parts.emit({ kind: 'ready', missing, publishes });
  return missing;
}

/** What was not read or not published yet, in words. */
function missingParts({ decider, readiness, sources }: ReadyParts): readonly string[] {
  const problem = readiness.problem();
  const failed = sources
    .flatMap((loop) => loop.status())
    .filter(({ content, lastError }) => content === undefined || lastError !== undefined);
  return [
    ...(problem === undefined ? [] : [problem]),
    ...failed.map(({ name, content }) =>
      content === undefined
        ? `source ${name} could not be read`
        : `source ${name} failed after its last commit`,
    ),
    ...(decider instanceof PublishPipeline ? decider.unpublished() : []),
  ];
}

interface StandbyOptions {
  readonly leadership: Leadership;
  readonly inventory: HubInventory;
  readonly publishedPlacements: PublishedPlacements;
  readonly clock: Clock;
  readonly barrier: CommitBarrier;
  readonly state: ControllerState;
  /** The newest resource version of each backup from which the hub was restored. */
  readonly restoredTo: () => readonly string[];
}

/**
 * The behaviour of a process that is not the leader, and the steps before it starts to write. A
 * standby reads and decides like the leader. Pages of the leader count as published when they have
 * not changed for two seconds.
 */
export class Standby {
  readonly #options: StandbyOptions;
  readonly #published: UpstreamDecisions;

  constructor(options: StandbyOptions) {
    this.#options = options;
    this.#published = new UpstreamDecisions(options);
  }

  start(supervisor: Supervisor): void {
    const { leadership, barrier, state, restoredTo } = this.#options;
    barrier.beginStandby();
    leadership.onTakeOver((takeOver) => {
      state.takeOver(takeOver, { wasRestored: restoredTo().length > 0 });
      // The previous leader may have applied part of a commit.
      barrier.takeOver();
    });
    supervisor.start('decisions of the leader', (signal) => this.#follow(signal));
  }

  /** Resolves when the published decisions are known; immediately if this process leads. */
  async whenPublished(signal: AbortSignal): Promise<void> {
    await this.#options.leadership.whenDecided(signal);
    if (!this.#options.leadership.isHeld) await this.#published.whenPublished(signal);
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { leadership } = this.#options;
    const stop = new AbortController();
    const following = this.#published.follow(stop.signal);
    await leadership.whenHeld(signal);
    stop.abort();
    await following;
  }
}
