import { guessedResource } from '@berth/kube/model/kinds';
import type { Permission } from './render-role.ts';

/** Names of resources by `GROUP/KIND`; `/KIND` for the core group. */
export type KnownResources = ReadonlyMap<string, string>;

/** The rules for the kinds that a user lists. */
export interface ListedPermissions {
  readonly permissions: readonly Permission[];
  /** Entries that name no single kind, and cannot be spelled out: `*`, and groups of which no kind is known. */
  readonly unnamed: readonly string[];
}

/**
 * The verbs on the kinds that are listed as `GROUP/KIND` or `GROUP/*`, one rule for each group. The
 * resource of an unknown kind is guessed as Kubernetes does, and marked by a comment.
 * @param known the resources of the kinds that Berth has tables of
 */
export function listedPermissions(
  listed: readonly string[],
  known: KnownResources,
  { verbs, why }: Pick<Permission, 'verbs' | 'why'>,
): ListedPermissions {
  const kinds = [...new Set(listed)].flatMap((entry) => kindsOf(entry, known));
  const groups = [...new Set(kinds.map(({ group }) => group))].sort();
  const permissions = groups.flatMap((group) => {
    const ofGroup = kinds.filter((kind) => kind.group === group);
    const rule = (isKnown: boolean, comment: string): readonly Permission[] => {
      const resources = ofGroup.filter((kind) => kind.isKnown === isKnown).map(({ resource }) => resource);
      const names = [...new Set(resources)].sort();
      return names.length === 0 ? [] : [{ groups: [group], resources: names, verbs, why: comment }];
    };
    return [...rule(true, why), ...rule(false, `${why} ${GUESSED}`)];
  });
  return { permissions, unnamed: listed.filter((entry) => kindsOf(entry, known).length === 0) };
}

/** The comment for kinds that a role without wildcards cannot name. */
export function unnamedText(unnamed: readonly string[]): readonly string[] {
  return unnamed.map(
    (entry) =>
      `# No rights are printed for ${JSON.stringify(entry)}, which names no kinds: list the kinds, or add such a ClusterRole.`,
  );
}

const GUESSED = 'The names are derived from the kinds: compare kubectl api-resources.';

interface NamedResource {
  readonly group: string;
  readonly resource: string;
  readonly isKnown: boolean;
}

function kindsOf(entry: string, known: KnownResources): readonly NamedResource[] {
  if (entry === '*') return [];
  const group = entry.slice(0, entry.indexOf('/'));
  const kind = entry.slice(group.length + 1);
  if (kind !== '*') {
    const resource = known.get(entry);
    return [{ group, resource: resource ?? guessedResource(kind), isKnown: resource !== undefined }];
  }
  return [...known]
    .filter(([name]) => name.slice(0, name.indexOf('/')) === group)
    .map(([, resource]) => ({ group, resource, isKnown: true }));
}
