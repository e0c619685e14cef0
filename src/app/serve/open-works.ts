import type { ObjectCache } from '@berth/kube/cache/object-cache';
import { MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { ConflictError, TransientError } from '@berth/runtime/errors';
import type { ControllerEventBody } from '../../controllers/events/controller-events.ts';
import type { HubContinuity } from '../../controllers/inventory/hub-continuity.ts';
import { PublishPipeline } from '../../controllers/publication/publish-pipeline.ts';
import type { UpstreamDecisions } from '../../controllers/publication/upstream-decisions.ts';
import type { CommitStages } from '../../controllers/sources/progress/commit-stages.ts';
import type { CommitBarrier } from '../../controllers/sources/progress/commit-barrier.ts';
import {
  startWorkControllers,
  type WorkControllers,
} from '../../controllers/works/start-work-controllers.ts';
import { WorkShares, type WorkSharesStatus } from '../../controllers/works/work-shares.ts';
import type { ServeOptions } from '../settings/serve-options.ts';

export interface RunningWorks extends WorkControllers {
  /** Undefined where the leader writes all works. */
  shares(): WorkSharesStatus | undefined;
  /** Ends requests that `close` waits for. */
  cutOff(): void;
}

interface WorkParts {
  readonly options: ServeOptions;
  readonly emit: (event: ControllerEventBody) => void;
  readonly barrier: Pick<CommitBarrier, 'whenCommitsComplete'>;
  readonly continuity: Pick<HubContinuity, 'whenChecked'>;
  readonly cache: ObjectCache;
  readonly stages: CommitStages;
  readonly decider: PublishPipeline | UpstreamDecisions;
}

/** Starts the controllers for works: in the leader, or in every process for its share of the namespaces. */
export function openWorks(parts: WorkParts): RunningWorks {
  const works = runWorks(parts);
  const { cache, stages, decider } = parts;
  if (decider instanceof PublishPipeline)
    stages.followWorks({
      works: cache.of(MANIFEST_WORK).store,
      replicaSets: cache.of(MANIFEST_WORK_REPLICA_SET).store,
      whenPagesShown: () => decider.whenShown(),
      whenIdle: () => works.whenIdle(),
    });
  return works;
}

function runWorks(parts: WorkParts): RunningWorks {
  const { log, random, api, leadership, workElections: elections } = parts.options;
  if (elections === undefined) {
    const works = startWorks(parts, api, async (signal) => leadership?.whenHeld(signal));
    return { ...works, shares: () => undefined, cutOff: () => undefined };
  }
  const shares = new WorkShares({
    ...{ log, random, elections },
    run: (hub, mayWrite, owns) => startWorks(parts, hub, mayWrite, owns),
  });
  shares.start();
  return shares;
}

/**
 * Starts the controllers for works, or for those of some namespaces.
 * @param mayWrite resolves when this process may write
 */
function startWorks(
  { options, emit, barrier, continuity, cache, stages }: WorkParts,
  hub: KubeApi,
  mayWrite: (signal: AbortSignal) => Promise<void>,
  owns?: (namespace: string) => boolean,
): WorkControllers {
  const { clock, log, random, leadership } = options;
  /** Undefined after a request failed: the hub that responds next may be restored, and the cache does not show that yet. */
  let checked: Promise<void> | undefined = Promise.resolve();
  return startWorkControllers({
    mayBegin: async (signal) => {
      await mayWrite(signal);
      await (checked ??= continuity.whenChecked(signal));
      // While a commit is partly applied, a replica set could follow a placement that the rest of the commit deletes.
      // Only the leader knows that.
      if (leadership?.isHeld !== false) await barrier.whenCommitsComplete(signal);
    },
    ...{ hub, cache, clock, log, random, owns },
    onWrite: ({ kind, object, ...written }) => {
      if (kind !== 'deleted') stages.workWritten(object);
      emit({ kind: 'work-written', action: kind, ...written });
    },
    onError: (key, error) => {
      if (error instanceof TransientError) checked = undefined;
      // A conflict: the object is read and decided again immediately.
      if (!(error instanceof ConflictError)) emit({ kind: 'error', where: `replica set ${key}`, error });
    },
  });
}
