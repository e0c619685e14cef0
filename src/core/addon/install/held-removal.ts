import type { KubeObject } from '@berth/kube/model/object-meta';
import { releaseCodes } from '../../publish/approval/approved-plans.ts';
import {
  HELD_CODE_ANNOTATION,
  HELD_MESSAGE_ANNOTATION,
  HELD_SINCE_ANNOTATION,
  RELEASED_ANNOTATION,
  RELEASED_BY_ANNOTATION,
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

/** Who approved a removal, and by which code. */
export interface ReleasedRemoval {
  readonly code: string;
  readonly by: string;
}

/** The release that one of the add-ons which leave carries. */
export function releasedRemoval(
  leaving: readonly Pick<KubeObject, 'metadata'>[],
  code: string,
): ReleasedRemoval | undefined {
  const carrier = leaving.find(({ metadata }) => releaseCodes(metadata).includes(code));
  return carrier && { code, by: carrier.metadata.annotations?.[RELEASED_BY_ANNOTATION] ?? 'an annotation' };
}

/** The annotations that show the last release, or none. */
export function releasedAnnotations(released: ReleasedRemoval | undefined): Readonly<Record<string, string>> {
  return released === undefined
    ? {}
    : { [RELEASED_ANNOTATION]: released.code, [RELEASED_BY_ANNOTATION]: released.by };
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
