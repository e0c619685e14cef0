import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { clusterView } from '@berth/placement/filter/cluster-view';
import { type CelProgram, compileCel } from '@berth/kube-cel/compile-cel';
import { KUBERNETES_CEL } from '@berth/kube-cel/kubernetes-environment';
import { celProblemText } from '@berth/kube-cel/value/cel-problem';
import { DYN } from '@berth/kube-cel/value/cel-type';
import { InputError } from '@berth/runtime/errors';
import type { RequesterIdentity } from '@berth/kube/model/signing-request';
import { AUTO_ACCEPTED_ANNOTATION } from '@berth/ocm/registration/names';

/** Which clusters are accepted without a person. */
export interface AutoAcceptance {
  readonly users: readonly string[];
  readonly rules: readonly CelProgram[];
}

export const ACCEPT_NOBODY: AutoAcceptance = { users: [], rules: [] };

const RULE_VARIABLES = KUBERNETES_CEL.withVariables({ managedCluster: DYN, request: DYN });

/**
 * @param users names of users that may register any cluster
 * @param expressions CEL over `managedCluster` and `request` (`username`, `groups`, `uid`, `extra`); true accepts the
 * cluster
 * @throws InputError for an expression that cannot be compiled
 */
export function compileAutoAcceptance(
  users: readonly string[],
  expressions: readonly string[],
): AutoAcceptance {
  const rules = expressions.map((expression) => {
    const compiled = compileCel(expression, RULE_VARIABLES);
    if (compiled.ok) return compiled.program;
    throw new InputError(`got ${JSON.stringify(expression)}: ${celProblemText(compiled.problem)}`, {
      code: 'registration.rule',
      subject: 'rule of automatic acceptance',
    });
  });
  return { users, rules };
}

/** Whether the requester may register this cluster without a person. A rule that fails accepts nothing. */
export function acceptsByRule(
  { users, rules }: AutoAcceptance,
  cluster: ManagedCluster,
  request: RequesterIdentity,
): boolean {
  if (users.includes(request.username)) return true;
  const variables = { managedCluster: clusterView(cluster, () => undefined), request: { ...request } };
  return rules.some((rule) => {
    const outcome = rule.evaluate(variables);
    return outcome.ok && outcome.value === true;
  });
}

/**
 * Whether a rule may still decide about the cluster. A rule decides only once: a cluster that was denied afterwards
 * stays denied, and a person decides about its certificates.
 */
export function isOpenToRules({ metadata, spec }: ManagedCluster): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  return spec?.hubAcceptsClient === true || metadata.annotations?.[AUTO_ACCEPTED_ANNOTATION] === undefined;
}
