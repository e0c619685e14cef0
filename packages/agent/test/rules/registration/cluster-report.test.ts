import { describe, expect, it } from 'vitest';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { reportedClaims } from '../../../src/rules/registration/cluster-claims.ts';
import { goTime } from '../../../src/rules/registration/plan-certificate.ts';
import {
  managedNamespaceLabel,
  namespacesGivenUp,
} from '../../../src/rules/registration/managed-namespaces.ts';
import {
  type ClusterObservation,
  clusterResources,
  judgeHealth,
  nextStatus,
} from '../../../src/rules/registration/next-status.ts';
import { chooseHub } from '../../../src/registration/joining/find-hub.ts';
import { changedFields, hubKubeconfig, sameHub } from '../../../src/rules/registration/hub-entry.ts';

const NOW = '2026-01-01T00:00:00Z';
const claim = (name: string, value: string, labels = {}): KubeObject => ({
  apiVersion: 'x/v1',
  kind: 'Claim',
  metadata: { name, labels },
  spec: { value },
});

describe('reportedClaims', () => {
  const limits = { maxCustom: 2, reservedSuffixes: ['.reserved.example'] };
  it('puts reserved claims first and cuts only the others', () => {
    const claims = ['z', 'a', 'm', 'platform.open-cluster-management.io', 'x.reserved.example', 'id.k8s.io'];
    const reported = reportedClaims(
      { claims: claims.map((name) => claim(name, name)), properties: [] },
      limits,
    );
    expect(reported.claims.map(({ name }) => name)).toEqual([
      'id.k8s.io',
      'platform.open-cluster-management.io',
      'x.reserved.example',
      'a',
      'm',
    ]);
    expect(reported.customCount).toBe(3);
  });

  it.each([
    {
      name: 'a property counts before a claim',
      claims: [claim('a', 'claim')],
      properties: [claim('a', 'property')],
      want: [{ name: 'a', value: 'property' }],
    },
    {
      name: 'what is for the cluster alone stays there',
      claims: [claim('a', '1', { 'open-cluster-management.io/spoke-only': '' })],
      properties: [],
      want: [],
    },
    {
      name: 'a hidden property does not hide a claim',
      claims: [claim('a', '1')],
      properties: [claim('a', '2', { 'open-cluster-management.io/spoke-only': '' })],
      want: [{ name: 'a', value: '1' }],
    },
    {
      name: 'a value that no hub takes is left out',
      claims: [claim('a', 'x'.repeat(1025)), claim('b', '')],
      properties: [],
      want: [],
    },
    {
      name: 'length counts characters',
      claims: [claim('a', '😀'.repeat(1024))],
      properties: [],
      want: [{ name: 'a', value: '😀'.repeat(1024) }],
    },
    {
      name: 'names of JavaScript objects are names',
      claims: [claim('__proto__', '1'), claim('constructor', '2')],
      properties: [],
      want: [
        { name: '__proto__', value: '1' },
        { name: 'constructor', value: '2' },
      ],
    },
  ])('$name', ({ claims, properties, want }) =>
    expect(reportedClaims({ claims, properties }, limits).claims).toEqual(want),
  );
});

describe('clusterResources', () => {
  const node = (cpu: string, unschedulable = false) => ({
    spec: { unschedulable },
    status: { capacity: { cpu, memory: '1Gi' }, allocatable: { cpu } },
  });
  it('counts what takes no pods for the capacity only, and keeps what others report', () => {
    const found = clusterResources([node('4'), node('2500m', true)], {
      capacity: { 'example.com/gpu': '8' },
    });
    expect(found).toEqual({
      capacity: { cpu: '6500m', memory: '2Gi', 'example.com/gpu': '8' },
      allocatable: { cpu: '4' },
    });
  });
  it('leaves another spelling of the same amount as it is', () => {
    const reported = { capacity: { cpu: 4, memory: '1024Mi' }, allocatable: { cpu: '4000m' } };
    expect(clusterResources([node('4')], reported)).toEqual(reported);
  });
  it('reports nothing for a cluster without nodes', () =>
    expect(clusterResources([], {})).toEqual({ capacity: {}, allocatable: {} }));
});

describe('judgeHealth', () => {
  it('says that a server is down after it failed for 20 s, and that it is up at once', () => {
    const failed = { kind: 'failed', why: 'status code: 500, x' } as const;
    let memory: { readonly failingSinceMs: number | undefined } = { failingSinceMs: undefined };
    const verdicts = (
      [
        [failed, 0],
        [failed, 19_999],
        [failed, 20_000],
        [{ kind: 'ok' }, 21_000],
        [failed, 22_000],
      ] as const
    ).map(([probe, nowMs]) => {
      const judged = judgeHealth(memory, probe, nowMs);
      memory = judged.memory;
      return judged.verdict.kind;
    });
    expect(verdicts).toEqual(['undecided', 'undecided', 'down', 'ok', 'undecided']);
  });
});

describe('nextStatus', () => {
  const accepted = {
    type: 'HubAcceptedManagedCluster',
    status: 'True',
    reason: 'HubClusterAdminAccepted',
    message: '',
    lastTransitionTime: NOW,
  } as const;
  const cluster = (status: ManagedCluster['status']): ManagedCluster => ({
    apiVersion: 'cluster.open-cluster-management.io/v1',
    kind: 'ManagedCluster',
    metadata: { name: 'c1' },
    status,
  });
  const well: ClusterObservation = {
    health: { kind: 'ok' },
    kubernetesVersion: 'v1.35.0',
    nodes: [],
    claims: [],
  };
  const types = (status: ReturnType<typeof nextStatus>) =>
    status?.conditions?.map((one) => `${one.type}=${one.status}`).slice(1);

  it.each([
    { name: 'nobody decided', conditions: [] },
    { name: 'the hub denied it', conditions: [{ ...accepted, status: 'False' as const }] },
    {
      name: 'the hub distrusts its clock',
      conditions: [
        accepted,
        { ...accepted, type: 'ManagedClusterConditionClockSynced', status: 'False' as const },
      ],
    },
  ])('reports nothing when $name', ({ conditions }) =>
    expect(nextStatus(cluster({ conditions }), well, NOW)).toBeUndefined(),
  );

  it('joins, reports, and then has nothing to write', () => {
    const first = nextStatus(cluster({ conditions: [accepted] }), well, NOW);
    expect(types(first)).toEqual(['ManagedClusterJoined=True', 'ManagedClusterConditionAvailable=True']);
    expect(first?.version).toEqual({ kubernetes: 'v1.35.0' });
    expect(first).not.toHaveProperty('clusterClaims');
    expect(
      nextStatus(cluster({ conditions: [accepted], ...first }), well, '2026-01-02T00:00:00Z'),
    ).toBeUndefined();
  });

  it('says nothing but that while its API server is down', () => {
    const down: ClusterObservation = { ...well, health: { kind: 'down', why: 'status code: 500, x' } };
    const status = nextStatus(cluster({ conditions: [accepted] }), down, NOW);
    expect(types(status)).toEqual(['ManagedClusterJoined=True', 'ManagedClusterConditionAvailable=False']);
    expect(Object.keys(status ?? {})).toEqual(['conditions']);
    expect(status?.conditions?.[2]?.message).toBe('The kube-apiserver is not ok, status code: 500, x');
  });

  it('writes only what changed, and keeps what could not be read', () => {
    const first = nextStatus(
      cluster({ conditions: [accepted] }),
      { ...well, claims: [{ name: 'a', value: '1' }] },
      NOW,
    );
    const before = cluster({ conditions: [accepted], ...first });
    expect(nextStatus(before, { ...well, claims: undefined }, NOW)).toBeUndefined();
    expect(nextStatus(before, { ...well, claims: [] }, NOW)).toEqual({ clusterClaims: [] });
  });
});

describe('chooseHub', () => {
  const a = { server: 'https://a', passes: true };
  const b = { server: 'https://b', passes: true };
  it.each([
    { name: 'the first that passes', list: [{ ...a, passes: false }, b], current: undefined, want: 1 },
    { name: 'the one it is at', list: [a, b], current: 'https://b', want: 1 },
    {
      name: 'another when that one does not pass',
      list: [a, { ...b, passes: false }],
      current: 'https://b',
      want: 0,
    },
    { name: 'none', list: [{ ...a, passes: false }], current: 'https://a', want: undefined },
  ])('takes $name', ({ list, current, want }) => expect(chooseHub(list, current)).toBe(want));
});

describe('the way to the hub', () => {
  const entry = { name: 'hub', server: 'https://h', caData: 'Y2E=', proxyUrl: 'http://u:secret@p:1' };
  it('is the same when an absent field is empty', () =>
    expect(sameHub(entry, { ...entry, caFile: '' })).toBe(true));
  it.each(['name', 'server', 'proxyUrl', 'caFile', 'caData', 'tlsServerName'] as const)(
    'is another with another %s',
    (field) => {
      expect(sameHub(entry, { ...entry, [field]: 'x' })).toBe(false);
      expect(changedFields(entry, { ...entry, [field]: 'x' })).toEqual([field]);
    },
  );
  it('is written without the flag that turns checks off', () => {
    const text = JSON.stringify(hubKubeconfig({ ...entry, insecure: true } as never));
    expect(text).not.toContain('insecure');
    expect(hubKubeconfig(entry)).toMatchObject({
      'current-context': 'default-context',
      clusters: [{ name: 'hub', cluster: { server: 'https://h', 'proxy-url': 'http://u:secret@p:1' } }],
      contexts: [{ context: { namespace: 'configuration', user: 'default-auth' } }],
      users: [{ name: 'default-auth', user: { 'client-certificate': 'tls.crt', 'client-key': 'tls.key' } }],
    });
  });
});

describe('managed namespaces', () => {
  it('have a label of the hub that fits', () =>
    expect(managedNamespaceLabel('a'.repeat(64))).toBe(
      `clusterset.open-cluster-management.io/${'a'.repeat(63)}`,
    ));
  it('are given up when no set asks for them', () =>
    expect(namespacesGivenUp([{ name: 'a', clusterSet: 's' }], [claim('a', ''), claim('b', '')])).toEqual([
      'b',
    ]));
});

it('prints times as Go does', () =>
  expect(goTime(Date.parse('2023-05-28T14:08:57Z'))).toBe('2023-05-28 14:08:57 +0000 UTC'));
