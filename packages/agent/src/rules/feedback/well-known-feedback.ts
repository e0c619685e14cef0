import type { FeedbackJsonPath } from '@berth/ocm/kind/manifest-work';

/**
 * The paths of the feedback rule WellKnownStatus, by `group/version/kind`.
 * Source: ocm `pkg/work/spoke/statusfeedback/rules/rule.go`.
 */
const WELL_KNOWN: Readonly<Record<string, readonly FeedbackJsonPath[]>> = {
  'apps/v1/Deployment': [
    { name: 'ReadyReplicas', path: '.status.readyReplicas' },
    { name: 'Replicas', path: '.status.replicas' },
    { name: 'AvailableReplicas', path: '.status.availableReplicas' },
  ],
  'apps/v1/DaemonSet': [
    { name: 'NumberReady', path: '.status.numberReady' },
    { name: 'DesiredNumberScheduled', path: '.status.desiredNumberScheduled' },
    { name: 'NumberAvailable', path: '.status.numberAvailable' },
  ],
  'batch/v1/Job': [
    { name: 'JobComplete', path: '.status.conditions[?(@.type=="Complete")].status' },
    { name: 'JobSucceeded', path: '.status.succeeded' },
  ],
  '/v1/Pod': [
    { name: 'PodReady', path: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'PodPhase', path: '.status.phase' },
  ],
};

/** Undefined for a kind without a well-known status. */
export function wellKnownFeedbackPaths(
  apiVersion: string,
  kind: string,
): readonly FeedbackJsonPath[] | undefined {
  const key = `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}/${kind}`;
  return Object.hasOwn(WELL_KNOWN, key) ? WELL_KNOWN[key] : undefined;
}
