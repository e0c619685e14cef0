import { agentGroups, agentUser } from '@berth/ocm/registration/names';
import { expect, it } from 'vitest';
import {
  recognizeRequest,
  type RequestFacts,
} from '../../../src/core/registration/approval/recognize-request.ts';

const LABEL = 'open-cluster-management.io/cluster-name';
const OWN = 'system:open-cluster-management:cluster1';
const ALL = 'system:open-cluster-management:managed-clusters';

const GOOD: RequestFacts = {
  labels: { [LABEL]: 'cluster1' },
  signerName: 'kubernetes.io/kube-apiserver-client',
  commonName: `${OWN}:agent1`,
  organizations: [OWN, ALL],
  asksForExtensions: false,
};

it('names agents as OCM does', () => {
  const identity = { cluster: 'cluster1', agent: 'agent1' };
  expect(agentUser(identity)).toBe(GOOD.commonName);
  expect(agentGroups('cluster1')).toEqual(GOOD.organizations);
});

it.each<[name: string, change: Partial<RequestFacts>]>([
  ['as agents send it', {}],
  ['with the organisations in the other order', { organizations: [ALL, OWN] }],
  ['of an old agent, without the group of all agents', { organizations: [OWN] }],
])('recognizes a request %s', (_, change) => {
  expect(recognizeRequest({ ...GOOD, ...change })).toEqual({
    kind: 'agent',
    identity: { cluster: 'cluster1', agent: 'agent1' },
  });
});

it.each<[name: string, change: Partial<RequestFacts>, why: RegExp]>([
  ['an organisation that has the name as prefix', { organizations: [`${OWN}0`, ALL] }, /organisations/],
  ['the organisation of another cluster', { organizations: [`${OWN}-b`] }, /organisations/],
  ['no organisation', { organizations: [] }, /organisations/],
  ['only the group of all agents', { organizations: [ALL] }, /organisations/],
  ['an extra organisation', { organizations: [OWN, ALL, 'system:masters'] }, /organisations/],
  ['an organisation twice', { organizations: [OWN, ALL, ALL] }, /organisations/],
  ['its own organisation twice', { organizations: [OWN, OWN] }, /organisations/],
  ['a label of another cluster', { labels: { [LABEL]: 'cluster2' } }, /two clusters/],
  [
    'a subject that agrees on another cluster',
    {
      commonName: 'system:open-cluster-management:cluster2:agent1',
      organizations: ['system:open-cluster-management:cluster2', ALL],
    },
    /two clusters/,
  ],
  ['no label', { labels: {} }, /no label/],
  ['an empty label', { labels: { [LABEL]: '' } }, /no label/],
  [
    'the label of an add-on',
    { labels: { [LABEL]: 'cluster1', 'open-cluster-management.io/addon-name': 'a' } },
    /add-on/,
  ],
  [
    'an empty label of an add-on',
    { labels: { [LABEL]: 'cluster1', 'open-cluster-management.io/addon-name': '' } },
    /add-on/,
  ],
  ['another signer', { signerName: 'kubernetes.io/kubelet-serving' }, /signer/],
  ['too few segments', { commonName: OWN }, /common name/],
  ['an empty agent', { commonName: `${OWN}:` }, /common name/],
  ['too many segments', { commonName: `${OWN}:agent1:more` }, /common name/],
  ['an empty cluster', { commonName: 'system:open-cluster-management::agent1' }, /common name/],
  ['another prefix', { commonName: 'open-cluster-management:cluster1:agent1' }, /common name/],
  ['subject alternative names', { asksForExtensions: true }, /extensions/],
])('does not recognize a request with %s', (_, change, why) => {
  expect(recognizeRequest({ ...GOOD, ...change })).toEqual({
    kind: 'other',
    why: expect.stringMatching(why) as string,
  });
});
