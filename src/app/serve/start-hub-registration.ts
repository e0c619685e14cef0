import type { ObjectCache } from '@berth/kube/cache/object-cache';
import type { PullController } from '../../controllers/argocd/pull/start-pull-controller.ts';
import type { ControllerEventBody } from '../../controllers/events/controller-events.ts';
import {
  type RunningRegistration,
  startRegistration,
} from '../../controllers/registration/start-registration.ts';
import type { RegistrationEvent } from '../../core/registration/registration-event.ts';
import { decidedPlacements, type ServeOptions } from '../settings/serve-options.ts';

/** Starts the hub's side of registration, if enabled. */
export function startHubRegistration(parts: {
  readonly options: ServeOptions;
  readonly emit: (event: ControllerEventBody) => void;
  readonly cache: ObjectCache;
  readonly onEvent: (event: RegistrationEvent) => void;
  readonly pull: Pick<PullController, 'leavingOn'> | undefined;
}): RunningRegistration | undefined {
  const { options, emit, cache, onEvent, pull } = parts;
  const { api: hub, log, random, leadership, registration } = options;
  if (registration === undefined) return undefined;
  const { duties, autoAcceptance, clock } = registration;
  return startRegistration(
    {
      ...{ hub, cache, clock, log, random, autoAcceptance },
      decides: decidedPlacements(options),
      holdsOfPull: (cluster) => pull?.leavingOn(cluster) ?? [],
      mayBegin: async (signal) => leadership?.whenHeld(signal),
      onEvent: (event) => {
        onEvent(event);
        emit({ kind: 'registration', ...event });
      },
      onError: (key, error) => emit({ kind: 'error', where: `registration ${key}`, error }),
    },
    duties,
  );
}
