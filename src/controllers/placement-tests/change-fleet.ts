import path from 'node:path';
import { InputError } from '@berth/runtime/errors';
import type { Problem } from '@berth/runtime/problem/problem';
import { formatRef, refOf } from '@berth/kube/model/object-ref';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { ChangeTarget, FleetChange } from '../../core/preview/rules/rule-test.ts';
import { applyMergePatch } from '@berth/embedded-hub/patch/merge-patch';
import { readSourceFolder } from '../sources/reading/read-source-folder.ts';
import { errorsAmong, overlayObjects, readInlineObjects, testProblemText } from './read-test-objects.ts';

export interface ChangePlace {
  /** The folder that paths are relative to. */
  readonly folder: string;
  /** The name of the change in messages. */
  readonly shown: string;
  readonly cwd: string;
  readonly signal: AbortSignal;
}

/**
 * Applies a change to the objects of a fleet: deletions, patches, and added or replaced objects.
 * @throws InputError when the change names an object that does not exist, or makes one invalid
 */
export async function changeFleet(
  fleet: readonly SourceObject[],
  { remove = [], patches = [], overlay, objects = [] }: FleetChange,
  place: ChangePlace,
): Promise<readonly SourceObject[]> {
  const gone = new Set(remove.map((target, at) => find(fleet, target, `remove[${at}]`)));
  let changed = fleet.filter((one) => !gone.has(one));
  for (const [at, { target, patch }] of patches.entries()) {
    const old = find(changed, target, `patches[${at}]`);
    const patched = patchOf(old, patch, { ...place, shown: `${place.shown} patches[${at}]` });
    changed = changed.map((one) => (one === old ? patched : one));
  }
  const overlaid = overlay === undefined ? [] : await readOverlay(overlay, place);
  return overlayObjects(overlayObjects(changed, overlaid), checked(objects, `${place.shown} objects`));
}

function find(fleet: readonly SourceObject[], target: ChangeTarget, field: string): SourceObject {
  const { kind, namespace = '', name } = target;
  const found = fleet.find(({ object }) => {
    const ref = refOf(object);
    return ref.kind === kind && ref.namespace === namespace && ref.name === name;
  });
  if (found !== undefined) return found;
  throw new InputError(`there is no ${formatRef({ kind, namespace, name })} in the fleet`, {
    code: 'test.change',
    subject: field,
  });
}

function patchOf({ object }: SourceObject, patch: object, { shown }: ChangePlace): SourceObject {
  const json = JSON.parse(JSON.stringify(object)) as Parameters<typeof applyMergePatch>[0];
  const [patched] = checked([applyMergePatch(json, patch as Parameters<typeof applyMergePatch>[1])], shown);
  if (patched === undefined)
    throw new InputError('leaves no object', { code: 'test.change', subject: shown });
  return patched;
}

async function readOverlay(
  overlay: string,
  { folder, cwd, signal }: ChangePlace,
): Promise<readonly SourceObject[]> {
  const content = await readSourceFolder(path.resolve(folder, overlay), { signal, cwd });
  refuse(content.problems, overlay);
  return content.objects;
}

function checked(objects: readonly unknown[], shown: string): readonly SourceObject[] {
  const read = readInlineObjects(shown, objects);
  refuse(read.problems, shown);
  return read.objects;
}

function refuse(problems: readonly Problem[], subject: string): void {
  const [first, ...more] = errorsAmong(problems);
  if (first === undefined) return;
  const others = more.length === 0 ? '' : ` (and ${more.length} more)`;
  throw new InputError(`${testProblemText(first)}${others}`, { code: 'test.change', subject });
}
