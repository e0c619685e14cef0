import { describe, expect, it } from 'vitest';
import { InputError } from '@berth/runtime/errors';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import {
  ACCEPT_NOBODY,
  acceptsByRule,
  type AutoAcceptance,
  compileAutoAcceptance,
} from '../../../../src/core/registration/acceptance/auto-acceptance.ts';
import { CLUSTER_CONDITIONS } from '@berth/ocm/registration/cluster-conditions';
import type { CertificateRequestObject, RequestContent } from '@berth/kube/model/signing-request';
import { judgeRequest } from '../../../../src/core/registration/approval/judge-request.ts';
import { requestContent } from './request-content.ts';

const OWN = 'system:open-cluster-management:c1';
const CONTENT = requestContent({
  commonName: `${OWN}:agent1`,
  organizations: [OWN, 'system:open-cluster-management:managed-clusters'],
});
const MARK = 'open-cluster-management.io/automatically-accepted-on';

function csr(username: string, over: Partial<CertificateRequestObject> = {}): CertificateRequestObject {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'c1-x', labels: { 'open-cluster-management.io/cluster-name': 'c1' } },
    spec: { signerName: 'kubernetes.io/kube-apiserver-client', username, groups: ['bootstrappers'] },
    ...over,
  };
}

function cluster(over: { readonly spec?: object; readonly metadata?: object } = {}): ManagedCluster {
  return {
    apiVersion: 'cluster.open-cluster-management.io/v1',
    kind: 'ManagedCluster',
    metadata: { name: 'c1', ...over.metadata },
    spec: { hubAcceptsClient: false, ...over.spec },
  };
}

const nobodyKnown = (auto: AutoAcceptance) => ({ auto, isKnownAgent: () => false });
const boot: AutoAcceptance = compileAutoAcceptance(['boot'], []);
const marked = { annotations: { [MARK]: '2026-01-01T00:00:00Z' } };

describe('a request', () => {
  it.each([
    ['of the agent itself is a renewal', csr(`${OWN}:agent1`), cluster(), ACCEPT_NOBODY, 'renewal'],
    [
      'of the agent itself is a renewal although a rule would accept it',
      csr(`${OWN}:agent1`),
      cluster(),
      compileAutoAcceptance([`${OWN}:agent1`], []),
      'renewal',
    ],
    ['of another agent of the cluster waits', csr(`${OWN}:agent2`), cluster(), ACCEPT_NOBODY, 'wait'],
    [
      'of the agent of another cluster waits',
      csr('system:open-cluster-management:c2:agent1'),
      cluster(),
      ACCEPT_NOBODY,
      'wait',
    ],
    ['of a user who is not listed waits', csr('boot2'), cluster(), boot, 'wait'],
    ['of a user whose name begins alike waits', csr('boot-of-others'), cluster(), boot, 'wait'],
    ['of a listed user is approved', csr('boot'), cluster(), boot, 'approve'],
    ['for a cluster that the hub does not have waits', csr('boot'), undefined, boot, 'wait'],
    ['for a cluster that was denied waits', csr('boot'), cluster({ metadata: marked }), boot, 'wait'],
    [
      'for a cluster that is accepted and lost its key is approved',
      csr('boot'),
      cluster({ metadata: marked, spec: { hubAcceptsClient: true } }),
      boot,
      'approve',
    ],
    [
      'for a cluster that is being deleted waits',
      csr('boot'),
      cluster({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }),
      boot,
      'wait',
    ],
  ] as const)('%s', (...[, given, of, auto, want]) => {
    expect(judgeRequest(given, CONTENT, of, nobodyKnown(auto)).kind).toBe(want);
  });

  it.each(['Approved', 'Denied', 'Failed'])('that is %s is left alone', (type) => {
    const decided = csr('boot', { status: { conditions: [{ type, status: 'True' }] } });
    expect(judgeRequest(decided, CONTENT, cluster(), nobodyKnown(boot)).kind).toBe('leave');
  });

  it('that cannot be read is left alone', () => {
    const content: RequestContent = { kind: 'malformed', why: 'two blocks' };
    expect(judgeRequest(csr('boot'), content, cluster(), nobodyKnown(boot))).toEqual({
      kind: 'leave',
      why: 'two blocks',
    });
  });

  it('that asks for more than an agent is left alone', () => {
    const content = { ...CONTENT, organizations: [OWN, 'system:masters'] };
    expect(judgeRequest(csr('boot'), content, cluster(), nobodyKnown(boot)).kind).toBe('leave');
  });
});

describe('a request that a rule accepts, for a cluster that has joined', () => {
  const joined = (available: 'True' | 'False' | 'Unknown'): ManagedCluster => ({
    ...cluster({ metadata: marked, spec: { hubAcceptsClient: true } }),
    status: {
      conditions: [CLUSTER_CONDITIONS.joined, { ...CLUSTER_CONDITIONS.available, status: available }],
    },
  });

  it.each<[string, 'True' | 'False' | 'Unknown', readonly string[], string]>([
    ['of an agent with a certificate is approved', 'True', [`${OWN}:agent1`], 'approve'],
    ['of another agent waits while the first is alive', 'True', [`${OWN}:agent2`], 'wait'],
    ['of another agent waits also where the hub has no older request', 'True', [], 'wait'],
    ['of another agent is approved when the first is silent', 'Unknown', [`${OWN}:agent2`], 'approve'],
    ['of another agent is approved when its API server is down', 'False', [`${OWN}:agent2`], 'approve'],
  ])('%s', (_, available, known, want) => {
    const rules = { auto: boot, isKnownAgent: (user: string) => known.includes(user) };
    expect(judgeRequest(csr('boot'), CONTENT, joined(available), rules).kind).toBe(want);
  });

  it('waits with a reason', () => {
    const verdict = judgeRequest(csr('boot'), CONTENT, joined('True'), nobodyKnown(boot));
    expect(verdict).toMatchObject({ kind: 'wait', why: 'another agent of the cluster is alive' });
  });
});

describe('a rule of automatic acceptance', () => {
  const requester = { username: 'u', groups: ['g1', 'g2'], uid: '7', extra: { scope: ['s'] } };

  it.each([
    ["request.username == 'u'", true],
    ["'g2' in request.groups && request.uid == '7'", true],
    ["request.extra.scope[0] == 's'", true],
    ["managedCluster.metadata.name == 'c1' && !managedCluster.spec.hubAcceptsClient", true],
    ["managedCluster.metadata.labels['env'] == 'edge'", false],
    ['request.nothing == 1', false],
    ["'true'", false],
    ['1', false],
    ['managedCluster.scores("x").size() == 0', 'refused'],
    ['request.username ==', 'refused'],
    ['object.metadata.name == "c1"', 'refused'],
  ])('%s accepts: %s', (rule, want) => {
    if (want === 'refused') expect(() => compileAutoAcceptance([], [rule])).toThrow(InputError);
    else expect(acceptsByRule(compileAutoAcceptance([], [rule]), cluster(), requester)).toBe(want);
  });

  it('accepts when one of several does, and nobody without any', () => {
    expect(acceptsByRule(compileAutoAcceptance([], ['false', 'true']), cluster(), requester)).toBe(true);
    expect(acceptsByRule(ACCEPT_NOBODY, cluster(), requester)).toBe(false);
  });
});
