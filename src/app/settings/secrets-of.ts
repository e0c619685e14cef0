import type { ObjectKey } from '@berth/kube/model/kube-api';
import type { SourceSettings } from './source-settings.ts';

/** The Secrets on the hub with the credentials of the sources. */
export function secretsOf(sources: readonly SourceSettings[]): readonly ObjectKey[] {
  return sources
    .flatMap(({ credentials, commitStatus, preview }) => [
      credentials,
      commitStatus?.credentials,
      preview?.credentials,
    ])
    .flatMap((settings) => (settings !== undefined && 'secretRef' in settings ? [settings.secretRef] : []));
}
