import { compareText } from '@berth/runtime/text/compare-text';
import { fieldChanges } from './field-changes.ts';
import type { ApplicationChange } from './plan-effects.ts';

/** An Application as Argo CD would write it. */
export interface RenderedApplication {
  readonly metadata?: unknown;
  readonly spec?: unknown;
}

/** `spec.syncPolicy.applicationsSync`: what Argo CD's controller may do to Applications that exist. */
export interface SyncRights {
  readonly updates: boolean;
  readonly deletes: boolean;
}

/** Source: argo-cd `pkg/apis/application/v1alpha1/applicationset_types.go`, `AllowUpdate` and `AllowDelete`. */
export function syncRights(applicationsSync: unknown): SyncRights {
  const policy = typeof applicationsSync === 'string' && applicationsSync !== '' ? applicationsSync : 'sync';
  return {
    updates: policy === 'sync' || policy === 'create-update',
    deletes: policy === 'sync' || policy === 'create-delete',
  };
}

export interface ApplicationChanges {
  /** By name. */
  readonly changes: readonly ApplicationChange[];
  /** Number of unchanged Applications. */
  readonly kept: number;
}

/** The changes of the Applications of one ApplicationSet. */
export function applicationChanges(
  before: readonly RenderedApplication[],
  after: readonly RenderedApplication[],
  rights: SyncRights,
): ApplicationChanges {
  const [old, now] = [byName(before), byName(after)];
  const changes: ApplicationChange[] = [];
  let kept = 0;
  for (const [name, application] of now) {
    const existing = old.get(name);
    // Reading it may render it.
    if (existing === application) {
      kept += 1;
      continue;
    }
    const fields = existing === undefined ? [] : fieldChanges(existing, application);
    const about = (): Pick<ApplicationChange, 'name' | 'destination' | 'fields'> => ({
      name,
      destination: destinationOf(application),
      fields,
    });
    if (existing === undefined) changes.push({ change: 'created', ...about() });
    else if (fields.length > 0 && rights.updates) changes.push({ change: 'changed', ...about() });
    else kept += 1;
  }
  for (const [name, application] of old) {
    if (now.has(name)) continue;
    if (!rights.deletes) kept += 1;
    else changes.push({ change: 'deleted', name, destination: destinationOf(application), fields: [] });
  }
  return { changes: changes.sort((a, b) => compareText(a.name, b.name)), kept };
}

function byName(applications: readonly RenderedApplication[]): ReadonlyMap<string, RenderedApplication> {
  return new Map(
    applications.map((application) => {
      const { name = '' } = (application.metadata ?? {}) as { readonly name?: string };
      return [name, application];
    }),
  );
}

function destinationOf({ spec }: RenderedApplication): string {
  const { destination = {} } = (spec ?? {}) as {
    readonly destination?: { readonly name?: string; readonly server?: string };
  };
  return destination.name || destination.server || '';
}
