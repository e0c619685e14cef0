import { ControllerAnnouncement } from '../../controllers/leadership/controller-announcement.ts';
import { sourceNameOf } from '../../controllers/sources/progress/source-options.ts';
import { decidedPlacements, type ServeOptions } from '../settings/serve-options.ts';
import { startAdmission } from './start-admission.ts';
import { startArgocd } from './start-argocd.ts';
import { recordTimeline } from './record-timeline.ts';
import { startHubRegistration } from './start-hub-registration.ts';

/** Starts the optional controllers: Argo CD, registration, admission, and what tells others of this one. */
export function startOptionalControllers(
  parts: Parameters<typeof startArgocd>[0] &
    Omit<Parameters<typeof startHubRegistration>[0], 'onEvent' | 'pull'> &
    Parameters<typeof recordTimeline>[0] &
    Parameters<typeof startAdmission>[0],
): ReturnType<typeof startArgocd> {
  const argocd = startArgocd(parts);
  const registration = startHubRegistration({ ...parts, pull: argocd.pull, onEvent: recordTimeline(parts) });
  const others = [registration, startAdmission(parts), startAnnouncement(parts)].filter(
    (one) => one !== undefined,
  );
  return {
    pull: argocd.pull,
    waves: argocd.waves,
    warnings: () => [argocd, ...others].flatMap((one) => [...one.warnings()]),
    close: async () => void (await Promise.all([argocd, ...others].map((one) => one.close()))),
  };
}

/** Says on the hub what this controller writes there, if it is to. */
function startAnnouncement({
  options,
}: {
  readonly options: ServeOptions;
}): ControllerAnnouncement | undefined {
  const { announcement, api, clock, log, random, leadership, sources, registration } = options;
  if (announcement === undefined) return undefined;
  return new ControllerAnnouncement({
    ...{ api, clock, log, random, ...announcement },
    duties: {
      decides: decidedPlacements(options),
      applies: sources.filter(({ sync }) => sync !== 'observe').map(sourceNameOf),
      registration: registration?.duties ?? [],
    },
    mayBegin: async (signal) => leadership?.whenHeld(signal),
  });
}
