import { describe, expect, it } from 'vitest';
import {
  type ChoiceRules,
  chooseRequests,
} from '../../../../src/core/registration/approval/choose-requests.ts';
import type { ReadRequest } from '../../../../src/core/registration/approval/recognize-request.ts';
import { requestContent } from './request-content.ts';

const OWN = 'system:open-cluster-management:c1';
const SERVICE_ACCOUNT = 'system:serviceaccount:open-cluster-management:agent-registration-bootstrap';
const GROUP = 'system:serviceaccounts:open-cluster-management';

interface Given {
  readonly name?: string;
  readonly agent?: string;
  readonly username?: string;
  readonly groups?: readonly string[];
  readonly condition?: string;
  readonly organizations?: readonly string[];
  readonly label?: string;
  readonly signerName?: string;
}

function request(given: Given = {}): ReadRequest {
  const { name = 'c1-a', agent = 'one', username = SERVICE_ACCOUNT, groups = [GROUP], condition } = given;
  const { organizations = [OWN, 'system:open-cluster-management:managed-clusters'], label = 'c1' } = given;
  const { signerName = 'kubernetes.io/kube-apiserver-client' } = given;
  return {
    csr: {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name, labels: { 'open-cluster-management.io/cluster-name': label } },
      spec: { signerName, username, groups },
      ...(condition !== undefined && { status: { conditions: [{ type: condition, status: 'True' }] } }),
    },
    content: requestContent({ commonName: `${OWN}:${agent}`, organizations }),
  };
}

function choose(requests: readonly ReadRequest[], over: Partial<ChoiceRules> = {}) {
  const rules = { cluster: 'c1', requesters: [], skipsRequesterCheck: false, isAlive: false, ...over };
  const { approve, approved, denied, left } = chooseRequests(requests, rules);
  return { approve: approve.map(({ metadata }) => metadata.name), approved, denied, left };
}

describe('a request of the cluster is approved', () => {
  it.each<[string, Given]>([
    ['of the bootstrap service account', {}],
    [
      'of that of older versions',
      { username: 'system:serviceaccount:open-cluster-management:cluster-bootstrap' },
    ],
    [
      'of a bootstrap token',
      { username: 'system:bootstrap:abcdef', groups: ['system:bootstrappers:managedcluster'] },
    ],
  ])('%s', (_, given) => {
    expect(choose([request(given)])).toMatchObject({ approve: ['c1-a'], left: [] });
  });
});

describe('a request is left alone', () => {
  it.each<[string, Given, Partial<ChoiceRules>, RegExp]>([
    ['of another user', { username: 'mallory' }, {}, /mallory is no bootstrap user/],
    [
      'of an account whose name only begins like the bootstrap account',
      { username: `${SERVICE_ACCOUNT}-2` },
      {},
      /is no bootstrap user/,
    ],
    ['without a bootstrap group', { groups: ['system:authenticated'] }, {}, /is no bootstrap user/],
    ['of another cluster', { label: 'c2' }, {}, /name two clusters/],
    ['for other groups', { organizations: ['system:masters'] }, {}, /organisations/],
    [
      'for other groups, also without the check',
      { organizations: ['system:masters'] },
      { skipsRequesterCheck: true },
      /organisations/,
    ],
    ['of an agent that is not named', {}, { requesters: [`${OWN}:two`] }, /not among --requesters/],
  ])('%s', (_, given, over, why) => {
    const choice = choose([request(given)], over);
    expect(choice.approve).toEqual([]);
    expect(choice.left[0]?.why).toMatch(why);
  });

  it('with another agent’s beside it, until one of them is named', () => {
    const both = [request(), request({ name: 'c1-b', agent: 'two' })];
    expect(choose(both).approve).toEqual([]);
    expect(choose(both).left.map(({ why }) => why)).toEqual([
      expect.stringContaining('--requesters'),
      expect.stringContaining('--requesters'),
    ]);
    expect(choose(both, { requesters: [`${OWN}:two`] }).approve).toEqual(['c1-b']);
    expect(choose(both, { skipsRequesterCheck: true }).approve).toEqual(['c1-a', 'c1-b']);
  });
});

describe('a good request beside a bad one is approved, and the bad one is left alone', () => {
  it.each<[string, Given]>([
    ['of another user', { username: 'mallory' }],
    ['of the agent of another cluster', { username: 'system:open-cluster-management:c2:agent' }],
    ['for other groups', { organizations: ['system:masters'] }],
    ['with the label of another cluster', { label: 'c2' }],
    ['for another signer', { signerName: 'example.com/signer' }],
  ])('%s', (_, bad) => {
    const choice = choose([request(), request({ name: 'c1-b', agent: 'two', ...bad })]);
    expect(choice).toMatchObject({ approve: ['c1-a'], left: [{ name: 'c1-b' }] });
  });

  it('whose PEM cannot be read', () => {
    const unreadable: ReadRequest = {
      ...request({ name: 'c1-b' }),
      content: { kind: 'malformed', why: 'two blocks' },
    };
    expect(choose([unreadable, request()])).toMatchObject({
      approve: ['c1-a'],
      left: [{ name: 'c1-b', why: 'two blocks' }],
    });
  });
});

describe('a request of another agent, while the cluster has one that is alive,', () => {
  const stranger = request({ name: 'c1-b', agent: 'two' });

  it.each<[string, readonly ReadRequest[], Partial<ChoiceRules>, readonly string[]]>([
    ['is left alone', [request({ condition: 'Approved' }), stranger], {}, []],
    ['is left alone where the hub knows no request of before', [stranger], {}, []],
    [
      'is left alone where it has a certificate of another signer only',
      [request({ agent: 'two', condition: 'Approved', signerName: 'example.com/signer' }), stranger],
      {},
      [],
    ],
    ['is approved when a person names it', [stranger], { requesters: [`${OWN}:two`] }, ['c1-b']],
    ['is approved without the check', [stranger], { skipsRequesterCheck: true }, ['c1-b']],
  ])('%s', (_, requests, over, approved) => {
    const { approve, left } = choose(requests, { isAlive: true, ...over });
    expect(approve).toEqual(approved);
    expect(left.map(({ why }) => why)).toEqual(
      approved.length > 0 ? [] : [expect.stringMatching(/another cluster with this name.*--requesters/)],
    );
  });

  it('is approved when it is the same agent that asks again', () => {
    const again = request({ name: 'c1-b' });
    expect(choose([request({ condition: 'Approved' }), again], { isAlive: true }).approve).toEqual(['c1-b']);
  });
});

it('decides nothing again', () => {
  const choice = choose([
    request({ condition: 'Approved' }),
    request({ name: 'c1-b', condition: 'Denied' }),
    request({ name: 'c1-c' }),
  ]);
  expect(choice).toMatchObject({ approve: ['c1-c'], approved: ['c1-a'], denied: ['c1-b'], left: [] });
});

it('reports no decision about a request that is not of the cluster', () => {
  const foreign = { condition: 'Approved', signerName: 'example.com/signer' };
  expect(choose([request(foreign)])).toEqual({ approve: [], approved: [], denied: [], left: [] });
});
