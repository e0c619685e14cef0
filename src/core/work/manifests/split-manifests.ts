import type { KubeObject } from '@berth/kube/model/object-meta';
import { DEFAULT_MANIFEST_LIMIT_BYTES, manifestSizeBytes } from '@berth/ocm/kind/manifest-size';

export type SplitManifests =
  | { readonly ok: true; readonly parts: readonly (readonly KubeObject[])[] }
  /** Index of the manifest that is too large on its own. */
  | { readonly ok: false; readonly index: number; readonly sizeBytes: number };

/**
 * Splits a list of manifests into parts that fit into one work each, in order. A part is filled to
 * four fifths of the limit, so that a manifest that grows a little stays in its part: a manifest
 * that moves to another work would be deleted and created again on the cluster.
 */
export function splitManifests(
  manifests: readonly KubeObject[],
  limitBytes = DEFAULT_MANIFEST_LIMIT_BYTES,
): SplitManifests {
  const sizesBytes = manifests.map(manifestSizeBytes);
  const tooLarge = sizesBytes.findIndex((sizeBytes) => sizeBytes > limitBytes);
  if (tooLarge >= 0) return { ok: false, index: tooLarge, sizeBytes: sizesBytes[tooLarge] as number };
  if (sizesBytes.reduce((sum, sizeBytes) => sum + sizeBytes, 0) <= limitBytes)
    return { ok: true, parts: [manifests] };
  const parts: KubeObject[][] = [[]];
  let used = 0;
  for (const [index, manifest] of manifests.entries()) {
    const sizeBytes = sizesBytes[index] as number;
    if (used > 0 && used + sizeBytes > limitBytes * 0.8) {
      parts.push([]);
      used = 0;
    }
    parts.at(-1)?.push(manifest);
    used += sizeBytes;
  }
  return { ok: true, parts };
}
