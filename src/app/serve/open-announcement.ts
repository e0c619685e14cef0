import { ControllerAnnouncement } from '../../controllers/leadership/controller-announcement.ts';
import { sourceNameOf } from '../../controllers/sources/progress/source-options.ts';
import { decidedPlacements, type ServeOptions } from '../settings/serve-options.ts';

/** What says on the hub what this controller writes there, if it is to. It is not started yet. */
export function openAnnouncement(options: ServeOptions): ControllerAnnouncement | undefined {
  const { announcement, api, clock, log, leadership, sources, registration } = options;
  if (announcement === undefined) return undefined;
  return new ControllerAnnouncement({
    ...{ api, clock, log, ...announcement },
    duties: {
      decides: decidedPlacements(options),
      applies: sources.filter(({ sync }) => sync !== 'observe').map(sourceNameOf),
      registration: registration?.duties ?? [],
    },
    mayBegin: async (signal) => leadership?.whenHeld(signal),
  });
}
