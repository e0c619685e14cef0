import { PLACEMENT } from '../../../core/model/kinds.ts';
import type { KubeObject } from '../../../core/model/object-meta.ts';
import type { Placement } from '../../../core/model/placement.ts';
import { planPlacementStatus } from '../../../core/publish/placement-status.ts';
import { answeredObject, METADATA_ANSWER } from './answered-object.ts';
import type { PublisherDependencies } from './publisher-dependencies.ts';

/** One patch of a placement's status, on the version that it was planned on; none where nothing would change. */
export async function writePlacementStatus(
  { api, clock, placements }: Pick<PublisherDependencies, 'api' | 'clock' | 'placements'>,
  placement: Placement,
  said: Pick<Parameters<typeof planPlacementStatus>[0], 'pages' | 'conditions'>,
): Promise<void> {
  const now = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  const status = planPlacementStatus({ ...said, current: placement.status, now });
  if (status === undefined) return;
  const { namespace = '', name, uid, resourceVersion } = placement.metadata;
  const patch = { metadata: { uid, resourceVersion }, status };
  const options = { ...METADATA_ANSWER, subresource: 'status' } as const;
  const answer = await api.mergePatch(PLACEMENT, { namespace, name }, patch, options);
  const before = placement as unknown as KubeObject;
  placements.wrote(before, answeredObject(answer, before, { status }));
}
