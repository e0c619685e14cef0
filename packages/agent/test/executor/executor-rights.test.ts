import { beforeEach, describe, expect, it } from 'vitest';
import { ExecutorRights } from '../../src/executor/executor-rights.ts';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const rbac = (kind: string, namespaced: boolean): KindInfo => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced,
});
const ROLE = rbac('Role', true);
const ROLE_BINDING = rbac('RoleBinding', true);
const CLUSTER_ROLE_BINDING = rbac('ClusterRoleBinding', false);
const DEPLOYER = { namespace: 'ops', name: 'deployer' };
const OTHER = { namespace: 'ops', name: 'other' };

let cluster: FakeKubeApi;
let clock: FakeClock;
let rights: ExecutorRights;
/** What the API server would say now. */
let truth: boolean;
let asked: number;

beforeEach(async () => {
  cluster = new FakeKubeApi();
  clock = new FakeClock();
  rights = new ExecutorRights({ cluster, clock, random: () => 0.5, log: new SilentLogger() });
  truth = true;
  asked = 0;
  await ask();
  await clock.advance(100);
  await ask();
  expect(asked).toBe(2);
  asked = 0;
});

async function ask(executor = DEPLOYER, question = 'apps/v1/deployments/web/a/true'): Promise<boolean> {
  return rights.allowed(executor, question, async () => {
    asked += 1;
    return truth;
  });
}

async function bind(kind: KindInfo, subject: object): Promise<void> {
  await cluster.create(kind, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: kind.kind,
    metadata: { name: 'b', ...(kind.namespaced ? { namespace: 'ops' } : {}) },
    roleRef: { kind: 'ClusterRole', name: 'x' },
    subjects: [subject],
  });
  await clock.advance(10);
}

describe('rights of executors', () => {
  it('are asked for once, allowed or not', async () => {
    expect([await ask(), await ask()]).toEqual([true, true]);
    expect(asked).toBe(0);
    truth = false;
    expect([await ask(OTHER), await ask(OTHER)]).toEqual([false, false]);
    expect(asked).toBe(1);
  });

  it('are asked for again for another object', async () => {
    await ask(DEPLOYER, 'apps/v1/deployments/web/b/true');
    expect(asked).toBe(1);
  });

  it.each([
    {
      name: 'its service account',
      kind: ROLE_BINDING,
      subject: { kind: 'ServiceAccount', ...DEPLOYER },
    },
    {
      name: 'its service account, the namespace left out',
      kind: ROLE_BINDING,
      subject: { kind: 'ServiceAccount', name: 'deployer' },
    },
    ...[
      ['its user name', 'User', 'system:serviceaccount:ops:deployer'],
      ['all service accounts', 'Group', 'system:serviceaccounts'],
      ['all service accounts of its namespace', 'Group', 'system:serviceaccounts:ops'],
      ['everybody', 'Group', 'system:authenticated'],
    ].map(([name, kind, subject]) => ({
      name,
      kind: CLUSTER_ROLE_BINDING,
      subject: { kind, name: subject },
    })),
  ])('are asked for again when a binding of $name comes, and when it goes', async ({ kind, subject }) => {
    await bind(kind, subject);
    truth = false;
    expect(await ask()).toBe(false);
    await cluster.delete(kind, { namespace: kind.namespaced ? 'ops' : '', name: 'b' });
    await clock.advance(10);
    truth = true;
    expect(await ask()).toBe(true);
    expect(asked).toBe(2);
  });

  it('stay when a binding of others comes', async () => {
    await bind(ROLE_BINDING, { kind: 'ServiceAccount', ...OTHER });
    await ask();
    expect(asked).toBe(0);
  });

  it('are asked for again when a role changes, not when only its labels do', async () => {
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'r', namespace: 'ops' },
      rules: [],
    } as unknown as KubeObject;
    await cluster.create(ROLE, role);
    await clock.advance(10);
    await ask();
    expect(asked).toBe(1);
    await cluster.mergePatch(ROLE, { namespace: 'ops', name: 'r' }, { metadata: { labels: { a: 'b' } } });
    await clock.advance(10);
    await ask();
    expect(asked).toBe(1);
    await cluster.mergePatch(ROLE, { namespace: 'ops', name: 'r' }, { rules: [{ verbs: ['get'] }] });
    await clock.advance(10);
    await ask();
    expect(asked).toBe(2);
  });

  it('an answer that was under way while rights changed is not remembered', async () => {
    let answer: (allowed: boolean) => void = () => undefined;
    const slow = rights.allowed(DEPLOYER, 'slow', () => new Promise((resolve) => (answer = resolve)));
    await bind(ROLE_BINDING, { kind: 'ServiceAccount', ...DEPLOYER });
    answer(true);
    expect(await slow).toBe(true);
    truth = false;
    expect(await ask(DEPLOYER, 'slow')).toBe(false);
  });

  it('are not believed forever', async () => {
    await clock.advance(600_000);
    await ask();
    expect(asked).toBe(1);
  });

  it('are not believed before the watches are up, nor when they are forbidden', async () => {
    const refused = new FakeKubeApi();
    refused.list = () => Promise.reject(new Error('forbidden'));
    rights = new ExecutorRights({ cluster: refused, clock, random: () => 0.5, log: new SilentLogger() });
    for (let round = 0; round < 3; round++) {
      await ask();
      await clock.advance(1_000);
    }
    expect(asked).toBe(3);
  });

  it('do not grow without bound', async () => {
    for (let index = 0; index < 25_000; index++) await ask(DEPLOYER, `q${index}`);
    expect(asked).toBe(25_000);
    await ask(DEPLOYER, 'q24999');
    expect(asked).toBe(25_000);
    await ask(DEPLOYER, 'q0');
    expect(asked).toBe(25_001);
  });
});
