import type { KubeObject } from '@berth/kube/model/object-meta';
import { objectContent } from './plan-update.ts';
import { AGENT_MANAGER } from '../applied/agent-manager.ts';

/** An entry of `metadata.managedFields`, as far as it is read here. */
export interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
}

/**
 * Whether a live object still has all fields that the agent wrote. Other fields are defaults of the
 * API server, or were added by others (`othersFieldsOutsideManifest`).
 * @param live with managedFields, as read from the server
 */
export function isUntouched(wanted: KubeObject, live: KubeObject): boolean {
  const entries = (live.metadata.managedFields ?? []) as readonly ManagedFields[];
  const ours = entries.some((entry) => entry.manager === AGENT_MANAGER && mainFields(entry).length > 0);
  return ours && isWithin(objectContent(wanted), objectContent(live));
}

function mainFields({ subresource = '', fieldsV1 = {} }: ManagedFields): readonly string[] {
  if (subresource !== '') return [];
  return Object.keys(fieldsV1).filter((field) => field !== 'f:metadata' && field !== 'f:status');
}

/** Maps may have more keys than wanted, lists must have the same length. */
function isWithin(wanted: unknown, live: unknown): boolean {
  if (wanted === null || wanted === undefined) return live === null || live === undefined;
  if (typeof wanted !== 'object') return wanted === live;
  if (typeof live !== 'object' || live === null || Array.isArray(wanted) !== Array.isArray(live))
    return false;
  if (Array.isArray(wanted) && wanted.length !== (live as readonly unknown[]).length) return false;
  const actual = live as Readonly<Record<string, unknown>>;
  return Object.entries(wanted).every(([key, value]) =>
    isWithin(value, Object.hasOwn(actual, key) ? actual[key] : undefined),
  );
}
