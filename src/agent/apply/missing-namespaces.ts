import type { WatchedObject } from '../cluster/live-objects.ts';
import { NAMESPACE } from '../../core/model/kinds.ts';
import type { ManifestResult } from './apply-manifests.ts';

/** Namespaces that manifests of a work wait for: each is applied when its own is there. */
export function missingNamespaces(results: readonly ManifestResult[]): readonly WatchedObject[] {
  const names = results.flatMap(({ outcome }) =>
    outcome.kind === 'failed' ? (outcome.missingNamespace ?? []) : [],
  );
  return [...new Set(names)].map((name) => ({ kind: NAMESPACE, key: { namespace: '', name } }));
}
