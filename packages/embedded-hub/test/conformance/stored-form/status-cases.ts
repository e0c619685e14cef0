import type { JsonValue } from '../../../src/json/json-value.ts';
import type { ValidationCase } from '../validation/validation-case.ts';

const CONDITION = { type: 'Available', status: 'True' };
const status = (object: string, value: JsonValue): ValidationCase => ({
  object,
  verb: 'status',
  edits: [['/status', value]],
});

/** Statuses as controllers write them, with as little in them as is accepted, and with zero values. */
export const STATUS_CASES: readonly ValidationCase[] = [
  ...[
    'Deployment/web',
    'ReplicaSet/set',
    'StatefulSet/db',
    'DaemonSet/agent',
    'Job/once',
    'Pod/small',
  ].flatMap((object) => [
    status(object, {}),
    status(object, null),
    status(object, { conditions: [CONDITION] }),
    status(object, { conditions: [{ ...CONDITION, lastTransitionTime: null, message: '', reason: '' }] }),
    status(object, { conditions: [{ ...CONDITION, lastTransitionTime: '2026-01-01T02:00:00.5+02:00' }] }),
    status(object, { conditions: [], observedGeneration: 0 }),
  ]),
  status('Deployment/web', { replicas: 0, readyReplicas: 0, availableReplicas: 0, collisionCount: 0 }),
  status('Deployment/web', { replicas: 2, readyReplicas: 1, unavailableReplicas: 1, observedGeneration: 1 }),
  status('ReplicaSet/set', { replicas: 3, fullyLabeledReplicas: 0 }),
  status('StatefulSet/db', { replicas: 1, currentRevision: '', updateRevision: 'a' }),
  status('DaemonSet/agent', {
    numberReady: 1,
    desiredNumberScheduled: 1,
    currentNumberScheduled: 1,
    numberMisscheduled: 0,
  }),
  status('Job/once', { active: 0, ready: 0, terminating: 0, startTime: null, uncountedTerminatedPods: {} }),
  status('CronJob/nightly', { active: [{ name: 'a' }], lastScheduleTime: '2026-01-01T00:00:00Z' }),
  status('Service/balanced', { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } }),
  status('Service/balanced', {}),
  status('Ingress/web', {
    loadBalancer: { ingress: [{ hostname: 'a.example.com', ports: [{ port: 80, protocol: 'TCP' }] }] },
  }),
  status('PodDisruptionBudget/web', { disruptionsAllowed: 1, disruptedPods: { a: null } }),
  status('HorizontalPodAutoscaler/web', {
    currentReplicas: 0,
    desiredReplicas: 2,
    conditions: [{ type: 'AbleToScale', status: 'True' }],
  }),
  status('HorizontalPodAutoscaler/simple', { currentReplicas: 1, desiredReplicas: 2 }),
  status('Namespace/team-a', { phase: 'Active', conditions: [{ type: 'A', status: 'True' }] }),
  status('PersistentVolumeClaim/data', { phase: 'Bound', accessModes: [], capacity: { storage: '1024Mi' } }),
  status('PersistentVolume/disk', { phase: 'Available', message: '' }),
  status('ResourceQuota/limits', { hard: { pods: 10 }, used: { pods: '0.5' } }),
  status('Node/node-1', {
    conditions: [{ type: 'Ready', status: 'True' }],
    capacity: { cpu: 4, memory: '1024Mi' },
  }),
  status('Pod/large', {
    phase: 'Running',
    containerStatuses: [{ name: 'main', image: 'a', imageID: '', ready: true, restartCount: 0 }],
  }),
  status('Pod/large', {
    phase: 'Running',
    containerStatuses: [
      { name: 'main', image: 'a', imageID: '', ready: true, restartCount: 0, state: { running: {} } },
    ],
  }),
];
