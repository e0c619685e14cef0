import { describe, expect, it } from 'vitest';
import type { ArgoFacts } from '../../../plugin/doctor/argo-facts.ts';
import { diagnose } from '../../../plugin/doctor/diagnose.ts';
import { DECISIONS_GENERATOR } from '../../../plugin/install/argo-connection.ts';
import type { KubeObject } from '@berth/kube/model/object-meta';

const set = (generators: readonly object[], status: object = {}, template: object = {}): KubeObject => ({
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'ApplicationSet',
  metadata: { name: 'web', namespace: 'argocd' },
  spec: { generators, template },
  status,
});
const inProject = (project: unknown): KubeObject => set([plugin], {}, { spec: { project } });
const plugin = { plugin: { configMapRef: { name: 'berth' }, requeueAfterSeconds: 60 } };
const resource = {
  clusterDecisionResource: {
    configMapRef: 'decisions',
    labelSelector: { matchLabels: { 'cluster.open-cluster-management.io/placement': 'web' } },
  },
};
const page = (...decisions: readonly object[]): KubeObject => ({
  apiVersion: 'cluster.open-cluster-management.io/v1beta1',
  kind: 'PlacementDecision',
  metadata: {
    name: 'web-decision-1',
    namespace: 'argocd',
    labels: { 'cluster.open-cluster-management.io/placement': 'web' },
  },
  status: { decisions },
});
const CONFIG = {
  baseUrl: 'https://berth.berth-system.svc:8443',
  token: '$berth-plugin:token',
  requestTimeout: '10',
};
const LABELS = { 'app.kubernetes.io/part-of': 'argocd' };
const cluster = (name: string, data: object = {}) => ({
  name: `cluster-${name}`,
  data: { name, server: `https://${name}`, config: '{}', ...data },
});

const GOOD: ArgoFacts = {
  namespace: 'argocd',
  version: 'v3.4.1',
  applicationSets: [set([plugin, { matrix: { generators: [{ list: {} }, resource] } }])],
  configMaps: new Map<string, Readonly<Record<string, string>>>([
    ['berth', CONFIG],
    ['decisions', { ...DECISIONS_GENERATOR }],
  ]),
  secrets: new Map([['berth-plugin', { data: { token: 'a-token-that-is-good' }, labels: LABELS }]]),
  clusterSecrets: [cluster('c1'), cluster('c2')],
  decisions: [page({ clusterName: 'c1', reason: '' })],
  projects: new Set(['default', 'team-a']),
  mayList: new Map([
    ['argocd-applicationset-controller', true],
    ['argocd-server', true],
  ]),
  probes: new Map([['berth', { kind: 'answered', status: 400, message: 'placement is missing' }]]),
};
const berth = (data: Readonly<Record<string, string>> | undefined): Partial<ArgoFacts> => ({
  configMaps: new Map([...GOOD.configMaps, ['berth', data]]),
});
const decisionsConfig = (data: Readonly<Record<string, string>> | undefined): Partial<ArgoFacts> => ({
  configMaps: new Map([...GOOD.configMaps, ['decisions', data]]),
});
const { matchKey: _, ...WITHOUT_MATCH_KEY } = DECISIONS_GENERATOR;

describe('berth argocd doctor', () => {
  it('finds nothing where all is well', () => {
    expect(diagnose(GOOD)).toEqual([]);
  });

  it.each<[string, Partial<ArgoFacts>]>([
    ['a project with a placeholder', { applicationSets: [inProject('{{ .labels.team }}')] }],
    ['a project that exists', { applicationSets: [inProject('team-a')] }],
    ['projects that nobody can list', { applicationSets: [inProject('gone')], projects: undefined }],
    ['a project that is no text', { applicationSets: [inProject({ a: 1 })] }],
    [
      'a set without decisions',
      {
        applicationSets: [...GOOD.applicationSets, set([{ list: {} }], {}, { spec: { project: 'gone' } })],
      },
    ],
  ])('finds nothing wrong with %s', (_name, facts) => {
    expect(diagnose({ ...GOOD, ...facts })).toEqual([]);
  });

  it.each([
    { name: 'no score', decision: { clusterName: 'c1' }, want: /panics at a score.*leave sortBy: Score out/ },
    {
      name: 'a score',
      decision: { clusterName: 'c1', score: 3 },
      want: /panics at the score in PlacementDecision web/,
    },
  ])('says that Argo CD before 3.3.9 panics at scores, with $name', ({ decision, want }) => {
    const [support, score, ...more] = diagnose({ ...GOOD, version: 'v3.3.8', decisions: [page(decision)] });
    expect(support).toMatchObject({ code: 'argocd.version', severity: 'warning' });
    expect(score?.message).toMatch(want);
    expect(score?.hint).toMatch(/set image/);
    expect(more).toEqual([]);
  });

  it.each(['v3.4.0', '3.5.7', 'v3.6.1', 'v4.0.0-rc1'])('accepts Argo CD %s', (version) => {
    expect(diagnose({ ...GOOD, version })).toEqual([]);
  });

  it.each<[string, Partial<ArgoFacts>, string, RegExp]>([
    [
      'a project that does not exist',
      { applicationSets: [inProject('payments')] },
      'argocd.project',
      /^argocd proj create payments/,
    ],
    [
      'a mistyped project',
      { applicationSets: [inProject('taem-a')] },
      'argocd.project',
      /patch applicationset web --type json -p '\[.*"value":"team-a"/,
    ],
    [
      'no project where there is no default one',
      { applicationSets: [inProject('')], projects: new Set(['payments']) },
      'argocd.project',
      /^argocd proj create default/,
    ],
    [
      'a name that would be a command',
      { applicationSets: [inProject('x; rm -rf /')] },
      'argocd.project',
      /^kubectl -n argocd get appprojects$/,
    ],
    ['a ConfigMap that is not there', berth(undefined), 'argocd.config-missing', /berth argocd install/],
    ['no baseUrl', berth({ ...CONFIG, baseUrl: '' }), 'argocd.base-url', /patch configmap berth/],
    ['a query in baseUrl', berth({ ...CONFIG, baseUrl: 'https://x?y=1' }), 'argocd.base-url', /patch/],
    [
      'the path that Argo CD adds',
      berth({ ...CONFIG, baseUrl: 'https://x/api/v1/getparams.execute' }),
      'argocd.base-url',
      /patch/,
    ],
    ['a time-out with a unit', berth({ ...CONFIG, requestTimeout: '10s' }), 'argocd.request-timeout', /"10"/],
    ['a token without $', berth({ ...CONFIG, token: 'x' }), 'argocd.token-reference', /\$berth-plugin:token/],
    ['a Secret that is not there', { secrets: new Map() }, 'argocd.token-secret', /create secret/],
    [
      'a key that is not in the Secret',
      { secrets: new Map([['berth-plugin', { data: {}, labels: LABELS }]]) },
      'argocd.token-key',
      /patch secret/,
    ],
    [
      'the placeholder',
      { secrets: new Map([['berth-plugin', { data: { token: 'REPLACE-WITH-x' }, labels: LABELS }]]) },
      'argocd.token-placeholder',
      /patch secret/,
    ],
    [
      'a Secret without the label',
      { secrets: new Map([['berth-plugin', { data: { token: 'x' }, labels: {} }]]) },
      'argocd.token-label',
      /label secret/,
    ],
    [
      'an endpoint that refuses the token',
      { probes: new Map([['berth', { kind: 'answered', status: 401, message: 'no' }]]) },
      'argocd.endpoint',
      /berth-tokens/,
    ],
    [
      'an authority that is not trusted',
      { probes: new Map([['berth', { kind: 'failed', code: 'SELF_SIGNED_CERT_IN_CHAIN', message: 'x' }]]) },
      'argocd.tls',
      /NODE_EXTRA_CA_CERTS/,
    ],
    [
      'an endpoint that does not answer',
      { probes: new Map([['berth', { kind: 'failed', code: 'ENOTFOUND', message: 'x' }]]) },
      'argocd.unreachable',
      /port-forward/,
    ],
    [
      'an endpoint on a machine of its own that does not answer',
      {
        ...berth({ ...CONFIG, baseUrl: 'http://192.0.2.10:8080' }),
        probes: new Map([['berth', { kind: 'failed', code: 'ECONNREFUSED', message: 'x' }]]),
      },
      'argocd.unreachable',
      /berth serve with --listen 192\.0\.2\.10:8080/,
    ],
    [
      'an endpoint on a machine of its own that refuses the token',
      {
        ...berth({ ...CONFIG, baseUrl: 'http://192.0.2.10:8080' }),
        probes: new Map([['berth', { kind: 'answered', status: 401, message: 'no' }]]),
      },
      'argocd.endpoint',
      /delete secret berth-plugin && berth argocd install .*--token-entry NEW_FILE/,
    ],
    [
      'an endpoint that refuses a token of the Secret of Argo CD',
      {
        ...berth({ ...CONFIG, baseUrl: 'http://192.0.2.10:8080', token: '$berth' }),
        secrets: new Map([['argocd-secret', { data: { berth: 'a-token-that-is-good' }, labels: LABELS }]]),
        probes: new Map([['berth', { kind: 'answered', status: 401, message: 'no' }]]),
      },
      'argocd.endpoint',
      /^add the digest of the token in the Secret argocd\/argocd-secret/,
    ],
    ['no ConfigMap for decisions', decisionsConfig(undefined), 'argocd.config-missing', /create configmap/],
    ['no matchKey', decisionsConfig(WITHOUT_MATCH_KEY), 'argocd.decision-config', /"matchKey":"clusterName"/],
    [
      'the kind in place of the resource',
      decisionsConfig({ ...DECISIONS_GENERATOR, kind: 'PlacementDecision' }),
      'argocd.decision-config',
      /placementdecisions/,
    ],
    ['no page where Argo CD looks', { decisions: [] }, 'argocd.no-page', /describe placement web/],
    [
      'no right to list',
      { mayList: new Map([['argocd-applicationset-controller', false]]) },
      'argocd.rights',
      /create rolebinding/,
    ],
    [
      'no right to preview',
      { mayList: new Map([['argocd-server', false]]) },
      'argocd.rights',
      /argocd-server/,
    ],
    ['a version that is out of support', { version: 'v3.3.12' }, 'argocd.version', /upgrading/],
    ['no version', { version: undefined }, 'argocd.version', /argocd version --client/],
    [
      'a cluster that Argo CD does not know',
      { clusterSecrets: [cluster('c2')] },
      'argocd.cluster-unknown',
      /argocd cluster add CONTEXT --name c1/,
    ],
    [
      'two Secrets of one name',
      { clusterSecrets: [cluster('c1'), { ...cluster('c1'), name: 'again' }] },
      'argocd.cluster-twice',
      /delete secret again/,
    ],
    [
      'a Secret whose config is no JSON',
      { clusterSecrets: [cluster('c1', { config: '{' })] },
      'argocd.cluster-secret',
      /edit secret cluster-c1/,
    ],
    [
      'an interval of half an hour',
      { applicationSets: [set([{ plugin: { configMapRef: { name: 'berth' } } }])] },
      'argocd.interval',
      /"path":"\/spec\/generators\/0\/plugin\/requeueAfterSeconds"/,
    ],
    [
      'what the controller itself reports',
      {
        applicationSets: [
          set([plugin], { conditions: [{ type: 'ErrorOccurred', status: 'True', message: 'x' }] }),
        ],
      },
      'argocd.applicationset',
      /describe applicationset web/,
    ],
  ])('finds %s, and says how to repair it', (_name, facts, code, hint) => {
    const found = diagnose({ ...GOOD, ...facts });
    expect(found.map((problem) => problem.code)).toEqual([code]);
    expect(found[0]?.hint).toMatch(hint);
  });
});
