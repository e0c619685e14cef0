import type { AppliedManifestWork, AppliedResource } from '@berth/ocm/kind/applied-manifest-work';
import { sortedResources, untrackedResources } from '../rules/applied/applied-resources.ts';
import type { ManifestTask } from '../cluster/manifest-task.ts';

/**
 * The objects about to be created, stored on the AppliedManifestWork before that: otherwise an
 * agent that is killed between creating an object and recording it would orphan the object if its
 * manifest, or the work, is removed before the next start.
 */
export const INTENTS_ANNOTATION = 'berth.dev/applying';

/**
 * Annotations are limited to 256 KiB, so works with some thousand objects do not have this
 * protection.
 */
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

/** All objects that this AppliedManifestWork may have created: recorded and intended ones. */
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
    // An unreadable annotation (edited by a user) counts as empty.
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
