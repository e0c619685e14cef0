import type { WatchFailure } from '@berth/kube/cache/reflector-options';
import { errorText } from '@berth/runtime/errors';
import { groupResource, type KindInfo } from '@berth/kube/model/kinds';
import { SERVE_RIGHTS } from '../../core/rbac/rights-command.ts';

/** The message for a kind that the hub refuses to list, and what the user can do. */
export function refusedKindText(kind: KindInfo, { verb, error }: WatchFailure): string {
  const resource = groupResource(kind);
  if (error.code !== 'kube.forbidden') return `${resource} cannot be read (${verb}): ${errorText(error)}`;
  return `the right to ${verb} ${resource} in all namespaces is missing: give it to Berth's service account, as ${SERVE_RIGHTS} prints it`;
}
