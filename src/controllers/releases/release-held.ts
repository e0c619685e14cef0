import { InputError } from '@berth/runtime/errors';
import type { Placement } from '@berth/ocm/kind/placement';
import { CONFIG_MAP, PLACEMENT } from '@berth/kube/model/kinds';
import type { KubeApi, ObjectKey } from '@berth/kube/model/kube-api';
import { activeHold } from '../../core/publish/approval/approval-code.ts';
import {
  HELD_MESSAGE_ANNOTATION,
  HELD_CODE_ANNOTATION,
  RELEASE_ANNOTATION,
  RELEASED_ANNOTATION,
  RELEASED_BY_ANNOTATION,
} from '../../core/publish/approval/publish-annotations.ts';
import { parentOfSource } from '../../core/sync/apply-set.ts';
import { RELEASE_WRITE, type Release } from './release.ts';

/**
 * Releases a held decision.
 * @throws InputError `release.placement`, `release.not-held`, `release.token`, or errors of the hub
 */
export async function releasePlacement(
  hub: KubeApi,
  key: ObjectKey,
  { code, releasedBy }: Release,
): Promise<void> {
  const found = (await hub.get(PLACEMENT, key)) as unknown as Placement | undefined;
  requireHeld(found, `Placement ${key.namespace}/${key.name}`, code);
  const annotations = { [RELEASED_ANNOTATION]: code, [RELEASED_BY_ANNOTATION]: releasedBy };
  await hub.mergePatch(PLACEMENT, key, { metadata: { annotations } }, RELEASE_WRITE);
}

/**
 * Releases held deletions of a source. The controller writes held deletions to the ApplySet parent
 * of the source.
 * @param from the source, and the namespace of the controller's objects
 * @returns whether the hub shows that these deletions are held; controllers of older versions do
 * not write it
 * @throws InputError `release.source`, `release.not-held`, `release.token`, or what the hub throws
 */
export async function releaseDeletions(
  hub: KubeApi,
  { source, namespace }: { readonly source: string; readonly namespace: string },
  { code, releasedBy }: Release,
): Promise<{ readonly isShown: boolean }> {
  const key = parentOfSource(source, namespace);
  const subject = `source ${source}`;
  const parent = await hub.get(CONFIG_MAP, key);
  if (parent === undefined)
    throw new InputError(`has no ApplySet on the hub: there is no ConfigMap ${namespace}/${key.name}`, {
      code: 'release.source',
      subject,
      hint: 'use the name of the source in the settings; --namespace sets the namespace of the controller',
    });
  const { [HELD_CODE_ANNOTATION]: held, [HELD_MESSAGE_ANNOTATION]: message } =
    parent.metadata.annotations ?? {};
  if (held === '') throw new InputError('nothing is held', { code: 'release.not-held', subject });
  if (held !== undefined && held !== code)
    throw new InputError(
      `the approval code ${code} does not match the deletions that are held now, under ${held}`,
      {
        code: 'release.token',
        subject,
        hint: message,
      },
    );
  const annotations = { [RELEASE_ANNOTATION]: code, [RELEASED_BY_ANNOTATION]: releasedBy };
  await hub.mergePatch(CONFIG_MAP, key, { metadata: { annotations } }, RELEASE_WRITE);
  return { isShown: held !== undefined };
}

/** An outdated code would have no effect, so it is reported. */
function requireHeld(placement: Placement | undefined, subject: string, code: string): void {
  if (placement === undefined)
    throw new InputError('does not exist on the hub', { code: 'release.placement', subject });
  const held = activeHold(placement);
  if (held === undefined) throw new InputError('nothing is held', { code: 'release.not-held', subject });
  if (!held.message.includes(code))
    throw new InputError(`the approval code ${code} does not match the change that is held now`, {
      code: 'release.token',
      subject,
      hint: held.message,
    });
}
