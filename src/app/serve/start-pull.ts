import type { ObjectCache } from '@berth/kube/cache/object-cache';
import {
  type PullController,
  startPullController,
} from '../../controllers/argocd/pull/start-pull-controller.ts';
import type { ControllerEventBody } from '../../controllers/events/controller-events.ts';
import { ConflictError } from '@berth/runtime/errors';
import { HubRemovals } from '../../controllers/argocd/pull/hub-removals.ts';
import type { PullRemovalMemory } from '../../controllers/argocd/pull/pull-options.ts';
import { DEFAULT_REMOVAL_BUDGET } from '../../core/publish/judge/removal-budget.ts';
import { sha256 } from '@berth/runtime/sha256';
import type { ServeOptions } from '../settings/serve-options.ts';
import type { ControllerState } from './controller-state.ts';

/** Starts the pull model of Argo CD, if enabled. */
export function startPull(parts: {
  readonly options: ServeOptions;
  readonly emit: (event: ControllerEventBody) => void;
  readonly cache: ObjectCache;
  readonly state: Pick<ControllerState, 'pullRemovals'>;
}): PullController | undefined {
  const { options, emit, cache, state } = parts;
  const { api, clock, log, random, leadership, budget = DEFAULT_REMOVAL_BUDGET } = options;
  if (options.argocd?.pull !== true) return undefined;
  return startPullController({
    ...{ hub: api, cache, clock, log, random, budget },
    digest: sha256,
    removals: removalMemory(options, state),
    mayBegin: async (signal) => leadership?.whenHeld(signal),
    onWrite: (written) => emit({ kind: 'pulled-work-written', ...written }),
    onHeld: (held) => emit({ kind: 'pull-held', ...held }),
    onError: (key, error) => {
      // A conflict: the object is read and decided again immediately.
      if (!(error instanceof ConflictError)) emit({ kind: 'error', where: `pull model ${key}`, error });
    },
  });
}

/**
 * On an embedded hub the data directory is as safe as the hub. On any other hub, another leader has another directory,
 * so removals are stored on the hub.
 */
function removalMemory(
  { embedded, api: hub, clock }: ServeOptions,
  { pullRemovals: file }: Pick<ControllerState, 'pullRemovals'>,
): PullRemovalMemory {
  if (embedded !== true) return new HubRemovals({ hub, clock, digest: sha256 });
  return {
    read: (group) => Promise.resolve(file.get(group) ?? []),
    persist: (group, removals) => file.persist(group, removals),
  };
}
