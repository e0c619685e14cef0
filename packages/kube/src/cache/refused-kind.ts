import type { WatchFailure } from './reflector-options.ts';
import { errorText } from '@berth/runtime/errors';
import { groupResource, type KindInfo } from '../model/kinds.ts';

/**
 * The message for a kind that the hub refuses to list, and what the user can do.
 * @param rightsCommand what prints the rights that Berth needs
 */
export function refusedKindText(
  kind: KindInfo,
  { verb, error }: WatchFailure,
  rightsCommand: string | undefined,
): string {
  const resource = groupResource(kind);
  if (error.code !== 'kube.forbidden') return `${resource} cannot be read (${verb}): ${errorText(error)}`;
  const missing = `the right to ${verb} ${resource} in all namespaces is missing`;
  return rightsCommand === undefined
    ? missing
    : `${missing}: give it to Berth's service account, as ${rightsCommand} prints it`;
}
