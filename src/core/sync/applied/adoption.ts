import type { KubeObject } from '@berth/kube/model/object-meta';

/**
 * On every applied object: digest of the applied manifest. It shows that a field was removed from
 * Git, which the live object does not show.
 */
export const APPLIED_HASH_ANNOTATION = 'berth.dev/applied-hash';

/**
 * On an object that was on the hub before Git declared it: `true`, or `taken` if Git may also have taken fields of
 * others, whose values are not known any more. It is written by the first apply itself, so that no crash loses it.
 */
export const ADOPTED_ANNOTATION = 'berth.dev/adopted';

export function isAdopted(live: KubeObject): boolean {
  return adoptionOf(live) !== undefined;
}

/** Whether Git may have replaced values of others. */
export function hasTakenFields(live: KubeObject): boolean {
  return adoptionOf(live) === 'taken';
}

/**
 * The object to apply, with the note that it was there before.
 * @param live the object on the hub; undefined: it is not there
 * @param takes whether the apply takes fields that other managers own
 */
export function withAdoption(desired: KubeObject, live: KubeObject | undefined, takes: boolean): KubeObject {
  if (live === undefined) return desired;
  const before = adoptionOf(live);
  const isFromGit = live.metadata.annotations?.[APPLIED_HASH_ANNOTATION] !== undefined;
  if (before === undefined && isFromGit) return desired;
  const annotations = {
    ...desired.metadata.annotations,
    [ADOPTED_ANNOTATION]: takes || before === 'taken' ? 'taken' : 'true',
  };
  return { ...desired, metadata: { ...desired.metadata, annotations } };
}

function adoptionOf({ metadata }: KubeObject): string | undefined {
  return metadata.annotations?.[ADOPTED_ANNOTATION];
}
