import type { AppliedManifestWork, AppliedResource } from '../../core/model/kind/applied-manifest-work.ts';
import { sortedResources, untrackedResources } from '../../core/work/applied/applied-resources.ts';
import type { ManifestTask } from '../cluster/manifest-task.ts';

/**
 * The objects that are about to be created. They are stored on the AppliedManifestWork first. Otherwise, an agent that
 * crashed after creating an object and before recording it would leave the object behind if its manifest or work was
 * deleted before the next start.
 */
export const INTENTS_ANNOTATION = 'berth.dev/applying';

/** The annotations of one object may have 256 KiB. Works with several thousand objects do not get this protection. */
const MAX_LENGTH = 200_000;

/** The new value of the annotation; undefined if it need not change. */
export function newIntents(
  applied: AppliedManifestWork | undefined,
  tasks: readonly ManifestTask[],
): string | undefined {
  const wanted = tasks.flatMap(({ ready, meta }) => {
    const { group = '', version = '', resource = '', namespace = '', name = '' } = meta;
    return ready ? [{ group, version, resource, namespace, name }] : [];
  });
  const recorded = applied?.status?.appliedResources ?? [];
  const known = [...recorded, ...intentsOf(applied)];
  if (untrackedResources(wanted, known).length === 0) return undefined;
  const open = sortedResources(untrackedResources([...wanted, ...intentsOf(applied)], recorded));
  const text = JSON.stringify(
    open.map(({ group = '', version, resource, namespace = '', name }) => [
      group,
      version,
      resource,
      namespace,
      name,
    ]),
  );
  return text.length > MAX_LENGTH ? undefined : text;
}

/** Everything that this AppliedManifestWork may have put on the cluster: the recorded objects and the intended ones. */
export function allAppliedResources(applied: AppliedManifestWork): readonly AppliedResource[] {
  const recorded = applied.status?.appliedResources ?? [];
  return [...recorded, ...untrackedResources(intentsOf(applied), recorded)];
}

/** Whether there are intents that are not recorded as applied. */
export function hasOpenIntents(applied: AppliedManifestWork): boolean {
  return untrackedResources(intentsOf(applied), applied.status?.appliedResources ?? []).length > 0;
}

function intentsOf(applied: AppliedManifestWork | undefined): readonly AppliedResource[] {
  const text = applied?.metadata.annotations?.[INTENTS_ANNOTATION];
  if (text === undefined) return [];
  try {
    const list = JSON.parse(text) as unknown;
    return Array.isArray(list) ? list.flatMap((entry) => resourceOf(entry) ?? []) : [];
  } catch {
    // Somebody edited the annotation. A text that cannot be parsed means no intents.
    return [];
  }
}

function resourceOf(entry: unknown): AppliedResource | undefined {
  if (!Array.isArray(entry) || entry.length !== 5) return undefined;
  const fields = entry as readonly unknown[];
  if (!fields.every((field) => typeof field === 'string')) return undefined;
  const [group, version, resource, namespace, name] = fields as readonly [
    string,
    string,
    string,
    string,
    string,
  ];
  return version === '' || resource === '' || name === ''
    ? undefined
    : { group, version, resource, namespace, name };
}
