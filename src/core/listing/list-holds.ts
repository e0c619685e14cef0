import { findCondition } from '@berth/kube/model/condition-list';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { DELETING } from '@berth/ocm/registration/cluster-conditions';
import { heldRemoval } from '../addon/install/held-removal.ts';
import { activeHold, holdCode, splitRemedy } from '../publish/approval/approval-code.ts';
import { HELD_CODE_ANNOTATION, HELD_MESSAGE_ANNOTATION } from '../publish/approval/publish-annotations.ts';
import { REMOVAL_HELD } from '../registration/cluster-deletion.ts';
import { sourceOfParent } from '../sync/apply-set.ts';
import { ageSince, type Listed } from './listed.ts';

/** A change that waits for somebody. */
interface Hold {
  /** `placement shop/web` */
  readonly of: string;
  /** Approves it; '' for a hold that ends by itself. */
  readonly code: string;
  /** RFC 3339; undefined: nobody wrote it down. */
  readonly since: string | undefined;
  readonly text: string;
}

/** The held objects of those given: placements, sources, add-ons and clusters that are being deleted. */
export function heldObjects(objects: readonly KubeObject[]): readonly KubeObject[] {
  return objects.filter((object) => holdOf(object) !== undefined);
}

/** A row for each object that is held, with the code that approves the change, and the reason. */
export function listHolds(objects: readonly KubeObject[], nowMs: number): Listed {
  return {
    header: ['HELD', 'CODE', 'AGE', 'WHY'],
    rows: objects.flatMap((object) => {
      const hold = holdOf(object);
      return hold === undefined
        ? []
        : [[hold.of, hold.code, ageSince(hold.since, nowMs), hold.text.replaceAll('\n', ' ')]];
    }),
  };
}

function holdOf(object: KubeObject): Hold | undefined {
  const of = namespacedName(object.metadata);
  switch (object.kind) {
    case 'Placement':
      return ofCondition(`placement ${of}`, activeHold(object as never));
    case 'ManagedCluster': {
      const { status } = object as { status?: { readonly conditions?: readonly Condition[] } };
      const waits = findCondition(status?.conditions, DELETING);
      return ofCondition(`deletion of cluster ${of}`, waits?.reason === REMOVAL_HELD ? waits : undefined);
    }
    case 'ClusterManagementAddOn': {
      const held = heldRemoval(object);
      if (held === undefined) return undefined;
      const since = Number.isFinite(held.sinceMs) ? new Date(held.sinceMs).toISOString() : undefined;
      return { of: `add-on ${of}`, code: held.code, since, text: splitRemedy(held.message)[0] };
    }
    default:
      return ofSource(object);
  }
}

function ofCondition(of: string, condition: Condition | undefined): Hold | undefined {
  if (condition === undefined) return undefined;
  const { message, lastTransitionTime: since } = condition;
  return { of, code: holdCode(message) ?? '', since, text: splitRemedy(message)[0] };
}

/** The parent of a source has the hold of its deletions. */
function ofSource({ metadata }: KubeObject): Hold | undefined {
  const { [HELD_CODE_ANNOTATION]: code = '', [HELD_MESSAGE_ANNOTATION]: message = '' } =
    metadata.annotations ?? {};
  if (code === '') return undefined;
  const of = `deletions of source ${sourceOfParent(metadata) ?? metadata.name}`;
  return { of, code, since: undefined, text: splitRemedy(message)[0] };
}
