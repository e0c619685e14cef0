import { startAdmission } from './start-admission.ts';
import { startArgocd } from './start-argocd.ts';
import { recordTimeline } from './record-timeline.ts';
import { startHubRegistration } from './start-hub-registration.ts';

/** Starts the optional controllers: Argo CD, registration and admission. */
export function startOptionalControllers(
  parts: Parameters<typeof startArgocd>[0] &
    Omit<Parameters<typeof startHubRegistration>[0], 'onEvent' | 'pull'> &
    Parameters<typeof recordTimeline>[0] &
    Parameters<typeof startAdmission>[0],
): ReturnType<typeof startArgocd> {
  const argocd = startArgocd(parts);
  const registration = startHubRegistration({ ...parts, pull: argocd.pull, onEvent: recordTimeline(parts) });
  const others = [registration, startAdmission(parts)].filter((one) => one !== undefined);
  return {
    pull: argocd.pull,
    waves: argocd.waves,
    warnings: () => [argocd, ...others].flatMap((one) => [...one.warnings()]),
    close: async () => void (await Promise.all([argocd, ...others].map((one) => one.close()))),
  };
}
