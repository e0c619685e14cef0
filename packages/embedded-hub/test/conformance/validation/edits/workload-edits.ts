import type { JsonValue } from '../../../../src/json/json-value.ts';
import type { Edit } from '../validation-case.ts';

const POD = '/spec/template/spec';
const container = (more: Readonly<Record<string, JsonValue>>): JsonValue => ({
  name: 'd',
  image: 'nginx',
  ...more,
});

/** Changes of templates of pods. */
const POD_EDITS: readonly (readonly Edit[])[] = [
  [[`${POD}/containers/-`, container({ name: 'c' })]],
  [[`${POD}/initContainers`, [container({ name: 'c' })]]],
  [
    [
      `${POD}/initContainers`,
      [container({ restartPolicy: 'Always', startupProbe: { exec: { command: ['x'] } } })],
    ],
  ],
  [[`${POD}/initContainers`, [container({ livenessProbe: { exec: { command: ['x'] } } })]]],
  [
    [
      `${POD}/containers/-`,
      container({
        ports: [
          { containerPort: 80, hostPort: 90 },
          { containerPort: 81, hostPort: 90 },
        ],
      }),
    ],
  ],
  [
    [
      `${POD}/containers/-`,
      container({
        ports: [
          { containerPort: 80, name: 'a' },
          { containerPort: 81, name: 'a' },
        ],
      }),
    ],
  ],
  [
    [
      `${POD}/containers/-`,
      container({
        ports: [{ containerPort: 0 }, { containerPort: 65_536 }, { containerPort: 1, name: 'UPPER' }],
      }),
    ],
  ],
  [[`${POD}/containers/-`, container({ env: [{ name: '' }, { name: '1 a' }, { name: 'A=B' }] })]],
  [
    [
      `${POD}/containers/-`,
      container({
        env: [{ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
      }),
    ],
  ],
  [[`${POD}/containers/-`, container({ env: [{ name: 'A', valueFrom: {} }] })]],
  [
    [
      `${POD}/containers/-`,
      container({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.nothing' } } }] }),
    ],
  ],
  [
    [
      `${POD}/containers/-`,
      container({
        env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.annotations['a b']" } } }],
      }),
    ],
  ],
  [
    [
      `${POD}/containers/-`,
      container({ env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.bananas' } } }] }),
    ],
  ],
  [
    [
      `${POD}/containers/-`,
      container({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: '', key: 'a b' } } }] }),
    ],
  ],
  [
    [
      `${POD}/containers/-`,
      container({ envFrom: [{ prefix: '1' }, { configMapRef: { name: 'a' }, secretRef: { name: 'a' } }] }),
    ],
  ],
  [[`${POD}/containers/-`, container({ volumeMounts: [{ name: 'nothing', mountPath: '/a' }] })]],
  [
    [`${POD}/volumes`, [{ name: 'v' }]],
    [
      `${POD}/containers/0/volumeMounts`,
      [
        { name: 'v', mountPath: '/a' },
        { name: 'v', mountPath: '/a' },
      ],
    ],
  ],
  [[`${POD}/volumes`, [{ name: 'v' }, { name: 'v' }]]],
  [[`${POD}/volumes`, [{ name: 'v', emptyDir: {}, configMap: { name: 'a' } }]]],
  [
    [`${POD}/volumes`, [{ name: 'v' }]],
    [`${POD}/containers/0/volumeMounts`, [{ name: 'v', mountPath: '/a', subPath: '../b' }]],
  ],
  [
    [`${POD}/volumes`, [{ name: 'v' }]],
    [`${POD}/containers/0/volumeMounts`, [{ name: 'v', mountPath: '/a', subPath: 'b', subPathExpr: 'c' }]],
  ],
  [
    [
      `${POD}/volumes`,
      [
        {
          name: 'v',
          configMap: {
            name: 'a',
            defaultMode: 512,
            items: [
              { key: 'a b', path: '/x' },
              { key: '', path: '' },
            ],
          },
        },
      ],
    ],
  ],
  [[`${POD}/volumes`, [{ name: 'v', hostPath: { path: '/a/../b', type: 'Thing' } }]]],
  [[`${POD}/volumes`, [{ name: 'v', emptyDir: { sizeLimit: '-1' } }]]],
  [[`${POD}/containers/0/livenessProbe`, {}]],
  [[`${POD}/containers/0/livenessProbe`, { exec: { command: ['a'] }, tcpSocket: { port: 1 } }]],
  [[`${POD}/containers/0/livenessProbe`, { exec: {}, successThreshold: 2 }]],
  [[`${POD}/containers/0/readinessProbe`, { tcpSocket: { port: 0 }, terminationGracePeriodSeconds: 3 }]],
  [[`${POD}/containers/0/readinessProbe`, { httpGet: { port: 'NO', path: '', scheme: 'FTP' } }]],
  [[`${POD}/containers/0/readinessProbe`, { grpc: { port: 99_999 }, periodSeconds: -1 }]],
  [[`${POD}/containers/0/lifecycle`, { preStop: {} }]],
  [[`${POD}/containers/0/lifecycle`, { preStop: { sleep: { seconds: 31 } } }]],
  [[`${POD}/containers/0/resources`, { requests: { cpu: '2' }, limits: { cpu: '1' } }]],
  [[`${POD}/containers/0/resources`, { requests: { cpu: '-2' } }]],
  [[`${POD}/containers/0/resources`, { requests: { bananas: '1' } }]],
  [[`${POD}/containers/0/resources`, { requests: { cpu: '1.2.3' } }]],
  [
    [
      `${POD}/containers/0/resources`,
      { requests: { 'example.com/gpu': 1 }, limits: { 'example.com/gpu': 2 } },
    ],
  ],
  [[`${POD}/containers/0/resources`, { limits: { 'example.com/gpu': '500m' } }]],
  [[`${POD}/containers/0/resources`, { limits: { cpu: 1, 'hugepages-2Mi': '3Mi' } }]],
  [[`${POD}/containers/0/resources`, { requests: { 'hugepages-2Mi': '2Mi' } }]],
  [[`${POD}/containers/0/imagePullPolicy`, 'always']],
  [[`${POD}/containers/0/image`, ' nginx']],
  [
    [
      `${POD}/containers/0/securityContext`,
      { runAsUser: -1, privileged: true, allowPrivilegeEscalation: false },
    ],
  ],
  [[`${POD}/containers/0/securityContext`, { procMount: 'Odd', seccompProfile: { type: 'Localhost' } }]],
  [
    [
      `${POD}/containers/0/securityContext`,
      { capabilities: { add: ['CAP_SYS_ADMIN'] }, allowPrivilegeEscalation: false },
    ],
  ],
  [
    [
      `${POD}/securityContext`,
      { runAsUser: -1, fsGroup: 2 ** 31, supplementalGroups: [-1], sysctls: [{ name: 'a b' }] },
    ],
  ],
  [
    [
      `${POD}/securityContext`,
      { seccompProfile: { type: 'RuntimeDefault', localhostProfile: 'x' }, fsGroupChangePolicy: 'Never' },
    ],
  ],
  [[`${POD}/terminationGracePeriodSeconds`, -1]],
  [
    [
      `${POD}/tolerations`,
      [{ key: 'a', operator: 'Exists', value: 'b' }, { operator: 'Equal' }, { key: 'a', operator: 'Likes' }],
    ],
  ],
  [
    [
      `${POD}/tolerations`,
      [
        { key: 'a', effect: 'NoSchedule', tolerationSeconds: 1 },
        { key: 'not valid', effect: 'Odd' },
      ],
    ],
  ],
  [
    [
      `${POD}/topologySpreadConstraints`,
      [
        { maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'DoNotSchedule' },
        { maxSkew: 2, topologyKey: 'a', whenUnsatisfiable: 'DoNotSchedule' },
      ],
    ],
  ],
  [
    [
      `${POD}/affinity`,
      { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } },
    ],
  ],
  [
    [
      `${POD}/affinity`,
      {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: 'a', operator: 'Gt', values: ['x', 'y'] },
                  { key: 'a', operator: 'Odd' },
                ],
              },
            ],
          },
        },
      },
    ],
  ],
  [
    [
      `${POD}/affinity`,
      { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: {} }] } },
    ],
  ],
  [
    [
      `${POD}/affinity`,
      {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 101, podAffinityTerm: { topologyKey: 'a' } },
          ],
        },
      },
    ],
  ],
  [
    [`${POD}/hostNetwork`, true],
    [`${POD}/containers/0/ports`, [{ containerPort: 80, hostPort: 81 }]],
  ],
  [[`${POD}/dnsPolicy`, 'None']],
  [
    [
      `${POD}/dnsConfig`,
      { nameservers: ['a', '1.1.1.1', '1.1.1.2', '1.1.1.3'], searches: ['not valid'], options: [{}] },
    ],
  ],
  [[`${POD}/hostAliases`, [{ ip: 'x', hostnames: ['A B'] }]]],
  [
    [`${POD}/hostname`, 'A.B'],
    [`${POD}/subdomain`, 'a_b'],
  ],
  [[`${POD}/nodeSelector`, { a: 'not valid' }]],
  [[`${POD}/serviceAccountName`, 'Not Valid']],
  [[`${POD}/restartPolicy`, 'Never']],
  [[`${POD}/activeDeadlineSeconds`, 0]],
  [[`${POD}/ephemeralContainers`, [container({})]]],
  [['/spec/template/metadata/labels', { 'not valid': 'not valid!' }]],
];

const SELECTOR_EDITS: readonly (readonly Edit[])[] = [
  [['/spec/selector', {}]],
  [['/spec/selector/matchLabels', { app: 'other' }]],
  [['/spec/selector/matchExpressions', [{ key: 'app', operator: 'In' }]]],
  [['/spec/selector/matchExpressions', [{ key: 'app', operator: 'Exists', values: ['a'] }]]],
  [['/spec/selector/matchExpressions', [{ key: 'app', operator: 'Odd' }]]],
  [
    ['/spec/selector/matchLabels', { app: 'other' }],
    ['/spec/template/metadata/labels', { app: 'other', tier: 'front' }],
  ],
  [['/spec/template/metadata/labels', { app: 'other' }]],
];

/** Changes of workloads that need more than one field. */
export const WORKLOAD_EDITS: Readonly<Record<string, readonly (readonly Edit[])[]>> = {
  'Deployment/web': [
    ...POD_EDITS,
    ...SELECTOR_EDITS,
    [['/spec/strategy', { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } }]],
    [['/spec/strategy', { type: 'RollingUpdate', rollingUpdate: { maxSurge: '0%', maxUnavailable: '0%' } }]],
    [
      [
        '/spec/strategy',
        { type: 'RollingUpdate', rollingUpdate: { maxSurge: '200%', maxUnavailable: '101%' } },
      ],
    ],
    [
      [
        '/spec/strategy',
        { type: 'RollingUpdate', rollingUpdate: { maxSurge: 'many', maxUnavailable: '-1%' } },
      ],
    ],
    [['/spec/strategy', { type: 'Recreate', rollingUpdate: { maxSurge: 1 } }]],
    [['/spec/strategy', { type: 'Recreate' }]],
    [
      ['/spec/minReadySeconds', 10],
      ['/spec/progressDeadlineSeconds', 10],
    ],
    [
      ['/spec/replicas', -1],
      ['/spec/revisionHistoryLimit', -1],
    ],
  ],
  'StatefulSet/db': [
    ...SELECTOR_EDITS,
    [['/spec/volumeClaimTemplates', []]],
    [['/spec/serviceName', 'other']],
    [['/spec/podManagementPolicy', 'Parallel']],
    [['/spec/updateStrategy', { type: 'OnDelete', rollingUpdate: { partition: 1 } }]],
    [
      ['/spec/replicas', 5],
      ['/spec/minReadySeconds', 3],
    ],
    [['/spec/volumeClaimTemplates/0/spec/resources/requests/storage', '20Gi']],
  ],
  'DaemonSet/agent': [
    ...SELECTOR_EDITS,
    [['/spec/updateStrategy', { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } }]],
    [['/spec/updateStrategy', { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } }]],
    [
      [
        '/spec/updateStrategy',
        { type: 'RollingUpdate', rollingUpdate: { maxSurge: '10%', maxUnavailable: 0 } },
      ],
    ],
  ],
  'ReplicaSet/set': SELECTOR_EDITS,
  'Job/once': [
    [['/spec/template/spec/restartPolicy', 'Always']],
    [['/spec/template/spec/containers/0/image', 'other']],
    [
      ['/spec/suspend', true],
      ['/spec/template/spec/nodeSelector', { a: 'b' }],
    ],
    [['/spec/selector', { matchLabels: { app: 'mine' } }]],
    [['/spec/template/metadata/labels', { 'job-name': 'other' }]],
    [['/spec/parallelism', 3]],
    [['/spec/completions', 3]],
    [['/spec/ttlSecondsAfterFinished', 5]],
  ],
  'Job/indexed': [
    [
      ['/spec/completions', 7],
      ['/spec/parallelism', 7],
    ],
    [
      ['/spec/completions', 7],
      ['/spec/parallelism', 6],
    ],
    [
      ['/spec/completions', 200_000],
      ['/spec/parallelism', 200_000],
    ],
    [['/metadata/name', 'a'.repeat(62)]],
  ],
  'CronJob/nightly': [
    ...['* * * *', '* * * * * *', '60 * * * *', '* 24 * * *', '* * 0 * *', '* * * 13 *', '* * * * 8'].map(
      (schedule): readonly Edit[] => [['/spec/schedule', schedule]],
    ),
    ...[
      '*/0 * * * *',
      '5-1 * * * *',
      '1,2,x * * * *',
      '@yearly',
      '@every 1h30m',
      '@every x',
      '@sometimes',
    ].map((schedule): readonly Edit[] => [['/spec/schedule', schedule]]),
    ...[
      '0 0 ? * MON-FRI',
      '0 0 * JAN,feb *',
      'TZ=UTC * * * * *',
      'CRON_TZ=Europe/Berlin 0 0 * * *',
      'H * * * *',
    ].map((schedule): readonly Edit[] => [['/spec/schedule', schedule]]),
    ...['', 'Local', 'UTC', 'Europe/Berlin', 'Europe/Nowhere', '../etc/passwd', '+01:00'].map(
      (zone): readonly Edit[] => [['/spec/timeZone', zone]],
    ),
    [['/metadata/name', 'a'.repeat(53)]],
    [['/spec/jobTemplate/spec/template/spec/restartPolicy', 'Always']],
    [['/spec/jobTemplate/spec/selector', { matchLabels: { a: 'b' } }]],
    [['/spec/jobTemplate/spec/manualSelector', true]],
  ],
  'PodDisruptionBudget/web': [
    [
      ['/spec/minAvailable', 1],
      ['/spec/maxUnavailable', 1],
    ],
    [['/spec/minAvailable', '150%'], ['/spec/maxUnavailable']],
    [['/spec/minAvailable', -1], ['/spec/maxUnavailable']],
  ],
  'HorizontalPodAutoscaler/web': [
    [
      ['/spec/minReplicas', 5],
      ['/spec/maxReplicas', 4],
    ],
    [['/spec/minReplicas', 0]],
    [['/spec/scaleTargetRef', { kind: 'Pod', name: 'a/b', apiVersion: 'v1' }]],
    [['/spec/scaleTargetRef', { kind: 'ReplicationController', name: 'a', apiVersion: 'v1' }]],
  ],
};
