import { PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';
import type { Problem } from '@berth/runtime/problem/problem';
import { DECISIONS_CONFIG, DECISIONS_GENERATOR } from '../install/argo-connection.ts';
import type { ArgoFacts } from './argo-facts.ts';
import type { DecisionGenerator } from './generators-in-use.ts';

type DecisionResource = Extract<DecisionGenerator, { kind: 'clusterDecisionResource' }>;

/**
 * Problems of a cluster decision resource generator: its ConfigMap, and whether it finds a
 * PlacementDecision.
 */
export function decisionConfigProblems(
  generator: DecisionResource,
  { configMaps, decisions, namespace }: ArgoFacts,
): readonly Problem[] {
  const { configMap: name, applicationSet } = generator;
  const data = configMaps.get(name);
  const object = `ConfigMap ${namespace}/${name}`;
  if (data === undefined)
    return [
      {
        severity: 'error',
        code: 'argocd.config-missing',
        object,
        message: `does not exist, but ApplicationSet ${applicationSet} names it`,
        hint:
          name === DECISIONS_CONFIG
            ? `berth argocd install --argocd-namespace ${namespace} --url https://berth.berth-system.svc:8443`
            : `kubectl -n ${namespace} create configmap ${name} ${literalFlags()}`,
      },
    ];
  if (data['kind'] !== DECISIONS_GENERATOR.kind) return wrongKind(data['kind'], object, namespace);
  const wrong = Object.entries(DECISIONS_GENERATOR).filter(([key, value]) => data[key] !== value);
  const problems = wrong.map(([key, value]): Problem => {
    const got = data[key] === undefined ? 'is missing' : `is ${JSON.stringify(data[key])}`;
    const effect = key === 'matchKey' ? '; Argo CD then deletes every Application' : '';
    return {
      severity: 'error',
      code: 'argocd.decision-config',
      object,
      message: `${key} ${got}, expected ${JSON.stringify(value)}${effect}`,
      hint: `kubectl -n ${namespace} patch configmap ${name} --type merge -p '${JSON.stringify({ data: { [key]: value } })}'`,
    };
  });
  const isFound = decisions.some(({ metadata }) =>
    generator.name === ''
      ? Object.entries(generator.labels).every(([key, value]) => metadata.labels?.[key] === value)
      : metadata.name === generator.name,
  );
  return isFound ? problems : [...problems, noDecisionFound(generator, namespace)];
}

/** A ConfigMap may name another kind; then only the spelling can be checked. */
function wrongKind(kind: string | undefined, object: string, namespace: string): readonly Problem[] {
  if (kind !== undefined && kind.toLowerCase() !== 'placementdecision' && kind !== 'PlacementDecisions')
    return [];
  return [
    {
      severity: 'error',
      code: 'argocd.decision-config',
      object,
      message: `kind ${kind === undefined ? 'is missing' : `is ${JSON.stringify(kind)}`}, expected the plural name of the resource: "placementdecisions"`,
      hint: `kubectl -n ${namespace} patch configmap ${object.split('/')[1] ?? ''} --type merge -p '{"data":{"kind":"placementdecisions"}}'`,
    },
  ];
}

function noDecisionFound({ applicationSet, labels, name }: DecisionResource, namespace: string): Problem {
  const placement = labels[PLACEMENT_LABEL] ?? name;
  return {
    severity: 'error',
    code: 'argocd.no-page',
    object: `ApplicationSet ${applicationSet}`,
    message: `selects no PlacementDecision in namespace ${namespace}, the only one where Argo CD looks: it makes and changes no Application`,
    hint: `kubectl -n ${namespace} describe placement ${placement}; for a placement of another namespace use the plugin generator`,
  };
}

/** The settings as flags of `kubectl create configmap`. */
function literalFlags(): string {
  return Object.entries(DECISIONS_GENERATOR)
    .map(([key, value]) => `--from-literal=${key}=${value}`)
    .join(' ');
}
