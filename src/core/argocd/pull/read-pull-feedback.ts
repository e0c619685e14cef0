import type { FeedbackValue, ManifestWork } from '@berth/ocm/kind/manifest-work';

/** The condition types of an Application whose messages are reported with `full`. */
export const FEEDBACK_CONDITIONS = ['ComparisonError', 'InvalidSpecError', 'SyncError'] as const;

/** The report of a managed cluster about an Application. A value that was not reported is absent. */
export interface PullFeedback {
  readonly health?: string | undefined;
  readonly sync?: string | undefined;
  readonly revision?: string | undefined;
  readonly phase?: string | undefined;
  /** RFC 3339 */
  readonly startedAt?: string | undefined;
  readonly message?: string | undefined;
  /** When Argo CD compared the Application with Git, RFC 3339. */
  readonly reconciledAt?: string | undefined;
  /** Conditions of the Application on the managed cluster. */
  readonly conditions: readonly {
    readonly type: (typeof FEEDBACK_CONDITIONS)[number];
    readonly message: string;
  }[];
  /** Sync status of each resource, and health of each that has one; absent unless the agent reports lists. */
  readonly resourceSyncs?: readonly string[] | undefined;
  readonly resourceHealths?: readonly string[] | undefined;
}

/** Reads the feedback of the only manifest of the work. */
export function readPullFeedback(work: Pick<ManifestWork, 'status'> | undefined): PullFeedback {
  const manifest = work?.status?.resourceStatus?.manifests?.find(
    ({ resourceMeta }) => resourceMeta.ordinal === 0,
  );
  const values = new Map((manifest?.statusFeedback?.values ?? []).map((value) => [value.name, value]));
  const text = (name: string): string | undefined => {
    const found = values.get(name)?.fieldValue.string;
    return found === '' ? undefined : found;
  };
  return {
    health: text('healthStatus'),
    sync: text('syncStatus'),
    revision: text('syncRevision'),
    phase: text('operationStatePhase'),
    startedAt: text('operationStateStartedAt'),
    message: text('operationStateMessage'),
    reconciledAt: text('reconciledAt'),
    conditions: FEEDBACK_CONDITIONS.flatMap((type) => {
      const message = text(`condition${type}`);
      return message === undefined ? [] : [{ type, message }];
    }),
    resourceSyncs: list(values.get('resourceSyncs')),
    resourceHealths: list(values.get('resourceHealths')),
  };
}

function list(value: FeedbackValue | undefined): readonly string[] | undefined {
  if (value?.fieldValue.jsonRaw === undefined) return undefined;
  try {
    const parsed: unknown = JSON.parse(value.fieldValue.jsonRaw);
    return Array.isArray(parsed) ? parsed.filter((item) => typeof item === 'string') : undefined;
  } catch {
    return undefined;
  }
}
