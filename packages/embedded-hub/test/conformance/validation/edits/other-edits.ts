import type { Edit } from '../validation-case.ts';

const backend = { service: { name: 'web', port: { number: 80 } } };
const path = (more: object): Edit => [
  '/spec/rules/0/http/paths',
  [{ path: '/', pathType: 'Prefix', backend, ...more }],
];

/** Changes of configuration, access and network objects that need more than one field. */
export const OTHER_EDITS: Readonly<Record<string, readonly (readonly Edit[])[]>> = {
  'Ingress/web': [
    [path({ pathType: undefined })],
    [path({ pathType: 'Regex' })],
    [path({ path: 'relative' })],
    [path({ path: '/a//b' })],
    [path({ path: '/a/../b' })],
    [path({ path: '/a%2fb' })],
    [path({ path: '' })],
    [path({ pathType: 'ImplementationSpecific', path: 'relative' })],
    [path({ backend: { ...backend, resource: { kind: 'A', name: 'b' } } })],
    [path({ backend: {} })],
    [path({ backend: { service: { name: 'web', port: { number: 80, name: 'http' } } } })],
    [path({ backend: { service: { name: 'web', port: {} } } })],
    [path({ backend: { service: { name: 'Web', port: { number: 0, name: 'HTTP' } } } })],
    [['/spec/rules/0/host', '*']],
    [['/spec/rules/0/host', '*.']],
    [['/spec/rules/0/host', 'a.*.example.com']],
    [['/spec/rules/0/host', '192.0.2.1']],
    [['/spec/rules/0/host', 'UPPER.example.com']],
    [['/spec/rules'], ['/spec/defaultBackend']],
    [['/spec/tls', [{ hosts: ['not valid', '*.ok.example.com'], secretName: 'Not Valid' }]]],
    [['/metadata/annotations', { 'kubernetes.io/ingress.class': 'nginx' }]],
  ],
  'NetworkPolicy/db': [
    [['/spec/ingress', [{ from: [{}] }]]],
    [['/spec/ingress', [{ from: [{ ipBlock: { cidr: '10.0.0.0/8' }, podSelector: {} }] }]]],
    [
      [
        '/spec/ingress',
        [{ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/16', '10.0.0.0/8'] } }] }],
      ],
    ],
    [['/spec/ingress', [{ ports: [{ port: 10, endPort: 5 }, { endPort: 5 }, { port: 'a', endPort: 5 }] }]]],
    [['/spec/policyTypes', ['Both', 'Egress', 'Ingress']]],
  ],
  'RoleBinding/bound': [
    [['/roleRef/name', 'other']],
    [['/roleRef/kind', 'Group']],
    [['/subjects', [{ kind: 'ServiceAccount', name: 'a', apiGroup: 'rbac.authorization.k8s.io' }]]],
    [
      [
        '/subjects',
        [
          { kind: 'User', name: 'a' },
          { kind: 'Robot', name: '' },
        ],
      ],
    ],
    [['/subjects', []]],
  ],
  'ConfigMap/settings.example': [
    ...['', 'a b', '.', '..', '..a'].map((key): readonly Edit[] => [['/data', { [key]: 'x' }]]),
    [
      ['/data/same', 'a'],
      ['/binaryData/same', 'AAEC'],
    ],
    [['/data/large', 'x'.repeat(1_048_577)]],
  ],
  'ConfigMap/fixed': [
    [['/data/a', '2']],
    [['/immutable', false]],
    [['/immutable']],
    [['/binaryData', { b: 'AAEC' }]],
    [['/metadata/labels', { still: 'changes' }]],
  ],
  'Secret/fixed': [
    [['/data/a', 'Yw==']],
    [['/stringData', { a: 'c' }]],
    [['/stringData', { a: 'b' }]],
    [['/immutable', false]],
    [['/metadata/labels', { still: 'changes' }]],
  ],
  'Secret/opaque': [
    [['/type', 'kubernetes.io/tls']],
    [['/type', 'kubernetes.io/service-account-token']],
    [['/stringData', { 'a b': 'x' }]],
    [['/data/large', 'eHh4'.repeat(360_000)]],
  ],
  'Secret/certificate': [
    [['/data', { 'tls.crt': 'Y2VydA==' }]],
    [['/data', { 'tls.key': 'Y2VydA==' }]],
    [['/data', {}]],
    [['/type', 'Opaque']],
  ],
  'Secret/registry': [
    [['/stringData', { '.dockerconfigjson': '{' }]],
    [['/data'], ['/stringData', { other: '{}' }]],
  ],
  'Secret/basic': [[['/data'], ['/stringData', { other: 'x' }]], [['/stringData', { username: 'a' }]]],
  'Secret/ssh': [[['/data'], ['/stringData', { other: 'x' }]]],
  'LimitRange/containers': [
    [['/spec/limits/0', { type: 'Container', min: { cpu: '2' }, max: { cpu: '1' } }]],
    [['/spec/limits/0', { type: 'Container', default: { cpu: '3' }, max: { cpu: '1' } }]],
    [['/spec/limits/0', { type: 'Container', defaultRequest: { cpu: '3' }, default: { cpu: '1' } }]],
    [['/spec/limits/0', { type: 'Container', maxLimitRequestRatio: { cpu: '0.5' } }]],
    [['/spec/limits/0', { type: 'Pod', default: { cpu: '1' } }]],
    [['/spec/limits/0', { type: 'Odd' }]],
    [['/spec/limits/1', { type: 'PersistentVolumeClaim', max: { cpu: '1' } }]],
  ],
  'PersistentVolumeClaim/data': [
    [['/spec/resources/requests/storage', '2Gi']],
    [['/spec/resources/requests/storage', '500Mi']],
    [['/spec/storageClassName', 'other']],
    [['/spec/accessModes', ['ReadWriteOncePod', 'ReadWriteOnce']]],
    [['/spec/volumeName', 'disk']],
  ],
  'Pod/small': [
    [['/spec/containers/0/image', 'other:1']],
    [['/spec/containers/0/name', 'other']],
    [['/spec/tolerations', [{ key: 'new', operator: 'Exists' }]]],
    [['/spec/activeDeadlineSeconds', 10]],
    [['/spec/terminationGracePeriodSeconds', 5]],
    [['/spec/nodeName', 'node-1']],
    [['/metadata/labels', { still: 'changes' }]],
  ],
};
