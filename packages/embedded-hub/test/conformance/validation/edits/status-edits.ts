import type { JsonValue } from '../../../../src/json/json-value.ts';
import type { ValidationCase } from '../validation-case.ts';

const status = (object: string, value: JsonValue): ValidationCase => ({
  object,
  verb: 'status',
  edits: [['/status', value]],
});

const CONDITION = {
  type: 'DisruptionAllowed',
  status: 'True',
  reason: 'SufficientPods',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};
const budget = (condition: JsonValue): ValidationCase =>
  status('PodDisruptionBudget/web', { conditions: [condition] });
const balancer = (object: string, ingress: JsonValue): ValidationCase =>
  status(object, { loadBalancer: { ingress: [ingress] } });

const COUNTED: Readonly<Record<string, readonly string[]>> = {
  'Deployment/web': [
    'updatedReplicas',
    'readyReplicas',
    'availableReplicas',
    'collisionCount',
    'observedGeneration',
  ],
  'ReplicaSet/set': ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration'],
  'ReplicationController/old': ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
  'StatefulSet/db': ['currentReplicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas'],
  'DaemonSet/agent': ['numberReady', 'desiredNumberScheduled', 'collisionCount'],
};

/** Statuses of which something is wrong. */
export const STATUS_EDITS: readonly ValidationCase[] = [
  ...Object.entries(COUNTED).flatMap(([object, names]) => [
    status(object, { replicas: -1 }),
    ...names.flatMap((name) => [status(object, { [name]: -1 }), status(object, { replicas: 1, [name]: 2 })]),
  ]),
  budget(CONDITION),
  budget({ type: 'DisruptionAllowed', status: 'True' }),
  budget({ ...CONDITION, type: '' }),
  budget({ ...CONDITION, status: 'Maybe' }),
  budget({ ...CONDITION, reason: 'not a reason' }),
  budget({ ...CONDITION, observedGeneration: -1 }),
  status('PodDisruptionBudget/web', { conditions: [CONDITION, CONDITION] }),
  status('PodDisruptionBudget/web', { disruptionsAllowed: -1, expectedPods: -1 }),
  balancer('Service/web', { ip: '192.0.2.1' }),
  balancer('Service/balanced', { ip: '192.0.2.1' }),
  balancer('Service/balanced', { ip: 'nowhere' }),
  balancer('Service/balanced', { ip: '192.0.2.1', ipMode: 'Other' }),
  balancer('Service/balanced', { hostname: 'a.example.com', ipMode: 'VIP' }),
  balancer('Service/balanced', { hostname: '192.0.2.1' }),
  balancer('Service/balanced', { hostname: 'Not Valid' }),
  status('Service/web', { loadBalancer: { ingress: [] } }),
];
