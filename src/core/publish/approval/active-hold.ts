import type { Condition } from '@berth/kube/model/object-meta';
import type { Placement } from '@berth/ocm/kind/placement';
import { RELEASE_ANNOTATION } from './publish-annotations.ts';
import { HELD_CONDITION } from '@berth/placement/explain/verdict/names-on-placements';

const CODE_IN_MESSAGE = new RegExp(`${RELEASE_ANNOTATION}: "([0-9a-f]{12})"`);

/** The approval code that the message of a hold names. Undefined for a hold that ends by itself. */
export function holdCode(message: string): string | undefined {
  return CODE_IN_MESSAGE.exec(message)?.[1];
}

/**
 * The condition that says that a change of the placement is held. Undefined when nothing is held.
 */
export function activeHold({ status }: Pick<Placement, 'status'>): Condition | undefined {
  return status?.conditions?.find((one) => one.type === HELD_CONDITION && one.status === 'True');
}
