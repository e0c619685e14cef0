import type { KubeObject } from '@berth/kube/model/object-meta';
import { HELD_CODE_ANNOTATION } from '../publish/approval/publish-annotations.ts';
import { sourceOfParent } from '../sync/apply-set.ts';
import { ageSince, type Listed } from './listed.ts';

/** What a controller says of a source that it follows. */
export interface FollowedSource {
  readonly name: string;
  readonly url: string;
  readonly paths?: readonly string[] | undefined;
}

/**
 * A row for each source that has objects on the hub.
 * @param parents ConfigMaps: the parents of ApplySets
 * @param followed by the controllers of the hub
 */
export function listSources(
  parents: readonly KubeObject[],
  followed: readonly FollowedSource[],
  nowMs: number,
): Listed {
  const known = new Map(followed.map((source) => [source.name, source]));
  return {
    header: ['NAME', 'REPOSITORY', 'PATHS', 'HELD', 'AGE'],
    rows: parents.map(({ metadata }) => {
      const name = sourceOfParent(metadata) ?? metadata.name;
      const source = known.get(name);
      const isHeld = (metadata.annotations?.[HELD_CODE_ANNOTATION] ?? '') !== '';
      return [
        name,
        source?.url ?? 'no controller follows it',
        (source?.paths ?? []).join(','),
        isHeld ? 'deletions' : '',
        ageSince(metadata.creationTimestamp, nowMs),
      ];
    }),
  };
}
