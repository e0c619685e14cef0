import type { AppliedManifestWork, AppliedResource } from '../../core/model/kind/applied-manifest-work.ts';
import { sortedResources, untrackedResources } from '../../core/work/applied/applied-resources.ts';
import type { ManifestTask } from '../cluster/manifest-task.ts';

/**
 * The objects about to be created, stored on the AppliedManifestWork before that: an agent that dies between creating
 * an object and recording it would otherwise leave the object behind when its manifest, or the work, goes before the
 * next start.
 */
export const INTENTS_ANNOTATION = 'berth.dev/applying';

/** Annotations of one object may hold 256 KiB; works of some thousand objects go without this safety. */
const MAX_LENGTH = 200_000;

/** The annotation's new value; undefined when it need not change. */
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

/** Everything this AppliedManifestWork may have put on the cluster: what it recorded, and what it only got to intend. */
export function allAppliedResources(applied: AppliedManifestWork): readonly AppliedResource[] {
  const recorded = applied.status?.appliedResources ?? [];
  return [...recorded, ...untrackedResources(intentsOf(applied), recorded)];
}

/** Were there intents that the record does not confirm? */
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
    // Somebody edited it: what cannot be read intends nothing.
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
