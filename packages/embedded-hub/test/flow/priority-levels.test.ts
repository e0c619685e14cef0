import { describe, expect, it } from 'vitest';
import { PRIORITY_LEVELS, priorityLevelOf } from '../../src/flow/flow-control.ts';
import { parseRequestInfo } from '@berth/kube/request-info';

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/x/leases/y';
const SECRET = '/api/v1/namespaces/x/secrets/y';

describe('the level of a request', () => {
  it.each([
    ['admin', ['system:masters'], SECRET, 'exempt'],
    ['admin', ['system:masters'], LEASE, 'exempt'],
    ['system:open-cluster-management:cluster1:agent', [], SECRET, 'system'],
    ['system:open-cluster-management:cluster1:agent', [], LEASE, 'leader-election'],
    ['system:node:a', ['system:nodes'], SECRET, 'system'],
    ['system:kube-controller-manager', [], SECRET, 'system'],
    ['system:kube-scheduler', [], LEASE, 'leader-election'],
    ['system:serviceaccount:kube-system:gc', [], SECRET, 'system'],
    ['system:serviceaccount:open-cluster-management-hub:placement', [], SECRET, 'system'],
    ['system:serviceaccount:open-cluster-management:agent', [], SECRET, 'system'],
    ['system:serviceaccount:open-cluster-managementx:agent', [], SECRET, 'workload'],
    ['system:serviceaccount:team:robot', [], SECRET, 'workload'],
    ['system:serviceaccount:team:robot', [], LEASE, 'leader-election'],
    ['alice', ['devs'], SECRET, 'global-default'],
    ['alice', ['devs'], LEASE, 'global-default'],
    ['system:masters', [], SECRET, 'global-default'],
  ])('%s in %j asking for %s is %s', (name, groups, path, level) => {
    const info = parseRequestInfo('GET', path, new URLSearchParams());
    expect(priorityLevelOf({ name, groups }, info)).toBe(level);
  });

  it('is not leader-election for lists and watches of leases', () => {
    const all = '/apis/coordination.k8s.io/v1/leases';
    const robot = { name: 'system:serviceaccount:team:robot', groups: [] };
    expect(priorityLevelOf(robot, parseRequestInfo('GET', all, new URLSearchParams()))).toBe('workload');
  });

  it('has its share: 800 seats in all', () => {
    expect(PRIORITY_LEVELS.reduce((sum, level) => sum + level.seats, 0)).toBe(800);
  });
});
