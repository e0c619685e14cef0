import type { ObjectCache } from '@berth/kube/cache/object-cache';
import type { ControllerEventBody } from '../../controllers/events/controller-events.ts';
import type { HubContinuity } from '../../controllers/inventory/hub-continuity.ts';
import type { CommitBarrier } from '../../controllers/sources/progress/commit-barrier.ts';
import {
  startWorkControllers,
  type WorkControllers,
} from '../../controllers/works/start-work-controllers.ts';
import { ConflictError, TransientError } from '@berth/runtime/errors';
import type { ServeOptions } from '../settings/serve-options.ts';

/** Starts the controllers for works. They write only what complete commits lead to. */
export function startWorks(parts: {
  readonly options: ServeOptions;
  readonly emit: (event: ControllerEventBody) => void;
  readonly barrier: Pick<CommitBarrier, 'whenCommitsComplete'>;
  readonly continuity: Pick<HubContinuity, 'whenChecked'>;
  readonly cache: ObjectCache;
}): WorkControllers {
  const { options, emit, barrier, continuity, cache } = parts;
  const { api, clock, log, random, leadership } = options;
  /** Undefined after a request failed: the hub that responds next may be restored, and the cache does not show that yet. */
  let checked: Promise<void> | undefined = Promise.resolve();
  return startWorkControllers({
    mayBegin: async (signal) => {
      await leadership?.whenHeld(signal);
      await (checked ??= continuity.whenChecked(signal));
      // While a commit is partly applied, a replica set could follow a placement that the rest of the commit deletes.
      await barrier.whenCommitsComplete(signal);
    },
    hub: api,
    cache,
    clock,
    log,
    random,
    onWrite: ({ kind, ...written }) => emit({ kind: 'work-written', action: kind, ...written }),
    onError: (key, error) => {
      if (error instanceof TransientError) checked = undefined;
      // A conflict: the object is read and decided again immediately.
      if (!(error instanceof ConflictError)) emit({ kind: 'error', where: `replica set ${key}`, error });
    },
  });
}
