import type { Digest } from '../publish/approval/approval-code.ts';

/** Names of objects are DNS subdomains (apimachinery validation.DNS1123SubdomainMaxLength). */
const MAX_CHARS = 253;

/**
 * The Lease of a controller that follows these sources: `berth-` and their names in alphabetical order with dots between them, or a digest
 * of that where it is too long. Controllers with other sources have another one; two with the same would write the same ApplySets.
 */
export function leaseNameOf(digest: Digest, sources: readonly string[]): string {
  const names = [...sources].sort().join('.');
  const name = `berth-${names}`;
  return name.length <= MAX_CHARS ? name : `berth-${digest(names).slice(0, 16)}`;
}
