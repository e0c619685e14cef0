import { describe, expect, it } from 'vitest';
import {
  desiredSecret,
  type KnownSecret,
  knownSecret,
  newSecret,
  secretPatch,
  trimClusterSecret,
} from '../../../../src/core/argocd/cluster-secrets/cluster-secret.ts';
import {
  type ClusterAccess,
  type GitOpsCluster,
  readGitOpsCluster,
} from '../../../../src/core/argocd/cluster-secrets/gitops-cluster.ts';
import {
  assignClusters,
  type ClusterSecretsInput,
  planRemoval,
  planSecret,
} from '../../../../src/core/argocd/cluster-secrets/plan-cluster-secrets.ts';
import {
  givenCredentials,
  tokenCredentials,
} from '../../../../src/core/argocd/cluster-secrets/read-credentials.ts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { KubeObject } from '@berth/kube/model/object-meta';

const OWNER = 'berth.dev/gitops-cluster';
const goc = (name: string, access: ClusterAccess = { kind: 'blank' }): GitOpsCluster => ({
  key: `argocd/${name}`,
  argocdNamespace: 'argocd',
  placement: `argocd/${name}`,
  access,
});
const cluster = (name: string, labels: Record<string, string> = {}, url?: string): ManagedCluster => ({
  apiVersion: 'cluster.open-cluster-management.io/v1',
  kind: 'ManagedCluster',
  metadata: { name, labels },
  spec: url === undefined ? {} : { managedClusterClientConfigs: [{ url, caBundle: 'Q0E=' }] },
});
const known = (name: string, owner?: string, over: Partial<KnownSecret> = {}): KnownSecret => ({
  metadata: {
    name: `${name}-secret`,
    namespace: 'argocd',
    annotations: owner === undefined ? {} : { [OWNER]: owner },
  },
  name,
  server: `https://${name}-control-plane:6443`,
  configDigest: undefined,
  ...over,
});
const input = (over: Partial<ClusterSecretsInput>): ClusterSecretsInput => ({
  gitOpsClusters: [],
  selected: () => undefined,
  cluster: (name) => cluster(name),
  secrets: [],
  unreadable: new Set(),
  isComplete: true,
  allowedLabels: [],
  ...over,
});

describe('a GitOpsCluster', () => {
  const read = (spec: object, namespace = 'team-a') =>
    readGitOpsCluster({
      apiVersion: 'v1',
      kind: 'GitOpsCluster',
      metadata: { name: 'all', namespace },
      spec,
    });
  const placementRef = { kind: 'Placement', name: 'web' };
  const argoServer = { argoNamespace: 'argocd' };

  it.each([
    { about: 'push', spec: { argoServer, placementRef }, access: { kind: 'given' } },
    {
      about: 'push with a token',
      spec: { argoServer, placementRef, managedServiceAccountRef: 'argo' },
      access: { kind: 'service-account', name: 'argo' },
    },
    {
      about: 'pull',
      spec: { argoServer, placementRef, createBlankClusterSecrets: true },
      access: { kind: 'blank' },
    },
  ])('of $about', ({ spec, access }) => {
    expect(read(spec)).toEqual({
      ok: true,
      gitOpsCluster: { key: 'team-a/all', argocdNamespace: 'argocd', placement: 'team-a/web', access },
    });
  });

  it('of the agent belongs to the Argo CD of its own namespace', () => {
    expect(read({ placementRef, argoCDAgentAddon: {} }, 'argocd')).toMatchObject({
      ok: true,
      gitOpsCluster: { argocdNamespace: 'argocd', access: { kind: 'agent' } },
    });
  });

  it.each([
    { spec: { placementRef }, problem: 'spec.argoServer.argoNamespace is missing' },
    { spec: { argoServer }, problem: 'spec.placementRef.name is missing' },
    {
      spec: { argoServer, placementRef: { kind: 'PlacementRule', name: 'web' } },
      problem: 'spec.placementRef.kind is PlacementRule, expected Placement',
    },
    {
      spec: { argoServer, placementRef: { name: 'web', namespace: 'team-b' } },
      problem: 'spec.placementRef.namespace is team-b, expected team-a, where the GitOpsCluster is',
    },
  ])('that cannot be used: $problem', ({ spec, problem }) => {
    expect(read(spec)).toEqual({ ok: false, key: 'team-a/all', problem });
  });
});

describe('which GitOpsCluster registers a cluster', () => {
  const both = [goc('first'), goc('second')];

  it('is the first that wants it, and the other one gets a warning', () => {
    const { registrations, problems } = assignClusters(
      input({ gitOpsClusters: both, selected: () => ['c1'] }),
    );
    expect(registrations.map(({ gitOpsCluster }) => gitOpsCluster.key)).toEqual(['argocd/first']);
    expect(problems.get('argocd/second')).toEqual(['cluster c1 is registered by argocd/first']);
  });

  it('is the one that did so before', () => {
    const { registrations } = assignClusters(
      input({ gitOpsClusters: both, selected: () => ['c1'], secrets: [known('c1', 'argocd/second')] }),
    );
    expect(registrations.map(({ gitOpsCluster }) => gitOpsCluster.key)).toEqual(['argocd/second']);
  });

  it('passes to another one that wants it', () => {
    const { registrations, unwanted } = assignClusters(
      input({
        gitOpsClusters: both,
        selected: (placement) => (placement === 'argocd/second' ? ['c1'] : []),
        secrets: [known('c1', 'argocd/first')],
      }),
    );
    expect(registrations.map(({ gitOpsCluster }) => gitOpsCluster.key)).toEqual(['argocd/second']);
    expect(unwanted).toEqual([]);
  });
});

describe('a Secret is unwanted', () => {
  const secrets = [known('c1', 'argocd/first'), known('c2')];

  it('when its cluster is no longer selected, and when its GitOpsCluster is gone', () => {
    const left = assignClusters(input({ gitOpsClusters: [goc('first')], selected: () => [], secrets }));
    expect(left.unwanted).toEqual([secrets[0]]);
    expect(assignClusters(input({ secrets })).unwanted).toEqual([secrets[0]]);
  });

  it.each([
    { about: 'nothing is published for the placement', over: { gitOpsClusters: [goc('first')] } },
    { about: 'its GitOpsCluster could not be read', over: { unreadable: new Set(['argocd/first']) } },
    { about: 'GitOpsClusters could not be listed', over: { isComplete: false } },
  ])('never because $about', ({ over }) => {
    expect(assignClusters(input({ secrets, ...over })).unwanted).toEqual([]);
  });
});

describe('what is written for a cluster', () => {
  const registration = { gitOpsCluster: goc('first'), cluster: cluster('c1') };
  const credentials = { server: 'https://c1:6443', config: undefined };
  const plan = (secrets: readonly KnownSecret[]) =>
    planSecret(registration, { kind: 'read', credentials }, { secrets, allowedLabels: [] });

  it('is nothing where somebody else registered it', () => {
    expect(plan([known('c1')])).toEqual({
      kind: 'refuse',
      why: 'Secret c1-secret of somebody else registers it already',
    });
  });

  it('is nothing where another cluster has the same address', () => {
    const other = known('c2', undefined, { server: credentials.server });
    expect(plan([other])).toMatchObject({
      kind: 'refuse',
      why: expect.stringContaining('that of cluster c2') as string,
    });
  });

  it('is nothing while its credentials are missing', () => {
    const reading = { kind: 'missing', why: 'no token' } as const;
    expect(planSecret(registration, reading, { secrets: [], allowedLabels: [] })).toEqual({
      kind: 'refuse',
      why: 'no token',
    });
  });

  it('is a Secret with the labels that are allowed', () => {
    const labels = {
      region: 'eu',
      'team.io/a': '1',
      other: 'x',
      'argocd.argoproj.io/secret-type': 'repository',
    };
    const allowed = ['region', 'team.io/*', 'argocd*'];
    const wanted = desiredSecret(goc('first'), { name: 'c1', labels }, credentials, allowed);
    expect(newSecret(wanted, 'argocd')).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: 'c1-secret',
        namespace: 'argocd',
        labels: {
          region: 'eu',
          'team.io/a': '1',
          'argocd.argoproj.io/secret-type': 'cluster',
          'apps.open-cluster-management.io/cluster-name': 'c1',
        },
        annotations: { [OWNER]: 'argocd/first', 'berth.dev/copied-labels': 'region,team.io/a' },
      },
      type: 'Opaque',
      stringData: { name: 'c1', server: 'https://c1:6443' },
    });
  });
});

describe('what is changed of a Secret', () => {
  const digest = (text: string): string => `#${text}`;
  const allowed = ['region', 'zone'];
  const wanted = (labels: Record<string, string>, config?: string) =>
    desiredSecret(goc('first'), { name: 'c1', labels }, { server: 'https://c1', config }, allowed);
  const asWritten = (labels: Record<string, string>, config?: string, more: Record<string, string> = {}) => {
    const { metadata } = newSecret(wanted(labels, config), 'argocd');
    return known('c1', undefined, {
      metadata: { ...metadata, uid: 'u', resourceVersion: '1', labels: { ...metadata.labels, ...more } },
      server: 'https://c1',
      configDigest: config === undefined ? undefined : digest(config),
    });
  };

  it('is nothing when it is as wanted, whatever others added', () => {
    const secret = asWritten({ region: 'eu' }, '{}', { theirs: 'x' });
    expect(secretPatch(secret, wanted({ region: 'eu' }, '{}'), digest)).toBeUndefined();
  });

  it('is a label that left the cluster, and none of others', () => {
    const secret = asWritten({ region: 'eu', zone: 'a' }, undefined, { theirs: 'x' });
    expect(secretPatch(secret, wanted({ region: 'us' }), digest)).toMatchObject({
      metadata: { uid: 'u', resourceVersion: '1', labels: { region: 'us', zone: null } },
    });
    expect(JSON.stringify(secretPatch(secret, wanted({ region: 'us' }), digest))).not.toContain('theirs');
  });

  it('is the token when it was rotated, and nothing is left of it when there is none', () => {
    const secret = asWritten({}, '{"bearerToken":"old"}');
    expect(secretPatch(secret, wanted({}, '{"bearerToken":"new"}'), digest)).toMatchObject({
      stringData: { name: 'c1', server: 'https://c1', config: '{"bearerToken":"new"}' },
    });
    expect(secretPatch(secret, wanted({}), digest)).toMatchObject({ data: { config: null } });
  });
});

describe('the credentials of a cluster', () => {
  it('are the token of a service account at the first address', () => {
    const texts = { token: 'abc', 'ca.crt': 'PEM' };
    expect(tokenCredentials(cluster('c1', {}, 'https://c1:6443/'), 'argo', texts)).toEqual({
      kind: 'read',
      credentials: {
        server: 'https://c1:6443',
        config: '{"bearerToken":"abc","tlsClientConfig":{"insecure":false,"caData":"UEVN"}}',
      },
    });
    const withoutCa = tokenCredentials(cluster('c1', {}, 'https://c1'), 'argo', { token: 'abc' });
    expect(withoutCa).toMatchObject({ credentials: { config: expect.stringContaining('"Q0E="') as string } });
  });

  it.each([
    {
      why: 'ManagedServiceAccount c1/argo has no token yet',
      got: tokenCredentials(cluster('c1', {}, 'https://c1'), 'argo', undefined),
    },
    {
      why: 'ManagedCluster c1 has no spec.managedClusterClientConfigs with a url',
      got: tokenCredentials(cluster('c1'), 'argo', { token: 'abc' }),
    },
    { why: 'Secret c1/s has no server', got: givenCredentials('c1', 's', {}) },
    {
      why: 'Secret c1/s: config is not a JSON object',
      got: givenCredentials('c1', 's', { server: 'https://c1', config: '[1]' }),
    },
  ])('are missing: $why', ({ why, got }) => {
    expect(got).toEqual({ kind: 'missing', why });
  });
});

describe('a Secret in memory', () => {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const trim = (data: Record<string, string>): KubeObject =>
    trimClusterSecret(
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data },
      { digest: (text) => `#${text.length}`, decode: (text) => Buffer.from(text, 'base64').toString() },
    );

  it('holds no credentials', () => {
    const trimmed = trim({
      name: base64('c1'),
      server: base64('https://c1/'),
      config: base64('{"bearerToken":"t"}'),
    });
    expect(knownSecret(trimmed)).toEqual({
      metadata: { name: 's', annotations: {} },
      name: 'c1',
      server: 'https://c1',
      configDigest: '#19',
    });
    expect(JSON.stringify(trimmed)).not.toContain('bearerToken');
  });
});

describe('a Secret that nobody wants', () => {
  const application = (name: string, destination: object, annotations = {}): KubeObject => ({
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: { name, namespace: 'argocd', annotations },
    spec: { destination },
  });
  const pulled = { 'apps.open-cluster-management.io/ocm-managed-cluster': 'c1' };

  it.each([
    { about: 'nothing uses it', applications: [], want: { kind: 'remove', consented: false } },
    {
      about: 'others are used',
      applications: [application('a', { name: 'c2' })],
      want: { kind: 'remove', consented: false },
    },
    {
      about: 'Applications name it, its address, or are pulled by its cluster',
      applications: [
        application('c', { server: 'https://kubernetes.default.svc' }, pulled),
        application('b', { server: 'https://c1-control-plane:6443/' }),
        application('a', { name: 'c1' }),
      ],
      want: { kind: 'keep', applications: ['argocd/a', 'argocd/b', 'argocd/c'] },
    },
  ])('$about', ({ applications, want }) => {
    expect(planRemoval(known('c1', 'argocd/first'), applications)).toEqual(want);
  });

  it('goes all the same where a person allowed it', () => {
    const secret = known('c1', 'argocd/first');
    const metadata = { ...secret.metadata, annotations: { 'berth.dev/prune': 'enabled' } };
    expect(planRemoval({ ...secret, metadata }, [application('a', { name: 'c1' })])).toEqual({
      kind: 'remove',
      consented: true,
    });
  });
});
