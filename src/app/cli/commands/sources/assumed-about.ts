import type { SourceObject } from '@berth/kube/model/source-object';

/** What checks of these objects without a hub rest on, one sentence each. */
export async function assumedAbout(objects: readonly SourceObject[]): Promise<readonly string[]> {
  const { assumedSetNotes } = await import('../../../../core/registration/sets/assumed-sets.ts');
  const { snapshotOfObjects } = await import('../../../../core/sources/snapshot-of-objects.ts');
  return assumedSetNotes(snapshotOfObjects(objects, { now: '' }));
}
