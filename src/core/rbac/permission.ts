import type { KindInfo } from '@berth/kube/model/kinds';
/** One rule of a Role or ClusterRole, and its reason. */
export interface Permission {
  readonly groups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** `resourceNames` of the rule. Absent: the rule covers objects of every name. */
  readonly names?: readonly string[] | undefined;
  /** Full sentence for users: the comment above the rule in the printed manifest. */
  readonly why: string;
}

/**
 * The permission to use the verbs on the kinds, or on a subresource of them: one rule for each API group.
 * @param why the comment of the rules in the printed RBAC manifest
 */
export function grant(
  kinds: readonly KindInfo[],
  verbs: readonly string[],
  why: string,
  subresource?: string,
): readonly Permission[] {
  const groups = [...new Set(kinds.map(({ group }) => group))];
  const ending = subresource === undefined ? '' : `/${subresource}`;
  return groups.map((group) => ({
    groups: [group],
    resources: kinds.filter((kind) => kind.group === group).map(({ plural }) => `${plural}${ending}`),
    verbs,
    why,
  }));
}
