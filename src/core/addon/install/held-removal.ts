import type { KubeObject } from '@berth/kube/model/object-meta';
import {
  HELD_CODE_ANNOTATION,
  HELD_MESSAGE_ANNOTATION,
  HELD_SINCE_ANNOTATION,
} from '../../publish/approval/publish-annotations.ts';

/** The removal of an add-on from clusters that is held. */
export interface AddOnHold {
  /** Approves exactly this removal. */
  readonly code: string;
  readonly message: string;
  readonly sinceMs: number;
}

/** The hold that a ClusterManagementAddOn shows; undefined if nothing of it is held. */
export function heldRemoval({
  metadata: { annotations = {} },
}: Pick<KubeObject, 'metadata'>): AddOnHold | undefined {
  const {
    [HELD_CODE_ANNOTATION]: code = '',
    [HELD_MESSAGE_ANNOTATION]: message = '',
    [HELD_SINCE_ANNOTATION]: since = '',
  } = annotations;
  return code === '' ? undefined : { code, message, sinceMs: Date.parse(since) || Infinity };
}

/** The annotations that show a hold, or none. */
export function heldAnnotations(
  held: (Pick<AddOnHold, 'code' | 'message'> & { readonly since: string }) | undefined,
): Readonly<Record<string, string | null>> {
  return {
    [HELD_CODE_ANNOTATION]: held?.code ?? null,
    [HELD_MESSAGE_ANNOTATION]: held?.message ?? null,
    [HELD_SINCE_ANNOTATION]: held?.since ?? null,
  };
}
