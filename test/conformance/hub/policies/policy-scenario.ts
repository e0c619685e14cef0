import type { LooseJson } from '../../../../packages/embedded-hub/test/loose-json.ts';
import type { Scenario, Step } from '../webhooks/scenario.ts';

const GROUP = '/apis/admissionregistration.k8s.io/v1';
export const POLICIES = `${GROUP}/validatingadmissionpolicies`;
export const BINDINGS = `${GROUP}/validatingadmissionpolicybindings`;
export const MAPS = '/api/v1/namespaces/policed/configmaps';
export const MERGE = 'application/merge-patch+json';
export const APPLY = 'application/apply-patch+yaml';

export const map = (name: string, data: LooseJson = { a: 'b' }, metadata: LooseJson = {}): LooseJson => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
});

export const create = (name: string, data?: LooseJson, metadata?: LooseJson): Step => ({
  call: ['POST', MAPS],
  body: map(name, data, metadata),
});

export const RULE = { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] };
export const HERE = { matchLabels: { 'kubernetes.io/metadata.name': 'policed' } };

/** @param constraints of ConfigMaps in the namespace of the scenarios, unless they say something else */
export const policy = (name: string, spec: LooseJson, constraints: LooseJson = {}): LooseJson => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name },
  spec: {
    matchConstraints: { resourceRules: [RULE], namespaceSelector: HERE, ...constraints },
    ...spec,
  },
});

export const binding = (name: string, policyName: string, spec: LooseJson = {}): LooseJson => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name },
  spec: { policyName, validationActions: ['Deny'], ...spec },
});

/** A policy with one check. */
export const checks = (expression: string, more: LooseJson = {}): LooseJson => ({
  validations: [{ expression, ...more }],
});

/** A policy that is bound. */
export interface Bound {
  readonly spec: LooseJson;
  readonly constraints?: LooseJson;
  /** Of its bindings. */
  readonly bindings?: readonly LooseJson[];
}

/** The steps with the policy `rule` bound by `rule-0`, `rule-1` … */
export function scenario(name: string, bound: LooseJson, steps: readonly Step[]): Scenario {
  const { spec, constraints, bindings = [{}] } = ('spec' in bound ? bound : { spec: bound }) as Bound;
  const names = bindings.map((_, index) => `rule-${String(index)}`);
  const silent = true as const;
  return {
    name: `policy: ${name}`,
    steps: () => [
      {
        call: ['POST', '/api/v1/namespaces'],
        body: { metadata: { name: 'policed', labels: { team: 'harbour' } } },
        silent,
        until: () => true,
      },
      { call: ['POST', POLICIES], body: policy('rule', spec, constraints), silent },
      ...bindings.map((one, index) => ({
        call: ['POST', BINDINGS] as const,
        body: binding(names[index] ?? '', 'rule', one),
        silent,
      })),
      ...steps,
      ...names.map((one) => ({ call: ['DELETE', `${BINDINGS}/${one}`] as const, silent })),
      { call: ['DELETE', `${POLICIES}/rule`], silent },
      // Not before the policy is gone.
      { call: ['DELETE', MAPS], silent },
    ],
  };
}

/** Objects that are refused, or shown as they were made; those that were made are deleted again. */
export function writes(name: string, path: string, bodies: readonly LooseJson[]): Scenario {
  return {
    name: `policy: ${name}`,
    steps: () =>
      bodies.flatMap((body): Step[] => [
        { call: ['POST', path], body },
        { call: ['DELETE', `${path}/${String(body.metadata.name)}`], silent: true },
      ]),
  };
}
