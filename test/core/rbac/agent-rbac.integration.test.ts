import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadAll } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { KubeConfig } from '@berth/kube/config/kube-config';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { renderAgentRbac } from '../../../src/core/rbac/agent-rbac.ts';
import { ImpersonatingClients } from '../../../packages/agent/src/agent-clients.ts';
import { startAgent } from '@berth/agent/start-agent';
import { APPLIED_MANIFEST_WORK, MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { RunningHub } from '@berth/embedded-hub/hub-options';
import { OCM_HUB } from '../../fakes/embedded-hub.ts';
import { startHub } from '@berth/embedded-hub/start-hub';
import { fastClock } from '../../conformance/agent/fast-clock.ts';
import { RawClient } from '../../conformance/agent/raw-client.ts';
import { CONFIG_MAP } from '../../conformance/agent/scenario-harness.ts';
import { AuditingKubeApi } from '../../fakes/auditing-kube-api.ts';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { type RbacObject, rbacPath, rightsOf, withoutRight } from '../../fakes/rbac-rules.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const RBAC = 'rbac.authorization.k8s.io';
const IMPERSONATE = 'impersonate serviceaccounts';
const WORK_API = 'work.open-cluster-management.io/v1';
/** The printed objects for one of several agents of one server, with the example adapted to what its works carry. */
function printedRbac(id: string): RbacObject[] {
  const text = renderAgentRbac({ clusterName: id, namespace: id, executorCache: true })
    .replaceAll(/name: (berth-agent[\w-]*)/g, `name: $1-${id}`)
    .replaceAll('aggregate-to-work', `aggregate-to-work-${id}`)
    .replaceAll('system:open-cluster-management:', 'system:serviceaccounts:');
  // One namespace has both accounts of one agent here.
  const texts = new Set((loadAll(text) as RbacObject[]).map((object) => JSON.stringify(object)));
  const objects = [...texts].map((one) => JSON.parse(one) as RbacObject);
  for (const object of objects)
    if (object.metadata.name.startsWith('berth-agent-manifests-common'))
      object.rules = (object.rules ?? []).flatMap((rule) => [
        { ...rule, apiGroups: [''], resources: ['configmaps'] },
        // Roles are not watched as manifests here, so that it shows who watches them as the rights of executors.
        { apiGroups: [RBAC], resources: ['roles'], verbs: ['get', 'create', 'update', 'patch', 'delete'] },
      ]);
  return objects;
}

/** Every right that is printed, one by one: `verb resource`. */
const GRANTED = rightsOf(printedRbac('x').flatMap(({ rules = [] }) => rules)).filter(
  (right) => !isOfRoles(right),
);

/** Rights on the second kind that the works carry, which is there for the executors. */
function isOfRoles(right: string): boolean {
  return /^(get|create|update|patch|delete) roles$/.test(right);
}

let hub: RunningHub;
let admin: RawClient;
let dataDir: string;
const clock = fastClock(4);
const outcomes = new Map<string, Promise<Outcome>>();

interface Outcome {
  readonly ended: boolean;
  /** What the agent says of the role that it cannot apply for an executor. */
  readonly saidOfRole: string;
  readonly used: ReadonlySet<string>;
  readonly refused: ReadonlySet<string>;
}

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'berth-rbac-'));
  hub = await startHub({ ...OCM_HUB, dataDir });
  admin = new RawClient(loadKubeConfig({ file: hub.adminKubeconfigPath }));
  for (const [index, missing] of ['nothing', ...GRANTED].entries())
    outcomes.set(missing, live(`c${index}`, missing));
  await Promise.allSettled(outcomes.values());
});

afterAll(async () => {
  admin.close();
  await hub.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function post(path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await admin.send('POST', path, { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}

/** Makes what is printed, without one right, and an executor's service account. */
async function prepare(id: string, missing: string): Promise<string> {
  for (const object of printedRbac(id)) await post(rbacPath(object), withoutRight(object, missing));
  const accounts = `/api/v1/namespaces/${id}/serviceaccounts`;
  await post(accounts, { metadata: { name: 'runner' } });
  const verbs = ['create', 'update', 'patch', 'get', 'delete'];
  const rules = [{ apiGroups: ['', RBAC], resources: ['roles', 'configmaps'], verbs }];
  const roles = `/apis/${RBAC}/v1/namespaces/${id}`;
  await post(`${roles}/roles`, { metadata: { name: 'runner' }, rules });
  await post(`${roles}/rolebindings`, {
    metadata: { name: 'runner' },
    roleRef: { apiGroup: RBAC, kind: 'Role', name: 'runner' },
    subjects: [{ kind: 'ServiceAccount', name: 'runner', namespace: id }],
  });
  const { status } = await post(`${accounts}/berth-agent-${id}/token`, { spec: {} });
  return (status as { token: string }).token;
}

async function live(id: string, missing: string): Promise<Outcome> {
  const token = await prepare(id, missing);
  const admin = loadKubeConfig({ file: hub.adminKubeconfigPath });
  const config = new KubeConfig({
    ...admin,
    users: [{ name: admin.getCurrentUser()?.name ?? '', token }],
  });
  const client = new HttpKubeApi({ config, clock });
  const executors = new ImpersonatingClients(config, clock);
  const audit = new AuditingKubeApi(client);
  const used = new Set<string>();
  const refused = new Set<string>();
  const agent = startAgent({
    hub: audit,
    cluster: audit,
    clusterName: id,
    agentId: id,
    clock,
    log: new SilentLogger(),
    statusSyncIntervalMs: 2_000,
    executorCache: true,
    impersonate: (who) => {
      const one = new AuditingKubeApi(executors.as(who));
      const create = one.create.bind(one);
      one.create = (...given) => {
        used.add(IMPERSONATE);
        return create(...given).finally(() => {
          if (one.refused.size > 0) refused.add(IMPERSONATE);
        });
      };
      return one;
    },
  });
  const missed = (): boolean => audit.refused.has(missing) || refused.has(missing);
  const ended = await story(id, missed, () => audit.refused.size > 0);
  const saidOfRole = missing === IMPERSONATE ? await messageOfRole(id) : '';
  await agent.close();
  client.close();
  executors.close();
  return {
    ended,
    saidOfRole,
    used: new Set([...audit.used, ...used]),
    refused: new Set([...audit.refused, ...refused]),
  };
}

/**
 * What an agent does in its life.
 * @param missed a right was, and nothing need be waited for any more
 * @param refused something was. Without the right to delete an object the hub refuses its owner as well: then the works are never
 *   applied, and the right itself is missed only by a later request.
 * @returns whether everything happened
 */
async function story(id: string, missed: () => boolean, refused: () => boolean): Promise<boolean> {
  const works = `/apis/${WORK_API}/namespaces/${id}/manifestworks`;
  const map = (name: string, x: string): object => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: id },
    data: { x },
  });
  const spec = (manifests: readonly object[], more: object = {}): object => ({
    workload: { manifests },
    ...more,
  });
  const manifestConfigs = [
    {
      resourceIdentifier: { resource: 'configmaps', name: 'server-side', namespace: id },
      updateStrategy: { type: 'ServerSideApply' },
    },
  ];
  const role = {
    apiVersion: `${RBAC}/v1`,
    kind: 'Role',
    metadata: { name: 'made', namespace: id },
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }],
  };
  const executor = { subject: { type: 'ServiceAccount', serviceAccount: { namespace: id, name: 'runner' } } };
  const first = [map('update', '1'), map('server-side', '1'), map('leaves', '1')];
  const head = { apiVersion: WORK_API, kind: 'ManifestWork' };
  await post(works, { ...head, metadata: { name: `w-${id}` }, spec: spec(first, { manifestConfigs }) });
  await post(works, { ...head, metadata: { name: `x-${id}` }, spec: spec([role], { executor }) });
  const isApplied = (name: string, orElse = missed): Promise<boolean> =>
    holds(async () => saysApplied(await readWork(id, name)), orElse);
  const steps = [await isApplied(`w-${id}`, refused)];
  await admin.send('PATCH', `${works}/w-${id}`, {
    body: {
      metadata: { labels: { again: '1' } },
      spec: spec([map('update', '2'), map('server-side', '2')]),
    },
    contentType: 'application/merge-patch+json',
  });
  steps.push(await isApplied(`w-${id}`));
  const maps = `/api/v1/namespaces/${id}/configmaps`;
  await admin.send('DELETE', `${maps}/update`);
  steps.push(await holds(async () => (await admin.get(`${maps}/update`)) !== undefined, missed));
  // Late: an agent without a right on ConfigMaps may not grant it either, and is to miss it itself before.
  steps.push(await isApplied(`x-${id}`));
  if (missed()) return false;
  for (const name of [`w-${id}`, `x-${id}`]) await admin.send('DELETE', `${works}/${name}`);
  steps.push(await holds(async () => (await admin.get(`${works}/w-${id}`)) === undefined, missed));
  steps.push(await holds(async () => (await admin.get(`${maps}/server-side`)) === undefined, missed));
  return steps.every(Boolean);
}

async function readWork(id: string, name: string): Promise<ManifestWork> {
  const path = `/apis/${WORK_API}/namespaces/${id}/manifestworks/${name}`;
  return (await admin.get(path)) as unknown as ManifestWork;
}

function saysApplied({ metadata, status }: ManifestWork): boolean {
  return ['Applied', 'Available'].every((type) =>
    status?.conditions?.some(
      (condition) =>
        condition.type === type &&
        condition.status === 'True' &&
        condition.observedGeneration === metadata.generation,
    ),
  );
}

async function messageOfRole(id: string): Promise<string> {
  let message = '';
  await holds(async () => {
    const { status } = await readWork(id, `x-${id}`);
    message = status?.resourceStatus?.manifests?.[0]?.conditions?.[0]?.message ?? '';
    return message !== '';
  });
  return message;
}

async function holds(look: () => Promise<boolean>, given = (): boolean => false): Promise<boolean> {
  // fixed wait: the pace of a poll
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline && !given(); await sleep(100))
    if (await look()) return true;
  return false;
}

describe('the permissions that berth agent --print-rbac prints', () => {
  it('are enough for everything that an agent does', async () => {
    const { ended, refused } = (await outcomes.get('nothing')) as Outcome;
    expect([...refused]).toEqual([]);
    expect(ended).toBe(true);
  });

  it('are all used', async () => {
    const { used } = (await outcomes.get('nothing')) as Outcome;
    expect([...used].filter((right) => !isOfRoles(right)).sort()).toEqual([...GRANTED].sort());
  });

  it.each(GRANTED.map((right) => ({ right })))('without "$right" something fails', async ({ right }) => {
    const { refused } = (await outcomes.get(right)) as Outcome;
    expect([...refused]).toContain(right);
  });

  it('tell an agent that may not impersonate from an executor that may not grant', async () => {
    const { saidOfRole } = (await outcomes.get(IMPERSONATE)) as Outcome;
    expect(saidOfRole).toMatch(
      /serviceaccounts "runner" is forbidden: User .* cannot impersonate resource "serviceaccounts"/,
    );
    expect(saidOfRole).not.toContain('escalation');
  });

  it('name kinds by the words of the API', () => {
    const known = [MANIFEST_WORK, APPLIED_MANIFEST_WORK, CONFIG_MAP].map(({ plural }) => plural);
    expect(known.every((plural) => GRANTED.some((right) => right.endsWith(` ${plural}`)))).toBe(true);
  });
});
