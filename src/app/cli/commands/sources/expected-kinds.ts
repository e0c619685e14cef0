import { groupVersionOf } from '@berth/kube/model/object-ref';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { SourceObject } from '@berth/kube/model/source-object';
import { kindScopes } from '../../../../controllers/previews/members/kind-scopes.ts';
import { hubKinds } from '../../../../controllers/sources/acceptance/hub-kinds.ts';
import { hubRefusals } from '../../../../controllers/sources/acceptance/hub-refusals.ts';
import { checkAppliedKinds } from '../../../../core/sources/check-applied-kinds.ts';
import { checkKinds, type KindService } from '../../../../core/sources/check-kinds.ts';
import type { SourceFinding } from '../../../../core/sources/source-finding.ts';
import { wrongOption } from '../../flags/option-values.ts';

/**
 * Whether the kind of an object is served on a hub, by CRDs in the manifests and by
 * `--expect-kind`.
 * @param expected `GROUP/KIND`; `/KIND` for the core group
 * @throws InputError for any other form
 */
function servedKinds(
  expected: readonly string[],
): (objects: readonly SourceObject[]) => (object: KubeObject) => KindService {
  for (const kind of expected)
    if (!/^[a-z0-9.-]*\/[A-Za-z0-9]+$/.test(kind))
      throw wrongOption('--expect-kind', `got ${JSON.stringify(kind)}, expected GROUP/KIND`);
  const known = new Set(expected);
  return (sources) => {
    const objects = sources.map(({ object }) => object);
    const scopeOf = kindScopes(sources);
    const kinds = hubKinds(objects);
    return (object) => {
      if (known.has(`${groupVersionOf(object.apiVersion).group}/${object.kind}`)) return 'served';
      const versions = kinds.versionsOf(object);
      if (versions.length > 0) return versions.includes(object.apiVersion) ? 'served' : versions;
      return scopeOf(object) === undefined ? [] : 'served';
    };
  };
}

/**
 * What `berth validate` finds of the objects of one source besides what their files say.
 * @param kinds that the source applies
 */
export function manifestChecks(
  expected: readonly string[],
): (objects: readonly SourceObject[], kinds: readonly string[] | undefined) => readonly SourceFinding[] {
  const servedIn = servedKinds(expected);
  return (objects, kinds) => [
    ...checkKinds(objects, servedIn(objects)),
    ...hubRefusals(objects),
    ...checkAppliedKinds(objects, kinds),
  ];
}

/** What checks of these objects without a hub rest on, one sentence each. */
export async function assumedAbout(objects: readonly SourceObject[]): Promise<readonly string[]> {
  const { assumedSetNotes } = await import('../../../../core/registration/cluster-sets.ts');
  const { snapshotOfObjects } = await import('../../../../core/sources/snapshot-of-objects.ts');
  return assumedSetNotes(snapshotOfObjects(objects, { now: '' }));
}
