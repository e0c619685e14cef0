import { GETPARAMS_PATH, GetparamsEndpoint } from '../../../../plugin/getparams-endpoint.ts';
import type { PluginPlacement } from '../../../../plugin/response/plugin-source.ts';
import type { TokenGrant } from '../../../../plugin/tokens/token-grant.ts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { FuzzTarget } from '../fuzz-target.ts';
import { bytesOf, outcomeOf } from '../fuzz-target.ts';
import { exchange } from './in-memory-exchange.ts';

/** Bound to one tenant: what it gets of the other is a finding. */
const GRANT: TokenGrant = {
  name: 'fuzzer',
  scopes: new Set(['plugin']),
  namespaces: new Set(['team-a']),
  clusterSets: 'any',
};
const cluster = (name: string): ManagedCluster => ({
  apiVersion: 'cluster.open-cluster-management.io/v1',
  kind: 'ManagedCluster',
  metadata: { name, labels: { region: 'eu', ['__proto__']: 'x' } },
  spec: { managedClusterClientConfigs: [{ url: `https://${name}.example:6443` }] },
  status: { clusterClaims: [{ name: 'platform', value: 'aws' }] },
});
const clusters = new Map(['a', 'b', 'c'].map((name) => [name, cluster(name)]));
const placement = (names: readonly string[], emptyAllowed: boolean): PluginPlacement => ({
  groups: [
    { name: '', index: 0, decisions: names.slice(0, 2).map((clusterName) => ({ clusterName, reason: '' })) },
    { name: 'late', index: 1, decisions: names.slice(2).map((clusterName) => ({ clusterName, reason: '' })) },
  ],
  decisionId: 'd1',
  commit: 'c1',
  emptyAllowed,
});
const placements = new Map([
  ['team-a/web', placement(['a', 'b', 'c'], false)],
  ['team-b/web', placement(['a', 'b', 'c'], false)],
  ['team-a/none', placement([], false)],
  ['team-a/none-ok', placement([], true)],
]);

const endpoint = new GetparamsEndpoint({
  source: {
    problem: () => undefined,
    placement: (name) => placements.get(name),
    cluster: (name) => clusters.get(name),
    scores: () => [],
    isInSets: () => true,
    waves: () => ({ ok: true, served: new Map([['a', 0]]) }),
    revision: () => 0,
  },
  tokens: { identify: () => GRANT },
  clock: { monotonicMs: () => 0 },
});

const request = (parameters: object): object => ({
  applicationSetName: 'web',
  input: { parameters },
});

/**
 * Requests of Argo CD's plugin generator. Argo CD deletes every Application when a 2xx answer lists nothing, so an empty list is
 * allowed only where the request or the placement allows it.
 */
export const plugin: FuzzTarget = {
  seeds: [
    request({ placement: 'team-a/web' }),
    request({
      placement: 'web',
      namespace: 'team-a',
      group: 'late',
      labels: ['region', 'x'],
      claims: 'platform,y',
    }),
    request({ placement: 'team-b/web' }),
    request({ placement: 'team-a/none', onEmpty: 'allow' }),
    request({ placement: 'team-a/none-ok', onEmpty: 'error' }),
    request({ placement: 'team-a/none-ok' }),
    request({ placement: 'team-a/web', flat: 'true', as: 'web', scores: ['default/cpu'], taints: 'x' }),
  ].map((body) => bytesOf(JSON.stringify(body))),
  dictionary: [
    'team-a/web',
    'team-b/web',
    'team-a/none',
    'team-a/none-ok',
    'placement',
    'namespace',
    'group',
    'onEmpty',
    'allow',
    'error',
    'labels',
    'claims',
    'flat',
    'as',
    'scores',
    'taints',
    'requireCommit',
    'true',
    '__proto__',
    'constructor',
    'input',
    'parameters',
    'null',
    '[]',
    '{}',
    '"',
    ',',
    ':',
    '../',
    '%2f',
    '\\u0000',
    '\u202e',
  ],
  async run(input) {
    const headers = { 'content-type': 'application/json' };
    const asked = { method: 'POST', url: GETPARAMS_PATH, headers, body: input };
    const { status, body } = await exchange(asked, (from, to) => endpoint.handle(from, to));
    if (status === 200) return checkAnswer(body, Buffer.from(input).toString('utf8'));
    if (![400, 403, 404, 413, 503].includes(status)) throw new Error(`answer ${status}`);
    return outcomeOf(status, (JSON.parse(body) as { readonly message: string }).message);
  },
};

function checkAnswer(body: string, input: string): string {
  const answer = JSON.parse(body) as { readonly output: { readonly parameters: readonly object[] } };
  const { parameters } = answer.output;
  if (!parameters.every((item) => /"(\w+\.)?namespace":"team-a"/.test(JSON.stringify(item))))
    throw new Error('an answer about the placement of another tenant');
  if (parameters.length === 0 && !input.includes('none-ok') && !/allow/.test(input))
    throw new Error('an empty answer that nobody allowed');
  const keys = new Set(parameters.map((item) => Object.keys(item).join()));
  if (keys.size > 1) throw new Error('items with different keys');
  return `200 ${parameters.length}`;
}
